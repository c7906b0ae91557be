import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../adapter/debugger/configuration';
import { openWorldFor } from '../../adapter/debugger/open';
import { mostAgain } from '../../adapter/evaluation/ask';
import { type AskedState, evaluateNextState } from '../../adapter/evaluation/nextState';
import { type EvaluatedProgram, readPrograms } from '../../adapter/evaluation/programs';
import { share } from '../../adapter/evaluation/statistics';
import { scoresOf } from '../../adapter/evaluation/summary';
import { parseFaults } from '../../adapter/modelServer/faults';
import { startModelServer } from '../../adapter/modelServer/server';

const cases = fileURLToPath(new URL('../cases/', import.meta.url));
const chosen = [
  '22-closure-nonlocal.py',
  '24-walrus.py',
  '31-recursion-step-over.py',
  '36-loop-else-finally.py',
].map((name) => join(cases, name));

const seed = 1;
/** How often a line is wrong that can be. */
const rate = 0.3;

/** What `eval next-state` says of our server over HTTP, which makes faults, and which faults it made. */
async function evaluate(plan: string, limit: number, files = chosen) {
  const server = await startModelServer({ port: 0, faults: parseFaults(plan, seed) });
  try {
    const rows: AskedState[] = [];
    const programs = await readPrograms(files);
    const configuration = parseConfiguration({ server: { baseUrl: server.url } });
    await evaluateNextState({
      programs,
      actions: ['step_into'],
      limit,
      seed,
      openWorld: (program) => openWorldFor(configuration, program, () => Promise.resolve(server.token)),
      known: new Map(),
      signal: new AbortController().signal,
      onAsked: (row) => {
        rows.push(row);
        return Promise.resolve();
      },
      onSkipped: (program, why) => {
        throw new Error(`${program}: ${why}`);
      },
    });
    return { rows, programs, ...server.faults() };
  } finally {
    await server.close();
  }
}

/** The text of the line at a place that is given as `event function:line`. */
function lineAt({ program }: EvaluatedProgram, place: string | null): string | undefined {
  return program.source.split('\n')[Number(/^line .*:(\d+)$/.exec(place ?? '')?.[1]) - 1]?.trim();
}

