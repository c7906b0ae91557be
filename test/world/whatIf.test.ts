import { afterEach, describe, expect, it } from 'vitest';
import { ReferenceWorld } from '../../adapter/world/reference';
import { type RunEdit, traceProgram } from '../../adapter/python/tracer';
import type { Action } from '../../adapter/trajectory/action';
import type { Prediction, Step } from '../../adapter/trajectory/state';
import type { Program } from '../../adapter/trajectory/program';
import { Trajectory } from '../../adapter/trajectory/trajectory';

const program = {
  path: '/nowhere/what_if.py',
  source: [
    'def fact(n):',
    '    if n < 2:',
    '        return 1',
    '    rest = fact(n - 1)',
    '    return n * rest',
  ].join('\n'),
  entry: 'fact(3)',
  args: [],
};

const worlds: ReferenceWorld[] = [];

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

function open(of: Program = program): { readonly world: ReferenceWorld; readonly trajectory: Trajectory } {
  const world = new ReferenceWorld(of);
  worlds.push(world);
  return { world, trajectory: new Trajectory(of) };
}

function whatIf(locals: Readonly<Record<string, string>>, line: number | null = null) {
  return { name: 'what_if', locals: new Map(Object.entries(locals)), line } as const;
}

const { signal } = new AbortController();

/** Records what follows a state, to the end; the indices of the new states. */
async function follow(world: ReferenceWorld, trajectory: Trajectory, from: number): Promise<number[]> {
  const indices: number[] = [];
  let at = from;
  const request = { trajectory, from, action: { name: 'step_into' }, wanted: 'many', signal } as const;
  for await (const steps of world.predict(request)) {
    for (const step of steps) {
      if (step.kind === 'end') trajectory.end(at, step);
      else indices.push((at = trajectory.append(at, request.action, step)));
    }
  }
  return indices;
}

/** Records the edited version of a state beside it. */
async function branch(
  world: ReferenceWorld,
  trajectory: Trajectory,
  from: number,
  action: Extract<Action, { name: 'what_if' }>,
): Promise<number> {
  const steps: Step[] = [];
  for await (const batch of world.predict({ trajectory, from, action, wanted: 'one', signal })) {
    steps.push(...batch);
  }
  const [edited, ...more] = steps;
  if (edited?.kind !== 'state' || more.length > 0) throw new Error('One state was expected.');
  return trajectory.append(trajectory.previous(from), action, edited);
}

/** The states on the way to one, as lines. */
function way(trajectory: Trajectory, to: number): string[] {
  const states: string[] = [];
  for (let at = to; at >= 0; at = trajectory.previous(at)) states.push(shown(trajectory.state(at)));
  return states.reverse();
}

function shown({ event, line, locals, argument }: Prediction['state']): string {
  const values = [...(locals ?? [])].map(([name, { repr }]) => `${name}=${repr ?? '?'}`);
  return [event, line, ...values, argument?.repr ?? ''].join(' ');
}

async function realStates(...edits: RunEdit[]): Promise<string[]> {
  const states: string[] = [];
  for await (const batch of traceProgram(program, { edits })) {
    for (const step of batch) if (step.kind === 'state') states.push(shown(step.state));
  }
  return states;
}

