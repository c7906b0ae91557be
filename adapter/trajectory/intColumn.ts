/** A list of 32-bit integers that grows at its end, in the memory that they take and little more. */
export class IntColumn {
  #values = new Int32Array(16);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** @returns where the value is */
  push(value: number): number {
    if (this.#length === this.#values.length) {
      const grown = new Int32Array(Math.ceil(this.#length * 1.5));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length] = value;
    return this.#length++;
  }

  /** @throws RangeError where there is no such value */
  get(index: number): number {
    const value = index < this.#length ? this.#values[index] : undefined;
    if (value === undefined) throw new RangeError(`A column of ${this.#length} values has none at ${index}.`);
    return value;
  }

  /** The values between two indices, as a view that is true until the column grows. */
  slice(start: number, end: number): Int32Array {
    return this.#values.subarray(start, Math.min(end, this.#length));
  }

  /** Writes another value over one that is there. */
  set(index: number, value: number): void {
    if (index < 0 || index >= this.#length) {
      throw new RangeError(`A column of ${this.#length} values has none at ${index}.`);
    }
    this.#values[index] = value;
  }
}
