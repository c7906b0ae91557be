/**
 * What stands in a model's JSON, or in what was meant as JSON. Positions are UTF-16 units of the text read.
 * Numbers and bare words keep their text, since `1.0` and `1` are different values in Python.
 */
export type Loose =
  | { readonly kind: 'text'; readonly text: string; readonly start: number; readonly end: number }
  | { readonly kind: 'word'; readonly text: string; readonly start: number; readonly end: number }
  | { readonly kind: 'list'; readonly items: readonly Loose[]; readonly start: number; readonly end: number }
  | LooseMap;

export interface LooseMap {
  readonly kind: 'map';
  readonly entries: readonly (readonly [key: Loose, value: Loose])[];
  readonly start: number;
  readonly end: number;
}

/** Deeper brackets are kept as text, so that no answer exhausts the stack. */
const maxDepth = 64;

/**
 * Reads an object as models write it: as JSON, or with trailing or missing commas, comments, single quotes,
 * keys without quotes, Python's literals, and without its end. Whatever stands between the brackets is read
 * as something.
 *
 * @param start where its `{` is
 * @param end where reading ends at the latest
 */
export function readLooseObject(text: string, start: number, end: number): LooseMap {
  const value = new LooseReader(text, start, end).value(0);
  return value.kind === 'map' ? value : { kind: 'map', entries: [], start, end };
}

/** The ends of words at depth 0; a key also ends at its colon. */
const valueEnds = ',]}';
const keyEnds = ',]}:';
const openers = '([{';
const closers = ')]}';

class LooseReader {
  constructor(
    private readonly source: string,
    private at: number,
    private readonly limit: number,
  ) {}

  value(depth: number): Loose {
    this.#skipSpace();
    const char = this.#char();
    if ((char === '{' || char === '[') && depth < maxDepth)
      return char === '{' ? this.#map(depth) : this.#list(depth);
    if (char === '"' || char === "'") return this.#text();
    return this.#word(valueEnds);
  }

  #map(depth: number): Loose {
    const start = this.at++;
    const entries: (readonly [Loose, Loose])[] = [];
    for (;;) {
      this.#skipSpace();
      const char = this.#char();
      if (char === '' || char === ']') break;
      if (char === '}') {
        this.at++;
        break;
      }
      if (char === ',' || char === ':') {
        this.at++;
        continue;
      }
      const key = char === '"' || char === "'" ? this.#text() : this.#word(keyEnds);
      this.#skipSpace();
      if (this.#char() !== ':') {
        // A set of Python: there is no key. In JSON it is a slip that is passed over.
        if (entries.length === 0) return this.#raw(start);
        continue;
      }
      this.at++;
      entries.push([key, this.value(depth + 1)]);
      this.#skipToEnd();
    }
    return { kind: 'map', entries, start, end: this.at };
  }

  #list(depth: number): Loose {
    const start = this.at++;
    const items: Loose[] = [];
    for (;;) {
      this.#skipSpace();
      const char = this.#char();
      if (char === '' || char === '}') break;
      this.at++;
      if (char === ']') break;
      if (char === ',') continue;
      this.at--;
      items.push(this.value(depth + 1));
      this.#skipToEnd();
    }
    return { kind: 'list', items, start, end: this.at };
  }

  /** A quoted text with JSON's escapes; others are Python's and stay as they are. */
  #text(): Loose {
    const start = this.at;
    const quote = this.#char();
    let text = '';
    for (this.at++; this.at < this.limit; this.at++) {
      const char = this.#char();
      if (char === quote) {
        this.at++;
        break;
      }
      if (char === '\\') {
        this.at++;
        text += this.#escape();
      } else text += char;
    }
    return { kind: 'text', text, start, end: this.at };
  }

  #escape(): string {
    const char = this.#char();
    switch (char) {
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u': {
        const digits = this.source.slice(this.at + 1, Math.min(this.at + 5, this.limit));
        if (!/^[0-9a-f]{4}$/i.test(digits)) return '\\u';
        this.at += 4;
        return String.fromCharCode(parseInt(digits, 16));
      }
      case '"':
      case "'":
      case '\\':
      case '/':
        return char;
      default:
        return `\\${char}`;
    }
  }

  /** Text without quotes, up to what ends it; brackets and quotes inside are passed over as wholes. */
  #word(ends: string): Loose {
    const start = this.at;
    let depth = 0;
    while (this.at < this.limit) {
      const char = this.#char();
      if (depth === 0 && ends.includes(char)) break;
      if (openers.includes(char)) depth++;
      else if (closers.includes(char)) depth = Math.max(0, depth - 1);
      else if (char === '"' || char === "'") {
        this.#text();
        continue;
      }
      this.at++;
    }
    return { kind: 'word', text: this.source.slice(start, this.at).trim(), start, end: this.at };
  }

  /** A bracket and what it holds, as text. */
  #raw(start: number): Loose {
    this.at = start;
    return this.#word(valueEnds);
  }

  /** Passes over what follows a value that should have ended. */
  #skipToEnd(): void {
    this.#skipSpace();
    // A missing comma before the next key or item is no rest of the value.
    if (!`${valueEnds}"'{[`.includes(this.#char())) this.#word(valueEnds);
  }

  #skipSpace(): void {
    for (;;) {
      while (/\s/.test(this.#char())) this.at++;
      if (!this.source.startsWith('//', this.at)) return;
      while (this.at < this.limit && this.#char() !== '\n') this.at++;
    }
  }

  /** The character that is next, or nothing at the end. */
  #char(): string {
    return this.at < this.limit ? this.source.charAt(this.at) : '';
  }
}
