import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { decodeSource } from '../python/encoding';
import { canBeMade, entryWriting } from '../python/entryCall';
import { exampleCalls } from '../python/exampleCalls';
import { findFunction, type FunctionDefinition } from '../python/functions';
import { PythonSource } from '../python/source';
import { shownText } from '../shownText';
import type { ExampleCalls } from './protocol';

const testName = /^(?:test_.*|.*_test)\.py$/;
/** Test files that are looked through, and how long each may be, in bytes. */
const maxTests = 50;
const maxTestSize = 1024 * 1024;
/** More suggestions than this are no list to choose from. */
const maxSuggestions = 100;

/**
 * Calls of a function to offer: of its doctests, of its file, of the tests beside it, and without arguments where
 * the function takes none. Nothing is run.
 *
 * @param path the file's path, or null for a text without a file
 */
export async function suggestCalls(
  source: PythonSource,
  path: string | null,
  qualifiedName: string,
): Promise<ExampleCalls> {
  const definition = findFunction(source, qualifiedName);
  if (!definition) return null;
  const signature = signatureOf(source, definition);
  const own = path === null ? 'this file' : basename(path);
  const { before, after, callee } = entryWriting(source, definition);
  const calls = (await exampleCalls(source, definition)).map((found) => ({ ...found, file: own }));
  const plain = plainCall(source, definition, callee);
  if (plain !== null) calls.push({ call: plain, origin: 'call', line: definition.line, file: own });
  for (const test of path === null ? [] : await testsBeside(path)) {
    if (calls.length >= maxSuggestions) break;
    const text = await readText(test);
    if (text?.includes(definition.name) !== true) continue;
    const parsed = await PythonSource.parse(text);
    calls.push(
      ...(await exampleCalls(parsed, definition)).map((found) => ({ ...found, file: basename(test) })),
    );
  }
  const seen = new Set<string>();
  return {
    signature,
    writing: { before, after, callee },
    calls: calls
      .filter(({ call }) => call === shownText(call) && !seen.has(call) && seen.add(call))
      .slice(0, maxSuggestions)
      .map((found) => ({ ...found, call: before + found.call + after })),
  };
}

/** The call without arguments, where that is allowed. */
function plainCall(
  source: PythonSource,
  definition: FunctionDefinition,
  callee: string | null,
): string | null {
  const { kind, className, name, needsNoArguments } = definition;
  if (kind === 'property' && className !== null)
    return canBeMade(source, definition) ? `${className}().${name}` : null;
  return needsNoArguments && callee !== null ? `${callee}()` : null;
}

function signatureOf(
  source: PythonSource,
  { qualifiedName, className, kind, name, parameters }: FunctionDefinition,
) {
  const given = kind === 'property' ? '' : `(${parameters.join(', ').replace(/\s+/g, ' ')})`;
  if ((kind !== 'method' && kind !== 'property') || className === null) return qualifiedName + given;
  const constructor = findFunction(source, `${className}.__init__`);
  return `${className}(${(constructor?.parameters ?? []).join(', ').replace(/\s+/g, ' ')}).${name}${given}`;
}

/** The test files beside a file and in the folders for tests beside it, those named for it first. */
async function testsBeside(path: string): Promise<string[]> {
  const folder = dirname(path);
  const stem = basename(path, '.py');
  const tests: string[] = [];
  for (const each of [folder, join(folder, 'tests'), join(folder, 'test'), join(dirname(folder), 'tests')]) {
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
    if ((await stat(path)).size > maxTestSize) return null;
    return decodeSource(await readFile(path)).text;
  } catch {
    return null;
  }
}
