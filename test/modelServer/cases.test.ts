import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';
import type { Format } from '../../adapter/format/format';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';
import { scriptBeginning } from '../../adapter/python/script';
import { PythonSource } from '../../adapter/python/source';
import type { EventKind, State } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';

const cases = join(import.meta.dirname, '../cases');

const model = 'neural-debug-reference-cwm';

let server: ModelServer;

function client(): OpenAI {
  return new OpenAI({ baseURL: server.url, apiKey: server.token, maxRetries: 0 });
}

beforeAll(async () => {
  server = await startModelServer({ port: 0 });
});

afterAll(async () => {
  await server.close();
});

/** A row of the expected events. */
interface Row {
  readonly ev: EventKind;
  readonly fn: string;
  readonly line: number;
  readonly locals: Readonly<Record<string, string>>;
  readonly arg?: string;
}

function expectedStates(name: string, beginning: number): State[] {
  const text = readFileSync(join(cases, `expected/${name}.jsonl`), 'utf8').trimEnd();
  const rows = text.split('\n').map((line) => JSON.parse(line) as Row);
  rows.pop();
  const first = rows.findIndex(({ fn, ev, line }) => fn === '<module>' && ev === 'line' && line >= beginning);
  return [...rows.slice(0, 1), ...rows.slice(first)].map(({ ev, fn, line, locals, arg }) => ({
    event: ev,
    function: fn,
    line,
    thread: null,
    locals: new Map(Object.entries(locals).map(([local, repr]) => [local, { repr, confidence: null }])),
    argument: arg === undefined ? null : { repr: argumentRepr(ev, arg), confidence: null },
  }));
}

/** The rows show an exception as `Type: repr`. */
function argumentRepr(event: EventKind, shown: string): string {
  return event === 'exception' ? shown.replace(/^\w+: /, '') : shown;
}

/** What the format carries of a state, as a line. */
function shown(format: Format, state: State): string {
  const carried = format.project(state);
  if (!carried) return 'not carried';
  const values = Array.from(carried.locals ?? [], ([name, { repr }]) => `${name}=${repr ?? '?'}`).sort();
  const what = [carried.event, carried.function, carried.line, ...values, carried.argument?.repr ?? ''];
  return what.join(' ');
}

/** Asks the server as the product does, and reads its stream as it arrives. */
async function predicted(format: Format, trajectory: Trajectory): Promise<State[]> {
  const states: State[] = [];
  let from = -1;
  const record = (steps: ReturnType<ReturnType<Format['reader']>['read']>) => {
    for (const step of steps) {
      if (step.kind !== 'state') continue;
      from = trajectory.append(from, { name: 'step_into' }, step);
      states.push(step.state);
    }
  };
  record(format.opening);
  const prompt = format.prompt(trajectory, from, 'many');
  if (prompt.kind !== 'text') throw new Error('CWM prompts are text.');
  const reader = format.reader(trajectory, from);
  const stream = await client().completions.create({
    model,
    prompt: prompt.text,
    stop: [...prompt.stop],
    max_tokens: 100_000,
    stream: true,
  });
  for await (const { choices } of stream) {
    const [choice] = choices;
    if (choice?.text) record(reader.read({ kind: 'text', text: choice.text, tokens: [] }));
    if (choice?.finish_reason === 'stop') {
      record(reader.read({ kind: 'end', reason: 'stop', stopString: null, usage: null }));
    }
  }
  return states;
}

describe('scripts, asked of the server and read back', () => {
  it.each([
    '01-genexpr-next',
    '08-finally-return',
    '09-del-and-except-name',
    '21-last-line-effect',
    '22-closure-nonlocal',
    '24-walrus',
    '26-unicode',
    '29-sys-exit',
    '31-recursion-step-over',
    '36-loop-else-finally',
  ])('%s', async (name) => {
    const source = readFileSync(join(cases, `${name}.py`), 'utf8');
    const program = { path: `/${name}.py`, source, entry: null, args: [] };
    const parsed = await PythonSource.parse(source);
    const format = await createCwmFormat(program, parsed);
    const trajectory = new Trajectory(program);
    const read = await predicted(format, trajectory);
    const real = expectedStates(name, scriptBeginning(parsed) ?? 0);
    expect(read.map((state) => shown(format, state))).toEqual(real.map((state) => shown(format, state)));
    // What was read is a history that the server goes on from, at every state.
    for (let index = 0; index < trajectory.length; index++) {
      const prompt = format.prompt(trajectory, index, 'one');
      if (prompt.kind !== 'text') throw new Error('CWM prompts are text.');
      await client().completions.create({ model, prompt: prompt.text, max_tokens: 1 });
    }
  });
});
