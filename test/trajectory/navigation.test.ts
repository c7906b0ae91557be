import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { navigate, type Navigation } from '../../adapter/trajectory/navigation';
import type { Prediction } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { step } from '../support/steps';

const program = { path: '/p.py', source: '', entry: null, args: [] };
const into = { name: 'step_into' } as const;

function record(...steps: readonly Prediction[]): Trajectory {
  const trajectory = new Trajectory(program);
  steps.forEach((prediction, index) => trajectory.append(index - 1, into, prediction));
  return trajectory;
}

/** Where actions lead from each state of a trajectory. */
function table(trajectory: Trajectory, action: Navigation): (number | null)[] {
  return Array.from({ length: trajectory.length }, (_, index) => navigate(trajectory, index, action));
}

describe('navigating the state tree', () => {
  it('steps over what happens in a call, in both directions', () => {
    const trajectory = record(
      step('call', '<module>', 0),
      step('line', '<module>', 1),
      step('call', 'f', 5),
      step('line', 'f', 6),
      step('call', 'g', 8),
      step('return', 'g', 9, {}, { argument: '1' }),
      step('return', 'f', 6, {}, { argument: '1' }),
      step('line', '<module>', 2),
    );
    expect(table(trajectory, 'step_over')).toEqual([null, 2, 7, 4, 6, null, null, null]);
    expect(table(trajectory, 'inv_step_over')).toEqual([null, null, 1, null, 3, null, 4, 2]);
    expect(table(trajectory, 'step_return')).toEqual([null, null, 6, 6, 5, null, null, null]);
    expect(table(trajectory, 'inv_step_call')).toEqual([null, 0, 0, 2, 2, 4, 2, 0]);
    expect(table(trajectory, 'inv_step_into')).toEqual([null, 0, 1, 2, 3, 4, 5, 6]);
  });

  it('takes a generator’s suspension for a return, and its resumption for a call', () => {
    const trajectory = record(
      step('call', 'f', 1, {}, { activation: 0 }),
      step('line', 'f', 2),
      step('call', 'gen', 5, {}, { activation: 1 }),
      step('return', 'gen', 6, {}, { argument: '1' }),
      step('line', 'f', 3),
      step('call', 'gen', 6, {}, { activation: 1 }),
      step('line', 'gen', 7),
      step('return', 'gen', 7, {}, { argument: 'None' }),
    );
    expect(navigate(trajectory, 2, 'step_return')).toBe(3);
    expect(navigate(trajectory, 6, 'step_return')).toBe(7);
    expect(navigate(trajectory, 7, 'inv_step_call')).toBe(5);
    expect(navigate(trajectory, 4, 'inv_step_over')).toBe(2);
    expect(navigate(trajectory, 6, 'inv_step_over')).toBeNull();
  });

  it('finds the exception that left a frame without a return event', () => {
    const trajectory = record(
      step('call', 'a', 1),
      step('line', 'a', 2),
      step('call', 'b', 5),
      step('call', 'c', 8),
      step('exception', 'c', 9, {}, { argument: 'E()' }),
      step('line', 'a', 3, {}, { unwinds: 2 }),
    );
    expect(navigate(trajectory, 3, 'step_return')).toBe(4);
    expect(navigate(trajectory, 2, 'step_over')).toBe(5);
    expect(navigate(trajectory, 5, 'inv_step_over')).toBe(2);
    // The outermost frame is still open, unless the program is known to have ended.
    expect(navigate(trajectory, 0, 'step_return')).toBeNull();
    trajectory.end(5, { kind: 'end', how: 'raised', notes: [], text: null, output: null });
    expect(navigate(trajectory, 0, 'step_return')).toBe(5);
  });

  it('stays in the thread, but steps into whatever comes next', () => {
    const trajectory = record(
      step('call', '<module>', 0),
      step('line', '<module>', 1),
      step('call', 'work', 5, {}, { thread: 'T' }),
      step('line', '<module>', 2),
      step('return', 'work', 6, {}, { thread: 'T', argument: '1' }),
      step('line', '<module>', 3),
    );
    expect(table(trajectory, 'step_into')).toEqual([1, 2, 3, 4, 5, null]);
    expect(table(trajectory, 'step_over')).toEqual([null, 3, null, 5, null, null]);
    expect(table(trajectory, 'inv_step_over')).toEqual([null, null, null, 1, null, 3]);
    expect(navigate(trajectory, 2, 'step_return')).toBe(4);
  });

  it('follows the branch that is followed', () => {
    const trajectory = record(
      step('call', 'f', 1),
      step('line', 'f', 2),
      step('call', 'g', 5),
      step('return', 'g', 6, {}, { argument: '1' }),
      step('line', 'f', 3),
    );
    const inside = trajectory.append(2, into, step('line', 'g', 7));
    expect(navigate(trajectory, 2, 'step_over')).toBeNull();
    const raised = trajectory.append(inside, into, step('exception', 'g', 7, {}, { argument: 'E()' }));
    const after = trajectory.append(raised, into, step('line', 'f', 4, {}, { unwinds: 1 }));
    expect(navigate(trajectory, 2, 'step_over')).toBe(after);
    expect(navigate(trajectory, 2, 'step_return')).toBe(raised);
    expect(navigate(trajectory, after, 'inv_step_over')).toBe(2);
    // Backwards every state has one past, whatever is followed forwards.
    expect(navigate(trajectory, 4, 'inv_step_over')).toBe(2);
    expect(navigate(trajectory, 4, 'inv_step_call')).toBe(0);
  });
});

