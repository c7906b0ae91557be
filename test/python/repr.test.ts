import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  childrenOf,
  exceptionParts,
  isLiteral,
  isWellFormed,
  readRepr,
  type ReprNode,
  reprText,
  stringValue,
  typeName,
} from '../../adapter/python/repr';

/** A value in a form that JSON carries: [kind, contents]. */
type Described = [string, unknown];

const scalars: fc.Arbitrary<Described> = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map((value): Described => ['int', value.toString()]),
  fc.double().map((value): Described => ['float', Object.is(value, -0) ? '-0.0' : String(value)]),
  fc
    .tuple(fc.double(), fc.double())
    .map((parts): Described => [
      'complex',
      parts.map((value) => (Object.is(value, -0) ? '-0.0' : String(value))),
    ]),
  fc
    .array(fc.oneof(fc.integer({ min: 0, max: 0x10ffff }), fc.integer({ min: 0, max: 127 })), {
      maxLength: 8,
    })
    .map((points): Described => ['str', points]),
  fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 8 }).map((bytes): Described => ['bytes', bytes]),
  fc
    .constantFrom('None', 'True', 'False', 'Ellipsis', 'NotImplemented')
    .map((name): Described => ['name', name]),
);

const values: fc.Arbitrary<Described> = fc.letrec<{ value: Described; key: Described }>((tie) => ({
  key: fc.oneof(
    { maxDepth: 3 },
    scalars,
    fc.array(tie('key'), { maxLength: 3 }).map((items): Described => ['tuple', items]),
  ),
  value: fc.oneof(
    { maxDepth: 4 },
    scalars,
    fc
      .tuple(fc.constantFrom('list', 'tuple', 'deque'), fc.array(tie('value'), { maxLength: 4 }))
      .map(([kind, items]): Described => [kind, items]),
    fc
      .tuple(fc.constantFrom('set', 'frozenset'), fc.array(tie('key'), { maxLength: 4 }))
      .map(([kind, items]): Described => [kind, items]),
    fc.array(fc.tuple(tie('key'), tie('value')), { maxLength: 4 }).map((items): Described => ['dict', items]),
    fc.array(tie('value'), { maxLength: 3 }).map((items): Described => ['object', items]),
  ),
})).value;

const pythonScript = `
import json, sys, collections, ast
class Point:
    def __init__(self, items): self.items = items
    def __repr__(self): return 'Point(' + ', '.join(f'a{i}={v!r}' for i, v in enumerate(self.items)) + ')'
def build(d):
    kind, c = d
    if kind == 'int': return int(c)
    if kind == 'float': return float(c.replace('Infinity', 'inf').replace('NaN', 'nan'))
    if kind == 'complex': return complex(*(build(['float', x]) for x in c))
    if kind == 'str': return ''.join(map(chr, c))
    if kind == 'bytes': return bytes(c)
    if kind == 'name': return eval(c)
    if kind == 'dict': return {build(k): build(v) for k, v in c}
    if kind == 'object': return Point([build(x) for x in c])
    return {'list': list, 'tuple': tuple, 'deque': collections.deque, 'set': set, 'frozenset': frozenset}[kind](build(x) for x in c)
def rows(v):
    if isinstance(v, (list, tuple, set, frozenset, collections.deque)): return [[str(i), repr(x)] for i, x in enumerate(v)]
    if isinstance(v, dict): return [[repr(k), repr(x)] for k, x in v.items()]
    if isinstance(v, Point): return [[f'a{i}', repr(x)] for i, x in enumerate(v.items)]
    return []
def literal(text):
    try: return repr(ast.literal_eval(text)) is not None
    except Exception: return False
out = []
for d in json.load(sys.stdin):
    v = build(d)
    t = 'ellipsis' if v is ... else type(v).__name__
    out.append({'text': repr(v), 'rows': rows(v), 'type': t, 'literal': literal(repr(v)), 'string': [ord(c) for c in v] if isinstance(v, str) else None})
json.dump(out, sys.stdout)
`;

