import { parseConfiguration } from '../debugger/configuration';
import { probe } from '../debugger/server';
import { errors } from '../errors';
import { shownText } from '../shownText';
import { environment, environmentKey } from './keys';

/** The options of `probe`, as they were given. */
export interface ProbeOptions {
  readonly baseUrl?: string;
  readonly model?: string;
  readonly format?: string;
  readonly profile?: string;
  readonly mode?: string;
}

/**
 * Asks a server what it is and what it can do, and says so.
 *
 * @throws CatalogueError for what kept it from answering all of that, once the rest is said
 */
export async function probeServer(options: ProbeOptions): Promise<void> {
  const baseUrl = options.baseUrl ?? (process.env[environment.baseUrl] || undefined);
  if (baseUrl === undefined) throw errors.noServer();
  const given = { ...options, baseUrl, model: options.model ?? process.env[environment.model] };
  const { server } = parseConfiguration({
    server: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  });
  if (!server) throw errors.noServer();
  const key = await environmentKey(baseUrl)(new URL(server.baseUrl).origin);
  const { summary, notes, missed } = await probe(server, key, new AbortController().signal);
  process.stdout.write(`${shownText(summary)}\n`);
  const told = missed ? notes.filter((note) => !note.includes(missed.message)) : notes;
  for (const note of told) process.stdout.write(`${shownText(note)}\n`);
  if (missed) throw missed;
}
