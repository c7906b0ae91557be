import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { DapClient } from '../support/dapClient';
import { readRecording, withFile } from '../support/recordings';

const recording = fileURLToPath(new URL('recordings/recursion.jsonl', import.meta.url));

let client: DapClient;

afterEach(async () => {
  await client.end();
});

async function start(): Promise<void> {
  client = new DapClient();
  await client.launch({ world: 'recording', recording });
  await client.start('/project/31-recursion-step-over.py', [4]);
}

interface Answer {
  readonly states: number;
  readonly text: string | null;
}

/** The lines of a recording of a loop, with at least so many states. */
function loop(states: number): string[] {
  const source = 'n = 0\nwhile True:\n    n = n + 1\n';
  const program = { path: '/long.py', source, entry: null, args: [] };
  const state = (event: string, line: number, n: number | null, more: object = {}) =>
    JSON.stringify({
      ...{ event, function: '<module>', line, depth: 0 },
      ...{ locals: n === null ? {} : { n: `${n}` }, argument: null, ...more },
    });
  const lines = [
    JSON.stringify({ recording: 'neural-debug', version: 1, world: 'a test', real: true, program }),
    state('call', 0, null),
    state('line', 1, null),
    state('line', 2, 0),
  ];
  for (let n = 0; lines.length <= states; n++) lines.push(state('line', 3, n), state('line', 2, n + 1));
  return [...lines, JSON.stringify({ end: 'cut', notes: [] })];
}

describe('neuralDebug/recording', () => {
  it('answers what is recorded so far, and once the program has ended all of it', async () => {
    await start();
    const first = await client.ask<Answer>('neuralDebug/recording');
    const read = await withFile(first.text ?? '', readRecording);
    expect(read.program.path).toBe('/project/31-recursion-step-over.py');
    expect(read.steps.filter(({ kind }) => kind === 'state')).toHaveLength(first.states);
    await client.ask('setBreakpoints', { source: { path: read.program.path }, breakpoints: [] });
    await client.move('continue');
    await client.ask('continue', { threadId: 1 });
    await client.event('terminated');
    const last = await client.ask<Answer>('neuralDebug/recording', {});
    const all = await readRecording(recording);
    expect((await withFile(last.text ?? '', readRecording)).steps).toEqual(all.steps);
  });

  it('writes to a file, and says why where it cannot', async () => {
    await start();
    const folder = mkdtempSync(join(tmpdir(), 'neural-debug-recording-'));
    try {
      const path = join(folder, 'out.trace.jsonl');
      const answer = await client.ask<Answer>('neuralDebug/recording', { path });
      expect(answer.text).toBeNull();
      const { steps } = await readRecording(path);
      expect(steps.filter(({ kind }) => kind === 'state')).toHaveLength(answer.states);
      const missing = await client.request('neuralDebug/recording', { path: join(folder, 'no', 'where') });
      expect(missing).toMatchObject({ success: false, body: { error: { id: 107, showUser: false } } });
      const relative = await client.request('neuralDebug/recording', { path: 'out' });
      expect(relative).toMatchObject({ success: false, body: { error: { id: 711 } } });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('writes nothing where there are more states than are wanted', async () => {
    await start();
    const folder = mkdtempSync(join(tmpdir(), 'neural-debug-recording-'));
    try {
      const path = join(folder, 'out.trace.jsonl');
      const { states } = await client.ask<Answer>('neuralDebug/recording', { path, mostStates: 1 });
      expect(states).toBeGreaterThan(1);
      expect(existsSync(path)).toBe(false);
      await client.ask('neuralDebug/recording', { path, mostStates: states });
      expect(existsSync(path)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('can be had in the same process once the editor has left', async () => {
    await start();
    const { states } = await client.ask<Answer>('neuralDebug/recording');
    await client.ask('disconnect');
    const folder = mkdtempSync(join(tmpdir(), 'neural-debug-recording-'));
    try {
      const path = join(folder, 'out.trace.jsonl');
      expect(await client.session.record(path, states)).toEqual({ states, text: null });
      const { steps } = await readRecording(path);
      expect(steps.filter(({ kind }) => kind === 'state')).toHaveLength(states);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('lets others have their turns while it writes many states', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'neural-debug-recording-'));
    try {
      const states = 20_000;
      const long = join(folder, 'long.trace.jsonl');
      writeFileSync(long, loop(states).join('\n'));
      client = new DapClient();
      await client.launch({ world: 'recording', recording: long });
      await client.start('/long.py');
      let turns = 0;
      const count = (): void => {
        turns++;
        next = setImmediate(count);
      };
      let next = setImmediate(count);
      const answer = await client.ask<Answer>('neuralDebug/recording', { path: join(folder, 'out') });
      clearImmediate(next);
      expect(answer.states).toBeGreaterThan(states);
      expect(turns).toBeGreaterThan(states / 1000);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is refused before a launch', async () => {
    client = new DapClient();
    await client.ask('initialize', { adapterID: 'neural-debug' });
    expect((await client.request('neuralDebug/recording')).success).toBe(false);
  });
});
