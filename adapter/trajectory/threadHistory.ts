import { IntColumn } from './intColumn';

/**
 * Which state is a thread's newest at any state, whatever thread that one belongs to. Only switches from one
 * thread to another are recorded, on every way that the trajectory takes, and the newest states of all threads
 * whenever some switches have passed, so that no search is long.
 */
export class ThreadHistory {
  /** The newest switch at each state, or -1. */
  readonly #switchAt = new IntColumn();
  /** Of each switch: the one before it on its way, or -1, and the state after which the thread was left. */
  readonly #before = new IntColumn();
  readonly #left = new IntColumn();
  /** How many switches have passed since the newest states of all threads were recorded. */
  readonly #since = new IntColumn();
  readonly #newest = new Map<number, ReadonlyMap<string | null, number>>();
  /** The threads in the order in which they began. */
  readonly #threads = new Map<string | null, number>();

  constructor(
    /** The thread of a state. */
    private readonly threadOf: (state: number) => string | null,
  ) {}

  /**
   * Takes in a state, after all those with lower indices.
   *
   * @param from the state before it, or -1
   */
  append(from: number, thread: string | null): void {
    if (!this.#threads.has(thread)) this.#threads.set(thread, this.#threads.size);
    const before = from < 0 ? -1 : this.#switchAt.get(from);
    const isSwitch = from >= 0 && this.threadOf(from) !== thread;
    this.#switchAt.push(isSwitch ? this.#addSwitch(before, from) : before);
  }

  /** The newest state of a thread at or before a state, or -1. */
  newestIn(state: number, thread: string | null): number {
    if (state < 0 || this.threadOf(state) === thread) return state;
    for (let at = this.#switchAt.get(state); at >= 0; at = this.#before.get(at)) {
      const left = this.#left.get(at);
      if (this.threadOf(left) === thread) return left;
      const newest = this.#newest.get(at);
      if (newest) return newest.get(thread) ?? -1;
    }
    return -1;
  }

  /** The newest state of each thread that has begun at a state, in the order in which the threads began. */
  newest(state: number): Map<string | null, number> {
    const found = new Map<string | null, number>();
    const add = (thread: string | null, newest: number) => {
      if (!found.has(thread)) found.set(thread, newest);
    };
    if (state >= 0) {
      add(this.threadOf(state), state);
      for (let at = this.#switchAt.get(state); at >= 0; at = this.#before.get(at)) {
        const left = this.#left.get(at);
        add(this.threadOf(left), left);
        const newest = this.#newest.get(at);
        for (const [thread, known] of newest ?? []) add(thread, known);
        if (newest) break;
      }
    }
    const order = (thread: string | null) => this.#threads.get(thread) ?? 0;
    return new Map([...found].sort(([one], [other]) => order(one) - order(other)));
  }

  #addSwitch(before: number, left: number): number {
    const since = before < 0 ? 0 : this.#since.get(before) + 1;
    const isRecorded = since >= Math.max(64, 4 * this.#threads.size);
    const at = this.#before.push(before);
    this.#left.push(left);
    this.#since.push(isRecorded ? 0 : since);
    if (isRecorded) this.#newest.set(at, this.newest(left));
    return at;
  }
}
