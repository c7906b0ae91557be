import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeIn, syntaxErrorIn } from '../../adapter/lsp/jsonPlaces';
import { sameLines } from '../../adapter/python/sameLines';
import { plainMarkdown, pythonBlock } from '../../adapter/lsp/stateText';
import { typedCall } from '../../src/languageClient/callChoice';

/** Every value of a JSON value, with its path. */
function* values(value: unknown, path: PropertyKey[] = []): Generator<[PropertyKey[], unknown]> {
  yield [path, value];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* values(item, [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* values(item, [...path, key]);
  }
}

describe('placeIn', () => {
  it('finds every value of any JSON, with any spacing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const plain: unknown = JSON.parse(text);
        for (const [path, part] of values(plain)) {
          const { start, end } = placeIn(text, path);
          expect(JSON.parse(text.slice(start, end))).toEqual(part);
        }
        expect(syntaxErrorIn(text)).toBeNull();
      }),
    );
  });

  it('gives the whole of what a missing name should be in', () => {
    const text = '{"a": {"b": [1, {"c": 2}]}, "d": 3}';
    const of = (...path: PropertyKey[]) => {
      const { start, end } = placeIn(text, path);
      return text.slice(start, end);
    };
    expect(of('a', 'x')).toBe('{"b": [1, {"c": 2}]}');
    expect(of('a', 'b', 1, 'x')).toBe('{"c": 2}');
    expect(of('x')).toBe(text);
  });
});

describe('syntaxErrorIn', () => {
  it.each([
    ['{"a": oops}', 'oops'],
    ['{"a": 1,}', '}'],
    ['{"a" 1}', '1'],
    ['[1 2]', '2'],
    ['{"a": 1}}', '}'],
    ['{"a": 01}', '01'],
    ['{"a": "b', '"b'],
    ['["\\x"]', '"\\x"'],
    ['{"a": 1', ''],
    ['', ''],
    ["{'a': 1}", "'a'"],
  ])('finds the first thing that cannot stand there: %s', (text, wrong) => {
    const span = syntaxErrorIn(text);
    expect(span && text.slice(span.start, span.end)).toBe(wrong);
  });

  it('agrees with JSON.parse on cut and changed texts, as deep as they are', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('', '}', '"', ',', ' x', '\\'), (text, at, more) => {
        const place = at % (text.length + 1);
        const changed = text.slice(0, place) + more + text.slice(place + 1);
        let isJson = true;
        try {
          JSON.parse(changed);
        } catch {
          isJson = false;
        }
        expect(syntaxErrorIn(changed) === null).toBe(isJson);
      }),
    );
    expect(syntaxErrorIn('['.repeat(200_000))).not.toBeNull();
  });
});

describe('sameLines', () => {
  it('pairs equal lines only, and in order', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', ''), { maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, (older, newer) => {
        let before = 0;
        for (const [line, then] of [...sameLines(older, newer)].sort(([a], [b]) => a - b)) {
          expect(newer[line - 1]).toBe(older[then - 1]);
          expect(then).toBeGreaterThan(before);
          before = then;
        }
      }),
    );
  });

  it('finds what an edit in the middle left, and a block that moved not twice', () => {
    const older = ['a', 'b', 'c', 'd', 'e', 'f'];
    expect([...sameLines(older, ['a', 'x', 'c', 'y', 'd', 'f'])]).toEqual([
      [1, 1],
      [6, 6],
      [3, 3],
      [5, 4],
    ]);
    expect(sameLines(older, ['a', 'd', 'e', 'b', 'c', 'f']).size).toBe(4);
    expect(sameLines(older, older).size).toBe(6);
  });
});

describe('texts for Markdown', () => {
  it('let no text end a block of code', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('`', 'a', '\n') }), (code) => {
        const block = pythonBlock(code).split('\n');
        const fence = block.at(-1) ?? '';
        expect(block.slice(1, -1).some((line) => line.startsWith(fence))).toBe(false);
      }),
    );
  });

  it('escape what Markdown would make something of', () => {
    expect(plainMarkdown('[a](command:b) <img> `x` *y*\n# h')).toBe(
      '\\[a\\]\\(command\\:b\\) \\<img\\> \\`x\\` \\*y\\* \\# h',
    );
  });
});

describe('typedCall of what no plain call runs', () => {
  const awaited = { before: 'asyncio.run(', after: ')', callee: 'fetch' };
  const method = { before: '', after: '', callee: 'Cart().add' };
  const object = { before: '', after: '', callee: null };
  it.each([
    ['3', 'fetch', awaited, 'asyncio.run(fetch(3))'],
    ['fetch(3)', 'fetch', awaited, 'asyncio.run(fetch(3))'],
    ['asyncio.run(fetch(3))', 'fetch', awaited, 'asyncio.run(fetch(3))'],
    ['2', 'Cart.add', method, 'Cart().add(2)'],
    ['Cart(1).add(2)', 'Cart.add', method, 'Cart(1).add(2)'],
    ['2', 'Account.change', object, null],
    ['Account(1).change(2)', 'Account.change', object, 'Account(1).change(2)'],
  ])('writes the whole expression: %j', (typed, name, writing, call) => {
    expect(typedCall(typed, name, writing)).toBe(call);
  });
});

describe('typedCall', () => {
  it.each([
    ['', 'gcd', null],
    ['  ', 'gcd', null],
    ['3, 4', 'gcd', 'gcd(3, 4)'],
    ['(3, 4)', 'gcd', 'gcd(3, 4)'],
    ['(1, 2), (3, 4)', 'gcd', 'gcd((1, 2), (3, 4))'],
    ['gcd(3, 4)', 'gcd', 'gcd(3, 4)'],
    ['gcd (3)', 'gcd', 'gcd (3)'],
    ['Account("a").change(3)', 'Account.change', 'Account("a").change(3)'],
    ['gcds', 'gcd', 'gcd(gcds)'],
  ])('takes calls and arguments: %j', (typed, name, call) => {
    expect(typedCall(typed, name)).toBe(call);
  });
});
