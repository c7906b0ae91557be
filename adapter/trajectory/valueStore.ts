import type { Value } from './state';

/** A text that differs from another in one stretch. */
interface ChangedText {
  readonly base: number;
  /** How many characters of the base's text stay at its beginning and at its end. */
  readonly kept: readonly [start: number, end: number];
  readonly middle: string;
  /** How many changed texts have to be read for this one, with itself. */
  readonly depth: number;
}

/** A known value without a confidence is its repr alone: most are. */
type StoredValue = string | ChangedText | { readonly value: Value };

/** Texts from this length on, in characters, are kept as differences from the value before. */
const longText = 128;
/** No text is put together from more differences than this. */
const maxDepth = 32;
/** How many values are remembered, twice over, so that equal ones are kept once. */
const generationSize = 32_768;

/**
 * The values of a trajectory's states, by number. Values that were seen not long ago are kept once; a long text
 * that is much like the one before it, such as a list that grows, is kept as what differs.
 */
export class ValueStore {
  readonly #stored: StoredValue[] = [];
  /** The numbers of values that were met lately, and of those met before them. */
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  /**
   * The number of a value.
   *
   * @param before the number of the value that it takes the place of, or -1
   */
  add(value: Value, before = -1): number {
    if (!isPlain(value)) return this.#stored.push({ value }) - 1;
    const { repr } = value;
    const known = this.#young.get(repr) ?? this.#old.get(repr);
    if (known !== undefined) {
      this.#remember(repr, known);
      return known;
    }
    const changed = before >= 0 && repr.length >= longText ? this.#changedText(repr, before) : null;
    const number = this.#stored.push(changed ?? repr) - 1;
    // A text that is kept as a difference would be kept whole in this table.
    if (!changed) this.#remember(repr, number);
    return number;
  }

  get(number: number): Value {
    const stored = this.#at(number);
    if (typeof stored === 'object' && 'value' in stored) return stored.value;
    return { repr: this.#text(stored), confidence: null };
  }

  #at(number: number): StoredValue {
    const stored = this.#stored[number];
    if (stored === undefined) throw new RangeError(`There is no value ${number}.`);
    return stored;
  }

  #text(stored: string | ChangedText): string {
    if (typeof stored === 'string') return stored;
    const base = this.get(stored.base).repr ?? '';
    const [start, end] = stored.kept;
    return base.slice(0, start) + stored.middle + base.slice(base.length - end);
  }

  #changedText(repr: string, base: number): ChangedText | null {
    const stored = this.#at(base);
    if (typeof stored === 'object' && 'value' in stored) return null;
    const depth = typeof stored === 'string' ? 1 : stored.depth + 1;
    if (depth > maxDepth) return null;
    const before = this.#text(stored);
    const most = Math.min(before.length, repr.length);
    let start = 0;
    while (start < most && before.charCodeAt(start) === repr.charCodeAt(start)) start++;
    let end = 0;
    while (
      end < most - start &&
      before.charCodeAt(before.length - 1 - end) === repr.charCodeAt(repr.length - 1 - end)
    ) {
      end++;
    }
    if (start + end < repr.length / 2) return null;
    // A slice of the text would keep the whole of it alive: the middle is copied out.
    const middle = Buffer.from(repr.slice(start, repr.length - end), 'utf16le').toString('utf16le');
    return { base, kept: [start, end], middle, depth };
  }

  #remember(repr: string, number: number): void {
    if (this.#young.size >= generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(repr, number);
  }
}

/** Whether a value is known and carries nothing but its repr. */
function isPlain(value: Value): value is Value & { readonly repr: string } {
  if (value.repr === null || value.confidence !== null) return false;
  for (const key in value) if (key !== 'repr' && key !== 'confidence') return false;
  return true;
}
