import { afterAll, expect, it } from 'vitest';
import type { ComparedState } from '../../../adapter/debugger/comparison';
import { PathConfidence } from '../../../adapter/debugger/confidence';
import { DerivedValues } from '../../../adapter/debugger/objects/derived';
import { ExpressionEvaluator } from '../../../adapter/python/expressions';
import { PythonSource } from '../../../adapter/python/source';
import { type EventKind, plainPrediction } from '../../../adapter/trajectory/state';
import { Trajectory } from '../../../adapter/trajectory/trajectory';

const evaluator = new ExpressionEvaluator();
afterAll(() => evaluator.close());

const source = `made = 0


class Box:
    def __init__(self, n):
        global made
        self.n = n
        self.items = [n]
        made += n


def f(n):
    box = Box(n)
    box.n += 1
    return box
`;

type Told = readonly [
  event: EventKind,
  name: string,
  line: number,
  sure: number | null,
  values: Readonly<Record<string, readonly [repr: string, sure: number | null]>>,
];

const self = { self: ['<Box object>', 1], n: ['3', 0.8] } as const;
const box = { n: ['3', null], box: ['<Box object>', 0.95] } as const;
const told: readonly Told[] = [
  ['call', 'f', 12, null, { n: ['3', null] }],
  ['line', 'f', 13, 0.9, { n: ['3', null] }],
  ['call', '__init__', 5, 1, self],
  ['line', '__init__', 7, 1, self],
  ['line', '__init__', 8, 0.5, self],
  ['line', '__init__', 9, 1, self],
  ['return', '__init__', 9, 1, self],
  ['line', 'f', 14, 1, box],
  ['line', 'f', 15, 0.9, box],
];

async function derivedFrom(states: readonly Told[]) {
  const trajectory = new Trajectory({ path: '/p.py', source, entry: 'f(3)', args: [] });
  states.forEach(([event, name, line, sure, values], index) => {
    const locals = new Map(
      Object.entries(values).map(([local, [repr, confidence]]) => [local, { repr, confidence }]),
    );
    const argument = event === 'return' ? { repr: 'None', confidence: 1 } : null;
    const state = { event, function: name, line, thread: null, locals, argument };
    const text = index === 0 ? null : 'as written';
    trajectory.append(
      index - 1,
      { name: 'step_into' },
      { ...plainPrediction(state), confidence: sure, text },
    );
  });
  const parsed = await PythonSource.parse(source);
  const confidence = new PathConfidence(parsed, trajectory);
  const derived = new DerivedValues(parsed, trajectory, evaluator, confidence);
  const sure = async (state: number) => {
    const parts = [
      ...((await derived.local('box', state, state)) ?? []),
      ...(await derived.moduleNames(['made'], state, state)).map(({ part }) => part),
    ];
    return Object.fromEntries(parts.map(({ name, repr, confidence: number }) => [name, [repr, number]]));
  };
  return { confidence, sure };
}

it('what follows from states is as sure as what it came from, times the path where it was worked out', async () => {
  const { sure } = await derivedFrom(told);
  expect(await sure(7)).toEqual({
    n: ['3', expect.closeTo(0.8 * 0.45)],
    items: ['[3]', expect.closeTo(0.8 * 0.45)],
    made: ['3', expect.closeTo(0.8 * 0.45)],
  });
  // The attribute was worked out anew from itself and from which object the box is; the rest stays as it was.
  expect(await sure(8)).toEqual({
    n: ['4', expect.closeTo(0.8 * 0.95 * 0.405)],
    items: ['[3]', expect.closeTo(0.8 * 0.45)],
    made: ['3', expect.closeTo(0.8 * 0.45)],
  });
});

it('what nothing says a number of has none', async () => {
  const { sure } = await derivedFrom(
    told.map(([event, name, line, , values]) => [event, name, line, null, values]),
  );
  expect(await sure(7)).toMatchObject({ n: ['3', null], items: ['[3]', null] });
});

it('what a real run confirmed begins anew, for the path and for what follows from it', async () => {
  const { confidence, sure } = await derivedFrom(told);
  expect(confidence.path(7)).toBeCloseTo(0.45);
  const verdicts = (n: 'same' | 'different'): ComparedState => ({
    position: 'same',
    real: { event: 'line', function: 'f', line: 1, thread: null, locals: null, argument: null },
    locals: new Map([
      ['n', { verdict: n, real: '3' }],
      ['box', { verdict: 'same', real: '<Box object>' }],
    ]),
    argument: null,
  });
  confidence.verify((state) => (state <= 7 ? verdicts('same') : null));
  expect([confidence.path(7), confidence.path(8), confidence.value(8, 'box')]).toEqual([1, 0.9, 1]);
  expect(await sure(8)).toEqual({ n: ['4', 0.9], items: ['[3]', 1], made: ['3', 1] });
  // What was contradicted, and all that came from it, is known to be wrong.
  confidence.verify((state) => (state <= 7 ? verdicts('different') : null));
  expect([confidence.path(8), confidence.value(7, 'n')]).toEqual([0.9, 0]);
  expect(await sure(8)).toMatchObject({ n: ['4', 0], items: ['[3]', 0] });
});
