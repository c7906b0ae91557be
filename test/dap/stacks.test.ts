import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DapClient } from '../support/dapClient';

let folder = '';
let client: DapClient;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-stacks-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});
afterEach(() => client.end());

const program = '/project/deep.py';
const source = ['def down(n):', '    if n:', '        down(n - 1)', '    return n', '', 'down(9)', ''].join(
  '\n',
);

/** A recording that goes down to where the stack has so many frames, the module's among them. */
function recordingOf(frames: number): string {
  const calls = frames - 1;
  const lines: object[] = [
    {
      recording: 'neural-debug',
      version: 1,
      world: 'a model',
      real: false,
      program: { path: program, source, entry: null, args: [] },
    },
    { event: 'call', function: '<module>', line: 0, depth: 0, locals: {}, argument: null },
    { event: 'line', function: '<module>', line: 6, depth: 0, locals: {}, argument: null },
  ];
  for (let depth = 1; depth <= calls; depth++) {
    const locals = { n: `${calls - depth}` };
    const state = (event: string, line: number) =>
      lines.push({ event, function: 'down', line, depth, locals, argument: null });
    state('call', 1);
    state('line', 2);
    state('line', depth < calls ? 3 : 4);
  }
  const path = join(folder, `${frames}.trace.jsonl`);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}

/** Stops with so many frames. */
async function stopIn(frames: number, clientID: string): Promise<void> {
  client = new DapClient();
  await client.launch({ world: 'recording', recording: recordingOf(frames) }, { clientID });
  await client.start(program, [4]);
}

/** The pages of a stack, as VS Code asks for them: one, and then, once that is wanted, all the rest. */
async function pages(): Promise<DebugProtocol.StackFrame[][]> {
  const page = (startFrame: number, levels: number) =>
    client.ask<DebugProtocol.StackTraceResponse['body']>('stackTrace', { threadId: 1, startFrame, levels });
  const first = await page(0, 20);
  const got = first.stackFrames.length;
  // Its two reasons to offer no more.
  if (got < 20 || first.totalFrames === got) return [first.stackFrames];
  const rest = await page(got, (first.totalFrames ?? 0) - got);
  expect(rest.totalFrames).toBe(got + rest.stackFrames.length);
  return [first.stackFrames, rest.stackFrames];
}

describe('a stack', () => {
  it.each([
    [3, [3]],
    [20, [20]],
    [21, [20, 1]],
    [1500, [20, 1480]],
  ])('of %i frames is offered further where it goes on, and not else', async (frames, sizes) => {
    await stopIn(frames, 'vscode');
    const shown = await pages();
    expect(shown.map(({ length }) => length)).toEqual(sizes);
    const all = shown.flat();
    expect(new Set(all.map(({ id }) => id)).size).toBe(frames);
    expect(all.at(-1)?.name).toBe('<module>');
    expect(all.slice(0, -1).every(({ name }) => name === 'down')).toBe(true);
  });

  it('is asked for as a whole page by VS Code, which shows a stack that comes in parts wrongly', async () => {
    await stopIn(3, 'vscode');
    const claimed = () =>
      client.messages.flatMap((message) =>
        'command' in message && message.type === 'response' && message.command === 'initialize'
          ? [(message as DebugProtocol.InitializeResponse).body?.supportsDelayedStackTraceLoading]
          : [],
      );
    expect(claimed()).toEqual([false]);
    await client.end();
    await stopIn(3, 'another-editor');
    expect(claimed()).toEqual([true]);
  });
});
