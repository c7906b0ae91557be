import { z } from 'zod';
import type { Token, Usage } from './completion';

/** What one chunk of a streamed answer holds, whichever route it came by. */
export interface AnswerPiece {
  readonly text: string;
  readonly tokens: readonly Token[];
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
});

const count = z.number().nonnegative();

const usage = z.object({
  prompt_tokens: count,
  completion_tokens: count.nullish(),
  prompt_tokens_details: z.object({ cached_tokens: count.nullish() }).nullish().catch(null),
});

const chunk = z.object({
  choices: z.array(choice).nullish(),
  usage: usage.nullish().catch(null),
  // vLLM reports errors in a stream like this, without an `error` field.
  object: z.string().nullish().catch(null),
});

const legacyLogprobs = z.object({
  tokens: z.array(z.string()),
  token_logprobs: z.array(z.number().nullable()),
});
const chatLogprobs = z.object({
  content: z.array(z.object({ token: z.string(), logprob: z.number().nullish() })),
});

/** Reads a parsed chunk of `/completions` or `/chat/completions`; null where it has another shape. */
export function readAnswerChunk(json: unknown): AnswerPiece | null {
  const parsed = chunk.safeParse(json);
  if (!parsed.success) return null;
  const { choices, usage: used, object } = parsed.data;
  if ((!choices && !used) || object === 'error') return null;
  const first = choices?.[0];
  return {
    text: first?.text ?? first?.delta?.content ?? first?.message?.content ?? '',
    tokens: readTokens(first?.logprobs),
    finish: first?.finish_reason ?? null,
    stopString: typeof first?.stop_reason === 'string' ? first.stop_reason : null,
    usage: used
      ? {
          promptTokens: used.prompt_tokens,
          completionTokens: used.completion_tokens ?? 0,
          cachedTokens: used.prompt_tokens_details?.cached_tokens ?? null,
        }
      : null,
  };
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
