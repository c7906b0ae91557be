import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ChangedLocals } from '../adapter/trajectory/changedLocals';
import { navigate, type Navigation } from '../adapter/trajectory/navigation';
import { type Locals, plainPrediction, type State } from '../adapter/trajectory/state';
import { Trajectory } from '../adapter/trajectory/trajectory';

/*
 * What the record of a long run takes: bytes a state, and the time of navigations from random states and from the
 * ends of long calls. Neither should grow with the record; the times are also given as ratios to the smallest one's.
 */

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const sizes = [1_000, 100_000, 1_000_000];
const step = { name: 'step_into' } as const;
const actions = [
  'step_into',
  'step_over',
  'step_return',
  'inv_step_into',
  'inv_step_over',
  'inv_step_call',
] as const satisfies readonly Navigation[];

/** Bytes that are in use, inside and outside of the heap, after a collection of garbage. */
function bytesInUse(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Appends the states of a program one by one; each has the locals of the one before with some changed. */
class Writer {
  readonly trajectory = new Trajectory({ path: '<bench>', source: '', entry: null, args: [] });
  #last = -1;
  readonly #locals: Locals[] = [];

  get length(): number {
    return this.trajectory.length;
  }

  add(
    event: State['event'],
    name: string,
    line: number,
    changed: Readonly<Record<string, string>> = {},
  ): void {
    if (event === 'call') this.#locals.push(new Map());
    const before = this.#locals.at(-1) ?? new Map();
    const values = Object.entries(changed).map(([key, repr]) => [key, { repr, confidence: null }] as const);
    const locals = values.length > 0 ? new ChangedLocals(before, new Map(values), []) : before;
    this.#locals[this.#locals.length - 1] = locals;
    const state: State = {
      event,
      function: name,
      line,
      thread: null,
      locals,
      argument: event === 'return' ? { repr: `${this.length}`, confidence: null } : null,
    };
    this.#last = this.trajectory.append(this.#last, step, plainPrediction(state));
    if (event === 'return') this.#locals.pop();
  }
}

/** One call whose loop runs almost all of the states, with two names that change. */
function oneLoop(size: number): Trajectory {
  const writer = new Writer();
  writer.add('call', '<module>', 0);
  writer.add('line', '<module>', 9);
  writer.add('call', 'f', 1, { n: `${size}`, table: "{'a': 1}" });
  for (let i = 0; writer.length < size - 2; i++) {
    writer.add('line', 'f', 2, { i: `${i}` });
    writer.add('line', 'f', 3, { total: `${i * 7}` });
  }
  writer.add('return', 'f', 4);
  writer.add('line', '<module>', 10, { result: '1' });
  return writer.trajectory;
}

/** Calls inside calls: three states each, as in a naive Fibonacci. */
function recursion(size: number): Trajectory {
  const writer = new Writer();
  writer.add('call', '<module>', 0);
  const fib = (n: number): void => {
    writer.add('call', 'fib', 1, { n: `${n}` });
    writer.add('line', 'fib', 2);
    if (n > 1 && writer.length < size) fib(n - 1);
    if (n > 1 && writer.length < size) fib(n - 2);
    writer.add('return', 'fib', 3);
  };
  while (writer.length < size - 2) {
    writer.add('line', '<module>', 9);
    fib(24);
  }
  return writer.trajectory;
}

/** A list that grows to the length at which values are cut. */
function growingList(size: number): Trajectory {
  const writer = new Writer();
  writer.add('call', '<module>', 0);
  for (let i = 0; writer.length < size; i++) {
    const shown = Array.from({ length: Math.min(i, 128) }, (_, item) => item * 1_000).join(', ');
    writer.add('line', '<module>', 2, { i: `${i}` });
    writer.add('line', '<module>', 3, { items: i > 128 ? `[${shown}, ... +${i - 128} more]` : `[${shown}]` });
  }
  return writer.trajectory;
}

/** Nanoseconds of one navigation, the median of rounds. */
function nanoseconds(work: (state: number) => unknown, states: readonly number[]): number {
  const rounds = Array.from({ length: 9 }, () => {
    const begin = process.hrtime.bigint();
    for (const state of states) work(state);
    return Number(process.hrtime.bigint() - begin) / states.length;
  });
  return rounds.sort((one, other) => one - other)[4] ?? 0;
}

/** The bytes a state and the nanoseconds of each navigation. */
function measure(make: (size: number) => Trajectory, size: number): Record<string, number> {
  const before = bytesInUse();
  const begin = performance.now();
  const trajectory = make(size);
  const append = ((performance.now() - begin) * 1e6) / trajectory.length;
  const bytes = (bytesInUse() - before) / trajectory.length;
  const last = trajectory.length - 1;
  const states = Array.from({ length: 500 }, (_, i) => (i * 7_919) % last).concat(2, last);
  const times: Record<string, number> = {
    append,
    threads: nanoseconds((state) => trajectory.threads(state), states),
    stack: nanoseconds((state) => trajectory.stack(state), states),
    locals: nanoseconds((state) => trajectory.locals(state)?.locals, states),
  };
  for (const action of actions) {
    times[action] = nanoseconds((state) => navigate(trajectory, state, action), states);
  }
  return { bytes, ...times };
}

for (const [name, make] of Object.entries({ oneLoop, recursion, growingList })) {
  console.log(`${name}:`);
  measure(make, sizes[0] ?? 0);
  let first: Record<string, number> | null = null;
  for (const size of sizes) {
    const { bytes = 0, ...times } = measure(make, size);
    const base = (first ??= times);
    const shown = Object.entries(times).map(
      ([what, time]) => `${what} ${time.toFixed(0)} ns (×${(time / (base[what] ?? time)).toFixed(1)})`,
    );
    console.log(`  ${size} states: ${bytes.toFixed(0)} bytes a state; ${shown.join(', ')}`);
  }
}