it('tells a resumed generator by its own past, not by that of another branch', () => {
  const trajectory = record(
    step('call', 'f', 1, {}, { activation: 0 }),
    step('call', 'gen', 5, {}, { activation: 1 }),
  );
  const other = trajectory.append(0, into, step('call', 'h', 9, {}, { activation: 1 }));
  expect(trajectory.frame(other).resumed).toBe(false);
  const returned = trajectory.append(other, into, step('return', 'h', 9, {}, { argument: '1' }));
  const again = trajectory.append(returned, into, step('call', 'h', 9, {}, { activation: 1 }));
  expect(trajectory.frame(again).resumed).toBe(true);
});

/** What happens next in a random program, as far as it can. */
const happening = fc.record({
  what: fc.constantFrom('line', 'line', 'line', 'call', 'call', 'return', 'return', 'exception', 'resume'),
  thread: fc.constantFrom(null, null, null, 'T', 'U'),
  unwinds: fc.nat(3),
  /** Where a branch begins, in shares of what there is; mostly none does. */
  from: fc.option(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { freq: 12 }),
});

/** A node of the tree as it is plainly built: along a path, with a stack for each thread. */
interface Node {
  readonly index: number;
  readonly thread: string | null;
  readonly parent: Node | null;
  readonly children: number[];
  /** The states of a call's own frame. */
  readonly own: number[];
  isLeft: boolean;
}

/** The plainly built trees of the path to a state, by the states' indices. */
function plainTree(trajectory: Trajectory, last: number, unwinds: readonly number[]): Map<number, Node> {
  const path: number[] = [];
  for (let at = last; at >= 0; at = trajectory.previous(at)) path.unshift(at);
  const nodes = new Map<number, Node>();
  const stacks = new Map<string | null, Node[]>();
  const pending = new Map<string | null, boolean>();
  for (const index of path) {
    const { thread } = trajectory.frame(index);
    const stack = stacks.get(thread) ?? [];
    stacks.set(thread, stack);
    const leave = () => {
      const left = stack.pop();
      if (left) left.isLeft = true;
    };
    if (pending.get(thread)) leave();
    for (let left = unwinds[index] ?? 0; left > 0; left--) leave();
    const parent = stack.at(-1) ?? null;
    const node: Node = { index, thread, parent, children: [], own: [index], isLeft: false };
    nodes.set(index, node);
    parent?.children.push(index);
    if (trajectory.event(index) === 'call') stack.push(node);
    else parent?.own.push(index);
    pending.set(thread, trajectory.event(index) === 'return');
  }
  for (const [thread, isPending] of pending) {
    const left = isPending ? stacks.get(thread)?.at(-1) : undefined;
    if (left) left.isLeft = true;
  }
  return nodes;
}

