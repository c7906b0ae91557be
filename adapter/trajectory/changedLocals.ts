import type { Locals, Value } from './state';

/** After so many differences the whole is put together, so that not all of them stay in memory. */
const maxChain = 64;

/**
 * A frame's locals that differ from those before in a few names. Only the difference is held until the locals are
 * looked at: a module with thousands of definitions has a state for each of them.
 */
export class ChangedLocals implements ReadonlyMap<string, Value> {
  #before: Locals | null;
  #whole: ReadonlyMap<string, Value> | null = null;
  /** How many differences have to be read, with this one. */
  readonly #chain: number;

  constructor(
    before: Locals,
    /** Names that are new or have another value. */
    readonly changed: Locals,
    /** Names that are gone. */
    readonly removed: readonly string[],
  ) {
    this.#before = before;
    const chain = before instanceof ChangedLocals && !before.#whole ? before.#chain + 1 : 1;
    if (chain > maxChain) before.forEach(() => undefined);
    this.#chain = chain > maxChain ? 1 : chain;
  }

  /** Whether these are the differences from other locals. */
  isAfter(other: Locals): boolean {
    return this.#before === other;
  }

  get size(): number {
    return this.#locals.size;
  }

  get(name: string): Value | undefined {
    return this.#locals.get(name);
  }

  has(name: string): boolean {
    return this.#locals.has(name);
  }

  keys(): MapIterator<string> {
    return this.#locals.keys();
  }

  values(): MapIterator<Value> {
    return this.#locals.values();
  }

  entries(): MapIterator<[string, Value]> {
    return this.#locals.entries();
  }

  [Symbol.iterator](): MapIterator<[string, Value]> {
    return this.#locals.entries();
  }

  forEach(visit: (value: Value, name: string, locals: Locals) => void): void {
    for (const [name, value] of this.#locals) visit(value, name, this);
  }

  get #locals(): ReadonlyMap<string, Value> {
    if (this.#whole) return this.#whole;
    const changes: ChangedLocals[] = [this];
    let base = this.#before;
    while (base instanceof ChangedLocals && !base.#whole) {
      changes.push(base);
      base = base.#before;
    }
    const whole = new Map(base instanceof ChangedLocals ? base.#whole : base);
    for (const { changed, removed } of changes.reverse()) {
      for (const name of removed) whole.delete(name);
      for (const [name, value] of changed) whole.set(name, value);
    }
    this.#whole = whole;
    // What came before need not be kept for this any longer.
    this.#before = null;
    return whole;
  }
}
