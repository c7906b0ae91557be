import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CodeUnit } from '../../adapter/python/codeUnits';
import { PythonSource } from '../../adapter/python/source';
import {
  algorithms,
  cases,
  hasPython311,
  libraryFile,
  parseFile,
  programs,
  quixbugs,
  rowsOf,
  unitNamed,
} from './programs';

const compiledSchema = z.object({
  path: z.string(),
  units: z.array(
    z.object({
      qualifiedName: z.string(),
      callLine: z.number(),
      parameters: z.array(z.string()),
      names: z.array(z.string()).nullable(),
      freeNames: z.array(z.string()).nullable(),
      isGenerator: z.boolean(),
      isAsync: z.boolean(),
      entryLines: z.array(z.number()),
      coLines: z.array(z.number()),
      successors: z.record(z.string(), z.array(z.number())),
      returning: z.array(z.number()),
    }),
  ),
});
type CompiledUnit = z.infer<typeof compiledSchema>['units'][number];

const eventsSchema = z.object({
  path: z.string(),
  qualifiedName: z.string(),
  callLine: z.number(),
  pairs: z.array(z.tuple([z.number(), z.number()])),
  entries: z.array(z.number()),
  calls: z.array(z.tuple([z.number(), z.boolean()])),
  returns: z.array(z.number()),
  names: z.array(z.string()),
});

const sorted = (lines: Iterable<number>) => [...lines].sort((a, b) => a - b);

