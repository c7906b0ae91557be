import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../adapter/debugger/configuration';
import { openWorldFor } from '../../adapter/debugger/open';
import { errors } from '../../adapter/errors';
import { evaluatedActions } from '../../adapter/evaluation/ask';
import {
  type AskedState,
  evaluateNextState,
  keyOf,
  type NextStateOptions,
} from '../../adapter/evaluation/nextState';
import { readPrograms } from '../../adapter/evaluation/programs';
import { ResultsFile } from '../../adapter/evaluation/results';
import { seededRandom } from '../../adapter/evaluation/statistics';
import { scoresOf } from '../../adapter/evaluation/summary';
import { startModelServer } from '../../adapter/modelServer/server';
import type { Program } from '../../adapter/trajectory/program';
import type { State, Step } from '../../adapter/trajectory/state';
import { ReferenceWorld } from '../../adapter/world/reference';
import type { PredictRequest, World } from '../../adapter/world/world';

const cases = fileURLToPath(new URL('../cases/', import.meta.url));
const chosen = [
  '01-genexpr-next.py',
  '14-decorator-order.py',
  '29-sys-exit.py',
  '31-recursion-step-over.py',
  '36-loop-else-finally.py',
  '39-exception-group.py',
].map((name) => join(cases, name));

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-evaluation-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A program with as many states as wanted, in calls and loops. */
const busy = `def square(n):
    total = 0
    for i in range(n):
        total += n
    return total

squares = []
for n in range(40):
    squares.append(square(n % 5))
print(sum(squares))
`;

interface Evaluated {
  readonly rows: AskedState[];
  readonly skipped: { program: string; why: string }[];
  /** How many of the rows were asked now. */
  readonly asked: number;
}

async function evaluate(
  paths: readonly string[],
  openWorld: (program: Program) => Promise<World>,
  more: Partial<NextStateOptions> = {},
): Promise<Evaluated> {
  const rows: AskedState[] = [];
  const skipped: Evaluated['skipped'] = [];
  let asked = 0;
  await evaluateNextState({
    programs: await readPrograms(paths),
    actions: evaluatedActions,
    limit: 20,
    seed: 1,
    openWorld,
    known: new Map(),
    signal: new AbortController().signal,
    onAsked: (row, isKnown) => {
      rows.push(row);
      if (!isKnown) asked++;
      return Promise.resolve();
    },
    onSkipped: (program, why) => skipped.push({ program, why }),
    ...more,
  });
  return { rows, skipped, asked };
}

const reference = (program: Program): Promise<World> => Promise.resolve(new ReferenceWorld(program));

/** A world that changes what another one says, at a known rate. */
class FaultyWorld implements World {
  constructor(
    private readonly world: World,
    private readonly isFaulty: () => boolean,
    private readonly change: (state: State) => State,
  ) {}

  get description() {
    return this.world.description;
  }

  get questions() {
    return this.world.questions;
  }

  get actions() {
    return this.world.actions;
  }

  get canBeEdited() {
    return this.world.canBeEdited;
  }

  get samplingTemperature() {
    return this.world.samplingTemperature;
  }

  whatIfProblem(...request: Parameters<World['whatIfProblem']>) {
    return this.world.whatIfProblem(...request);
  }

  project(state: State): State | null {
    return this.world.project(state);
  }

  async *predict(request: PredictRequest): AsyncGenerator<readonly Step[]> {
    for await (const steps of this.world.predict(request)) {
      for (const step of steps) {
        const isChanged = step.kind === 'state' && this.isFaulty();
        yield [isChanged ? { ...step, state: this.change(step.state) } : step];
      }
    }
  }

  close(): Promise<void> {
    return this.world.close();
  }
}

const wrongLine = (state: State): State => ({ ...state, line: state.line + 1 });

const wrongValue = (state: State): State => ({
  ...state,
  locals: state.locals && new Map([...state.locals, ['never_there', { repr: '1', confidence: null }]]),
});

