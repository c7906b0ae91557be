import { describe, expect, it } from 'vitest';
import { describeConfidence, PathConfidence, percent } from '../../adapter/debugger/confidence';
import { PythonSource } from '../../adapter/python/source';
import type { EventKind, Prediction, Value } from '../../adapter/trajectory/state';
import { plainPrediction } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';

const source = [
  'def half(n):', // 1
  '    return n / 2', // 2
  '', // 3
  'def f(a, b):', // 4
  '    c = a + 1', // 5
  '    d = half(c)', // 6
  '    e = b', // 7
  '    return e', // 8
].join('\n');

/** A step that a model wrote: values are `[repr, probability]`. */
function predicted(
  event: EventKind,
  name: string,
  line: number,
  sure: number | null,
  values: Readonly<Record<string, readonly [string, number | null]>>,
  argument: Value | null = null,
): Prediction {
  const locals = new Map(
    Object.entries(values).map(([local, [repr, confidence]]) => [local, { repr, confidence }]),
  );
  const state = { event, function: name, line, thread: null, locals, argument };
  return { ...plainPrediction(state), confidence: sure, text: 'as written' };
}

async function confidenceOf(steps: readonly Prediction[], text = source) {
  const trajectory = new Trajectory({ path: '/p.py', source: text, entry: 'f(1, 2)', args: [] });
  steps.forEach((prediction, index) => trajectory.append(index - 1, { name: 'step_into' }, prediction));
  return { trajectory, confidence: new PathConfidence(await PythonSource.parse(text), trajectory) };
}

const given = { a: ['1', null], b: ['2', null] } as const;
const steps = [
  { ...predicted('call', 'f', 4, null, given), text: null },
  predicted('line', 'f', 5, 0.9, given),
  predicted('line', 'f', 6, 1, { ...given, c: ['2', 0.8] }),
  predicted('call', 'half', 1, 0.5, { n: ['2', 0.9] }),
  predicted('line', 'half', 2, 1, { n: ['2', 1] }),
  predicted('return', 'half', 2, 1, { n: ['2', 1] }, { repr: '1.0', confidence: 0.7 }),
  predicted('line', 'f', 7, 1, { ...given, c: ['2', 1], d: ['1.0', 0.6] }),
  predicted('line', 'f', 8, 0.5, { ...given, c: ['2', 1], d: ['1.0', 1], e: ['2', 0.99] }),
];

describe('confidence', () => {
  it('of a path is the product of its steps since what was given', async () => {
    const { confidence } = await confidenceOf(steps);
    expect(steps.map((_, state) => confidence.path(state))).toEqual([
      null,
      ...[0.9, 0.9, 0.45, 0.45, 0.45, 0.45, 0.225],
    ]);
    expect(describeConfidence(confidence, 7)).toBe(', 50% sure, path 23%');
    expect(describeConfidence(confidence, 0)).toBe('');
  });

  it('of a value runs through what it came from, and counts the path once', async () => {
    const { confidence } = await confidenceOf(steps);
    expect(confidence.value(2, 'c')).toBeCloseTo(0.8 * 0.9);
    // The argument comes from c.
    expect(confidence.value(3, 'n')).toBeCloseTo(0.9 * 0.8 * 0.45);
    expect(confidence.argument(5)).toBeCloseTo(0.7 * (0.9 * 0.8) * 0.45);
    // d comes from c and from what half returned: the least of both counts.
    expect(confidence.value(6, 'd')).toBeCloseTo(0.6 * (0.7 * 0.9 * 0.8) * 0.45);
    // e comes from b, which was given, and nothing else.
    expect(confidence.value(7, 'e')).toBeCloseTo(0.99 * 0.225);
  });

  it('of a value stays as it was while the value does', async () => {
    const { confidence } = await confidenceOf(steps);
    expect(confidence.value(7, 'c')).toBe(confidence.value(2, 'c'));
    expect(confidence.value(7, 'd')).toBe(confidence.value(6, 'd'));
    expect(confidence.value(7, 'a')).toBeNull();
    expect(confidence.value(7, 'nothing')).toBeNull();
  });

  it('is no number where a step or a value has none', async () => {
    const { confidence } = await confidenceOf([
      predicted('call', 'f', 4, 0.9, given),
      predicted('line', 'f', 5, null, given),
      predicted('line', 'f', 6, 0.9, { ...given, c: ['2', 0.9] }),
    ]);
    expect([0, 1, 2].map((state) => confidence.path(state))).toEqual([0.9, null, null]);
    expect(confidence.value(2, 'c')).toBeNull();
    expect(describeConfidence(confidence, 2)).toBe(', 90% sure');
  });

  it('begins anew at what a person set', async () => {
    const { trajectory, confidence } = await confidenceOf(steps.slice(0, 3));
    const edited = predicted('line', 'f', 6, null, { ...given, c: ['7', null] });
    const action = { name: 'what_if', locals: new Map([['c', '7']]), line: null } as const;
    const branch = trajectory.append(1, action, edited);
    const after = trajectory.append(
      branch,
      { name: 'step_into' },
      predicted('line', 'f', 7, 0.5, { ...given, c: ['7', 0.9], d: ['3.5', 0.5] }),
    );
    expect(confidence.path(branch)).toBe(1);
    expect(confidence.value(branch, 'c')).toBe(1);
    expect(confidence.path(after)).toBe(0.5);
    expect(confidence.value(after, 'd')).toBe(0.25);
    // The branch that was left keeps its own.
    expect(confidence.value(2, 'c')).toBeCloseTo(0.72);
  });

  it('is kept: a long path is not worked out again for each step, nor by recursion', async () => {
    const loop = 'def f(a, b):\n    while True:\n        a += 1\n';
    const long = Array.from({ length: 20_000 }, (_, index) =>
      predicted(index === 0 ? 'call' : 'line', 'f', index === 0 ? 1 : 2 + (index % 2), 0.9999, {
        a: [String(index >> 1), 1],
        b: ['0', 0.5],
      }),
    );
    const { confidence, trajectory } = await confidenceOf(long, loop);
    const last = trajectory.length - 1;
    expect(confidence.path(last)).toBeCloseTo(0.9999 ** 20_000);
    expect(confidence.value(last, 'b')).toBeCloseTo(0.5 * 0.9999);
    for (let state = 0; state <= last; state++) confidence.value(state, 'a');
  });

  it('is never rounded to certain', () => {
    expect([1, 0.999, 0.5, 0.001, 0].map(percent)).toEqual(['100%', '>99%', '50%', '<1%', '0%']);
  });
});
