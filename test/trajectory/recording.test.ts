import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordingLines } from '../../adapter/trajectory/recording';
import { RecordingFile } from '../../adapter/trajectory/recordingFile';
import type { Ending, Prediction } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { readRecording, withFile } from '../support/recordings';
import { step } from '../support/steps';

const program = { path: '/p.py', source: 'print("\ud83d")\r\n', entry: "f('é')", args: ['-x'] };

function write(steps: readonly Prediction[], ending: Ending | null): string {
  const trajectory = new Trajectory(program);
  steps.forEach((prediction, index) => trajectory.append(index - 1, { name: 'step_into' }, prediction));
  if (ending) trajectory.end(steps.length - 1, ending);
  return [...recordingLines(trajectory, { name: 'a test', isReal: false })].join('');
}

const text = fc.string({ unit: 'binary' });
const chance = fc.option(fc.double({ min: 0, max: 1, noNaN: true }));
const value = fc.record({ repr: fc.option(text), confidence: chance });
const locals = fc
  .array(fc.tuple(fc.oneof(text, fc.constantFrom('__proto__', 'constructor')), value), { maxLength: 4 })
  .map((entries) => new Map(entries));
const prediction = fc.record({
  kind: fc.constant('state' as const),
  state: fc.oneof(
    fc.record({
      event: fc.constantFrom('call' as const, 'line' as const),
      function: fc.constant('f'),
      line: fc.nat(1000),
      thread: fc.option(text),
      locals: fc.option(locals),
      argument: fc.constant(null),
    }),
    fc.record({
      event: fc.constantFrom('return' as const, 'exception' as const),
      function: fc.constant('f'),
      line: fc.nat(1000),
      thread: fc.option(text),
      locals: fc.option(locals),
      argument: value,
    }),
  ),
  activation: fc.constant(null),
  unwinds: fc.constant(0),
  confidence: chance,
  doubt: fc.option(text),
  otherLines: fc.array(fc.integer({ min: 1, max: 99 }), { maxLength: 3 }),
  text: fc.option(text),
  output: fc.option(text),
  tokens: fc.nat(99),
});
const ending = fc.record({
  kind: fc.constant('end' as const),
  how: fc.constantFrom('returned' as const, 'raised' as const, 'exited' as const, 'cut' as const),
  notes: fc.array(text, { maxLength: 2 }),
  text: fc.option(text),
  output: fc.option(text),
});

describe('a recording', () => {
  it('is read back as it was written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(prediction, { maxLength: 8 }), fc.option(ending), async (steps, end) => {
        const recording = await withFile(write(steps, end), readRecording);
        expect(recording.program).toEqual(program);
        const read = recording.steps.map((one) =>
          one.kind === 'state' ? { ...one, activation: null } : one,
        );
        expect(read).toEqual(end ? [...steps, end] : steps);
      }),
      { numRuns: 200 },
    );
  });

  it('keeps generators and frames that were left without a return', async () => {
    const steps = [
      step('call', '<module>', 0, {}, { activation: 0 }),
      step('call', 'gen', 1, {}, { activation: 1 }),
      step('return', 'gen', 2, {}, { argument: '1' }),
      step('call', 'gen', 2, {}, { activation: 1 }),
      step('exception', 'gen', 3, {}, { argument: 'E()' }),
      step('line', '<module>', 9, {}, { unwinds: 1 }),
    ];
    const read = await withFile(write(steps, null), readRecording);
    expect(read.steps).toEqual(steps);
  });

  it.each([
    ['', 1, 'JSON'],
    ['[]', 1, 'object'],
    ['{"recording":"neural-debug","version":1,"world":"w","real":false}', 1, 'program'],
    [`${write([], null)}{"event":"line"}`, 2, 'function'],
    [
      `${write([], null)}{"event":"step","function":"f","line":1,"depth":0,"locals":null,"argument":null}`,
      2,
      'event',
    ],
    [
      `${write([], null)}{"event":"line","function":"f","line":-1,"depth":0,"locals":null,"argument":null}`,
      2,
      'line',
    ],
    [`${write([], null)}{"end":"returned"}\n{"end":"returned"}`, 3, 'end'],
    [`${write([], null)}not json`, 2, 'JSON'],
  ])('that is broken (%#) is refused, naming the line and what is wrong', async (broken, line, what) => {
    await expect(withFile(broken, readRecording)).rejects.toThrow(
      new RegExp(`r\\.jsonl.*line ${line}.*${what}`, 's'),
    );
  });

  it('of another version is refused, naming both versions', async () => {
    const newer = write([], null).replace('"version":1', '"version":2');
    await expect(withFile(newer, readRecording)).rejects.toThrow(/version 2.*version 1/);
  });

  it('is read from any step on, whatever was read before, with empty lines and long ones', async () => {
    const long = 'x'.repeat(700_000);
    const steps = Array.from({ length: 2_000 }, (_, index) =>
      step(index === 0 ? 'call' : 'line', 'f', 1 + index, { text: index % 400 === 7 ? `'${long}é'` : '1' }),
    );
    const end = { kind: 'end', how: 'returned', notes: [], text: null, output: null } as const;
    const lines = write(steps, end).split('\n');
    const spread = `\ufeff${lines.map((line, index) => (index % 5 === 1 ? `${line}\r\n\n  ` : line)).join('\n')}`;
    await withFile(spread.trimEnd(), async (path) => {
      const file = await RecordingFile.open(path);
      for (const position of [1_500, 0, 256, 255, 1_999, 2_000, 2_001]) {
        const read: number[] = [];
        for await (const batch of file.steps(position)) {
          read.push(...batch.map((one) => (one.kind === 'state' ? one.state.line : 0)));
        }
        expect(read).toEqual([...steps.map((_, index) => index + 1), 0].slice(position));
      }
    });
  });

  it('gives the steps before a line that is broken, and names that line', async () => {
    const steps = Array.from({ length: 700 }, () => step('call', 'f', 1));
    const lines = write(steps, null).split('\n');
    lines[600] = '\n{"event":';
    await withFile(lines.join('\n'), async (path) => {
      const file = await RecordingFile.open(path);
      let read = 0;
      const reading = async () => {
        for await (const batch of file.steps(0)) read += batch.length;
      };
      await expect(reading()).rejects.toThrow(/line 602: it is not JSON/);
      expect(read).toBe(599);
    });
  });

  it('that was replaced by another one is not read on', async () => {
    await withFile(write([step('call', 'f', 1)], null), async (path) => {
      const file = await RecordingFile.open(path);
      writeFileSync(path, write([step('call', 'f', 2)], null).replace('a test', 'another'));
      await expect(file.steps(0).next()).rejects.toMatchObject({ code: 603 });
    });
  });
});
