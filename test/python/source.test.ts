import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scriptBeginning, scriptNames, linesInsideStrings } from '../../adapter/python/script';
import { PythonSource } from '../../adapter/python/source';
import { cases, parseFile } from './programs';

const parse = (...lines: string[]) => PythonSource.parse(`${lines.join('\n')}\n`);

/** Uses everything that a source offers. */
function exercise(source: PythonSource): void {
  for (const unit of source.units) {
    for (const line of unit.lines) {
      for (const next of unit.successors(line)) expect(unit.lines.has(next)).toBe(true);
      unit.canLeaveFrom(line);
    }
  }
  for (let line = 0; line <= source.lines.length + 1; line++) {
    const moved = source.breakpointLine(line);
    if (moved !== null) expect(source.breakableLines.has(moved)).toBe(true);
    source.callsOnLine(line);
    source.unitsOfLine(line);
    source.expressionAt(line, 0);
    source.expressionAt(line, 3);
  }
  scriptNames(source, scriptBeginning(source) ?? 1);
  linesInsideStrings(source);
}

describe('breakable lines', () => {
  it.each(cases.map((path) => [basename(path), path] as const))('of %s', async (_, path) => {
    const file = join(dirname(path), 'expected', basename(path).replace(/\.py$/, '.txt'));
    const expected = /^breakable lines: (.*)$/m.exec(readFileSync(file, 'utf8'))?.[1];
    const source = await parseFile(path);
    expect([...source.breakableLines].join(' ')).toBe(expected);
    exercise(source);
  });
});

describe('breakpointLine', () => {
  it('moves to the next breakable line of the same block', async () => {
    const source = await parseFile(cases.find((path) => path.includes('12-breakable')) ?? '');
    const moved = [1, 2, 3, 5, 6, 8, 9, 10, 11, 14, 18, 19, 20, 21, 0].map((line) =>
      source.breakpointLine(line),
    );
    expect(moved).toEqual([1, 4, 4, 7, 7, 12, 12, 12, 12, 15, null, 20, 20, null, null]);
  });

  it('does not leave a block', async () => {
    const source = await parse(
      'def f():',
      '    if a:',
      '        b',
      '        # the end',
      '    # after',
      '',
      'c',
    );
    expect([4, 5, 6].map((line) => source.breakpointLine(line))).toEqual([null, null, 7]);
  });
});

describe('lines', () => {
  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ])('end at %s', async (_, end) => {
    const text = [
      'def f(a):',
      '    if a:',
      '        return g(',
      '            a)',
      '    b = """',
      '"""',
      'f(1)',
      '',
    ].join(end);
    const source = await PythonSource.parse(text);
    expect(source.problems).toEqual([]);
    expect([...source.breakableLines]).toEqual([1, 2, 3, 4, 5, 7]);
    expect(source.units.map(({ callLine }) => callLine)).toEqual([0, 1]);
    expect([...linesInsideStrings(source)]).toEqual([6]);
  });

  it('do not end at other separators', async () => {
    const source = await PythonSource.parse('s = "\u2028\x1c\u0085"\n\x0ct = 1\n\x0c\nu = 2\n');
    expect(source.problems).toEqual([]);
    expect([...source.breakableLines]).toEqual([1, 2, 4]);
  });
});

describe('problems', () => {
  it.each([
    ['def f(:\n    x\n', 1],
    ['x = 1\nprint "a"\n', 2],
    ['x = 1\nif x:\ny\n', 2],
    ['try:\n    x\ny\n', 1],
    ['x = "a\0b"\n', 1],
    ['x = 1\0\n', 1],
    ['a b c\n', 1],
  ])('of %j are on line %i', async (text, line) => {
    const source = await PythonSource.parse(text);
    expect(source.problems[0]?.line).toBe(line);
    exercise(source);
  });

  it('are not found in what Python takes', async () => {
    const text = [
      'match = type = case = print',
      'print(*[1], sep="", **{})',
      'type X = int',
      'def f[T](x: T) -> T: return x',
      'x = f\'{x!r:>{10}} {f"{y}"}\'',
      'with (open(a) as b, c): pass',
      '\tx = 1 if y else \\',
      '  2',
    ];
    for (const line of text.slice(0, 6)) expect((await parse(line)).problems, line).toEqual([]);
    expect((await parse('if x:', ...text.slice(6))).problems).toEqual([]);
  });
});

describe('calls of a line', () => {
  it('come in the order of evaluation', async () => {
    const source = await parse(
      'a(b(c), d.e(f()))(g)',
      'h() if i() else j()',
      '[k() for l in m()]',
      'n[o()] = p(',
      '    q())',
      'x.y[0].z(',
      ')',
    );
    const names = (line: number) => source.callsOnLine(line).map(({ name }) => name);
    expect(names(1)).toEqual(['b', 'f', 'e', 'a', '']);
    expect(names(2)).toEqual(['i', 'h', 'j']);
    expect(names(3)).toEqual(['m', 'k']);
    expect(names(4)).toEqual(['p', 'o']);
    expect(names(5)).toEqual(['q']);
    expect(source.callsOnLine(6)).toEqual([
      { name: 'z', text: 'x.y[0].z', column: 0, endLine: 7, positional: [] },
    ]);
    expect(names(7)).toEqual([]);
  });
});