describe('eval next-state', () => {
  it('finds the reference right in everything, and asks what it was told to', async () => {
    const { rows, skipped } = await evaluate(chosen, reference);
    const { asked, exact, changed, values, errors: failed } = scoresOf(rows);
    expect(skipped).toEqual([]);
    expect(asked).toBe(60);
    expect(rows.filter(({ right }) => right?.exact !== true)).toEqual([]);
    expect(exact).toMatchObject({ right: 60, of: 60 });
    expect(values.share).toBe(1);
    expect(changed.share).toBe(1);
    expect(failed).toEqual({});
    expect(new Set(rows.map(keyOf)).size).toBe(60);
    expect(rows.some(({ horizon }) => horizon > 1)).toBe(true);
  });

  it('finds our server right in everything, as far as the format carries it', async () => {
    const server = await startModelServer({ port: 0 });
    try {
      const configuration = parseConfiguration({ server: { baseUrl: server.url } });
      const { rows } = await evaluate(chosen, (program) =>
        openWorldFor(configuration, program, () => Promise.resolve(server.token)),
      );
      expect(rows.length).toBe(60);
      expect(rows.filter(({ right }) => right?.exact !== true)).toEqual([]);
    } finally {
      await server.close();
    }
  });

  it.each([
    ['lines', wrongLine, 'line'],
    ['values', wrongValue, 'values'],
  ] as const)('reports the rate of wrong %s of single steps', async (_, change, part) => {
    const rate = 0.3;
    const path = join(folder, 'busy.py');
    writeFileSync(path, busy);
    const random = seededRandom(7);
    const { rows } = await evaluate(
      [path],
      (program) =>
        Promise.resolve(new FaultyWorld(new ReferenceWorld(program), () => random() < rate, change)),
      { actions: ['step_into'], limit: 300 },
    );
    const scores = scoresOf(rows);
    expect(scores.asked).toBe(300);
    const [low, high] = scores[part].interval ?? [1, 0];
    expect(low).toBeLessThanOrEqual(1 - rate);
    expect(high).toBeGreaterThanOrEqual(1 - rate);
    const { exact } = scores;
    expect(exact.of - exact.right).toBe(scores[part].of - scores[part].right);
    expect(scores.event.share).toBe(1);
  });

  it('counts failures apart, and gives up when there is nothing but failures', async () => {
    const random = seededRandom(3);
    const failing = (rate: number) => (program: Program) => {
      const world = new FaultyWorld(
        new ReferenceWorld(program),
        () => {
          if (random() < rate) throw errors.noPrediction('The failing world');
          return false;
        },
        wrongLine,
      );
      return Promise.resolve(world);
    };
    const { rows } = await evaluate(chosen, failing(0.3), { actions: ['step_into'], limit: 60 });
    const scores = scoresOf(rows);
    const failed = scores.errors['704'] ?? 0;
    expect(failed).toBeGreaterThan(5);
    expect(scores.exact.of + failed).toBe(60);
    expect(scores.exact.share).toBe(1);
    await expect(evaluate(chosen, failing(1))).rejects.toMatchObject({ code: 122 });
  });

  it('leaves out what cannot be run, and says why', async () => {
    const broken = join(folder, 'broken.py');
    writeFileSync(broken, 'def f(:\n');
    const { rows, skipped } = await evaluate([broken, ...chosen.slice(0, 1)], reference);
    expect(skipped).toMatchObject([{ program: 'broken.py' }]);
    expect(rows.length).toBeGreaterThan(0);
  });
});

describe('the file of results', () => {
  it('is gone on with: nothing is asked twice, but what failed', async () => {
    const path = join(folder, 'results.jsonl');
    const first = await ResultsFile.open(path, 'settings');
    const { rows } = await evaluate(chosen.slice(0, 2), reference, { limit: 4 });
    const [failed, ...right] = rows;
    if (!failed) throw new Error('Nothing was asked.');
    await first.add({ ...failed, right: null, predicted: null, error: 704 });
    for (const row of right.slice(0, 5)) await first.add(row);
    await first.close();
    // The last line was cut.
    writeFileSync(path, readFileSync(path, 'utf8') + '{"program":"14-dec');
    const again = await ResultsFile.open(path, 'settings');
    expect(again.known.size).toBe(5);
    const { rows: all, asked } = await evaluate(chosen.slice(0, 2), reference, {
      limit: 4,
      known: again.known,
      onAsked: async (row, isKnown) => {
        if (!isKnown) await again.add(row);
      },
    });
    expect(all).toEqual([]);
    expect(asked).toBe(0);
    await again.close();
    const third = await ResultsFile.open(path, 'settings');
    await third.close();
    expect([...third.known.values()]).toEqual(expect.arrayContaining(rows));
    expect(third.known.size).toBe(rows.length);
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(rows.length);
  });

  it('is not mixed with other results or other files', async () => {
    const path = join(folder, 'other.jsonl');
    const results = await ResultsFile.open(path, 'one');
    const { rows } = await evaluate(chosen.slice(0, 1), reference, { limit: 1 });
    for (const row of rows) await results.add(row);
    await results.close();
    await expect(ResultsFile.open(path, 'another')).rejects.toMatchObject({ code: 121 });
    writeFileSync(path, 'a poem\n');
    await expect(ResultsFile.open(path, 'one')).rejects.toMatchObject({ code: 121 });
    expect(readFileSync(path, 'utf8')).toBe('a poem\n');
  });
});
