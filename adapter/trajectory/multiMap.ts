/** Lists of numbers by number; lists of one, which most are, take little more than the number. */
export class MultiMap {
  readonly #lists = new Map<number, number | number[]>();

  add(key: number, value: number): void {
    const known = this.#lists.get(key);
    if (known === undefined) this.#lists.set(key, value);
    else if (typeof known === 'number') this.#lists.set(key, [known, value]);
    else known.push(value);
  }

  /** The numbers that were added for a key, in the order of their adding. */
  get(key: number): readonly number[] {
    const known = this.#lists.get(key);
    if (known === undefined) return [];
    return typeof known === 'number' ? [known] : known;
  }
}
