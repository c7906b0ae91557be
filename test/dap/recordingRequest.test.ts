import { mkdtempSync, rmSync } from 'node:fs';
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

  it('is refused before a launch', async () => {
    client = new DapClient();
    await client.ask('initialize', { adapterID: 'neural-debug' });
    expect((await client.request('neuralDebug/recording')).success).toBe(false);
  });
});
