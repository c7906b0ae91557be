import { parseConfiguration } from '../../adapter/debugger/configuration';
import { connect } from '../../adapter/debugger/server';
import { errors } from '../../adapter/errors';
import { madeUpCalls, type MadeUpCallsOptions } from '../../adapter/inputs/madeUpCalls';
import type { ServerConfiguration } from '../settings';
import type { ApiKeys } from './apiKeys';
import { originOf } from './origin';

/**
 * Asks the model on a server for calls of a function.
 *
 * @throws CatalogueError when the server fails, or its answer cannot be read
 */
export async function askForCalls(
  options: MadeUpCallsOptions,
  server: ServerConfiguration,
  keys: ApiKeys,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const given = parseConfiguration({ server }).server;
  if (!given) throw errors.noServer();
  const completions = connect(given, await keys.keyFor(originOf(given.baseUrl)));
  try {
    return await madeUpCalls(options, completions, signal);
  } finally {
    completions.close();
  }
}
