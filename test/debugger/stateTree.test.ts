import { describe, expect, it } from 'vitest';
import { originOf } from '../../adapter/debugger/provenance';
import { recordSteps } from '../../adapter/debugger/record';
import {
  ancestorsOf,
  childrenBefore,
  childrenOf,
  nodeOf,
  type TreeNode,
} from '../../adapter/debugger/stateTree';
import { PythonSource } from '../../adapter/python/source';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { step } from '../support/steps';

const text = `def square(n):
    return n * n


def total(a, b):
    one = square(a)
    result = one + square(b)
    return result
`;

const steps = [
  step('call', 'total', 5, { a: '2', b: '3' }),
  step('line', 'total', 6, { a: '2', b: '3' }),
  step('call', 'square', 1, { n: '2' }),
  step('line', 'square', 2, { n: '2' }, { confidence: 0.9 }),
  step('return', 'square', 2, null, { argument: '4' }),
  step('line', 'total', 7, { a: '2', b: '3', one: '4' }),
  step('call', 'square', 1, { n: '3' }),
  step('line', 'square', 2, { n: '3' }),
  step('return', 'square', 2, null, { argument: '9' }),
  step('line', 'total', 8, { a: '2', b: '3', one: '4', result: '13' }),
  step('return', 'total', 8, null, { argument: '13' }),
];

async function recorded() {
  const source = await PythonSource.parse(text);
  const trajectory = new Trajectory({ path: '/p.py', source: text, entry: 'total(2, 3)', args: [] });
  recordSteps(trajectory, -1, steps);
  return { source, trajectory };
}

const labels = (nodes: readonly TreeNode[]) => nodes.map(({ label }) => label);

describe('the state tree', () => {
  it('begins with the first call', async () => {
    const { source, trajectory } = await recorded();
    const page = childrenOf(source, trajectory, 0, { parent: null, after: null, count: 10 });
    expect(labels(page.nodes)).toEqual(['total(a=2, b=3)']);
    expect(page.hasMore).toBe(false);
  });

  it('has a call’s states and calls below it, in pages', async () => {
    const { source, trajectory } = await recorded();
    const all = childrenOf(source, trajectory, 0, { parent: 0, after: null, count: 100 });
    expect(labels(all.nodes)).toEqual([
      'one = square(a)',
      'square(n=2)',
      'result = one + square(b)',
      'square(n=3)',
      'return result',
      'return 13',
    ]);
    expect(all.nodes.map(({ hasChildren }) => hasChildren)).toEqual([false, true, false, true, false, false]);
    const paged: string[] = [];
    let after: number | null = null;
    for (;;) {
      const page = childrenOf(source, trajectory, 0, { parent: 0, after, count: 2 });
      paged.push(...labels(page.nodes));
      if (!page.hasMore) break;
      after = page.nodes.at(-1)?.state ?? null;
    }
    expect(paged).toEqual(labels(all.nodes));
  });

  it('tells the children before one, over the calls between', async () => {
    const { source, trajectory } = await recorded();
    const all = childrenOf(source, trajectory, 0, { parent: 0, after: null, count: 10 }).nodes;
    const before = (state: number, count: number) => {
      const { nodes, hasMore } = childrenBefore(source, trajectory, 0, { before: state, count });
      return [nodes.map((node) => node.state), hasMore];
    };
    const states = all.map(({ state }) => state);
    const last = states.at(-1) ?? 0;
    expect(before(last, 10)).toEqual([states.slice(0, -1), false]);
    expect(before(last, states.length - 1)).toEqual([states.slice(0, -1), false]);
    expect(before(last, 2)).toEqual([states.slice(-3, -1), true]);
    expect(before(states[0] ?? 0, 2)).toEqual([[], false]);
  });

  it('tells what changed, how sure it is, and the way to the current state', async () => {
    const { source, trajectory } = await recorded();
    expect(nodeOf(source, trajectory, 5, 5)).toMatchObject({
      changes: ['one = 4'],
      isCurrent: true,
      isPast: false,
    });
    expect(nodeOf(source, trajectory, 5, 3)).toMatchObject({ confidence: 0.9, isPast: true });
    expect(nodeOf(source, trajectory, 5, 9)).toMatchObject({ changes: ['result = 13'], isPast: false });
  });

  it('finds the calls around a state', async () => {
    const { trajectory } = await recorded();
    expect(ancestorsOf(trajectory, 7)).toEqual([0, 6]);
    expect(ancestorsOf(trajectory, 6)).toEqual([0]);
    expect(ancestorsOf(trajectory, 0)).toEqual([]);
  });

  it('shows what else is recorded in a state’s place', async () => {
    const { source, trajectory } = await recorded();
    const edited = step('line', 'total', 7, { a: '2', b: '3', one: '5' });
    const action = { name: 'what_if', locals: new Map([['one', '5']]), line: null } as const;
    const version = trajectory.append(4, action, edited);
    const node = nodeOf(source, trajectory, version, version);
    expect(node.edit).toBe('what if one = 5');
    expect(node.alternatives).toEqual([{ state: 5, label: 'result = one + square(b)' }]);
    const below = childrenOf(source, trajectory, version, { parent: 0, after: null, count: 10 });
    expect(below.nodes.map(({ state }) => state)).toEqual([1, 2, version]);
  });

  it('stays quick over a call with many states inside', async () => {
    const { source, trajectory } = await recorded();
    let last = trajectory.append(10, { name: 'step_into' }, step('call', 'total', 5, { a: '0', b: '0' }));
    const begin = last;
    for (let round = 0; round < 20_000; round++) {
      last = trajectory.append(last, { name: 'step_into' }, step('line', 'total', 6, null));
    }
    const page = childrenOf(source, trajectory, last, { parent: begin, after: last - 3, count: 10 });
    expect(page.nodes.map(({ state }) => state)).toEqual([last - 2, last - 1, last]);
    expect(
      labels(childrenOf(source, trajectory, last, { parent: null, after: null, count: 5 }).nodes),
    ).toEqual(['total(a=2, b=3)', 'total(a=0, b=0)']);
  });
});