/** What differs between a unit and CPython's code object. */
function differences(unit: CodeUnit, code: CompiledUnit): string[] {
  const found: string[] = [];
  const compare = (what: string, ours: unknown, theirs: unknown) => {
    const [a, b] = [JSON.stringify(ours), JSON.stringify(theirs)];
    if (a !== b) found.push(`${unit.qualifiedName} (line ${unit.callLine}) ${what}: ${a}, CPython ${b}`);
  };
  compare('first lines', sorted(unit.entryLines), code.entryLines);
  compare('generator', [unit.isGenerator, unit.isAsync], [code.isGenerator, code.isAsync]);
  for (const [line, following] of Object.entries(code.successors)) {
    compare(`after ${line}`, sorted(unit.successors(Number(line))), following);
  }
  const reached = Object.keys(code.successors).map(Number);
  compare('returns from', sorted(reached.filter((line) => unit.canReturnFrom(line))), code.returning);
  if (code.names !== null) {
    compare('parameters', unit.parameters, code.parameters);
    compare('names', [...unit.names].sort(), [...code.names].sort());
    compare('free names', [...unit.freeNames].sort(), [...(code.freeNames ?? [])].sort());
  }
  return found;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** Pairs the units of a source with code objects; a `finally` block is compiled more than once. */
function compareFile(source: PythonSource, codes: readonly CompiledUnit[]): string[] {
  const keyOf = ({ qualifiedName, callLine }: { qualifiedName: string; callLine: number }) =>
    `${qualifiedName} (line ${callLine})`;
  const found: string[] = [];
  const units = groupBy(source.units, keyOf);
  for (const [key, sameCodes] of groupBy(codes, keyOf)) {
    const same = units.get(key);
    if (same === undefined) {
      found.push(`no unit ${key}`);
      continue;
    }
    // Several lambdas of one line are told apart by what fits.
    for (const code of sameCodes) {
      const all = same.map((unit) => differences(unit, code));
      found.push(...(all.sort((a, b) => a.length - b.length)[0] ?? []));
    }
  }
  return found;
}

async function compareWithBytecode(files: readonly string[]) {
  const rows = rowsOf('bytecode.py', files).map((row) => compiledSchema.parse(row));
  expect(rows).toHaveLength(files.length);
  for (const { path, units } of rows) {
    const source = await parseFile(path);
    expect(source.problems, path).toEqual([]);
    expect(compareFile(source, units), path).toEqual([]);
    const lines = new Set(units.flatMap(({ coLines }) => coLines));
    const extra = [...source.breakableLines].filter((line) => !lines.has(line));
    expect(extra, `breakable lines of ${path} without code`).toEqual([]);
    const reached = new Set(units.flatMap(({ successors }) => Object.keys(successors).map(Number)));
    reached.delete(0);
    const missing = [...reached].filter((line) => !source.breakableLines.has(line));
    expect(missing, `lines of ${path} that are not breakable`).toEqual([]);
  }
}

describe.skipIf(!hasPython311)('against the bytecode of CPython 3.11', () => {
  it('agrees on the cases', () => compareWithBytecode(cases));
  it('agrees on the programs of this folder', () => compareWithBytecode(programs));
  it.skipIf(quixbugs.length === 0)('agrees on QuixBugs (skipped without ../shared/data)', () =>
    compareWithBytecode(quixbugs),
  );
  it.skipIf(algorithms.length === 0)('agrees on TheAlgorithms (skipped without ../shared/data)', () =>
    compareWithBytecode(algorithms),
  );
  it('agrees on modules of the standard library', () =>
    compareWithBytecode(
      ['argparse', 'ast', 'bz2', 'dataclasses', 'difflib', 'enum', 'fileinput', 'tarfile', 'zipfile'].map(
        libraryFile,
      ),
    ));
});

async function compareWithEvents(mode: 'run' | 'doctest', files: readonly string[], atLeast: number) {
  const rows = rowsOf('lineEvents.py', [mode, ...files]).map((row) => eventsSchema.parse(row));
  let pairs = 0;
  for (const row of rows) {
    const source = await parseFile(row.path);
    const same = source.units.filter(
      (unit) => unit.qualifiedName === row.qualifiedName && unit.callLine === row.callLine,
    );
    const where = `${row.path} ${row.qualifiedName}`;
    expect(same, where).not.toEqual([]);
    const some = (holds: (unit: CodeUnit) => boolean) => same.some(holds);
    for (const [before, after] of row.pairs) {
      const legal = some((unit) => unit.successors(before).includes(after));
      expect(legal, `${where}: line ${after} after ${before}`).toBe(true);
    }
    for (const line of row.entries) {
      const legal = some((unit) => unit.entryLines.includes(line));
      expect(legal, `${where}: first line ${line}`).toBe(true);
    }
    for (const [line, resumed] of row.calls) {
      const legal = some((unit) => (resumed ? unit.lines.has(line) : line === unit.callLine));
      expect(legal, `${where}: call on ${line}`).toBe(true);
    }
    for (const line of row.returns) {
      const legal = some((unit) => unit.canLeaveFrom(line) || line === unit.callLine);
      expect(legal, `${where}: return on ${line}`).toBe(true);
    }
    for (const name of row.names) {
      expect(
        some((unit) => unit.names.has(name)),
        `${where}: name ${name}`,
      ).toBe(true);
    }
    pairs += row.pairs.length;
  }
  expect(pairs).toBeGreaterThan(atLeast);
}

describe.skipIf(!hasPython311)('against real runs', () => {
  it('allows what the programs of this folder do', () =>
    compareWithEvents(
      'run',
      programs.filter((path) => path.endsWith('flow.py')),
      200,
    ));
  it.skipIf(algorithms.length === 0)('allows what TheAlgorithms do (skipped without ../shared/data)', () =>
    compareWithEvents('doctest', algorithms, 500),
  );
});

/** The successors of all lines of a function that is the only one in the text. */
async function flowOf(...lines: string[]): Promise<Record<number, readonly number[]>> {
  const source = await PythonSource.parse(`${lines.join('\n')}\n`);
  const [, unit] = source.units;
  if (unit === undefined) throw new Error('no function');
  return Object.fromEntries([...unit.lines].map((line) => [line, unit.successors(line)]));
}

describe('successors', () => {
  it('lead straight on', async () => {
    expect(await flowOf('def f(a):', '    b = a', '    c = b', '    return c')).toEqual({
      2: [3],
      3: [4],
      4: [],
    });
  });

  it('of a condition are its two branches, the taken one first', async () => {
    const flow = await flowOf(
      'def f(a):',
      '    if a:',
      '        b = 1',
      '    else:',
      '        b = 2',
      '    return b',
    );
    expect(flow).toEqual({ 2: [3, 5], 3: [6], 5: [6], 6: [] });
  });

  it('of loops go round and on', async () => {
    expect(await flowOf('def f(a):', '    for b in a:', '        c = b', '    return c')).toEqual({
      2: [3, 4],
      3: [2],
      4: [],
    });
    expect(await flowOf('def f(a):', '    while a: a -= 1', '    return a')).toEqual({ 2: [2, 3], 3: [] });
    expect(await flowOf('def f():', '    while True:', '        g()')).toEqual({ 2: [3], 3: [2] });
  });

  it('hold handlers only where something can raise', async () => {
    const flow = await flowOf(
      'def f():',
      '    try:',
      '        a = 1',
      '        g()',
      '        return a',
      '    except KeyError:',
      '        pass',
    );
    expect(flow).toEqual({ 2: [3], 3: [4], 4: [5, 6], 5: [6], 6: [7], 7: [] });
  });

  it('say which lines return and which can be left by an exception', async () => {
    const source = await PythonSource.parse('def f(a):\n    b = 1\n    a()\n    return b\n');
    const f = unitNamed(source, 'f');
    expect([2, 3, 4].filter((line) => f.canReturnFrom(line))).toEqual([4]);
    expect([2, 3, 4].filter((line) => f.canLeaveFrom(line))).toEqual([3, 4]);
  });

  it('are unknown, but there, where a body is too deep to be laid out', async () => {
    const depth = 300;
    const nested = Array.from({ length: depth }, (_, level) => `${' '.repeat(level)}if x:`).join('\n');
    const source = await PythonSource.parse(`${nested}\n${' '.repeat(depth)}y\n`);
    expect(source.module.lines.size).toBe(depth + 1);
    expect(source.module.successors(5)[0]).toBe(6);
  });
});
