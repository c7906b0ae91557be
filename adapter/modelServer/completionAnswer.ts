import { randomUUID } from 'node:crypto';
import type { Finish } from './generation';

/** Counts of tokens, before the answer's own. */
export interface PromptUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
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
    private readonly withLogprobs: boolean,
  ) {
    const created = Math.floor(Date.now() / 1000);
    const head = { id: `cmpl-${randomUUID()}`, object: 'text_completion', created, model };
    this.#head = JSON.stringify(head).slice(0, -1);
  }

  /** The next piece of the answer, or with the finish all that is left of it. */
  piece(tokens: readonly string[], finish: Finish | null): string {
    return `${this.#head},${this.#choices(tokens, finish)}}`;
  }

  /** The chunk without choices that ends a stream of which the usage was asked. */
  usage(finish: Finish, prompt: PromptUsage): string {
    return `${this.#head},"choices":[],${usageField(finish, prompt)}}`;
  }

  /** The whole answer at once. */
  whole(tokens: readonly string[], finish: Finish, prompt: PromptUsage): string {
    return `${this.#head},${this.#choices(tokens, finish)},${usageField(finish, prompt)}}`;
  }

  #choices(tokens: readonly string[], finish: Finish | null): string {
    const text = JSON.stringify(tokens.join(''));
    const logprobs = this.withLogprobs ? this.#logprobs(tokens) : 'null';
    const reasons = `"finish_reason":${JSON.stringify(finish?.reason ?? null)},"stop_reason":${JSON.stringify(finish?.stopString ?? null)}`;
    return `"choices":[{"index":0,"text":${text},"logprobs":${logprobs},${reasons}}]`;
  }

  /**
   * OpenAI's legacy log-probabilities; offsets are in code points of the answer's text. A real run leaves no
   * choice: every token has the probability 1, whose logarithm is 0.
   */
  #logprobs(tokens: readonly string[]): string {
    const quoted = tokens.map((token) => JSON.stringify(token));
    const offsets = tokens.map((token) => {
      const offset = this.#offset;
      this.#offset += codePoints(token);
      return offset;
    });
    const zeros = tokens.map(() => 0).join();
    const top = quoted.map((token) => `{${token}:0}`).join();
    return `{"tokens":[${quoted.join()}],"token_logprobs":[${zeros}],"top_logprobs":[${top}],"text_offset":[${offsets.join()}]}`;
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