describe('eval next-state over HTTP against a server that makes faults', () => {
  it('finds it right in everything where it makes none', { timeout: 60_000 }, async () => {
    const { rows, made, possible } = await evaluate('wrong-line=0', 60);
    const { asked, exact, calibration } = scoresOf(rows);
    expect([asked, exact.right, exact.of]).toEqual([60, 60, 60]);
    expect(made).toEqual([]);
    expect(possible['wrong-line']).toBeGreaterThan(20);
    expect(calibration).toMatchObject({ accuracy: 1, meanConfidence: 1 });
  });

  it('reports the faults, each of them and nothing else, and their rate', { timeout: 60_000 }, async () => {
    const { rows, programs, made, possible } = await evaluate(`wrong-line=${rate}`, Infinity);
    const wrong = rows.filter(({ right }) => right?.exact !== true);
    expect(made.length).toBeGreaterThan(10);
    expect(
      wrong.map(({ program, real, predicted, error }) => {
        const of = programs.find(({ id }) => id === program);
        return { does: of && lineAt(of, real), wrote: of && lineAt(of, predicted), error };
      }),
    ).toEqual(made.map(({ does, wrote }) => ({ does: does?.trim(), wrote: wrote?.trim(), error: null })));
    // Where a line could be another one the server is never sure.
    const couldBeWrong = rows.filter(({ confidence }) => confidence !== null && confidence < 1);
    expect(couldBeWrong).toHaveLength(possible['wrong-line'] ?? 0);
    const { line, exact, event, calibration } = scoresOf(couldBeWrong);
    expect(line.right).toBe(couldBeWrong.length - made.length);
    expect(exact).toEqual(line);
    expect(event.share).toBe(1);
    const [low, high] = line.interval ?? [1, 0];
    expect(low).toBeLessThan(1 - rate);
    expect(high).toBeGreaterThan(1 - rate);
    expect(high - low).toBeLessThan(0.25);
    // What it says of its own sureness is so, on average; and where it errs it is less sure.
    expect(calibration?.accuracy).toBe(line.share);
    expect(low).toBeLessThan(calibration?.meanConfidence ?? 0);
    expect(high).toBeGreaterThan(calibration?.meanConfidence ?? 1);
    const whenWrong = scoresOf(wrong).calibration?.meanConfidence ?? 1;
    expect(whenWrong).toBeLessThan((calibration?.meanConfidence ?? 0) - 0.1);
  });

  it(
    'counts each answer that cannot be read, mended or given up, at their rate',
    { timeout: 60_000 },
    async () => {
      // A malformed frame without a line says no place, however it is read.
      const isUnreadable = (wrote: string | null) => wrote?.includes('<|action_sep|>') === false;
      let asked = 0;
      let first = 0;
      let malformed = 0;
      for (const file of chosen) {
        const { rows, made } = await evaluate(`malformed=${rate}`, Infinity, [file]);
        const { unreadable, mended, errors } = scoresOf(rows);
        // Each frame is one that follows an asked state, or the first of the script, which follows none.
        const frames = new Map<number, string | null>();
        for (const { frame, wrote } of made) if (!frames.has(frame)) frames.set(frame, wrote);
        const of = [...frames.values()];
        expect(unreadable.right).toBe(of.filter(isUnreadable).length);
        const answers = rows.reduce((sum, row) => sum + row.unreadable, 0);
        expect(answers).toBe(made.filter(({ wrote }) => isUnreadable(wrote)).length);
        const givenUp = rows.filter(({ unreadable: count }) => count > mostAgain);
        expect(mended).toBe(unreadable.right - givenUp.length);
        expect(errors).toEqual(givenUp.length > 0 ? { 454: givenUp.length } : {});
        asked += rows.length;
        first += unreadable.right;
        malformed += of.length;
      }
      const [low, high] = share(malformed, asked).interval ?? [1, 0];
      expect(low).toBeLessThan(rate);
      expect(high).toBeGreaterThan(rate);
      // Two of the five ways to be malformed leave no line.
      const [least, most] = share(first, asked).interval ?? [1, 0];
      expect(least).toBeLessThan((rate * 2) / 5);
      expect(most).toBeGreaterThan((rate * 2) / 5);
    },
  );

  it(
    'reports wrong values and their rate, and how far confidence in values holds',
    { timeout: 60_000 },
    async () => {
      const { rows, made, possible } = await evaluate(`wrong-value=${rate}`, Infinity);
      expect(made.length).toBeGreaterThan(10);
      const wrong = rows.filter(({ right }) => right?.exact !== true);
      expect(wrong).toHaveLength(made.length);
      expect(wrong.map(({ right }) => right)).toEqual(
        made.map(
          () => expect.objectContaining({ event: true, line: true, stack: true, values: false }) as unknown,
        ),
      );
      // Where a value could be another one the server is never sure.
      const couldBeWrong = rows.filter(
        ({ valueConfidence }) => valueConfidence !== null && valueConfidence < 1,
      );
      expect(couldBeWrong).toHaveLength(possible['wrong-value'] ?? 0);
      const { values, line, valueCalibration } = scoresOf(couldBeWrong);
      expect(line.share).toBe(1);
      expect(values.right).toBe(couldBeWrong.length - made.length);
      const [low, high] = values.interval ?? [1, 0];
      expect(low).toBeLessThan(1 - rate);
      expect(high).toBeGreaterThan(1 - rate);
      expect(high - low).toBeLessThan(0.3);
      expect(valueCalibration).toMatchObject({ of: couldBeWrong.length, accuracy: values.share });
      expect(low).toBeLessThan(valueCalibration?.meanConfidence ?? 0);
      expect(high).toBeGreaterThan(valueCalibration?.meanConfidence ?? 1);
      const whenWrong = scoresOf(wrong.map((row) => ({ ...row, right: row.right && { ...row.right } })));
      expect(whenWrong.valueCalibration?.accuracy).toBe(0);
      expect(whenWrong.valueCalibration?.meanConfidence).toBeLessThan(
        (valueCalibration?.meanConfidence ?? 0) - 0.1,
      );
    },
  );
});
