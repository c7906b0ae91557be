import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Prediction } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { ChangedLocals } from '../../adapter/trajectory/changedLocals';
import { locals, step } from '../support/steps';

const program = { path: '/p.py', source: '', entry: null, args: [] };
const into = { name: 'step_into' } as const;

function record(...steps: readonly Prediction[]): Trajectory {
  const trajectory = new Trajectory(program);
  steps.forEach((prediction, index) => trajectory.append(index - 1, into, prediction));
  return trajectory;
}

/** The stack at a state as `function:line`, innermost first. */
function stack(trajectory: Trajectory, index: number): string[] {
  return trajectory.stack(index).map(({ frame, state }) => `${frame.function}:${trajectory.line(state)}`);
}

describe('the state tree', () => {
  it('puts a call under the state that made it, and goes on in the caller after the return', () => {
    const trajectory = record(
      step('call', '<module>', 0),
      step('line', '<module>', 1),
      step('call', 'f', 5),
      step('line', 'f', 6),
      step('return', 'f', 6, {}, { argument: '1' }),
      step('line', '<module>', 2),
    );
    expect(stack(trajectory, 3)).toEqual(['f:6', '<module>:1']);
    expect(stack(trajectory, 4)).toEqual(['f:6', '<module>:1']);
    expect(stack(trajectory, 5)).toEqual(['<module>:2']);
    expect(trajectory.frame(5)).toBe(trajectory.frame(0));
    expect(trajectory.previousInFrame(5)).toBe(1);
  });

  it('tells the frames of a recursion apart', () => {
    const trajectory = record(
      step('call', 'f', 1, { n: '2' }),
      step('line', 'f', 2, { n: '2' }),
      step('call', 'f', 1, { n: '1' }),
      step('line', 'f', 2, { n: '1' }),
      step('return', 'f', 2, { n: '1' }, { argument: '1' }),
      step('line', 'f', 3, { n: '2', below: '1' }),
    );
    expect(trajectory.frame(5)).toBe(trajectory.frame(0));
    expect(trajectory.frame(3)).not.toBe(trajectory.frame(0));
    expect(trajectory.frame(3).depth).toBe(1);
    expect(trajectory.stack(3)[1]?.state).toBe(1);
  });

  it('keeps the Python frame of a generator over its suspensions, under whoever resumes it', () => {
    const trajectory = record(
      step('call', '<module>', 0, {}, { activation: 0 }),
      step('line', '<module>', 9),
      step('call', 'gen', 1, {}, { activation: 1 }),
      step('return', 'gen', 2, {}, { argument: '1', activation: null }),
      step('call', 'other', 4, {}, { activation: 2 }),
      step('call', 'gen', 2, {}, { activation: 1 }),
      step('line', 'gen', 3),
    );
    expect(trajectory.frame(2)).toMatchObject({ resumed: false, depth: 1 });
    expect(trajectory.frame(5)).toMatchObject({ resumed: true, depth: 2, activation: 1 });
    expect(stack(trajectory, 6)).toEqual(['gen:3', 'other:4', '<module>:9']);
  });

  it('keeps the stacks of threads apart', () => {
    const trajectory = record(
      step('call', '<module>', 0),
      step('line', '<module>', 1),
      step('call', 'work', 5, {}, { thread: 'T' }),
      step('line', '<module>', 2),
      step('line', 'work', 6, {}, { thread: 'T' }),
    );
    expect(stack(trajectory, 4)).toEqual(['work:6']);
    expect(stack(trajectory, 3)).toEqual(['<module>:2']);
    expect([...trajectory.threads(4)]).toEqual([
      [null, 3],
      ['T', 4],
    ]);
    expect([...trajectory.threads(3)]).toEqual([
      [null, 3],
      ['T', 2],
    ]);
  });

  it('leaves frames that an exception left without a return event', () => {
    const trajectory = record(
      step('call', 'a', 1),
      step('call', 'b', 2),
      step('call', 'c', 3),
      step('exception', 'c', 4, {}, { argument: 'E()' }),
      step('line', 'a', 9, {}, { unwinds: 2 }),
    );
    expect(stack(trajectory, 4)).toEqual(['a:9']);
    expect(trajectory.previousInFrame(4)).toBe(0);
  });

  it('gives a frame to a state whose call was never seen', () => {
    const trajectory = record(step('line', 'f', 3), step('line', 'f', 4));
    expect(trajectory.frames).toHaveLength(1);
    expect(trajectory.frame(1).depth).toBe(0);
  });
});

