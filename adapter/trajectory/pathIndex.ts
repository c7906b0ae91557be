import { IntColumn } from './intColumn';

/**
 * Tells which states lie on one path, however long that is. The record is cut into stretches, in which each state
 * follows the one before; where a state is followed by a second one, another stretch begins. There are few of them:
 * each comes from a person's what-if or from another sample.
 */
export class PathIndex {
  /** The stretch of each state. */
  readonly #stretchOf = new IntColumn();
  /** Of each stretch: the state before its first, or -1, its first and last state, and how many it has. */
  readonly #origins = new IntColumn();
  readonly #firsts = new IntColumn();
  readonly #lasts = new IntColumn();
  readonly #lengths = new IntColumn();
  /** Of each stretch, its states after which another stretch begins, in order. */
  readonly #forks = new Map<number, number[]>();

  constructor(
    /** The state that follows another one now, or null. */
    private readonly next: (state: number) => number | null,
  ) {}

  /**
   * Takes in a state, after all those with lower indices.
   *
   * @param from the state before it, or -1
   * @param isContinued whether the end of the program was recorded there before
   */
  append(from: number, isContinued: boolean): void {
    const index = this.#stretchOf.length;
    const stretch = from < 0 ? -1 : this.#stretchOf.get(from);
    if (stretch >= 0 && !isContinued && this.#lasts.get(stretch) === from) {
      this.#stretchOf.push(stretch);
      this.#lasts.set(stretch, index);
      this.#lengths.set(stretch, this.#lengths.get(stretch) + 1);
      return;
    }
    this.#stretchOf.push(this.#origins.push(from));
    this.#firsts.push(index);
    this.#lasts.push(index);
    this.#lengths.push(1);
    this.mayEnd(from);
  }

  /** Takes in that what follows a state may be another one than the next of its stretch, or nothing. */
  mayEnd(state: number): void {
    if (state < 0) return;
    const stretch = this.#stretchOf.get(state);
    const forks = this.#forks.get(stretch) ?? [];
    if (!forks.includes(state))
      this.#forks.set(
        stretch,
        [...forks, state].sort((one, other) => one - other),
      );
  }

  /** The first state of a state's stretch. */
  stretchBeginning(state: number): number {
    return this.#firsts.get(this.#stretchOf.get(state));
  }

  /** How many states a state's stretch has. */
  stretchLength(state: number): number {
    return this.#lengths.get(this.#stretchOf.get(state));
  }

  /** The last state that the ways from the beginning to two states have in common, or -1. */
  lastCommon(one: number, other: number): number {
    const ends = new Map([...this.#wayTo(other)].map(({ stretch, end }) => [stretch, end]));
    for (const { stretch, end } of this.#wayTo(one)) {
      const otherEnd = ends.get(stretch);
      if (otherEnd !== undefined) return Math.min(end, otherEnd);
    }
    return -1;
  }

  /**
   * The places that decide whether a way leads through a state, and from there on along its stretch: states after
   * which another one may be followed than that of the way.
   *
   * @returns each of them with the state that follows it on the way; null for the one that goes on with its stretch
   */
  *placesOf(state: number): Generator<{ readonly at: number; readonly next: number | null }> {
    let limit = Infinity;
    for (const { stretch } of this.#wayTo(state)) {
      for (const at of this.#forks.get(stretch) ?? []) if (at < limit) yield { at, next: null };
      limit = this.#origins.get(stretch);
      yield { at: limit, next: this.#firsts.get(stretch) };
    }
  }

  /** Whether a state is on the way from the beginning to another one. */
  leadsTo(state: number, later: number): boolean {
    const stretch = this.#stretchOf.get(state);
    let at = later;
    while (at >= state && this.#stretchOf.get(at) !== stretch) {
      at = this.#origins.get(this.#stretchOf.get(at));
    }
    return at >= state;
  }

  /** The first of some states, in order, that is followed now from a state on; null where none is. */
  firstFollowed(from: number, states: readonly number[]): number | null {
    for (const { stretch, start, end } of this.#followed(from)) {
      const found = states.find(
        (state) => state >= start && state <= end && this.#stretchOf.get(state) === stretch,
      );
      if (found !== undefined) return found;
    }
    return null;
  }

  /** The last state that is followed now from a state on: the state itself, where nothing follows. */
  lastFollowed(from: number): number {
    let last = from;
    for (const { end } of this.#followed(from)) last = end;
    return last;
  }

  /** The stretches that lead to a state, its own first, each with its last state on the way. */
  *#wayTo(state: number): Generator<{ stretch: number; end: number }> {
    for (let end = state; end >= 0;) {
      const stretch = this.#stretchOf.get(end);
      yield { stretch, end };
      end = this.#origins.get(stretch);
    }
  }

  /** The parts of stretches that are followed from a state on. */
  *#followed(from: number): Generator<{ stretch: number; start: number; end: number }> {
    for (let start: number | null = from; start !== null;) {
      const stretch: number = this.#stretchOf.get(start);
      const { end, next }: { end: number; next: number | null } = this.#leaving(stretch, start);
      yield { stretch, start, end };
      start = next;
    }
  }

  /** Where the way leaves a stretch, from one of its states on, and to which state. */
  #leaving(stretch: number, start: number): { end: number; next: number | null } {
    const forks = this.#forks.get(stretch) ?? [];
    for (let at = firstFrom(forks, start); at < forks.length; at++) {
      const end = forks[at] ?? start;
      const next = this.next(end);
      if (next === null || this.#stretchOf.get(next) !== stretch) return { end, next };
    }
    return { end: this.#lasts.get(stretch), next: null };
  }
}

/** The index of the first of some numbers, in order, that is not less than another. */
function firstFrom(numbers: readonly number[], least: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
