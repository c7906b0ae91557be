import { mkdir, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepRecording } from '../../src/commands/madeRecordings';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'neural-debug-made-'));
});
afterEach(() => rm(folder, { recursive: true }));

const keep = (trace: string, text: string) =>
  keepRecording(folder, trace, text, (program) =>
    Promise.resolve({ source: `# ${text}\n`, text: `recording of ${program}: ${text}\n` }),
  );

it('keeps traces of the same name, and other texts of one trace, apart', async () => {
  const paths = await Promise.all([
    keep('/a/run.cwm', 'one'),
    keep('/b/run.cwm', 'two'),
    keep('/a/run.cwm', 'three'),
  ]);
  expect(new Set(paths).size).toBe(3);
  const texts = await Promise.all(paths.map((path) => readFile(path ?? '', 'utf8')));
  expect(texts.map((text) => text.split(': ')[1])).toEqual(['one\n', 'two\n', 'three\n']);
  // The program that a recording names is the one beside it.
  for (const [at, text] of texts.entries()) {
    const program = /recording of (.*):/.exec(text)?.[1] ?? '';
    expect(dirname(program)).toBe(dirname(paths[at] ?? ''));
    expect(await readFile(program, 'utf8')).toMatch(/^# /);
  }
});

it('writes the same again without a moment in which it is not whole', async () => {
  const text = 'x'.repeat(2_000_000);
  const first = (await keep('/a/run.cwm', text)) ?? '';
  const whole = await readFile(first, 'utf8');
  const writing = Promise.all(Array.from({ length: 8 }, () => keep('/a/run.cwm', text)));
  const progress = { isDone: false };
  void writing.then(() => (progress.isDone = true));
  do expect((await readFile(first, 'utf8')).length).toBe(whole.length);
  while (!progress.isDone);
  expect(new Set(await writing)).toEqual(new Set([first]));
  expect((await readdir(dirname(first))).sort()).toEqual(['run.cwm.trace.jsonl', 'run.py']);
});

it('makes nothing of a trace in which nothing can be read', async () => {
  expect(await keepRecording(folder, '/a/run.cwm', '', () => Promise.resolve(null))).toBe(null);
  expect(await readdir(folder)).toEqual([]);
});

it('removes what nobody wanted for a week, and nothing else', async () => {
  for (const name of ['old', 'recent']) await mkdir(join(folder, name));
  const days = (number: number) => new Date(Date.now() - number * 24 * 60 * 60 * 1000);
  await utimes(join(folder, 'old'), days(8), days(8));
  await utimes(join(folder, 'recent'), days(6), days(6));
  const path = (await keep('/a/run.cwm', 'one')) ?? '';
  expect((await readdir(folder)).sort()).toEqual([dirname(path).split('/').at(-1), 'recent'].sort());
});
