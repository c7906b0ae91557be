import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPrograms } from '../../adapter/evaluation/programs';

const data = fileURLToPath(new URL('../../../shared/data/', import.meta.url));

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-programs-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('programs for an evaluation', () => {
  it('are scripts of a file or of a folder', async () => {
    writeFileSync(join(folder, 'b.py'), 'x = 1\r\n');
    writeFileSync(join(folder, 'a.py'), 'y = 1\n');
    writeFileSync(join(folder, 'notes.txt'), 'nothing');
    const programs = await readPrograms([folder, join(folder, 'a.py')]);
    expect(programs.map(({ id, program }) => [id, program.source, program.entry])).toEqual([
      ['a.py', 'y = 1\n', null],
      ['b.py', 'x = 1\r\n', null],
      ['a.py', 'y = 1\n', null],
    ]);
  });

  it('are calls of functions in the layouts of the public data sets', async () => {
    const quixbugs = join(folder, 'quixbugs');
    for (const part of ['json_testcases', 'correct_python_programs'])
      mkdirSync(join(quixbugs, part), { recursive: true });
    writeFileSync(join(quixbugs, 'correct_python_programs', 'gcd.py'), 'def gcd(a, b): ...\n');
    writeFileSync(
      join(quixbugs, 'json_testcases', 'gcd.json'),
      '[[17, [true, null, {"a": "x"}]], 17]\n[3, 1]\n',
    );
    const algorithms = join(folder, 'thealgorithms');
    mkdirSync(join(algorithms, 'programs'), { recursive: true });
    writeFileSync(join(algorithms, 'manifest.json'), '[]');
    const documented =
      'def f(x):\n    """\n    >>> f(3)\n    6\n    >>> g(1)\n    >>> f((\n    ... 4))\n    >>> f("a")\n    """\n';
    writeFileSync(join(algorithms, 'programs', 'double.py'), documented);
    const cruxeval = join(folder, 'cruxeval.jsonl');
    writeFileSync(
      cruxeval,
      `${JSON.stringify({ id: 'sample_0', code: 'def f(a): return a', input: "'x'", output: "'x'" })}\n`,
    );
    const programs = await readPrograms([quixbugs, algorithms, cruxeval]);
    expect(programs.map(({ id, program }) => [id, program.entry])).toEqual([
      ['gcd#1', 'gcd(17, [True, None, {"a": "x"}])'],
      ['gcd#2', 'gcd(3)'],
      ['double.py#1', 'f(3)'],
      ['double.py#2', 'f("a")'],
      ['sample_0', "f('x')"],
    ]);
  });

  it('say what is wrong with a path', async () => {
    await expect(readPrograms([join(folder, 'nowhere')])).rejects.toMatchObject({ code: 103 });
    mkdirSync(join(folder, 'empty'));
    await expect(readPrograms([join(folder, 'empty')])).rejects.toMatchObject({ code: 120 });
    const broken = join(folder, 'broken.jsonl');
    writeFileSync(broken, '{"id": 3}\n');
    await expect(readPrograms([broken])).rejects.toMatchObject({ code: 120 });
    writeFileSync(broken, 'no JSON\n');
    await expect(readPrograms([broken])).rejects.toThrow('line 1');
  });

  const isThere = existsSync(data);
  it.skipIf(isThere)('skipped: ../shared/data is not there', () => undefined);
  it.skipIf(!isThere)('are found in the data sets themselves', async () => {
    const counts = await Promise.all(
      [join(data, 'quixbugs'), join(data, 'thealgorithms'), join(data, 'cruxeval', 'cruxeval.jsonl')].map(
        async (path) => (await readPrograms([path])).length,
      ),
    );
    expect(counts[0]).toBeGreaterThan(80);
    expect(counts[1]).toBeGreaterThan(60);
    expect(counts[2]).toBe(800);
  });
});
