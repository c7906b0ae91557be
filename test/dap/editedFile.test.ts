import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DapClient } from '../support/dapClient';

const launched = `def double(n):
    twice = n * 2
    return twice


a = double(2)
b = double(3)
print(a, b)
`;
/** Two lines more at the top, one line changed. */
const edited = `# A comment,
# and one more.
${launched.replace('twice = n * 2', 'twice = n * 20')}`;

let folder = '';
let program = '';
let client: DapClient;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-edited-'));
  program = join(folder, 'double.py');
  writeFileSync(program, launched);
  client = new DapClient();
  await client.launch({ program, world: 'reference', stopOnEntry: true });
});
afterEach(async () => {
  await client.end();
  rmSync(folder, { recursive: true });
});

const output = () => client.messages.map((message) => JSON.stringify(message)).join('\n');

async function setLines(source: object, ...lines: number[]) {
  const { breakpoints } = await client.ask<DebugProtocol.SetBreakpointsResponse['body']>('setBreakpoints', {
    source: { path: program, ...source },
    breakpoints: lines.map((line) => ({ line })),
  });
  return breakpoints.map(({ verified, line, message }) => [verified, line, message ?? null]);
}

it('shows the text as of launch once the file is another, finds breakpoints in it, and restarts with the new one', async () => {
  await client.start(program, [7]);
  expect((await client.stack())[0]?.source).toEqual({ name: 'double.py', path: program });
  writeFileSync(program, edited);
  expect(await setLines({}, 5, 4)).toEqual([
    [true, 5, null],
    [false, 4, 'This line has changed since the session began: a restart takes it.'],
  ]);
  await client.move('continue');
  expect(output().match(/double\.py has changed since the session began/g)).toHaveLength(1);
  const [frame] = await client.stack();
  expect(frame).toMatchObject({
    line: 3,
    source: { name: 'double.py (as of launch)', path: program, sourceReference: 1 },
  });
  expect(await client.ask('source', { sourceReference: 1 })).toEqual({
    content: launched,
    mimeType: 'text/x-python',
  });
  // Breakpoints in the text that is shown are apart from those of the file.
  expect(await setLines({ sourceReference: 1 }, 7)).toEqual([[true, 7, null]]);
  await client.move('continue');
  expect((await client.stack())[0]?.line).toBe(7);
  expect(await setLines({ sourceReference: 1 })).toEqual([]);

  await client.ask('restart', {});
  await client.event('stopped');
  await client.move('continue');
  const [again] = await client.stack();
  expect(again).toMatchObject({ line: 5, source: { name: 'double.py', path: program } });
  expect(await client.locals()).toMatchObject({ twice: '40' });
  const text = client.transcript([
    [folder, 'FOLDER'],
    [/Python \d+\.\d+\.\d+/g, 'Python 3'],
  ]);
  await expect(text).toMatchFileSnapshot('golden/editedFile.txt');
});

it('is told what an editor has not saved, and that it has been taken back', async () => {
  await client.start(program);
  expect(await client.ask('neuralDebug/editorText', { text: edited })).toEqual({ hasChanged: true });
  await client.move('next');
  expect((await client.stack())[0]?.source).toMatchObject({ sourceReference: 1 });
  expect(await client.ask('neuralDebug/editorText', { text: launched.replaceAll('\n', '\r\n') })).toEqual({
    hasChanged: false,
  });
  await client.move('next');
  expect((await client.stack())[0]?.source).toEqual({ name: 'double.py', path: program });
});

it('shows the text of a file that is no longer there', async () => {
  await client.start(program);
  rmSync(program);
  await client.move('next');
  expect((await client.stack())[0]).toMatchObject({ line: 7, source: { sourceReference: 1 } });
});

it.skipIf(process.platform === 'win32')('reads no device that a recording names as its program', async () => {
  const recorded = readFileSync(
    fileURLToPath(new URL('recordings/recursion.jsonl', import.meta.url)),
    'utf8',
  );
  const recording = join(folder, 'device.trace.jsonl');
  writeFileSync(recording, recorded.replaceAll(/\/project\/[\w.-]+/g, '/dev/null'));
  await client.end();
  client = new DapClient();
  await client.launch({ world: 'recording', recording, stopOnEntry: true });
  await client.start('/dev/null', []);
  const [frame] = await client.stack();
  // Its text is the recorded one, and nothing has changed in it.
  expect(frame?.source?.sourceReference).toBeGreaterThan(0);
  expect(output()).not.toMatch(/has changed since the session began/);
});