describe('expressionAt', () => {
  it.each([
    // The bar stands before the position.
    ['|abc = 1', 'abc'],
    ['ab|c = 1', 'abc'],
    ['abc| = 1', 'abc'],
    ['a|.b.c', 'a'],
    ['a.|b.c', 'a.b'],
    ['a.b.|c', 'a.b.c'],
    ['a.|b[0].c', 'a.b'],
    ['a.b|[0].c', 'a.b[0]'],
    ['a.b[|0].c', 'a.b[0]'],
    ['a.b[0].|c', 'a.b[0].c'],
    ['a[|i]', 'i'],
    ['a[i|]', 'a[i]'],
    ['a[-|1]', 'a[-1]'],
    ['a[i.j].|b', 'a[i.j].b'],
    ['f(x).|y', null],
    ['a[f()].|b', null],
    ['|f(x)', 'f'],
    ['f(|x)', 'x'],
    ['f(|key=value)', null],
    ['f(key=|value)', 'value'],
    ['"a |b c"', null],
    ['f"a |b {c}"', null],
    ['f"a b {|c.d}"', 'c'],
    ['f"a b {c.|d}"', 'c.d'],
    ['x = 1 # |y', null],
    ['|return x', null],
    ['x = |None', null],
    ['import |os', null],
    ['from a import |b', null],
    ['def |f(a): pass', 'f'],
    ['for |i in x: pass', 'i'],
    ['x = "\ud83d\ude00" + |y', 'y'],
    ['   | ', null],
  ])('of %j is %j', async (marked, expected) => {
    const column = marked.indexOf('|');
    const source = await PythonSource.parse(marked.replace('|', ''));
    const found = source.expressionAt(1, column);
    expect(found?.text ?? null).toBe(expected);
    if (found !== null) expect(source.lines[0]?.slice(found.startColumn, found.endColumn)).toBe(expected);
  });

  it('does not answer outside of the text', async () => {
    const source = await PythonSource.parse('a\n');
    expect(source.expressionAt(0, 0)).toBeNull();
    expect(source.expressionAt(9, 0)).toBeNull();
    expect(source.expressionAt(1, 5)).toBeNull();
    expect(source.expressionAt(1, -1)).toBeNull();
  });
});

describe('sources of all kinds', () => {
  it('are taken without an error', async () => {
    const fragments = fc.constantFrom(
      ...['def f(a):', 'class A:', 'if x:', 'else:', 'try:', 'except* E as e:', 'finally:', 'with a as b:'],
      ...['for i in x:', 'while x:', 'match x:', 'case [a, *_]:', 'return', 'break', 'yield x', 'await y'],
      ...[
        'lambda: x',
        '(',
        ')',
        '[',
        ']',
        '{',
        '}',
        '"""',
        "f'{x",
        '\n',
        '\n    ',
        '\n        ',
        '\r',
        '\t',
        '\x0c',
      ],
      ...[
        'x',
        ' = ',
        '1',
        ',',
        ':',
        ':=',
        '.a',
        ' if y else ',
        ' and ',
        ' < ',
        '@d',
        '\0',
        '\ud83d',
        '\u2028',
        '\\',
      ],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fragments, { maxLength: 40 }), async (parts) => {
        exercise(await PythonSource.parse(parts.join('')));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['parentheses', `x = ${'('.repeat(5000)}1${')'.repeat(5000)}`],
    ['lists', `x = ${'['.repeat(5000)}y${']'.repeat(5000)}`],
    ['a sum', `x = a${' + 1'.repeat(20_000)}`],
    ['a sum of constants', `x = 1${' + 1'.repeat(20_000)}`],
    ['a chain of calls', `x = a${'.b()'.repeat(20_000)}`],
    ['conditions', `x = a${' and b'.repeat(20_000)}`],
    ['negations', `x = ${'not '.repeat(20_000)}a`],
    ['choices', `x = ${'a if b else '.repeat(5000)}c`],
    ['lambdas', `x = ${'lambda: '.repeat(3000)}c`],
    ['targets', `${'x = '.repeat(5000)}c`],
    ['alternatives', `if a: b\n${'elif a: b\n'.repeat(3000)}`],
  ])('may nest: %s', async (_, text) => {
    const source = await PythonSource.parse(`${text}\n`);
    expect(source.problems).toEqual([]);
    expect(source.breakableLines.has(1)).toBe(true);
    exercise(source);
  });

  it('may nest finally blocks, each of which is laid out twice', async () => {
    const levels = Array.from({ length: 25 }, (_, level) => {
      const indent = ' '.repeat(level + 1);
      return `${indent}try: return a()\n${indent}finally:`;
    });
    const source = await parse('def f():', ...levels, `${' '.repeat(30)}b()`);
    expect(source.breakableLines.size).toBeGreaterThan(25);
  });

  it('may have 20,000 lines', async () => {
    const source = await PythonSource.parse('def f(a):\n    b = a(1)\n    return b\n\n'.repeat(5000));
    expect(source.lines).toHaveLength(20_000);
    expect(source.units).toHaveLength(5001);
    expect(source.breakableLines.size).toBe(15_000);
  });

  it('looks into the functions around a line only, of thousands', async () => {
    const source = await PythonSource.parse('def f(a):\n    b = a(1)\n    return b\n\n'.repeat(2000));
    const looked = new Set<number>();
    for (const unit of source.units) {
      const { lines } = unit;
      Object.defineProperty(unit, 'lines', {
        get: () => {
          looked.add(unit.headerLine);
          return lines;
        },
      });
    }
    expect(source.breakpointLine(4002)).toBe(4002);
    expect(source.unitsOfLine(4002).map(({ headerLine }) => headerLine)).toEqual([4001]);
    expect([...looked].sort((a, b) => a - b)).toEqual([1, 4001]);
  });

  it('may be empty', async () => {
    const source = await PythonSource.parse('');
    expect(source.lines).toEqual([]);
    expect([...source.breakableLines]).toEqual([]);
    expect(source.problems).toEqual([]);
    expect(scriptBeginning(source)).toBeNull();
  });
});
