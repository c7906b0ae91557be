import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { PathConfidence } from '../../../adapter/debugger/confidence';
import { DerivedValues } from '../../../adapter/debugger/objects/derived';
import { ExpressionEvaluator } from '../../../adapter/python/expressions';
import { PythonSource } from '../../../adapter/python/source';
import { Trajectory } from '../../../adapter/trajectory/trajectory';
import { ReferenceWorld } from '../../../adapter/world/reference';

const folder = fileURLToPath(new URL('programs', import.meta.url));
const evaluator = new ExpressionEvaluator();
afterAll(() => evaluator.close());

interface Row {
  readonly function: string;
  readonly line: number;
  readonly objects: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** What a real run says of the objects that the locals are, at each line event. */
function realAttributes(path: string): Row[] {
  const script = fileURLToPath(new URL('realAttributes.py', import.meta.url));
  const told = execFileSync('python3', ['-I', script, path], { encoding: 'utf8' });
  const rows = told.split('\n').filter((line) => line.startsWith('{"function"'));
  return rows.map((line) => JSON.parse(line) as Row);
}

async function follow(source: string, entry: string | null = null) {
  const program = { path: `${folder}/p.py`, source, entry, args: [] };
  const world = new ReferenceWorld(program);
  const trajectory = new Trajectory(program);
  let from = -1;
  const request = {
    action: { name: 'step_into' },
    wanted: 'many',
    signal: new AbortController().signal,
  } as const;
  for await (const steps of world.predict({ trajectory, from, ...request })) {
    for (const step of steps) {
      if (step.kind === 'state') from = trajectory.append(from, request.action, step);
    }
  }
  await world.close();
  const parsed = await PythonSource.parse(source);
  const confidence = new PathConfidence(parsed, trajectory);
  const derived = new DerivedValues(parsed, trajectory, evaluator, confidence);
  return { trajectory, derived };
}

/** The ways of writing an object that stand for one another. */
function plain(text: string | null): string | null {
  return text?.replaceAll('<__main__.', '<').replace(/<(\w+)\.\w+: [^>]*>/g, '<$1 object>') ?? null;
}

const programs = readdirSync(folder).filter((name) => name.endsWith('.py'));
/** At least this much of all attributes is known; the rest is said not to be. */
const knownAtLeast: Readonly<Record<string, number>> = {
  'bank_account.py': 0.98,
  'counter.py': 1,
  'data_class.py': 1,
  'inheritance.py': 1,
  'linked_list.py': 1,
  'properties.py': 1,
  'queue.py': 1,
  'shared.py': 0.84,
  'slots.py': 1,
  'state_machine.py': 0.74,
  'tree.py': 1,
};

describe.each(programs)('the attributes of objects in %s', (name) => {
  it('are those of a real run, or not predicted', async () => {
    const path = `${folder}/${name}`;
    const { trajectory, derived } = await follow(readFileSync(path, 'utf8'));
    const lines = Array.from({ length: trajectory.length }, (_, state) => state).filter(
      (state) => trajectory.event(state) === 'line',
    );
    const real = realAttributes(path);
    expect(lines.map((state) => trajectory.line(state))).toEqual(real.map(({ line }) => line));
    let known = 0;
    let all = 0;
    const wrong: string[] = [];
    for (const [index, state] of lines.entries()) {
      for (const [local, attributes] of Object.entries(real[index]?.objects ?? {})) {
        const parts = (await derived.local(local, state, state)) ?? [];
        all += Object.keys(attributes).length;
        for (const { name: attribute, repr } of parts) {
          if (repr === null) continue;
          const is = attributes[attribute] ?? null;
          if (plain(repr) === is) known++;
          else
            wrong.push(`line ${trajectory.line(state)}: ${local}.${attribute} is ${is}, not ${plain(repr)}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(known / all).toBeGreaterThanOrEqual(knownAtLeast[name] ?? 0);
  });
});
