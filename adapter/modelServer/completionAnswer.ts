import { randomUUID } from 'node:crypto';
import type { Finish } from './generation';

/** OpenAI's legacy log-probabilities; offsets are in code points of the answer's text. */
interface Logprobs {
  readonly tokens: readonly string[];
  readonly token_logprobs: readonly number[];
  readonly top_logprobs: readonly Readonly<Record<string, number>>[];
  readonly text_offset: readonly number[];
}

interface Choice {
  readonly index: 0;
  readonly text: string;
  readonly logprobs: Logprobs | null;
  readonly finish_reason: Finish['reason'] | null;
  readonly stop_reason: string | null;
}

interface UsageBody {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
}

/** Counts of tokens, before the answer's own. */
export interface PromptUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
}

/** Writes one answer to `POST /v1/completions`, whole or piece by piece. */
export class CompletionAnswer {
  readonly #head: {
    readonly id: string;
    readonly object: string;
    readonly created: number;
    readonly model: string;
  };
  /** The code points of the answer so far. */
  #offset = 0;

  constructor(
    model: string,
    private readonly withLogprobs: boolean,
  ) {
    const created = Math.floor(Date.now() / 1000);
    this.#head = { id: `cmpl-${randomUUID()}`, object: 'text_completion', created, model };
  }

  /** The next piece of the answer, or with the finish all that is left of it. */
  piece(tokens: readonly string[], finish: Finish | null): object {
    return { ...this.#head, choices: [this.#choice(tokens, finish)] };
  }

  /** The chunk without choices that ends a stream of which the usage was asked. */
  usage(finish: Finish, prompt: PromptUsage): object {
    return { ...this.#head, choices: [], usage: usageBody(finish, prompt) };
  }

  /** The whole answer at once. */
  whole(tokens: readonly string[], finish: Finish, prompt: PromptUsage): object {
    return { ...this.piece(tokens, finish), usage: usageBody(finish, prompt) };
  }

  #choice(tokens: readonly string[], finish: Finish | null): Choice {
    return {
      index: 0,
      text: tokens.join(''),
      logprobs: this.withLogprobs ? this.#logprobs(tokens) : null,
      finish_reason: finish?.reason ?? null,
      stop_reason: finish?.stopString ?? null,
    };
  }

  /** A real run leaves no choice: every token has the probability 1, whose logarithm is 0. */
  #logprobs(tokens: readonly string[]): Logprobs {
    return {
      tokens,
      token_logprobs: tokens.map(() => 0),
      top_logprobs: tokens.map((token) => ({ [token]: 0 })),
      text_offset: tokens.map((token) => {
        const offset = this.#offset;
        this.#offset += Array.from(token).length;
        return offset;
      }),
    };
  }
}

function usageBody(finish: Finish, { promptTokens, cachedTokens }: PromptUsage): UsageBody {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: finish.tokens,
    total_tokens: promptTokens + finish.tokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}