describe('the origin of a value', () => {
  it('is the line that gave it, with what that line read', async () => {
    const { source, trajectory } = await recorded();
    expect(originOf(source, trajectory, 9, 'result')).toMatchObject({
      state: 9,
      line: 7,
      ran: 5,
      how: 'by line 7',
      from: [
        { name: 'one', value: { repr: '4' }, kind: 'local' },
        { name: 'b', value: { repr: '3' }, kind: 'local' },
        { name: 'square()', value: { repr: '9' }, kind: 'returned' },
      ],
    });
  });

  it('is found where the value has been the same for long', async () => {
    const { source, trajectory } = await recorded();
    expect(originOf(source, trajectory, 9, 'one')).toMatchObject({ state: 5, line: 6 });
  });

  it('of an argument is the call', async () => {
    const { source, trajectory } = await recorded();
    expect(originOf(source, trajectory, 7, 'n')).toMatchObject({
      state: 6,
      how: 'as an argument of the call on line 7',
    });
    expect(originOf(source, trajectory, 1, 'a')).toMatchObject({ line: null, how: 'as total begins' });
  });

  it('of an edited value is the edit', async () => {
    const { source, trajectory } = await recorded();
    const edited = step('line', 'total', 7, { a: '2', b: '3', one: '5' });
    const action = { name: 'what_if', locals: new Map([['one', '5']]), line: null } as const;
    const version = trajectory.append(4, action, edited);
    expect(originOf(source, trajectory, version, 'one')?.how).toBe('what if one = 5');
    expect(originOf(source, trajectory, version, 'missing')).toBeNull();
  });

  it('of a part is the line that changed the part', async () => {
    const program = `def fill(d, k):
    d["xs"].append(k)
    d[k] = 7
    d["xs"].append(9)
    return d
`;
    const source = await PythonSource.parse(program);
    const trajectory = new Trajectory({
      path: '/p.py',
      source: program,
      entry: 'fill({"xs": []}, 1)',
      args: [],
    });
    recordSteps(trajectory, -1, [
      step('call', 'fill', 1, { d: "{'xs': []}", k: '1' }),
      step('line', 'fill', 2, { d: "{'xs': []}", k: '1' }),
      step('line', 'fill', 3, { d: "{'xs': [1]}", k: '1' }),
      step('line', 'fill', 4, { d: "{'xs': [1], 1: 7}", k: '1' }),
      step('line', 'fill', 5, { d: "{'xs': [1, 9], 1: 7}", k: '1' }),
    ]);
    const origin = (expression: string) => originOf(source, trajectory, 4, expression);
    expect(origin('d')).toMatchObject({ state: 4, how: 'by line 4' });
    expect(origin("d['xs']")).toMatchObject({ name: "d['xs']", value: { repr: '[1, 9]' }, state: 4 });
    expect(origin("d['xs'][0]")).toMatchObject({ value: { repr: '1' }, state: 2, how: 'by line 2' });
    expect(origin("d['xs'][-1]")).toMatchObject({ value: { repr: '9' }, state: 4 });
    expect(origin('d[k]')).toMatchObject({
      value: { repr: '7' },
      state: 3,
      how: 'by line 3',
      from: [{ name: 'd' }, { name: 'k' }],
    });
    expect(originOf(source, trajectory, 1, "d['xs']")).toMatchObject({ state: 0, how: 'as fill begins' });
    for (const missing of ["d['ys']", "d['xs'][2]", 'd.x', 'd +', ''])
      expect(origin(missing), missing).toBeNull();
  });

  it('is told of what no expression means, and of what is not predicted', async () => {
    const { source, trajectory } = await recorded();
    const locals = { '.0': '<iterator>', gone: null };
    const at = trajectory.append(10, { name: 'step_over' }, step('line', '<genexpr>', 7, locals));
    expect(originOf(source, trajectory, at, '.0')).toMatchObject({
      value: { repr: '<iterator>' },
      state: at,
    });
    expect(originOf(source, trajectory, at, 'gone')).toMatchObject({ value: { repr: null }, state: at });
    expect(originOf(source, trajectory, at, 'gone[0]')).toBeNull();
  });
});
