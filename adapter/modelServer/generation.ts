import { endOfTextId } from './tokens';

/** Why a text ends, as OpenAI's and vLLM's completions tell it. */
export interface Finish {
  /** `length`: `maxTokens` was reached; `stop`: a stop string or token, or the end of the text. */
  readonly reason: 'stop' | 'length';
  /** The stop string or the id of the stop token that ended the text, or null. */
  readonly stop: string | number | null;
  /** Tokens that were generated, those of the stop string or the end of the text included. */
  readonly tokens: number;
}

/** A token that was generated. */
export interface GeneratedToken {
  readonly id: number;
  readonly text: string;
  /** The natural logarithm of its probability. */
  readonly logprob: number;
}

/** A piece of a generated text: tokens, and with the last of them the end. */
export interface Generated {
  /** Joined, they are the text; the last one is shortened where a stop string begins within it. */
  readonly tokens: readonly GeneratedToken[];
  readonly finish: Finish | null;
}

/** Where a generation ends. */
export interface GenerationLimits {
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly stopIds: ReadonlySet<number>;
  /**
   * Whether the tokens with which the text ends, which add nothing to it, are given out too: those of a stop
   * string, a stop token, the end of the text.
   */
  readonly showsEnd: boolean;
}

/**
 * Turns a text that is to be written into tokens, up to a number of tokens, a stop token or a stop string, which
 * is not given out. What may be the beginning of a stop string is held back until it is known not to be. The end
 * of the text is a token of its own, without text, as in every model.
 */
export class Generation {
  #left: number;
  /** Tokens that are generated but may belong to a stop string. */
  #held: readonly GeneratedToken[] = [];

  constructor(private readonly limits: GenerationLimits) {
    this.#left = limits.maxTokens;
  }

  /** Goes on with the tokens of a piece of the text. */
  write(tokens: readonly GeneratedToken[]): Generated {
    const { stop, stopIds, showsEnd } = this.limits;
    const stopAt = stopIds.size === 0 ? -1 : tokens.findIndex(({ id }) => stopIds.has(id));
    const most = Math.min(this.#left, stopAt < 0 ? Infinity : stopAt);
    const full = tokens.length >= this.#left;
    const taken = tokens.length > most ? tokens.slice(0, most) : tokens;
    this.#left -= taken.length;
    const waiting = this.#held.length === 0 ? taken : [...this.#held, ...taken];
    const stopped = stop.length === 0 ? null : this.#stopWithin(waiting);
    if (stopped) return stopped;
    const last = stopAt === taken.length && this.#left > 0 ? tokens[stopAt] : undefined;
    if (last) {
      this.#left--;
      const shown = showsEnd ? [...waiting, { ...last, text: '' }] : waiting;
      return { tokens: shown, finish: this.#finish('stop', last.id) };
    }
    if (full) return { tokens: waiting, finish: this.#finish('length', null) };
    const free = this.#freeTokens(waiting);
    this.#held = waiting.slice(free);
    return { tokens: free === waiting.length ? waiting : waiting.slice(0, free), finish: null };
  }

  /** Goes on with the end of the text. */
  end(): Generated & { readonly finish: Finish } {
    if (this.#left === 0) return { tokens: this.#held, finish: this.#finish('length', null) };
    this.#left--;
    const end = this.limits.showsEnd ? [{ id: endOfTextId, text: '', logprob: 0 }] : [];
    return { tokens: [...this.#held, ...end], finish: this.#finish('stop', null) };
  }

  #finish(reason: Finish['reason'], stop: Finish['stop']): Finish {
    return { reason, stop, tokens: this.limits.maxTokens - this.#left };
  }

  /** The end by the stop string that is complete first, or null where there is none. */
  #stopWithin(tokens: readonly GeneratedToken[]): Generated | null {
    const text = joined(tokens);
    let found: { readonly stop: string; readonly at: number; readonly end: number } | null = null;
    for (const stop of this.limits.stop) {
      const at = text.indexOf(stop);
      const end = at + stop.length;
      if (at >= 0 && (!found || end < found.end || (end === found.end && at < found.at))) {
        found = { stop, at, end };
      }
    }
    if (!found) return null;
    const before: GeneratedToken[] = [];
    let unused = tokens.length;
    let from = 0;
    for (const token of tokens) {
      if (from >= found.end) break;
      if (from < found.at || this.limits.showsEnd) {
        before.push({ ...token, text: token.text.slice(0, Math.max(0, found.at - from)) });
      }
      from += token.text.length;
      unused--;
    }
    this.#left += unused;
    return { tokens: before, finish: this.#finish('stop', found.stop) };
  }

  /** How many tokens end before anything that may become a stop string. */
  #freeTokens(tokens: readonly GeneratedToken[]): number {
    const { stop: stops } = this.limits;
    const longest = Math.max(0, ...stops.map((stop) => stop.length - 1));
    let suspect = 0;
    let count = tokens.length;
    let tail = '';
    while (count > 0 && tail.length < longest) tail = (tokens[--count]?.text ?? '') + tail;
    for (const stop of stops) {
      for (let length = Math.min(stop.length - 1, tail.length); length > suspect; length--) {
        if (tail.endsWith(stop.slice(0, length))) suspect = length;
      }
    }
    let free = tokens.length;
    for (let held = 0; held < suspect; held += tokens[free]?.text.length ?? 0) free--;
    return free;
  }
}

function joined(tokens: readonly GeneratedToken[]): string {
  return tokens.map(({ text }) => text).join('');
}
