import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';
import { parsePrompt } from '../../adapter/format/cwm/prompt';
import { FrameWriter } from '../../adapter/format/cwm/writer';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';
import { otherLiteral } from '../../adapter/modelServer/wrongFrames';
import { PythonSource } from '../../adapter/python/source';
import type { Prediction } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { ReferenceWorld } from '../../adapter/world/reference';

const cases = join(import.meta.dirname, '../cases');
const names = ['08-finally-return', '22-closure-nonlocal', '24-walrus', '31-recursion-step-over'] as const;

let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer({ port: 0, onDivergence: 'inject' });
});

afterAll(async () => {
  await server.close();
});

/** The prompt of a case before its first frame, and the program in it. */
async function promptOf(name: string) {
  const path = join(cases, `${name}.py`);
  const text = readFileSync(path, 'utf8');
  const program = { path, source: text, entry: null, args: [] };
  const format = await createCwmFormat(program, await PythonSource.parse(text));
  const trajectory = new Trajectory(program);
  let at = -1;
  for (const step of format.opening) {
    if (step.kind === 'state') at = trajectory.append(at, { name: 'step_into' }, step);
  }
  const prompt = format.prompt(trajectory, at, 'many');
  if (prompt.kind !== 'text') throw new Error('CWM prompts are text.');
  const end = prompt.text.indexOf('<|frame_sep|>') + '<|frame_sep|>'.length;
  const { source, lines, entry } = parsePrompt(prompt.text);
  return { head: prompt.text.slice(0, end), source, lines, entry: entry.name };
}

const { signal } = new AbortController();

/** The states that follow one in a real run, recorded; and the way to the last of them. */
async function follow(world: ReferenceWorld, trajectory: Trajectory, from: number): Promise<number[]> {
  let at = from;
  const action = { name: 'step_into' } as const;
  for await (const steps of world.predict({ trajectory, from, action, wanted: 'many', signal })) {
    for (const step of steps) if (step.kind === 'state') at = trajectory.append(at, action, step);
  }
  const way: number[] = [];
  for (; at >= 0; at = trajectory.previous(at)) way.push(at);
  return way.reverse();
}

/** The frames of the states on a way, as a model writes them. */
function write(trajectory: Trajectory, way: readonly number[], lines: readonly string[]): string[] {
  const writer = new FrameWriter();
  return way.map((index) => {
    const { event, line, locals, argument } = trajectory.state(index);
    const text = (lines[line - 1] ?? '').replace('  # << START_OF_TRACE', '');
    return writer.write({ event, line: text, locals, argument: argument?.repr ?? null });
  });
}

async function answer(prompt: string): Promise<string> {
  const client = new OpenAI({ baseURL: server.url, apiKey: server.token, maxRetries: 0 });
  const { choices } = await client.completions.create({
    model: 'neural-debug-reference-cwm',
    prompt,
    max_tokens: 100_000,
  });
  return choices[0]?.text ?? '';
}

describe('edits of cases', () => {
  it.each(names)('%s: the server goes on as the reference does', { timeout: 120_000 }, async (name) => {
    const { head, source, lines, entry } = await promptOf(name);
    const program = { path: join(cases, `${name}.py`), source, entry: `${entry}()`, args: [] };
    const world = new ReferenceWorld(program);
    const trajectory = new Trajectory(program);
    const first = await follow(world, trajectory, -1);
    expect(await answer(head)).toBe(write(trajectory, first, lines).join(''));
    const edits = first.flatMap((state, position) => {
      const { event, locals } = trajectory.state(state);
      if (event !== 'line') return [];
      return [...(locals ?? [])].flatMap(([local, { repr }]) => {
        const other = repr === null ? null : otherLiteral(repr, position);
        return other === null ? [] : [{ state, position, local, other }];
      });
    });
    expect(edits.length).toBeGreaterThan(2);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...edits), async ({ state, position, local, other }) => {
        const action = { name: 'what_if', locals: new Map([[local, other]]), line: null } as const;
        let edited: Prediction | null = null;
        for await (const [step] of world.predict({
          trajectory,
          from: state,
          action,
          wanted: 'one',
          signal,
        })) {
          if (step?.kind === 'state') edited = step;
        }
        if (!edited) throw new Error('The edited state was expected.');
        const version = trajectory.append(trajectory.previous(state), action, edited);
        const frames = write(trajectory, await follow(world, trajectory, version), lines);
        const history = frames.slice(0, position + 1).join('');
        expect(await answer(head + history)).toBe(frames.slice(position + 1).join(''));
      }),
      { numRuns: 4 },
    );
    await world.close();
  });
});