describe('locals', () => {
  it('are known from the newest state that carries them', () => {
    const trajectory = record(
      step('call', 'f', 1, { n: '1' }),
      step('line', 'f', 2, { n: '1', m: '2' }),
      step('return', 'f', 2, null, { argument: 'None' }),
    );
    expect(trajectory.locals(2)?.state).toBe(1);
    expect(trajectory.locals(2)?.locals.get('m')?.repr).toBe('2');
    expect(trajectory.state(2).locals).toBeNull();
  });

  it('are read back as they were given, whatever came before and after', () => {
    const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
    const values = fc.dictionary(name, fc.option(fc.constantFrom('1', '2', "'x'"), { nil: null }), {
      noNullPrototype: true,
    });
    const event = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('line' as const), locals: fc.option(values) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('call' as const), locals: fc.option(values) }) },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('return' as const), locals: fc.option(values) }),
      },
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const steps = events.map(({ kind, locals }) => step(kind, 'f', 1, locals));
        const trajectory = record(...steps);
        for (const [index, prediction] of steps.entries()) {
          const given = prediction.state.locals;
          const read = trajectory.state(index).locals;
          expect(read && new Map([...read].sort())).toEqual(given && new Map([...given].sort()));
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('locals that are given as what changed', () => {
  it('are read as a whole, in whatever order states are looked at', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const change = fc.record({
      changed: fc.dictionary(name, fc.constantFrom('1', '2'), { noNullPrototype: true }),
      removed: fc.uniqueArray(name),
      looksNow: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 100 }), fc.array(fc.nat(99)), (changes, looks) => {
        const trajectory = new Trajectory(program);
        const expected: Record<string, string | null>[] = [];
        let given = locals({});
        for (const [index, { changed, removed, looksNow }] of changes.entries()) {
          given = new ChangedLocals(given, locals(changed), removed);
          trajectory.append(index - 1, into, {
            ...step('line', 'f', 1),
            state: { ...step('line', 'f', 1).state, locals: given },
          });
          const before = Object.entries(expected.at(-1) ?? {}).filter(
            ([key]) => !removed.some((name) => name === key),
          );
          expected.push({ ...Object.fromEntries(before), ...changed });
          if (looksNow) expect(given.size).toBe(Object.keys(expected.at(-1) ?? {}).length);
        }
        for (const index of [...looks.filter((look) => look < changes.length), ...changes.keys()]) {
          const read = trajectory.state(index).locals ?? new Map();
          expect(new Map(read)).toEqual(new Map(locals(expected[index] ?? {})));
        }
      }),
    );
  });
});

describe('a state that is followed by another than before', () => {
  it('goes on with the newest, and keeps the old', () => {
    const trajectory = record(
      step('call', 'f', 1),
      step('line', 'f', 2, { n: '1' }),
      step('line', 'f', 3, { n: '1' }),
    );
    const other = trajectory.append(1, into, step('line', 'f', 7, { n: '5' }));
    expect(trajectory.next(1)).toBe(other);
    expect(trajectory.previous(other)).toBe(1);
    expect(trajectory.previousInFrame(other)).toBe(1);
    expect(trajectory.line(2)).toBe(3);
    expect(trajectory.locals(2)?.locals.get('n')?.repr).toBe('1');
    expect(trajectory.locals(other)?.locals.get('n')?.repr).toBe('5');
  });
});

it('says which state it does not have', () => {
  expect(() => record(step('call', 'f', 1)).line(7)).toThrow('no state 7');
});