it('leads where the plainly built tree says, over threads, generators, exceptions and branches', () => {
  fc.assert(
    fc.property(fc.array(happening, { minLength: 1, maxLength: 80 }), (happenings) => {
      const trajectory = new Trajectory(program);
      const unwinds: number[] = [];
      let last = -1;
      for (const { what, thread, unwinds: wanted, from } of happenings) {
        if (from !== null) last = Math.floor(from * (trajectory.length + 1)) - 1;
        const before = trajectory.newestInThread(last, thread);
        let depth = 0;
        for (let top = before < 0 ? null : trajectory.frameAfter(before); top; top = top.parent) depth++;
        // One frame stays, so that every state has one that was entered.
        const left = Math.max(0, Math.min(wanted - 1, depth - 1));
        const event = depth === 0 ? 'call' : what === 'resume' ? 'call' : what;
        unwinds.push(left);
        last = trajectory.append(
          last,
          into,
          step(
            event,
            'f',
            1,
            {},
            {
              unwinds: left,
              activation: what === 'resume' ? 1_000 : null,
              ...(thread === null ? {} : { thread }),
              ...(event === 'return' || event === 'exception' ? { argument: '1' } : {}),
            },
          ),
        );
      }
      // Other ways than the newest are chosen, or none.
      for (const { from, unwinds: wanted } of happenings) {
        if (from === null) continue;
        const state = Math.floor(from * trajectory.length);
        if (wanted === 0) trajectory.prefer(state, null);
        else trajectory.prefer(state, trajectory.children(state)[wanted - 1] ?? null);
      }
      for (let index = 0; index < trajectory.length; index++) {
        const end = trajectory.lastFollowed(index);
        let followed = index;
        for (let next = trajectory.next(index); next !== null; next = trajectory.next(next)) followed = next;
        expect(end).toBe(followed);
        const nodes = plainTree(trajectory, end, unwinds);
        const node = nodes.get(index);
        if (!node) throw new Error('It is on its own path.');
        const siblings =
          node.parent?.children ??
          [...nodes.values()]
            .filter((other) => other.parent === null && other.thread === node.thread)
            .map((other) => other.index);
        const at = siblings.indexOf(index);
        const own = trajectory.event(index) === 'call' ? node : node.parent;
        const lastOwn = own?.own.at(-1) ?? -1;
        const expected = {
          step_into: trajectory.next(index),
          inv_step_into: trajectory.previous(index) < 0 ? null : trajectory.previous(index),
          step_over: siblings[at + 1] ?? null,
          inv_step_over: siblings[at - 1] ?? null,
          inv_step_call: node.parent?.index ?? null,
          step_return: own?.isLeft && lastOwn > index ? lastOwn : null,
        };
        for (const action of Object.keys(expected) as (keyof typeof expected)[]) {
          expect(navigate(trajectory, index, action), `${action} from ${index}`).toBe(expected[action]);
        }
        const newest = new Map<string | null, number>();
        for (let state = index; state >= 0; state = trajectory.previous(state)) {
          const { thread } = trajectory.frame(state);
          if (!newest.has(thread)) newest.set(thread, state);
        }
        expect(trajectory.threads(index)).toEqual(newest);
      }
    }),
    { numRuns: 300 },
  );
});

it('finds the newest state of a thread that was left thousands of switches ago', () => {
  const trajectory = new Trajectory(program);
  let last = trajectory.append(-1, into, step('call', 'old', 1, {}, { thread: 'old' }));
  for (let count = 0; count < 5_000; count++) {
    const thread = `T${count % 7}`;
    last = trajectory.append(last, into, step(count < 7 ? 'call' : 'line', 'work', 2, {}, { thread }));
  }
  expect(trajectory.threads(last).get('old')).toBe(0);
  expect(trajectory.threads(last).size).toBe(8);
  expect([...trajectory.threads(last - 3).keys()][0]).toBe('old');
  expect(trajectory.newestInThread(last - 3, 'T1')).toBe(last - 7);
});
