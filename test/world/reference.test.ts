import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { plainPrediction, type Prediction, type Step } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { ReferenceWorld } from '../../adapter/world/reference';

const step = { name: 'step_into' } as const;

function programOf(source: string, entry: string | null = null) {
  return { path: join(tmpdir(), 'neural-debug-reference.py'), source, entry, args: [] };
}

const counting = programOf('def f(n):\n    for i in range(n):\n        x = i * 2\n    return x\n', 'f(5)');

function request(trajectory: Trajectory, from: number, signal = new AbortController().signal) {
  return { trajectory, from, action: step, wanted: 'many', signal } as const;
}

/** Takes so many steps from a state on, each of them recorded, and leaves the iteration. */
async function take(world: ReferenceWorld, trajectory: Trajectory, from: number, count: number) {
  const taken: Step[] = [];
  let last = from;
  for await (const steps of world.predict(request(trajectory, from))) {
    for (const next of steps) {
      taken.push(next);
      if (next.kind === 'state') last = trajectory.append(last, step, next);
      if (taken.length === count) return { taken, last };
    }
  }
  return { taken, last };
}

function shown({ state }: Prediction) {
  const { event, line, locals, argument } = state;
  return [event, line, [...(locals ?? [])].map(([name, { repr }]) => [name, repr]), argument?.repr];
}

describe('ReferenceWorld', () => {
  it('goes on with the same run, one state at a time', async () => {
    const whole = new ReferenceWorld(counting);
    const all = await take(whole, new Trajectory(counting), -1, Infinity);
    await whole.close();

    const world = new ReferenceWorld(counting);
    const trajectory = new Trajectory(counting);
    const steps: Step[] = [];
    for (let last = -1; steps.at(-1)?.kind !== 'end';) {
      const next = await take(world, trajectory, last, 1);
      last = next.last;
      steps.push(...next.taken);
    }
    await world.close();
    expect(steps).toEqual(all.taken);
    expect(steps.at(-1)).toMatchObject({ kind: 'end', how: 'returned' });
    expect(all.taken).toHaveLength(15);
  });

  it('says which Python it is once it has run', async () => {
    const world = new ReferenceWorld(counting);
    expect(world.description).toEqual({
      kind: 'reference',
      name: 'Python, which really runs the program with your rights, within limits',
      isReal: true,
    });
    await take(world, new Trajectory(counting), -1, 1);
    expect(world.description.name).toMatch(
      /^Python 3\.\d+\.\d+\S*, which really runs the program with your rights/,
    );
    await world.close();
  });

  it('gives again what it gave before', async () => {
    const world = new ReferenceWorld(counting);
    const trajectory = new Trajectory(counting);
    const { taken } = await take(world, trajectory, -1, Infinity);
    const again: Step[] = [];
    for await (const steps of world.predict(request(trajectory, 4))) again.push(...steps);
    await world.close();
    const states = (steps: readonly Step[]) => steps.filter((each) => each.kind === 'state').map(shown);
    expect(states(again)).toEqual(states(taken.slice(5)));
    expect(again.at(-1)).toEqual(taken.at(-1));
  });

  it('follows a trajectory that another world recorded, as far as it is true', async () => {
    const first = new ReferenceWorld(counting);
    const recorded = new Trajectory(counting);
    await take(first, recorded, -1, 6);
    await first.close();
    const world = new ReferenceWorld(counting);
    const { taken } = await take(world, recorded, 5, 1);
    expect(taken[0]).toMatchObject({ kind: 'state', state: { event: 'line', line: 3 } });
    await world.close();
  });

  it('does not go on from a state that is not of the run', async () => {
    const world = new ReferenceWorld(counting);
    const trajectory = new Trajectory(counting);
    const { last } = await take(world, trajectory, -1, 4);
    const state = trajectory.state(last);
    const locals = new Map(state.locals).set('n', { repr: '7', confidence: null });
    const edited = trajectory.append(last - 1, step, plainPrediction({ ...state, locals }));
    await expect(take(world, trajectory, edited, 1)).rejects.toMatchObject({ code: 508 });
    // The true line is still there.
    expect((await take(world, trajectory, last, 1)).taken).toHaveLength(1);
    await world.close();
  });

  it('stays where it is when the signal is aborted', async () => {
    const sleeping = programOf('import time\nx = 1\ntime.sleep(0.5)\ny = 2\n');
    const world = new ReferenceWorld(sleeping);
    const trajectory = new Trajectory(sleeping);
    const { last } = await take(world, trajectory, -1, 4);
    const controller = new AbortController();
    const abortSoon = setTimeout(() => {
      controller.abort();
    }, 50);
    const steps: Step[] = [];
    for await (const batch of world.predict(request(trajectory, last, controller.signal)))
      steps.push(...batch);
    clearTimeout(abortSoon);
    expect(steps).toEqual([]);
    const { taken } = await take(world, trajectory, last, 1);
    expect(taken[0]).toMatchObject({ kind: 'state', state: { event: 'line', line: 4 } });
    await world.close();
  });
});

const cruxeval = join(import.meta.dirname, '../../../shared/data/cruxeval/cruxeval.jsonl');

// The data are not part of the repository.
describe.skipIf(!existsSync(cruxeval))('CRUXEval', () => {
  interface Row {
    readonly id: string;
    readonly code: string;
    readonly input: string;
    readonly output: string;
  }

  it('returns what the data say, for every fourth function', { timeout: 600_000 }, async () => {
    const rows = readFileSync(cruxeval, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row)
      .filter((_, index) => index % 4 === 0);
    expect(rows).toHaveLength(200);
    const returned = async ({ id, code, input }: Row) => {
      const program = programOf(code, `f(${input})`);
      const world = new ReferenceWorld(program);
      const { taken } = await take(world, new Trajectory(program), -1, Infinity);
      await world.close();
      const states = taken.filter((each) => each.kind === 'state');
      return [id, states.at(-1)?.state.argument?.repr];
    };
    const results = [];
    for (let at = 0; at < rows.length; at += 4) {
      results.push(...(await Promise.all(rows.slice(at, at + 4).map(returned))));
    }
    expect(results).toEqual(rows.map(({ id, output }) => [id, output]));
  });
});
