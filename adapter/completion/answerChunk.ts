import { z } from 'zod';
import type { Token } from './completion';
import type { Usage } from './usage';

/** What one chunk of a streamed answer holds, whichever route it came by. */
export interface AnswerPiece {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** The ids of the tokens; null where the server does not tell them. */
  readonly ids: readonly number[] | null;
  /** Whether no token of the text can be missing among the ids. */
  readonly areIdsWhole: boolean;
  /** The finish reason, or null while the answer goes on. */
  readonly finish: string | null;
  readonly stopString: string | null;
  readonly usage: Usage | null;
}

/** Some servers send the content of a message in parts, of which thoughts are no part of the answer. */
const content = z.union([
  z.string(),
  z
    .array(z.looseObject({ type: z.string().optional(), text: z.string().optional() }))
    .transform((parts) =>
      parts.map(({ type, text }) => (type === undefined || type === 'text' ? (text ?? '') : '')).join(''),
    ),
]);
const message = z.object({ content: content.nullish() });

const choice = z.object({
  text: z.string().nullish(),
  delta: message.nullish(),
  message: message.nullish(),
  finish_reason: z.string().nullish(),
  stop_reason: z.union([z.string(), z.number()]).nullish().catch(null),
  logprobs: z.unknown().optional(),
  /** vLLM's, where they were asked for. */
  token_ids: z.array(z.int().nonnegative()).nullish().catch(null),
});

const count = z.number().nonnegative();

const usage = z.object({
  prompt_tokens: count,
  completion_tokens: count.nullish(),
  prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish().catch(null),
});

const timings = z.object({ cache_n: count, prompt_n: count, predicted_n: count });

const chunk = z.object({
  choices: z.array(choice).nullish(),
  usage: usage.nullish().catch(null),
  // llama.cpp's, in each chunk where they were asked for.
  timings: timings.nullish().catch(null),
  // vLLM reports errors in a stream like this, without an `error` field.
  object: z.string().nullish().catch(null),
});

const legacyLogprobs = z.object({
  tokens: z.array(z.string()),
  token_logprobs: z.array(z.number().nullable()),
});
const chatLogprobs = z.object({
  content: z.array(
    z.object({
      token: z.string(),
      logprob: z.number().nullish(),
      /** llama.cpp's. */
      id: z.int().nonnegative().nullish().catch(null),
    }),
  ),
});

/** Reads a parsed chunk of `/completions` or `/chat/completions`; null where it has another shape. */
export function readAnswerChunk(json: unknown): AnswerPiece | null {
  const parsed = chunk.safeParse(json);
  if (!parsed.success) return null;
  const { choices, usage: used, timings: measured, object } = parsed.data;
  if ((!choices && !used) || object === 'error') return null;
  const first = choices?.[0];
  const text = first?.text ?? first?.delta?.content ?? first?.message?.content ?? '';
  const ids = first?.token_ids ?? null;
  return {
    text,
    tokens: readTokens(first?.logprobs),
    ids: ids ?? readIds(first?.logprobs),
    // Of a character that several tokens make, llama.cpp tells the last one only.
    areIdsWhole: ids !== null || !/[^\0-\x7f]/.test(text),
    finish: first?.finish_reason ?? null,
    stopString: typeof first?.stop_reason === 'string' ? first.stop_reason : null,
    usage: used ? readUsage(used, measured ?? null) : measured ? usageOfTimings(measured) : null,
  };
}

function readUsage(used: z.infer<typeof usage>, measured: z.infer<typeof timings> | null): Usage {
  return {
    promptTokens: used.prompt_tokens,
    completionTokens: used.completion_tokens ?? 0,
    cachedTokens: used.prompt_tokens_details?.cached_tokens ?? measured?.cache_n ?? null,
  };
}

function usageOfTimings({ cache_n, prompt_n, predicted_n }: z.infer<typeof timings>): Usage {
  return { promptTokens: cache_n + prompt_n, completionTokens: predicted_n, cachedTokens: cache_n };
}

function readIds(logprobs: unknown): number[] | null {
  const chat = chatLogprobs.safeParse(logprobs);
  const ids = chat.success ? chat.data.content.flatMap(({ id }) => (typeof id === 'number' ? [id] : [])) : [];
  return ids.length > 0 && ids.length === chat.data?.content.length ? ids : null;
}

/**
 * The tokens of a chunk: servers give log-probabilities in the shape of either route on both routes. Rounding
 * makes some a little larger than 0.
 */
function readTokens(logprobs: unknown): Token[] {
  const chat = chatLogprobs.safeParse(logprobs);
  if (chat.success) {
    return chat.data.content.map(({ token, logprob }) => ({
      text: token,
      logprob: bounded(logprob ?? null),
    }));
  }
  const legacy = legacyLogprobs.safeParse(logprobs);
  if (!legacy.success) return [];
  const { tokens, token_logprobs } = legacy.data;
  return tokens.map((text, index) => ({ text, logprob: bounded(token_logprobs[index] ?? null) }));
}

function bounded(logprob: number | null): number | null {
  return logprob === null ? null : Math.min(0, logprob);
}
