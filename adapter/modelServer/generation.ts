import { tokenize } from './tokens';

/** Why a text ends, as OpenAI's and vLLM's completions tell it. */
export interface Finish {
  /** `length`: `maxTokens` was reached; `stop`: a stop string, or the end of the text. */
  readonly reason: 'stop' | 'length';
  /** The stop string that ended the text, or null. */
  readonly stopString: string | null;
  /** Tokens that were generated, those of the stop string or the end of the text included. */
  readonly tokens: number;
}

/** A piece of a generated text: tokens, and with the last of them the end. */
export interface Generated {
  /** Joined, they are the text; the last one is shortened where a stop string begins within it. */
  readonly tokens: readonly string[];
  readonly finish: Finish | null;
}

/**
 * Turns a text that is to be written into tokens, up to a number of tokens or a stop string, which is not
 * given out. What may be the beginning of a stop string is held back until it is known not to be. The end of
 * the text is a token of its own, without text, as in every model.
 */
export class Generation {
  readonly #stop: readonly string[];
  #left: number;
  /** Tokens that are generated but may belong to a stop string. */
  #held: string[] = [];

  constructor(
    private readonly maxTokens: number,
    stop: readonly string[],
  ) {
    this.#stop = stop;
    this.#left = maxTokens;
  }

  /** Goes on with a piece of the text that is cut into tokens by itself. */
  write(text: string): Generated {
    const tokens = tokenize(text);
    const full = tokens.length >= this.#left;
    const taken = full ? tokens.slice(0, this.#left) : tokens;
    this.#left -= taken.length;
    const waiting = this.#held.length === 0 ? taken : [...this.#held, ...taken];
    const stopped = this.#stop.length === 0 ? null : this.#stopWithin(waiting);
    if (stopped) return stopped;
    if (full) return { tokens: waiting, finish: this.#finish('length', null) };
    const free = this.#freeTokens(waiting);
    this.#held = waiting.slice(free);
    return { tokens: free === waiting.length ? waiting : waiting.slice(0, free), finish: null };
  }

  /** Goes on with the end of the text. */
  end(): Generated & { readonly finish: Finish } {
    const reason = this.#left > 0 ? 'stop' : 'length';
    if (this.#left > 0) this.#left--;
    return { tokens: this.#held, finish: this.#finish(reason, null) };
  }

  #finish(reason: Finish['reason'], stopString: string | null): Finish {
    return { reason, stopString, tokens: this.maxTokens - this.#left };
  }

  /** The end by the stop string that is complete first, or null where there is none. */
  #stopWithin(tokens: readonly string[]): Generated | null {
    const text = tokens.join('');
    let found: { readonly stop: string; readonly at: number; readonly end: number } | null = null;
    for (const stop of this.#stop) {
      const at = text.indexOf(stop);
      const end = at + stop.length;
      if (at >= 0 && (!found || end < found.end || (end === found.end && at < found.at))) {
        found = { stop, at, end };
      }
    }
    if (!found) return null;
    const before: string[] = [];
    let unused = tokens.length;
    let from = 0;
    for (const token of tokens) {
      if (from < found.at) before.push(token.slice(0, found.at - from));
      if (from >= found.end) break;
      from += token.length;
      unused--;
    }
    this.#left += unused;
    return { tokens: before, finish: this.#finish('stop', found.stop) };
  }

  /** How many tokens end before anything that may become a stop string. */
  #freeTokens(tokens: readonly string[]): number {
    const longest = Math.max(0, ...this.#stop.map((stop) => stop.length - 1));
    let suspect = 0;
    let count = tokens.length;
    let tail = '';
    while (count > 0 && tail.length < longest) tail = (tokens[--count] ?? '') + tail;
    for (const stop of this.#stop) {
      for (let length = Math.min(stop.length - 1, tail.length); length > suspect; length--) {
        if (tail.endsWith(stop.slice(0, length))) suspect = length;
      }
    }
    let free = tokens.length;
    for (let held = 0; held < suspect; held += tokens[free]?.length ?? 0) free--;
    return free;
  }
}
