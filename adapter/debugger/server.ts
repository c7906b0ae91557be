import { OpenAiServer } from '../completion/openaiServer';
import { describeFacts } from '../completion/probe';
import type { Prompt } from '../completion/completion';
import { CatalogueError } from '../errors';
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
    const answers = server.format === 'chat' ? await answersQuestions(completions, signal) : null;
    const { facts, traits, notes } = completions;
    const what = facts ? describeFacts({ ...facts, ...traits }, server.format === 'cwm') : server.baseUrl;
    return {
      summary: completions.hide(withModel(what, facts?.model ?? server.model)),
      notes: [...notes, ...(answers?.notes ?? [])],
      knowsFormat: facts?.knowsFormat ?? null,
      logprobs: answers?.logprobs ?? facts?.logprobs ?? null,
      missed: facts?.missed ?? null,
    };
  } finally {
    completions.close();
  }
}

/** A question that costs next to nothing. */
const greeting: Prompt = {
  kind: 'chat',
  messages: [{ role: 'user', content: 'Answer with {"ready": true}.' }],
  schema: {
    name: 'ready',
    schema: {
      type: 'object',
      properties: { ready: { type: 'boolean' } },
      required: ['ready'],
      additionalProperties: false,
    },
  },
};

/** What a model that thinks first may need to begin; all others are left at their first word. */
const greetingTokens = 32;

/** Faults that every question would meet: there is no connection, another server, another key, model or route. */
const lastingFaults: ReadonlySet<number> = new Set([
  302, 303, 304, 305, 306, 307, 308, 309, 310, 315, 320, 323,
]);

/**
 * Lets the model begin to answer a question, which a list of models does not show that it can.
 *
 * @returns whether its answer came with log-probabilities, null where that was not seen; and what went wrong
 * @throws CatalogueError where every question would fail so
 */
async function answersQuestions(
  completions: OpenAiServer,
  signal: AbortSignal,
): Promise<{ readonly logprobs: boolean | null; readonly notes: readonly string[] }> {
  try {
    for await (const chunk of completions.complete(greeting, { maxTokens: greetingTokens, signal })) {
      if (chunk.kind === 'text') return { logprobs: chunk.tokens.length > 0, notes: [] };
    }
    return { logprobs: null, notes: [] };
  } catch (thrown) {
    if (!(thrown instanceof CatalogueError) || lastingFaults.has(thrown.code)) throw thrown;
    return { logprobs: null, notes: [`It did not answer a first question: ${thrown.message}`] };
  }
}

function withModel(what: string, model: string | null): string {
  const [product = '', ...rest] = what.split(', ');
  return [model === null ? product : `${product} with ${model}`, ...rest].join(', ');
}
