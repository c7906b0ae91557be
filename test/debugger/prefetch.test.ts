import { afterAll, describe, expect, it } from 'vitest';
import { defaultBudget } from '../../adapter/debugger/budget';
import { Debugger } from '../../adapter/debugger/debugger';
import { defaultOptions, type DebuggerOptions } from '../../adapter/debugger/options';
import { ExpressionEvaluator } from '../../adapter/python/expressions';
import { PythonSource } from '../../adapter/python/source';
import type { State, Step } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import type { PredictRequest, World } from '../../adapter/world/world';
import { step } from '../support/steps';

const evaluator = new ExpressionEvaluator({});
afterAll(() => evaluator.close());

const source = 'def f(n):\n    a = 1\n    b = 2\n    c = 3\n    return c\n';
const steps: Step[] = [
  step('call', 'f', 1, { n: '1' }),
  step('line', 'f', 2, { n: '1' }),
  step('line', 'f', 3, { n: '1', a: '1' }),
  step('line', 'f', 4, { n: '1', a: '1', b: '2' }),
  step('line', 'f', 5, { n: '1', a: '1', b: '2', c: '3' }),
  step('return', 'f', 5, null, { argument: '3' }),
  { kind: 'end', how: 'returned', notes: [], text: null, output: null },
];

/** A model that answers one state at a time, when it is told to. */
class SlowWorld implements World {
  readonly description = { kind: 'server', name: 'a slow model', isReal: false } as const;
  readonly actions = new Set(['step_into'] as const);
  /** From where predictions were asked, and which of those were left before they gave anything. */
  readonly asked: number[] = [];
  readonly left: number[] = [];
  readonly canBeEdited = false;
  readonly samplingTemperature = null;
  readonly questions = { kind: 'none', why: 'it is a test' } as const;
  isFailing = false;
  #permits: (() => void)[] = [];
  #isFree = true;

  /** From now on states come only when they are let through. */
  hold(): void {
    this.#isFree = false;
  }

  let(): void {
    for (const permit of this.#permits.splice(0)) permit();
  }

  async *predict({ from, signal }: PredictRequest): AsyncGenerator<readonly Step[]> {
    this.asked.push(from);
    if (this.isFailing) throw new Error('The model is away.');
    if (!this.#isFree) {
      await new Promise<void>((resolve) => {
        this.#permits.push(resolve);
        signal.addEventListener('abort', () => {
          this.left.push(from);
          resolve();
        });
      });
    }
    if (signal.aborted) return;
    const next = steps[from + 1];
    if (next) yield from < 0 ? steps.slice(0, 2) : [next];
  }

  project(state: State): State {
    return state;
  }

  whatIfProblem(): string {
    return 'It cannot be edited.';
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function debug(options: Partial<DebuggerOptions> = {}) {
  const program = { path: '/p.py', source, entry: 'f(1)', args: [] };
  const world = new SlowWorld();
  const trajectory = new Trajectory(program);
  const session = new Debugger(await PythonSource.parse(source), trajectory, world, evaluator, {
    ...defaultOptions,
    prefetch: true,
    ...options,
  });
  return { session, world, trajectory };
}

/** Lets all work be done that waits for nothing. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('the step over that is likely', () => {
  it('is predicted at a stop, and recorded', async () => {
    const { session, world, trajectory } = await debug();
    await session.start(true);
    await settled();
    expect(world.asked).toEqual([-1, 1]);
    expect(trajectory.length).toBe(3);
    expect(session.cursor).toBe(1);
    // It is there already: only the one after it is asked for.
    world.hold();
    expect((await session.forward('next')).state).toBe(2);
    await settled();
    expect(world.asked).toEqual([-1, 1, 2]);
    await session.close();
  });

  it('is not, where that is not wanted, as by default', async () => {
    const { session, world } = await debug({ prefetch: defaultOptions.prefetch });
    await session.start(true);
    await settled();
    expect(world.asked).toEqual([-1]);
  });

  it.each(['next', 'stepIn'] as const)('is waited for by %s, and not asked for twice', async (request) => {
    const { session, world } = await debug();
    world.hold();
    const started = session.start(true);
    await settled();
    world.let();
    await started;
    await settled();
    const stepped = session.forward(request);
    await settled();
    expect(session.isRunning).toBe(true);
    world.let();
    expect((await stepped).state).toBe(2);
    expect(world.asked.slice(0, 2)).toEqual([-1, 1]);
    await session.close();
  });

  it('is given up where something else is asked for', async () => {
    const { session, world, trajectory } = await debug();
    await session.start(true);
    await settled();
    world.hold();
    await session.forward('next');
    await settled();
    expect(world.asked.at(-1)).toBe(2);
    await session.back('stepBack');
    expect(world.left).toEqual([2]);
    world.let();
    await settled();
    expect(trajectory.length).toBe(3);
  });

  it('is given up for a continue, which asks for itself', async () => {
    const { session, world } = await debug();
    await session.start(true);
    await settled();
    world.hold();
    await session.forward('next');
    await settled();
    const continued = session.forward('continue');
    await settled();
    expect(world.left).toEqual([2]);
    expect(world.asked).toEqual([-1, 1, 2, 2]);
    while (session.isRunning) {
      world.let();
      await settled();
    }
    expect((await continued).reason).toBe('end');
  });

  it('is given up by a pause and by the end of the session', async () => {
    const { session, world } = await debug();
    await session.start(true);
    await settled();
    world.hold();
    await session.forward('next');
    await settled();
    await session.close();
    expect(world.left).toEqual([2]);
  });

  it('fails without a word; the request that needs it meets the failure, and nothing is predicted then', async () => {
    const { session, world } = await debug();
    await session.start(true);
    await settled();
    world.isFailing = true;
    await session.forward('next');
    await settled();
    expect(world.asked).toEqual([-1, 1, 2]);
    await expect(session.forward('next')).rejects.toThrow('The model is away.');
    await settled();
    expect(world.asked).toEqual([-1, 1, 2, 2]);
    world.isFailing = false;
    expect((await session.forward('next')).state).toBe(3);
  });

  it('stays within the budget of a request', async () => {
    const { session, world } = await debug({ budget: { ...defaultBudget, states: 1 } });
    await session.start(true);
    await settled();
    expect(world.asked.length).toBeLessThanOrEqual(3);
    await session.close();
  });

  it('is not predicted at the end', async () => {
    const { session, world } = await debug();
    await session.start(true);
    await session.forward('continue');
    const { length } = world.asked;
    await settled();
    expect(world.asked.length).toBe(length);
  });
});
