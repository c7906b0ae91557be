import { ChangedLocals } from './changedLocals';
import { IntColumn } from './intColumn';
import type { Locals, Value } from './state';
import { ValueStore } from './valueStore';

/*
 * A record in the pool: the record that it differs from (-1: it is whole), how many pairs lie between it and a
 * whole one, how many names the locals have, how many pairs follow; then the pairs, of a name's number and its
 * value's, or -1 where the name is gone.
 */
const headerLength = 4;
const gone = -1;

/** Records may differ from whole ones by this many pairs more than the locals have names. */
const slack = 16;

/**
 * The locals of a trajectory's states, as differences between the states of a frame. Records have the numbers
 * that `add` gives. As reading follows the differences back to a whole record, one is kept whenever they have
 * come to about as much as the locals themselves: neither memory nor reading grows beyond a small factor.
 */
export class LocalsStore {
  readonly #pool = new IntColumn();
  readonly #values = new ValueStore();
  readonly #names: string[] = [];
  readonly #nameNumbers = new Map<string, number>();

  /** Records a value that is no local. */
  addValue(value: Value): number {
    return this.#values.add(value);
  }

  /** A value that was recorded with `addValue`. */
  value(number: number): Value {
    return this.#values.get(number);
  }

  /** Records locals of which nothing is known from before. */
  addWhole(locals: Locals): number {
    const pairs = [...locals].flatMap(([name, value]) => [this.#numberOf(name), this.#values.add(value)]);
    return this.#append(-1, 0, locals.size, pairs);
  }

  /**
   * Records the locals that follow others of the same frame.
   *
   * @param record the record of those before
   * @param before what they are, where somebody still has them
   * @returns the record; the one before where nothing has changed
   */
  addAfter(record: number, before: Locals | null, locals: Locals): number {
    if (before === locals) return record;
    const pairs: number[] = [];
    let size = this.#pool.get(record + 2);
    if (before && locals instanceof ChangedLocals && locals.isAfter(before)) {
      for (const name of locals.removed) {
        if (!locals.changed.has(name)) size += this.#addPair(pairs, record, name, null);
      }
      for (const [name, value] of locals.changed) size += this.#addPair(pairs, record, name, value);
    } else {
      const known = before ?? this.read(record);
      for (const name of known.keys()) {
        if (!locals.has(name)) size += this.#addPair(pairs, record, name, null);
      }
      for (const [name, value] of locals) {
        if (!isSame(known.get(name), value)) size += this.#addPair(pairs, record, name, value);
      }
    }
    if (pairs.length === 0) return record;
    const cost = this.#pool.get(record + 1) + pairs.length / 2;
    if (cost <= slack + size) return this.#append(record, cost, size, pairs);
    const numbers = this.#numbers(record);
    apply(numbers, pairs);
    return this.#append(-1, 0, size, [...numbers].flat());
  }

  /** The locals of a record. */
  read(record: number): Locals {
    const locals = new Map<string, Value>();
    for (const [name, value] of this.#numbers(record)) {
      locals.set(this.#names[name] ?? '', this.#values.get(value));
    }
    return locals;
  }

  /**
   * Adds a name's new value to the pairs that follow a record; null: the name is gone.
   *
   * @returns how many names there are more
   */
  #addPair(pairs: number[], record: number, name: string, value: Value | null): number {
    const number = this.#numberOf(name);
    const old = this.#newest(record, number);
    pairs.push(number, value ? this.#values.add(value, old) : gone);
    return Number(value !== null) - Number(old !== gone);
  }

  /** The numbers of a record's names and values. */
  #numbers(record: number): Map<number, number> {
    const chain: number[] = [];
    for (let at = record; at >= 0; at = this.#pool.get(at)) chain.push(at);
    const numbers = new Map<number, number>();
    for (const at of chain.reverse()) apply(numbers, this.#pairs(at));
    return numbers;
  }

  /** The number of a name's value at a record, or -1. */
  #newest(record: number, name: number): number {
    for (let at = record; at >= 0; at = this.#pool.get(at)) {
      const end = at + headerLength + 2 * this.#pool.get(at + 3);
      for (let pair = at + headerLength; pair < end; pair += 2) {
        if (this.#pool.get(pair) === name) return this.#pool.get(pair + 1);
      }
    }
    return gone;
  }

  #pairs(record: number): Int32Array {
    const start = record + headerLength;
    return this.#pool.slice(start, start + 2 * this.#pool.get(record + 3));
  }

  #append(before: number, cost: number, size: number, pairs: readonly number[]): number {
    const record = this.#pool.push(before);
    this.#pool.push(cost);
    this.#pool.push(size);
    this.#pool.push(pairs.length / 2);
    for (const part of pairs) this.#pool.push(part);
    return record;
  }

  #numberOf(name: string): number {
    const known = this.#nameNumbers.get(name);
    if (known !== undefined) return known;
    const number = this.#names.push(name) - 1;
    this.#nameNumbers.set(name, number);
    return number;
  }
}

/** Takes pairs into the numbers of names and values. */
function apply(numbers: Map<number, number>, pairs: ArrayLike<number>): void {
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const name = pairs[at] ?? 0;
    const value = pairs[at + 1] ?? gone;
    if (value === gone) numbers.delete(name);
    else numbers.set(name, value);
  }
}

/** Whether a value says what another does, whatever it carries. */
function isSame(one: Value | undefined, other: Value): boolean {
  if (one === other) return true;
  if (!one) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof Value>;
  for (const key of keys) if (one[key] !== other[key]) return false;
  return true;
}
