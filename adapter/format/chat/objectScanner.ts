/** An object in an answer: from its `{` to behind its `}`. */
export interface FoundObject {
  readonly start: number;
  readonly end: number;
  /** The keys that lead to it, outermost first; null for the items of lists and for what has no key. */
  readonly keys: readonly (string | null)[];
}

interface Bracket {
  readonly char: '{' | '[';
  readonly start: number;
  readonly key: string | null;
}

const maxKey = 80;

/** Finds the objects of a text that arrives in pieces, each when it is complete, inner ones first. */
export class ObjectScanner {
  readonly #open: Bracket[] = [];
  #quote: string | null = null;
  #at: number;

  /** @param from where in the text the scan begins */
  constructor(from: number) {
    this.#at = from;
  }

  /** Goes on to the end of the text, which begins with all that was scanned before. */
  scan(text: string): FoundObject[] {
    const found: FoundObject[] = [];
    for (; this.#at < text.length; this.#at++) {
      const char = text.charAt(this.#at);
      if (this.#quote !== null) {
        if (char === '\\') {
          // The escaped character may still be on its way.
          if (this.#at + 1 === text.length) break;
          this.#at++;
        } else if (char === this.#quote) this.#quote = null;
      } else if (char === '{' || char === '[') {
        this.#open.push({ char, start: this.#at, key: keyBefore(text, this.#at) });
      } else if (char === '}' || char === ']') this.#close(char === '}' ? '{' : '[', found);
      else if (this.#open.length > 0 && (char === '"' || (char === "'" && beginsText(text, this.#at)))) {
        this.#quote = char;
      }
    }
    return found;
  }

  /** The objects that the text ended in, innermost first. */
  get unfinished(): FoundObject[] {
    return this.#open.flatMap((bracket, index) => this.#object(bracket, index, this.#at)).reverse();
  }

  /** Closes a bracket and those that should have been closed inside it. */
  #close(opener: '{' | '[', found: FoundObject[]): void {
    const index = this.#open.findLastIndex(({ char }) => char === opener);
    if (index < 0) return;
    for (let inner = this.#open.length - 1; inner >= index; inner--) {
      const bracket = this.#open[inner];
      // An object whose end is missing ends before the bracket that closes it.
      const end = inner === index ? this.#at + 1 : this.#at;
      if (bracket) found.push(...this.#object(bracket, inner, end));
    }
    this.#open.length = index;
  }

  #object(bracket: Bracket, index: number, end: number): FoundObject[] {
    if (bracket.char !== '{') return [];
    return [{ start: bracket.start, end, keys: this.#open.slice(0, index + 1).map(({ key }) => key) }];
  }
}

/** The key that a bracket is the value of, or null. */
function keyBefore(text: string, at: number): string | null {
  const before = text.slice(Math.max(0, at - maxKey), at);
  const key = /(?:"([^"]*)"|'([^']*)'|([\w$]+))\s*:\s*$/.exec(before);
  return key?.[1] ?? key?.[2] ?? key?.[3] ?? null;
}

/** Whether a single quote begins a text, rather than being an apostrophe or the quote of a bare literal. */
function beginsText(text: string, at: number): boolean {
  return /[{[(,:=]\s*[bBrRuUfF]{0,2}$/.test(text.slice(Math.max(0, at - maxKey), at));
}
