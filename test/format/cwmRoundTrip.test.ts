import fc from 'fast-check';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import type { Format } from '../../adapter/format/format';
import { compare, readAnswer, withoutRaisedReturns, type Compare, type Compared } from './cwmSupport';

const timeout = 300_000;

/** Two traces that a limit ended are equal up to the length of the shorter one. */
function expectEqual({ read, real, ending, how }: Compared): void {
  const length = how === 'cut' ? Math.min(read.length, real.length) : undefined;
  expect(read.slice(0, length)).toEqual(real.slice(0, length));
  expect(ending).toBe(how);
}

function promptText(format: Format, trajectory: Trajectory, from: number): string {
  const prompt = format.prompt(trajectory, from, 'many');
  if (prompt.kind !== 'text') throw new Error('CWM prompts are text.');
  return prompt.text;
}

function pythonFiles(folder: string): { name: string; source: string }[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.py'))
    .map((name) => ({ name, source: readFileSync(join(folder, name), 'utf8') }));
}

const scripts = ['../cases', 'programs'].flatMap((folder) => pythonFiles(join(import.meta.dirname, folder)));

describe('scripts: the trace of the wrapped program is read as what the script itself does', () => {
  const compared = new Map<string, Compared>();
  const withoutReturns = new Map<string, Compared>();

  beforeAll(async () => {
    const programs = scripts.map(({ source }) => ({ source, entry: null }));
    const name = (index: number) => scripts[index]?.name ?? '';
    for (const [index, result] of (await compare(programs)).entries()) compared.set(name(index), result);
    for (const [index, result] of (await compare(programs, withoutRaisedReturns)).entries()) {
      withoutReturns.set(name(index), result);
    }
  }, timeout);

  function resultOf(name: string, results = compared): Compared {
    const result = results.get(name);
    if (!result) throw new Error(`${name} was not compared.`);
    return result;
  }

  const names = scripts.map(({ name }) => name);

  it.each(names)('%s, and without doubt', (name) => {
    const result = resultOf(name);
    expectEqual(result);
    expect(result.doubts.filter((doubt) => doubt !== null)).toEqual([]);
  });

  it.each(names)('%s, also where frames that an exception leaves have no return', (name) => {
    expectEqual(resultOf(name, withoutReturns));
  });

  it.each(names)('%s, and is sent back as it was written', (name) => {
    const { format, trajectory, text } = resultOf(name);
    const all = promptText(format, trajectory, trajectory.length - 1);
    expect(promptText(format, trajectory, 0) + text).toBe(`${all}<|end_of_text|>`);
  });

  it.each(names)('%s, and is read the same from any of its states on', (name) => {
    const { format, trajectory } = resultOf(name);
    const last = trajectory.length - 1;
    const all = promptText(format, trajectory, last);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: last }), fc.nat(), (from, seed) => {
        const rest = all.slice(promptText(format, trajectory, from).length);
        const steps = readAnswer(format, trajectory, from, rest, seed);
        const states = steps.map((step) => (step.kind === 'state' ? step.state : null));
        const expected = Array.from({ length: last - from }, (_, index) =>
          trajectory.state(from + 1 + index),
        );
        expect(states).toEqual(expected);
        for (const [index, step] of steps.entries()) {
          if (step.kind !== 'state' || !trajectory.frame(from + 1 + index).resumed) continue;
          if (step.state.event !== 'call') continue;
          const isKnown = trajectory.frame(from + 1 + index).activation < (firstNew(trajectory, from) ?? 0);
          if (isKnown) expect(step.activation).toBe(trajectory.frame(from + 1 + index).activation);
        }
      }),
      { numRuns: 15 },
    );
  });

  it.each(names)('%s, and is written the same by us as by a model', (name) => {
    const { format, trajectory } = resultOf(name);
    const rewritten = new Trajectory(trajectory.program);
    const activations = Array.from({ length: trajectory.length }, (_, index) => trajectory.frame(index));
    for (let index = 0; index < trajectory.length; index++) {
      rewritten.append(
        index - 1,
        { name: 'step_into' },
        {
          state: trajectory.state(index),
          ...trajectory.prediction(index),
          activation: activations[index]?.activation ?? null,
          unwinds: 0,
          text: null,
        },
      );
    }
    const last = trajectory.length - 1;
    // The wrapper shows in the names of a model's values, not in ours.
    const plain = (text: string) => text.replaceAll(/_*main\.<locals>\./g, '');
    expect(promptText(format, rewritten, last)).toBe(plain(promptText(format, trajectory, last)));
  });
});

/** The first activation that a state after another one begins. */
function firstNew(trajectory: Trajectory, from: number): number | null {
  return (
    trajectory.frames.find(({ firstState, resumed }) => firstState > from && !resumed)?.activation ?? null
  );
}

const data = join(import.meta.dirname, '../../../shared/data');

/** Rows of CRUXEval: every one has a function `f` and its arguments. */
function cruxeval(): Compare[] {
  const lines = readFileSync(join(data, 'cruxeval/cruxeval.jsonl'), 'utf8').trim().split('\n');
  return lines.slice(0, 150).map((line) => {
    const { code, input } = JSON.parse(line) as { code: string; input: string };
    return { source: code, entry: `f(${input})` };
  });
}

function quixbugs(): Compare[] {
  const folder = join(data, 'quixbugs/json_testcases');
  return ['python_programs', 'correct_python_programs'].flatMap((kind) =>
    readdirSync(folder).flatMap((file) => {
      const name = file.replace('.json', '');
      const source = readFileSync(join(data, 'quixbugs', kind, `${name}.py`), 'utf8');
      const [first = ''] = readFileSync(join(folder, file), 'utf8').split('\n');
      const [given] = JSON.parse(first) as [unknown];
      const call = `${name}(${(Array.isArray(given) ? given : [given]).map(pythonOf).join(', ')})`;
      return [{ source, entry: /\byield\b/.test(source) ? `list(${call})` : call }];
    }),
  );
}

/** A JSON value as Python source. */
function pythonOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`;
  if (value !== null && typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, item]) => `${pythonOf(key)}: ${pythonOf(item)}`)
      .join(', ')}}`;
  }
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

// The data lie outside of the project: without them these tests are skipped.
describe.skipIf(!existsSync(data))('entry calls of public programs are read as they run', () => {
  it.each([
    ['CRUXEval', cruxeval],
    ['QuixBugs', quixbugs],
  ])(
    '%s',
    async (_, programs) => {
      for (const result of await compare(programs())) expectEqual(result);
    },
    timeout,
  );
});