/** Writes a tree again from its parts alone. */
function written(text: string, node: ReprNode): string {
  const parts = node.children.map(({ key, name, value }) => {
    const prefix = key ? `${written(text, key)}: ` : name === null ? '' : `${name}=`;
    return prefix + written(text, value);
  });
  const items = parts.join(', ');
  const own = reprText(text, node);
  switch (node.kind) {
    case 'list':
      return `[${items}]`;
    case 'tuple':
      return parts.length === 1 ? `(${items},)` : `(${items})`;
    case 'dict':
      return `{${items}}`;
    case 'set':
      return parts.length === 0 ? 'set()' : `{${items}}`;
    case 'frozenset':
      return parts.length === 0 ? 'frozenset()' : `frozenset({${items}})`;
    case 'call':
      return `${own.slice(0, own.indexOf('('))}(${items})`;
    default:
      return own;
  }
}

describe('readRepr', () => {
  it('reads what Python writes of nested builtin values, and writes it again', () => {
    const samples = fc.sample(values, { numRuns: 1500, seed: 7 });
    const answers = JSON.parse(
      execFileSync('python3', ['-I', '-c', pythonScript], {
        input: JSON.stringify(samples),
        encoding: 'utf8',
        maxBuffer: 1 << 28,
      }),
    ) as {
      text: string;
      rows: [string, string][];
      type: string;
      literal: boolean;
      string: number[] | null;
    }[];
    for (const { text, rows, type, literal, string } of answers) {
      const node = readRepr(text);
      expect(isWellFormed(node), text).toBe(true);
      expect(written(text, node)).toBe(text);
      const children = childrenOf(text);
      expect(
        children.page(0, 100).map((child) => [child.name, child.text]),
        text,
      ).toEqual(rows);
      expect(children.indexed + children.named).toBe(rows.length);
      expect(typeName(text), text).toBe(type);
      expect(isLiteral(text), text).toBe(literal);
      if (string)
        expect(stringValue(text, node)).toBe(string.map((code) => String.fromCodePoint(code)).join(''));
    }
  });

  it('reads all values of the cases', () => {
    const folder = join(import.meta.dirname, '../cases/expected');
    const texts = new Set<string>();
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.jsonl'))) {
      for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
        if (line === '') continue;
        const row = JSON.parse(line) as { ev?: string; locals?: Record<string, string>; arg?: string };
        for (const text of Object.values(row.locals ?? {})) texts.add(text);
        if (row.ev === 'return' && row.arg !== undefined) texts.add(row.arg);
      }
    }
    expect(texts.size).toBeGreaterThan(100);
    for (const text of texts) {
      // The recorder of the cases shortened values in a way of its own.
      if (/\(\d+ chars\)$/.test(text)) continue;
      expect(isWellFormed(readRepr(text)), text).toBe(true);
      expect(typeName(text), text).not.toBeNull();
    }
  });

  it.each([
    ["OrderedDict([('a', 1)])", 'call'],
    ["defaultdict(<class 'int'>, {'a': 1})", 'call'],
    ['deque([1, 2], maxlen=3)', 'call'],
    ['make.<locals>.Point(x=1, y=[2])', 'call'],
    ['datetime.datetime(2020, 1, 1, 0, 0)', 'call'],
    ['array([[1., 2.],\n       [3., 4.]], dtype=float32)', 'call'],
    ["re.compile('a', re.IGNORECASE|re.DOTALL)", 'call'],
    ['<bound method A.f of <A object>>', 'opaque'],
    ['<function f.<locals>.<lambda> at 0x7f>', 'opaque'],
    ["<re.Match object; span=(0, 1), match='>'>", 'opaque'],
    ["<_io.TextIOWrapper name='<stdin>' mode='r'>", 'opaque'],
    ["<it's a Box object>", 'opaque'],
    ['<Signature (a) -> int>', 'opaque'],
    ['[...]', 'cycle'],
    ['{...}', 'cycle'],
    ['(...)', 'cycle'],
    ['...', 'cut'],
    ['... +3 more', 'cut'],
    ['[1, ... +950 more]', 'list'],
    ['[1, ...]', 'list'],
    ['(1, ... +2 more)', 'tuple'],
    ['(... +2 more)', 'tuple'],
    ["{'a': 1, ... +950 more}", 'dict'],
    ['{1, ... +950 more}', 'set'],
    ['frozenset({1, ... +950 more})', 'frozenset'],
    ["'abc'... +950 more", 'string'],
    ["b'abc'...", 'bytes'],
    ['12345... +9000 more', 'number'],
    ["'''a\nb'''", 'string'],
    ["rb'\\d'", 'bytes'],
    ['0xff', 'number'],
    ['1_000', 'number'],
    ['1+2j', 'number'],
    ['(nan-infj)', 'number'],
    ['-inf', 'number'],
    [' [ 1 ,2 ] ', 'list'],
  ])('reads %j as %s', (text, kind) => {
    const node = readRepr(text);
    expect(node.kind).toBe(kind);
    expect(isWellFormed(node)).toBe(true);
    expect(reprText(text, node)).toBe(text.trim());
  });

  it.each([
    '',
    ' ',
    '[1, 2',
    '[1, 2)',
    '[1] trailing',
    "'abc",
    '(1)',
    'null',
    'true',
    '007',
    '1__0',
    '[1,,2]',
    '[,]',
    '{1: }',
    '{1, 2: 3}',
    '{1: 2, 3}',
    "'\\x4'",
    "'a\nb'",
    "'\ud800'",
    "b'é'",
    '<A',
    '[<A, 1]',
    '[1 2, 3]',
    "f'{x}'",
    '@',
    '...x',
    '{...: 1}',
  ])('takes %j for malformed', (text) => {
    expect(isWellFormed(readRepr(text))).toBe(false);
  });

  it('keeps the items around a malformed one', () => {
    const text = '[1, f(x) + {2, 3}, [4 5], {6: ?, 7: 8, nine: 9}]';
    const parts = readRepr(text).children.map(({ value }) => [value.kind, reprText(text, value)]);
    expect(parts).toEqual([
      ['number', '1'],
      ['malformed', 'f(x) + {2, 3}'],
      ['list', '[4 5]'],
      ['dict', '{6: ?, 7: 8, nine: 9}'],
    ]);
    expect(
      childrenOf('{6: ?, 7: 8, nine: 9}')
        .page(0, 9)
        .map(({ name, text: value }) => [name, value]),
    ).toEqual([
      ['6', '?'],
      ['7', '8'],
      ['?', 'nine: 9'],
    ]);
  });

  it('never throws and never loses its place, whatever the text', () => {
    const pieces = fc.constantFrom(
      ...[
        '[',
        ']',
        '(',
        ')',
        '{',
        '}',
        ',',
        ':',
        '=',
        '<',
        '>',
        "'",
        '"',
        '\\',
        '...',
        ' +9 more',
        'a',
        'f(',
        'set(',
        'x=',
        '1',
        '.',
        'j',
        '-',
        ' ',
        '\n',
        'None',
        'b',
        'é',
        '\ud800',
        'nan',
        '|',
        '->',
      ],
    );
    const garbage = fc.oneof(
      fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(garbage, (text) => {
        const pending = [readRepr(text)];
        for (let node = pending.pop(); node; node = pending.pop()) {
          expect(node.start).toBeLessThanOrEqual(node.end);
          let reached = node.start;
          for (const { key, value } of node.children) {
            for (const part of key ? [key, value] : [value]) {
              expect(part.start).toBeGreaterThanOrEqual(reached);
              reached = part.end;
              pending.push(part);
            }
          }
          expect(reached).toBeLessThanOrEqual(node.end);
        }
        const children = childrenOf(text);
        expect(children.page(0, 1000)).toHaveLength(children.indexed + children.named);
        typeName(text);
        exceptionParts(text);
        isLiteral(text);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    '[',
    '(',
    '{',
    '<',
    "'",
    'f(',
    '((1+',
    '[<',
    '[1 ',
    "<='",
    "['",
    '{1:',
    "{'a':[",
    '-',
    '0',
    '.',
    '\\',
  ])('survives a long run of %j', (piece) => {
    const text = piece.repeat(300_000);
    expect(readRepr(text).children.length).toBe(0);
    expect(childrenOf(text).page(0, 10)).toEqual([]);
    typeName(text);
  });
});

describe('childrenOf', () => {
  const rows = (text: string, parent = 'v') =>
    childrenOf(text)
      .page(0, 100)
      .map((child) => [child.name, child.text, child.expression(parent)]);

  it('names parts and the way to them', () => {
    expect(rows('[1, [2]]')).toEqual([
      ['0', '1', 'v[0]'],
      ['1', '[2]', 'v[1]'],
    ]);
    expect(rows("{'k': 1, (1, 2): 'x', <A object>: 3}")).toEqual([
      ["'k'", '1', "v['k']"],
      ['(1, 2)', "'x'", 'v[(1, 2)]'],
      ['<A object>', '3', ''],
    ]);
    expect(rows('Point(x=1, y=Point(x=2))')).toEqual([
      ['x', '1', 'v.x'],
      ['y', 'Point(x=2)', 'v.y'],
    ]);
    expect(rows('range(4, -1, -2)').map(([, , expression]) => expression)).toEqual([
      'v.start',
      'v.stop',
      'v.step',
    ]);
    expect(rows('{1, 2}')).toEqual([
      ['0', '1', ''],
      ['1', '2', ''],
    ]);
    expect(rows("defaultdict(<class 'int'>, {'a': 1})")).toEqual([["'a'", '1', "v['a']"]]);
    expect(rows('deque([7], maxlen=3)')).toEqual([['0', '7', 'v[0]']]);
    expect(rows("IndexError('x')")).toEqual([['0', "'x'", '']]);
    expect(rows("'abc'")).toEqual([]);
    expect(rows('[...]')).toEqual([]);
  });

  it('tells what was cut and counts past it', () => {
    const { indexed, named, hidden } = childrenOf('[1, 2, ... +950 more]');
    expect({ indexed, named, hidden }).toEqual({ indexed: 2, named: 0, hidden: 950 });
    expect(childrenOf("{'a': 1, ... +3 more}").hidden).toBe(3);
    expect(childrenOf('[1, ...]').hidden).toBe(Infinity);
    expect(rows('[1, ... +950 more, 9]')[1]).toEqual(['951', '9', 'v[951]']);
    expect(rows('[1, ..., 8, 9]').map(([name]) => name)).toEqual(['0', '-2', '-1']);
  });

  it('pages through a long list in any order', () => {
    const text = `[${Array.from({ length: 1_000_000 }, (_, index) => index).join(', ')}]`;
    const children = childrenOf(text);
    expect(children.indexed).toBe(1_000_000);
    for (const start of [0, 999_950, 500_000, 100]) {
      const page = children.page(start, 100);
      expect(page.map((child) => child.text)).toEqual(
        Array.from({ length: Math.min(100, 1_000_000 - start) }, (_, index) => String(start + index)),
      );
      expect(page[0]?.name).toBe(String(start));
    }
    expect(children.page(-5, 6)).toHaveLength(6);
    expect(children.page(2_000_000, 6)).toEqual([]);
  });
});

describe('typeName', () => {
  it.each([
    ['<__main__.Box object>', 'Box'],
    ['<__main__.f.<locals>.Box object at 0x7f>', 'Box'],
    ["<class '__main__.Box'>", 'type'],
    ['<function f.<locals>.g>', 'function'],
    ['<bound method A.f of <A object>>', 'method'],
    ['<built-in function len>', 'builtin_function_or_method'],
    ["<module 'sys' (built-in)>", 'module'],
    ['<generator object f>', 'generator'],
    ['<list_iterator object>', 'list_iterator'],
    ['<Color.RED: 1>', 'Color'],
    ["<re.Match object; span=(0, 1), match='a'>", 'Match'],
    ['<repr raised RuntimeError on Rude>', 'Rude'],
    ['<Thread(Thread-1 (work), started)>', 'Thread'],
    ['datetime.date(2020, 1, 1)', 'date'],
    ['f.<locals>.Point(x=1)', 'Point'],
    ['namespace(a=1)', 'SimpleNamespace'],
    ['[...]', 'list'],
    ["'abc'... +3 more", 'str'],
    ['123... +3 more', 'int'],
    ['1e5', 'float'],
    ['0xe', 'int'],
    ['2j', 'complex'],
    ['[1,', null],
    ['...', null],
  ])('%s: %s', (text, type) => {
    expect(typeName(text)).toBe(type);
  });
});

describe('exceptionParts', () => {
  it.each([
    ["ValueError('bad')", 'ValueError', 'bad'],
    ['ValueError()', 'ValueError', null],
    ["ValueError('')", 'ValueError', ''],
    ["KeyError('k')", 'KeyError', "'k'"],
    ['SystemExit(3)', 'SystemExit', '3'],
    ["MyError('a', 2)", 'MyError', "('a', 2)"],
    [
      "FileNotFoundError(2, 'No such file or directory')",
      'FileNotFoundError',
      '[Errno 2] No such file or directory',
    ],
    ["ExceptionGroup('two', [ValueError(1), OSError(2)])", 'ExceptionGroup', 'two (2 sub-exceptions)'],
    ["ExceptionGroup: ExceptionGroup('two', [ValueError(1)])", 'ExceptionGroup', 'two (1 sub-exception)'],
    ['GeneratorExit: GeneratorExit()', 'GeneratorExit', null],
    ['ValueError: bad: worse', 'ValueError', 'bad: worse'],
    ['ValueError', 'ValueError', null],
    ["<class 'ValueError'>", 'ValueError', null],
    ["<class '__main__.Oops'>", 'Oops', null],
    ["<class 'ValueError'>: bad", 'ValueError', 'bad'],
    ["(<class 'ValueError'>, ValueError('bad'), <traceback object>)", 'ValueError', 'bad'],
    ["(<class 'ValueError'>, 'bad', None)", 'ValueError', 'bad'],
    ["'ValueError: bad'", 'ValueError', 'bad'],
    ['json.decoder.JSONDecodeError: Expecting value', 'json.decoder.JSONDecodeError', 'Expecting value'],
    ['<__main__.Oops object>', 'Oops', null],
    ['ValueError(no quotes here)', 'ValueError', 'no quotes here'],
    ['division by zero', 'Exception', 'division by zero'],
    ["ImportError('no x', name='x')", 'ImportError', 'no x'],
  ])('%s', (text, type, message) => {
    expect(exceptionParts(text)).toEqual({ type, message });
  });
});

describe('isLiteral', () => {
  it.each([
    ['set()', true],
    ["{'a': [1, (2,)], 3: {4}}", true],
    ['(1+2j)', true],
    ["'a'", true],
    ['frozenset()', false],
    ['[nan]', false],
    ['[<A object>]', false],
    ['[1, ... +3 more]', false],
    ["'a'...", false],
    ['[...]', false],
    ['range(3)', false],
  ])('%s', (text, expected) => {
    expect(isLiteral(text)).toBe(expected);
  });

  it('knows the limits of Python', () => {
    expect(isLiteral('9'.repeat(4300))).toBe(true);
    expect(isLiteral('9'.repeat(4301))).toBe(false);
    expect(isLiteral('['.repeat(200) + ']'.repeat(200))).toBe(true);
    expect(isLiteral('['.repeat(201) + ']'.repeat(201))).toBe(false);
  });
});