describe('what-ifs in the reference', () => {
  it('has the action', () => {
    expect(open().world.actions.has('what_if')).toBe(true);
  });

  it('goes on from an edited state as a real run with the edit does, and returns to the old branch', async () => {
    const { world, trajectory } = open();
    const first = await follow(world, trajectory, -1);
    const state = first[4] ?? -1;
    expect(shown(trajectory.state(state))).toBe('line 2 n=2 ');
    const edited = await branch(world, trajectory, state, whatIf({ n: '5' }));
    const last = (await follow(world, trajectory, edited)).at(-1) ?? -1;
    const real = await realStates({ at: 4, locals: new Map([['n', '5']]), lines: null });
    expect(way(trajectory, last)).toEqual(real);
    expect(real.at(-1)).toBe('return 5 n=3 rest=120 360');

    // The old branch stays, and its states are given again.
    const again = await follow(world, trajectory, state);
    expect(way(trajectory, again.at(-1) ?? -1)).toEqual(await realStates());
  });

  it('makes what-ifs on a branch, and in a state that is edited already', async () => {
    const { world, trajectory } = open();
    const first = await follow(world, trajectory, -1);
    const edited = await branch(world, trajectory, first[1] ?? -1, whatIf({ n: '4' }));
    const second = await follow(world, trajectory, edited);
    const again = await branch(world, trajectory, second[5] ?? -1, whatIf({}, 3));
    const last = (await follow(world, trajectory, again)).at(-1) ?? -1;
    expect(way(trajectory, last)).toEqual(
      await realStates(
        { at: 1, locals: new Map([['n', '4']]), lines: null },
        { at: 7, locals: new Map(), lines: [3] },
      ),
    );
    // An edit of the edited state keeps what was changed in it.
    const jumped = await branch(world, trajectory, edited, whatIf({}, 5));
    expect(shown(trajectory.state(jumped))).toBe('line 5 n=4 ');
  });

  it('takes a value as the person wrote it', async () => {
    const { world, trajectory } = open();
    const first = await follow(world, trajectory, -1);
    const from = first[1] ?? -1;
    const state = trajectory.state(from);
    const locals = new Map([['n', { repr: '0x1', confidence: null }]]);
    const edited = trajectory.append(trajectory.previous(from), whatIf({ n: '0x1' }), {
      ...trajectory.prediction(from),
      kind: 'state',
      activation: null,
      unwinds: 0,
      state: { ...state, locals },
    });
    const last = (await follow(world, trajectory, edited)).at(-1) ?? -1;
    expect(shown(trajectory.state(last))).toBe('return 3 n=1 1');
  });

  it('refuses what Python does not do, and goes on after that', async () => {
    const { world, trajectory } = open();
    const first = await follow(world, trajectory, -1);
    const state = first[1] ?? -1;
    await expect(branch(world, trajectory, state, whatIf({ m: '1' }))).rejects.toMatchObject({ code: 510 });
    await expect(branch(world, trajectory, state, whatIf({ n: 'x' }))).rejects.toThrow('no Python literal');
    await expect(branch(world, trajectory, state, whatIf({}, 99))).rejects.toThrow(
      'cannot go on from line 99',
    );
    const edited = await branch(world, trajectory, state, whatIf({}, 3));
    expect(await follow(world, trajectory, edited)).toHaveLength(1);
  });

  it.each([
    ['an argument', 'def g(n, m=2):\n    return n * m\n', 'g(1)', 'g', 0, { n: '5', m: '7' }, '35'],
    [
      'an argument that a closure shares',
      'def g(n):\n    def h():\n        return n + 1\n    return h()\n',
      'g(1)',
      'g',
      0,
      { n: '5' },
      '6',
    ],
    [
      'what a closure has from outside',
      'def g(n):\n    def h():\n        return n + 1\n    return h() + n\n',
      'g(1)',
      'h',
      0,
      { n: '5' },
      '11',
    ],
    [
      'all arguments as they came',
      'def g(*a, **k):\n    return a, k\n',
      'g(1, b=2)',
      'g',
      0,
      { a: '(3,)', k: "{'c': 4}" },
      "((3,), {'c': 4})",
    ],
    [
      'a generator that is resumed',
      'def g():\n    def c():\n        x = 1\n        yield x\n        yield x\n    return [*c()]\n',
      'g()',
      'c',
      1,
      { x: '9' },
      '[1, 9]',
    ],
    [
      'a local that is not bound yet',
      'def g(n):\n    if n:\n        m = 0\n    return m\n',
      'g(0)',
      'g',
      0,
      { m: '4' },
      '4',
    ],
    [
      'a class body',
      'def g():\n    class C:\n        if y:\n            z = 1\n    return C.z\n',
      'g()',
      'C',
      0,
      { y: 'True', z: '3' },
      '1',
    ],
  ])('changes %s at a call', async (_, source, entry, name, nth, change, returned) => {
    const { world, trajectory } = open({ path: '/nowhere/call.py', source, entry, args: [] });
    const states = await follow(world, trajectory, -1);
    const calls = states.filter(
      (at) => trajectory.event(at) === 'call' && trajectory.frame(at).function === name,
    );
    const call = calls[nth] ?? -1;
    const action = whatIf(change);
    expect(world.whatIfProblem(trajectory, call)).toBeNull();
    const edited = await branch(world, trajectory, call, action);
    for (const [local, repr] of action.locals) {
      expect(trajectory.locals(edited)?.locals.get(local)?.repr).toBe(repr);
    }
    const last = (await follow(world, trajectory, edited)).at(-1) ?? -1;
    expect(trajectory.state(last)).toMatchObject({ event: 'return', argument: { repr: returned } });
    const event = states.find((at) => trajectory.event(at) === 'return') ?? -1;
    expect(world.whatIfProblem(trajectory, event)).toMatch(/only at a call, or where a line/);
  });
});
