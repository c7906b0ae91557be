import { IntColumn } from './intColumn';

/**
 * The order in which states follow each other. A state may be followed by more than one: the first of them goes
 * on with the branch, every other one begins a branch of its own. One of them is the one that is followed.
 */
export class Branches {
  /** The followed state after each state; -1 where none is. */
  readonly #next = new IntColumn();
  #first = -1;
  /** The states after a state, in order, where they are more than one or none of them is followed. */
  readonly #forks = new Map<number, number[]>();
  readonly #beginnings: number[] = [];

  /** The states that begin a branch, in the order in which they were recorded. */
  get beginnings(): readonly number[] {
    return this.#beginnings;
  }

  /**
   * Adds the next state of the record after another one (-1: at the beginning). It is followed from now on.
   *
   * @param isContinued whether something else than states is known to follow there: the program's end
   */
  append(from: number, isContinued: boolean): void {
    const index = this.#next.push(-1);
    const siblings = this.children(from);
    if (from < 0 || siblings.length > 0 || isContinued) this.#beginnings.push(index);
    if (siblings.length > 0) this.#forks.set(from, [...siblings, index]);
    this.#setNext(from, index);
  }

  /** The followed state after one (-1: the first state), or -1. */
  next(index: number): number {
    return index < 0 ? this.#first : this.#next.get(index);
  }

  /** All states recorded right after one (-1: the first states), in the order of their recording. */
  children(index: number): readonly number[] {
    const fork = this.#forks.get(index);
    if (fork) return fork;
    const next = this.next(index);
    return next < 0 ? [] : [next];
  }

  /** The state that goes on with the branch after one, or -1 at the branch's end. */
  continuation(index: number): number {
    const [first] = this.children(index);
    return first === undefined || this.#begins(first) ? -1 : first;
  }

  /** Makes one of the states after a state the followed one; -1: none of them. */
  follow(from: number, next: number): void {
    const children = this.children(from);
    if (next < 0 && children.length > 0) this.#forks.set(from, [...children]);
    this.#setNext(from, next);
  }

  #setNext(from: number, next: number): void {
    if (from < 0) this.#first = next;
    else this.#next.set(from, next);
  }

  #begins(state: number): boolean {
    let low = 0;
    let high = this.#beginnings.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#beginnings[middle] ?? 0) < state) low = middle + 1;
      else high = middle;
    }
    return this.#beginnings[low] === state;
  }
}
