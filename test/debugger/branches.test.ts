import fc from 'fast-check';
import { expect, it } from 'vitest';
import { branchesOf, followBranch } from '../../adapter/debugger/branches';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { step } from '../support/steps';

const into = { name: 'step_into' } as const;
const program = { path: '/p.py', source: '', entry: null, args: [] };
const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

/** What is recorded next: a state after the newest or after any, or the program's end. */
const recorded = fc.record({ after: fc.option(share, { freq: 4 }), ends: fc.boolean() });

function wayTo(trajectory: Trajectory, state: number): number[] {
  const way: number[] = [];
  for (let at = state; at >= 0; at = trajectory.previous(at)) way.unshift(at);
  return way;
}

/** The states that are followed from the beginning on, through a state where that is on the way. */
function followed(trajectory: Trajectory, state: number): number[] {
  const way = wayTo(trajectory, state);
  for (let at = trajectory.next(state); at !== null; at = trajectory.next(at)) way.push(at);
  return way;
}

it('branches are told, followed and left as one that looks at every state would', () => {
  fc.assert(
    fc.property(
      fc.array(recorded, { minLength: 1, maxLength: 40 }),
      fc.array(fc.record({ state: share, branch: share, choice: fc.nat(3) }), { maxLength: 8 }),
      (recording, visits) => {
        const trajectory = new Trajectory(program);
        const branches: number[][] = [];
        const ended = new Set<number>();
        let last = -1;
        for (const { after, ends } of recording) {
          if (after !== null) last = Math.floor(after * (trajectory.length + 1)) - 1;
          const own = branches.find((branch) => branch.at(-1) === last);
          const index = trajectory.append(last, into, step(last < 0 ? 'call' : 'line', 'f', 1));
          if (own && last >= 0 && !ended.has(last)) own.push(index);
          else branches.push([index]);
          if (ends && after !== null) {
            trajectory.end(index, { kind: 'end', how: 'returned', notes: [], text: null, output: null });
            ended.add(index);
          }
          last = index;
        }
        for (const { state, branch, choice } of visits) {
          const cursor = Math.floor(state * (trajectory.length + 1)) - 1;
          const children = trajectory.children(cursor);
          if (choice > 0 && cursor >= 0) trajectory.prefer(cursor, children[choice - 1] ?? null);
          expect(branchesOf(trajectory, cursor)).toMatchObject(
            branches.map((states, index) => ({
              number: index + 1,
              first: states[0],
              length: states.length,
              isCurrent: states.includes(cursor),
            })),
          );

          const before = new Set(followed(trajectory, cursor));
          const number = Math.floor(branch * branches.length) + 1;
          const [first = 0] = branches[number - 1] ?? [];
          const to = followBranch(trajectory, number, cursor);
          const way = [...wayTo(trajectory, first), ...(branches[number - 1] ?? []).slice(1)];
          expect(followed(trajectory, -1)).toEqual(way);
          expect(to).toBe(way.find((at) => !before.has(at)) ?? null);

          if (cursor < 0) continue;
          trajectory.follow(cursor);
          const own = branches.find((states) => states.includes(cursor)) ?? [];
          expect(followed(trajectory, -1)).toEqual([
            ...wayTo(trajectory, cursor),
            ...own.slice(own.indexOf(cursor) + 1),
          ]);
        }
      },
    ),
    { numRuns: 500 },
  );
});
