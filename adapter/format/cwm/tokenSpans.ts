import type { Token } from '../../completion/completion';

interface TokenSpan {
  readonly start: number;
  readonly end: number;
  readonly logprob: number | null;
}

/** Which tokens an answer's text is made of. Positions are UTF-16 units from the answer's beginning. */
export class TokenSpans {
  readonly #spans: TokenSpan[] = [];
  /** The index of the first token that is not forgotten. */
  #first = 0;
  #end = 0;

  /** Adds a piece of text and its tokens. */
  add(text: string, tokens: readonly Token[]): void {
    const fits = tokens.reduce((length, token) => length + token.text.length, 0) === text.length;
    for (const token of tokens) {
      // Tokens that end within a character do not add up to the text: each may stand anywhere in the piece.
      const start = this.#end;
      const end = start + (fits ? token.text.length : text.length);
      this.#spans.push({ start, end, logprob: token.logprob });
      if (fits) this.#end = end;
    }
    if (!fits) this.#end += text.length;
  }

  /** The least probability among a span's tokens, 0 to 1, or null where nothing tells it. */
  leastProbability(start: number, end: number): number | null {
    let least: number | null = null;
    for (let index = this.#first; index < this.#spans.length; index++) {
      const span = this.#spans[index];
      if (!span || span.start >= end) break;
      if (span.end > start && span.logprob !== null && (least === null || span.logprob < least)) {
        least = span.logprob;
      }
    }
    return least === null ? null : Math.min(1, Math.exp(least));
  }

  /** Forgets the tokens that end at or before a position, and tells how many those were. */
  dropBefore(position: number): number {
    const before = this.#first;
    while ((this.#spans[this.#first]?.end ?? Infinity) <= position) this.#first++;
    return this.#first - before;
  }
}

/** The lesser of two probabilities; what nothing tells does not count. */
export function leastOf(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
