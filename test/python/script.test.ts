import { describe, expect, it } from 'vitest';
import { linesInsideStrings, scriptBeginning, scriptNames } from '../../adapter/python/script';
import { PythonSource } from '../../adapter/python/source';

const parse = (...lines: string[]) => PythonSource.parse(`${lines.join('\n')}\n`);

describe('scriptBeginning', () => {
  it.each([
    [
      [
        '"""Doc."""',
        'import a',
        'from b import (c,',
        '    d)',
        '@e',
        'def f(): pass',
        'class G: pass',
        '',
        'x = 1',
      ],
      9,
    ],
    [['x = 1'], 1],
    [['# comment', '', 'if __name__ == "__main__":', '    x'], 3],
    [['import os; print(1)'], 1],
    [['from a import (b,', '    c); x = 1', 'y'], 1],
    [['import a', 'import b; import c; x'], 2],
    [['"""doc""" ; x'], 1],
    [['from __future__ import annotations', '"not a docstring"', 'x'], 2],
    [['"doc"', '"not a docstring"'], 2],
    [['async def f(): pass', 'x'], 2],
    [['f"""no doc"""'], 1],
  ])('of %j is line %i', async (lines, expected) => {
    expect(scriptBeginning(await parse(...lines))).toBe(expected);
  });

  it('is nowhere where all is definitions', async () => {
    expect(scriptBeginning(await parse('"doc"', 'import a', 'def f(): x', '# end'))).toBeNull();
  });
});

describe('linesInsideStrings', () => {
  it('are those that begin inside of one', async () => {
    const source = await parse(
      'x = """a',
      '  b""", "c" \\',
      '  "d"',
      "y = f'''{",
      '   z',
      "}'''",
      "w = 'a\\",
      "  b'",
      '"""e"""',
    );
    expect([...linesInsideStrings(source)]).toEqual([2, 5, 6, 8]);
  });
});

describe('scriptNames', () => {
  it('says what the statements from the beginning on bind', async () => {
    const source = await parse(
      'import before',
      'def early(): return total + used + len(before)',
      'total = 0',
      'for i, (j, *k) in []: pass',
      'import late, x.y, p as q',
      'def helper():',
      '    global made',
      '    made = local = 1',
      'class C:',
      '    attribute = helper',
      'with a as b: used = [n := 1 for m in ()]',
      'del gone',
      'match b:',
      '    case {"k": v}: pass',
      'from star import *',
    );
    const names = scriptNames(source, 3);
    expect([...names.bound].sort()).toEqual(
      'C b gone helper i j k late n p q total used v x'
        .split(' ')
        .filter((name) => name !== 'p')
        .sort(),
    );
    expect([...names.definitions].sort()).toEqual(['C', 'helper', 'late', 'q', 'x']);
    expect([...names.readByUnits].sort()).toEqual(['before', 'helper', 'made', 'n', 'total', 'used']);
    expect(names.starImports).toEqual([15]);
    for (const name of ['early', 'attribute', 'local', 'y', 'p', 'm', 'len', 'star']) {
      expect(names.taken.has(name), name).toBe(true);
    }
  });

  it('says how annotations can be cut out', async () => {
    const source = await parse(
      'early: int = 0',
      'x = 1',
      'a: int = 1',
      'if x:',
      '    b : Dict[',
      '        str, int]',
      '(c): str = "d"',
      'e.f: int = 2',
      'def g():',
      '    h: int = 1',
    );
    const { annotated, bound } = scriptNames(source, 2);
    expect(
      annotated.map(({ target, isName, hasValue, line, endLine }) => [
        target,
        isName,
        hasValue,
        line,
        endLine,
      ]),
    ).toEqual([
      ['a', true, true, 3, 3],
      ['b', true, false, 5, 6],
      ['(c)', false, true, 7, 7],
      ['e.f', false, true, 8, 8],
    ]);
    const cut = annotated.map(({ start, end, annotationStart, annotationEnd }) => {
      return source.text.slice(start, annotationStart) + source.text.slice(annotationEnd, end);
    });
    expect(cut).toEqual(['a = 1', 'b ', '(c) = "d"', 'e.f = 2']);
    expect(bound.has('a')).toBe(true);
    expect(bound.has('b')).toBe(false);
  });
});
