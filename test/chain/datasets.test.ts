import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startModelServer } from '../../adapter/modelServer/server';
import { play, type Script } from '../support/sessions';

const data = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
const cruxeval = join(data, 'cruxeval', 'cruxeval.jsonl');
const quixbugs = join(data, 'quixbugs');

/** How many calls of one function are compared, and how many rows of CRUXEval. */
const calls = 2;
const rows = process.env['NEURAL_DEBUG_FULL'] === '1' ? 800 : 80;

interface Row {
  readonly id: string;
  readonly code: string;
  readonly input: string;
}

let server: Awaited<ReturnType<typeof startModelServer>>;
let folder = '';
beforeAll(async () => {
  server = await startModelServer({ port: 0 });
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-data-'));
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Expects the same stops over HTTP as in a real run. */
async function compare(program: string, entry: string, script: Script): Promise<void> {
  const [real, predicted] = await Promise.all([
    play({ program, entry, world: 'reference' }, script),
    play(
      { program, entry, world: 'server', server: { baseUrl: server.url, format: 'cwm' } },
      script,
      server.token,
    ),
  ]);
  expect(predicted, entry).toEqual(real);
  expect(real.length).toBeGreaterThan(1);
}

describe('CRUXEval, stepped over HTTP as in a real run', () => {
  const isThere = existsSync(cruxeval);
  const all = isThere
    ? readFileSync(cruxeval, 'utf8')
        .trimEnd()
        .split('\n')
        .slice(0, rows)
        .map((line) => JSON.parse(line) as Row)
    : [];
  it.skipIf(isThere)('skipped: ../shared/data/cruxeval is not there', () => undefined);
  it.each(all.map((row) => [row.id, row] as const))('%s', async (id, { code, input }) => {
    const program = join(folder, `${id}.py`);
    writeFileSync(program, code);
    await compare(program, `f(${input})`, { requests: 'stepIn' });
  });
});

describe('the fixed programs of QuixBugs, stepped over HTTP as in a real run', () => {
  const isThere = existsSync(quixbugs);
  const names = isThere
    ? readdirSync(join(quixbugs, 'json_testcases')).map((name) => name.replace('.json', ''))
    : [];
  it.skipIf(isThere)('skipped: ../shared/data/quixbugs is not there', () => undefined);
  it.each(names)('%s', { timeout: 120_000 }, async (name) => {
    const program = join(quixbugs, 'correct_python_programs', `${name}.py`);
    const cases = readFileSync(join(quixbugs, 'json_testcases', `${name}.json`), 'utf8')
      .trim()
      .split('\n');
    for (const line of cases.slice(0, calls)) {
      const [given] = JSON.parse(line) as [unknown];
      const values = Array.isArray(given) ? given : [given];
      const entry = `${name}(${values.map(literal).join(', ')})`;
      // Some of them are generators, which do nothing until they are read.
      const consumed = ['flatten', 'kheapsort', 'to_base'].includes(name) ? `list(${entry})` : entry;
      await compare(program, consumed, { requests: 'stepIn' });
      await compare(program, consumed, { requests: 'next', breakpoints: [4, 7, 10] });
    }
  });
});

/** A JSON value as a Python literal. */
function literal(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${literal(item)}`);
    return `{${entries.join(', ')}}`;
  }
  return JSON.stringify(value);
}
