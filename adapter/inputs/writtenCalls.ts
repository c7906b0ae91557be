import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { decodeSource } from '../python/encoding';
import { type ExampleCall, exampleCalls } from '../python/exampleCalls';
import type { FunctionDefinition } from '../python/functions';
import { PythonSource } from '../python/source';

/** A call of a function as it is written in its file or in a test. */
export interface WrittenCall extends ExampleCall {
  /** The path of the file that it stands in; null for the function's own. */
  readonly test: string | null;
}

const testName = /^(?:test_.*|.*_test)\.py$/;
/** Test files that are looked through, and how long each may be, in bytes. */
const maxTests = 50;
const maxTestSize = 1024 * 1024;
/** More calls of one function say little new. */
const maxCalls = 100;

/**
 * The calls of a function in its own file, and then in the tests beside it: in the file's folder, in `tests` and
 * `test` there, and in those of the folder above. Nothing is run; what cannot be read is left out.
 *
 * @param path the file's path, or null for a text without a file
 */
export async function writtenCalls(
  source: PythonSource,
  path: string | null,
  definition: FunctionDefinition,
): Promise<WrittenCall[]> {
  const calls: WrittenCall[] = (await exampleCalls(source, definition)).map((found) => ({
    ...found,
    test: null,
  }));
  for (const test of path === null ? [] : await testsBeside(path)) {
    if (calls.length >= maxCalls) break;
    const text = await readText(test);
    if (text?.includes(definition.name) !== true) continue;
    const parsed = await PythonSource.parse(text);
    calls.push(...(await exampleCalls(parsed, definition)).map((found) => ({ ...found, test })));
  }
  const seen = new Set<string>();
  return calls.filter(({ call }) => !seen.has(call) && seen.add(call)).slice(0, maxCalls);
}

/** The test files beside a file, those named for it first. */
async function testsBeside(path: string): Promise<string[]> {
  const folder = dirname(path);
  const above = dirname(folder);
  const stem = basename(path, '.py');
  const tests: string[] = [];
  for (const each of [
    folder,
    ...[folder, above].flatMap((beside) => [join(beside, 'tests'), join(beside, 'test')]),
  ]) {
    const names = await readdir(each).catch(() => []);
    tests.push(...names.filter((name) => testName.test(name)).map((name) => join(each, name)));
  }
  const isFor = (test: string) => basename(test).includes(stem);
  return tests
    .filter((test) => test !== path)
    .sort((a, b) => Number(isFor(b)) - Number(isFor(a)))
    .slice(0, maxTests);
}

async function readText(path: string): Promise<string | null> {
  try {
    const about = await stat(path);
    if (!about.isFile() || about.size > maxTestSize) return null;
    return decodeSource(await readFile(path)).text;
  } catch {
    return null;
  }
}
