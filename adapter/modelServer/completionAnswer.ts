import { randomUUID } from 'node:crypto';
import type { Finish, GeneratedToken } from './generation';

/** Counts of tokens, before the answer's own. */
export interface PromptUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
}

/** What an answer tells beside its text. */
export interface AnswerFields {
  readonly logprobs: boolean;
  readonly tokenIds: boolean;
}

/**
 * Writes one answer to `POST /v1/completions`, whole or piece by piece, as JSON texts. They are put together by
 * hand: objects that have tokens as their keys take several times as long.
 */
export class CompletionAnswer {
  /** The fields that all pieces begin with, without the closing brace. */
  readonly #head: string;
  /** The code points of the answer so far. */
  #offset = 0;

  constructor(
    model: string,
    private readonly fields: AnswerFields,
  ) {
    const created = Math.floor(Date.now() / 1000);
    const head = { id: `cmpl-${randomUUID()}`, object: 'text_completion', created, model };
    this.#head = JSON.stringify(head).slice(0, -1);
  }

  /** The next piece of the answer, or with the finish all that is left of it. */
  piece(tokens: readonly GeneratedToken[], finish: Finish | null): string {
    return `${this.#head},${this.#choices(tokens, finish)}}`;
  }

  /** The chunk without choices that ends a stream of which the usage was asked. */
  usage(finish: Finish, prompt: PromptUsage): string {
    return `${this.#head},"choices":[],${usageField(finish, prompt)}}`;
  }

  /** The whole answer at once. */
  whole(tokens: readonly GeneratedToken[], finish: Finish, prompt: PromptUsage): string {
    return `${this.#head},${this.#choices(tokens, finish)},${usageField(finish, prompt)}}`;
  }

  #choices(tokens: readonly GeneratedToken[], finish: Finish | null): string {
    const text = JSON.stringify(tokens.map((token) => token.text).join(''));
    const logprobs = this.fields.logprobs ? this.#logprobs(tokens) : 'null';
    const reasons = `"finish_reason":${JSON.stringify(finish?.reason ?? null)},"stop_reason":${JSON.stringify(finish?.stop ?? null)}`;
    const ids = this.fields.tokenIds ? `,"token_ids":[${tokens.map(({ id }) => id).join()}]` : '';
    return `"choices":[{"index":0,"text":${text},"logprobs":${logprobs},${reasons}${ids}}]`;
  }

  /** OpenAI's legacy log-probabilities; offsets are in code points of the answer's text. */
  #logprobs(tokens: readonly GeneratedToken[]): string {
    const quoted = tokens.map(({ text }) => JSON.stringify(text));
    const offsets = tokens.map(({ text }) => {
      const offset = this.#offset;
      this.#offset += codePoints(text);
      return offset;
    });
    const logprobs = tokens.map(({ logprob }) => logprob).join();
    const top = tokens.map(({ logprob }, index) => `{${quoted[index] ?? ''}:${logprob}}`).join();
    return `{"tokens":[${quoted.join()}],"token_logprobs":[${logprobs}],"top_logprobs":[${top}],"text_offset":[${offsets.join()}]}`;
  }
}

function codePoints(text: string): number {
  return /[\ud800-\udbff]/.test(text) ? Array.from(text).length : text.length;
}

function usageField(finish: Finish, { promptTokens, cachedTokens }: PromptUsage): string {
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: finish.tokens,
    total_tokens: promptTokens + finish.tokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
  return `"usage":${JSON.stringify(usage)}`;
}
