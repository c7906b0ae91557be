import { isTooLong, type ServerRefusal } from './serverFaults';

/** What is asked of a server: at first everything that is useful, then what it was seen to take. */
export interface Concessions {
  readonly responseFormat: 'json_schema' | 'json_object' | 'none';
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens';
  /** Whether the name of the token limit was changed once: servers that take neither get no third try. */
  readonly tokenLimitTried: boolean;
  /** The most tokens that are asked for at once. */
  readonly mostTokens: number;
  readonly logprobs: boolean;
  /** Whether the stream is to end with the usage. */
  readonly usage: boolean;
  /** Whether temperature and top_p are sent. */
  readonly sampling: boolean;
}

/** An answer of fewer tokens is not worth asking for. */
export const fewestTokens = 64;

/**
 * What to ask instead after a refusal, or null where the refusal is about something else. Each concession is
 * made once, so that asking again comes to an end.
 */
export function concede(
  now: Concessions,
  refusal: ServerRefusal,
  route: 'chat' | 'text',
  maxTokens: number,
): Concessions | null {
  const { status, said } = refusal;
  // Some servers answer 500 for a schema or a field that they do not know.
  if (![400, 422, 500, 501].includes(status)) return null;
  const isLimit = /max_(completion_)?tokens|in the completion/i.test(said);
  if (isTooLong(refusal) || (isLimit && /too (large|high|big)|at most|less than|range/i.test(said))) {
    // The answer may be what does not fit: servers want room for all of it, though it will be shorter.
    const asked = Math.min(now.mostTokens, maxTokens);
    const mostTokens = Math.max(fewestTokens, Math.floor(asked / 4));
    return isLimit && mostTokens < asked ? { ...now, mostTokens } : null;
  }
  if (now.usage && /stream_options|include_usage/i.test(said)) return { ...now, usage: false };
  if (now.logprobs && /logprob/i.test(said)) return { ...now, logprobs: false };
  if (now.sampling && /\btemperature\b|\btop_p\b/i.test(said)) return { ...now, sampling: false };
  if (isLimit && (now.tokenLimitTried || route === 'text')) return null;
  if (isLimit) {
    const tokenLimit = now.tokenLimit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
    return { ...now, tokenLimit, tokenLimitTried: true };
  }
  if (route === 'text' || now.responseFormat === 'none') return null;
  const format = /response_?format|json|schema|grammar|structured|guided/i.test(said);
  // Many servers refuse what they do not know without a word about it.
  if (!format && status >= 500) return null;
  return { ...now, responseFormat: now.responseFormat === 'json_schema' ? 'json_object' : 'none' };
}
