import { OpenAiServer } from '../completion/openaiServer';
import { describeFacts } from '../completion/probe';
import type { CatalogueError } from '../errors';
import { createChatFormat } from '../format/chat/chatFormat';
import { cwmControlText } from '../format/cwm/controlText';
import { createCwmFormat } from '../format/cwm/cwmFormat';
import type { PythonSource } from '../python/source';
import type { Program } from '../trajectory/program';
import { LanguageModelWorld } from '../world/languageModel';
import type { Configuration } from './configuration';

/** A server as it is configured. */
export type ServerChoice = NonNullable<Configuration['server']>;

/** The source of tokens behind a server. */
export function connect(server: ServerChoice, apiKey: string | null): OpenAiServer {
  return new OpenAiServer({
    baseUrl: server.baseUrl,
    apiKey,
    model: server.model,
    profile: server.profile,
    mode: server.mode,
    context: server.context,
    constrain: server.constrain,
    control: server.format === 'cwm' ? cwmControlText : null,
    temperature: server.temperature,
    topP: null,
    timeouts: { firstByte: server.timeouts.firstByte * 1000, stall: server.timeouts.stall * 1000 },
    extraBody: {},
  });
}

/** The world of a language model on a server, for a program. */
export async function languageModel(
  server: ServerChoice,
  apiKey: string | null,
  program: Program,
  source: PythonSource,
): Promise<LanguageModelWorld> {
  const completions = connect(server, apiKey);
  const { samplingTemperature } = server;
  const format =
    server.format === 'chat'
      ? createChatFormat(program, source)
      : await createCwmFormat(program, source, () => completions.traits);
  return new LanguageModelWorld(format, completions, samplingTemperature);
}

/** What a person wants to know of a server. */
export interface ServerReport {
  /** One line: `vLLM 0.12.0 with facebook/cwm, ids mode, context 131072 tokens, log-probabilities`. */
  readonly summary: string;
  readonly notes: readonly string[];
  /** Whether the model showed that it knows the format; null where that was not tried. */
  readonly knowsFormat: boolean | null;
  /** Whether answers come with log-probabilities; null where that was not tried. */
  readonly logprobs: boolean | null;
  /** What kept the server from being asked all of it, though it could be reached; null where nothing did. */
  readonly missed: CatalogueError | null;
}

/**
 * The names of the models that a server lists, in its order.
 *
 * @throws CatalogueError naming the server, the cause and the way out
 */
export async function listModels(
  server: ServerChoice,
  apiKey: string | null,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const completions = connect(server, apiKey);
  try {
    return await completions.listModels(signal);
  } finally {
    completions.close();
  }
}

/**
 * Asks a server what it is and whether it can carry the format, in bounded time.
 *
 * @throws CatalogueError where it cannot be reached, or cannot carry the format
 */
export async function probe(
  server: ServerChoice,
  apiKey: string | null,
  signal: AbortSignal,
): Promise<ServerReport> {
  const completions = connect(server, apiKey);
  try {
    await completions.ready(signal);
    // A server that is not there is asked once more, for the error that says so.
    if (!completions.facts) await completions.listModels(signal);
    const { facts, traits, notes } = completions;
    const what = facts ? describeFacts({ ...facts, ...traits }, server.format === 'cwm') : server.baseUrl;
    return {
      summary: completions.hide(withModel(what, facts?.model ?? server.model)),
      notes,
      knowsFormat: facts?.knowsFormat ?? null,
      logprobs: facts?.logprobs ?? null,
      missed: facts?.missed ?? null,
    };
  } finally {
    completions.close();
  }
}

function withModel(what: string, model: string | null): string {
  const [product = '', ...rest] = what.split(', ');
  return [model === null ? product : `${product} with ${model}`, ...rest].join(', ');
}
