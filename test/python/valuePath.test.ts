import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { childrenOf } from '../../adapter/python/repr';
import { lookUp } from '../../adapter/python/valuePath';
import type { Locals } from '../../adapter/trajectory/state';

const locals: Locals = new Map(
  Object.entries({
    a: 'Point(b=[1, Point(c="x")], d={1: "one", "k": [2, 3]})',
    d: "{'k': 1, 1: 'one', (1, 'x'): 2, None: 3, b'b': 4, 0.5: 5, -2: 6}",
    xs: "[10, 20, '30']",
    cut: '[1, 2, ... +950 more, 9]',
    gap: '[1, ..., 8, 9]',
    t: '(1,)',
    s: "'a\\n\\'é😀'",
    long: "'abc'... +7 more",
    half: "'\\ud83d\\ude00'",
    raw: "b'a\\xff'",
    i: '1',
    minus: '-1',
    key: "'k'",
    no: 'True',
    f: '1.0',
    deque: 'deque([7, 8], maxlen=3)',
    ordered: "OrderedDict([('a', 1), ('b', 2)])",
    counter: "Counter({'x': 3})",
    box: '<__main__.Box object>',
    broken: '[1, ?, 3]',
    file: "'name'",
  }).map(([name, repr]) => [name, { repr, confidence: 0.5 }]),
);

describe('lookUp', () => {
  it.each([
    ['xs', "[10, 20, '30']"],
    [' xs ', "[10, 20, '30']"],
    ['xs[0]', '10'],
    ['xs[-1]', "'30'"],
    ['xs[ i ]', '20'],
    ['xs[minus]', "'30'"],
    ['xs[no]', '20'],
    ['xs[True]', '20'],
    ['xs[0x1]', '20'],
    ['xs[2][0]', "'3'"],
    ['a.b[0]', '1'],
    ['a . b [1] . c', '"x"'],
    ['a.b[-1].c[0]', "'x'"],
    ['a.d[1]', '"one"'],
    ["a.d['k'][1]", '3'],
    ["d['k']", '1'],
    ['d["k"]', '1'],
    ['d["\\x6b"]', '1'],
    ['d[key]', '1'],
    ['d[1]', "'one'"],
    ['d[1.0]', "'one'"],
    ['d[True]', "'one'"],
    ['d[f]', "'one'"],
    ['d[(1, "x")]', '2'],
    ['d[None]', '3'],
    ["d[b'b']", '4'],
    ['d[.5]', '5'],
    ['d[-2]', '6'],
    ['cut[1]', '2'],
    ['cut[952]', '9'],
    ['cut[-1]', '9'],
    ['cut[-953]', '1'],
    ['gap[0]', '1'],
    ['gap[-2]', '8'],
    ['s[1]', "'\\n'"],
    ['s[2]', `"'"`],
    ['s[3]', "'é'"],
    ['s[-1]', "'😀'"],
    ['long[2]', "'c'"],
    ['raw[1]', '255'],
    ['deque[-1]', '8'],
    ["ordered['b']", '2'],
    ["counter['x']", '3'],
    ['broken[2]', '3'],
    ['ﬁle', "'name'"],
  ])('%s is %s', (expression, repr) => {
    expect(lookUp(expression, locals)).toEqual({ repr, confidence: 0.5 });
  });

  it.each([
    '',
    'nothing',
    'xs[3]',
    'xs[-4]',
    'xs[1.0]',
    'xs[f]',
    'xs["0"]',
    'xs[nothing]',
    'xs[',
    'xs[0',
    'xs[0:1]',
    'xs.append',
    'xs()',
    'xs[0]()',
    'xs[0] + 1',
    'a.b.c',
    'a.',
    'd["missing"]',
    'd[nan]',
    'cut[5]',
    'gap[1]',
    'gap[-3]',
    't[1]',
    'long[5]',
    'long[-1]',
    'half[0]',
    'box.size',
    'box[0]',
    'broken[1]',
    'i[0]',
    '"abc"',
    '1',
    'xs[i][i][i][i]',
    "d['k",
    '__proto__',
    'constructor',
  ])('%j is not known', (expression) => {
    expect(lookUp(expression, locals)).toBeNull();
  });

  it('never throws', () => {
    const piece = fc.constantFrom(
      'xs',
      'a',
      'd',
      '.',
      '[',
      ']',
      '(',
      ')',
      ',',
      '0',
      '-',
      "'k'",
      '"',
      ' ',
      'b',
      'é',
      '\\',
      'cut',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        lookUp(pieces.join(''), locals);
      }),
    );
    expect(lookUp(`xs${'[0]'.repeat(100_000)}`, locals)).toBeNull();
    expect(lookUp(`xs[${'('.repeat(100_000)}`, locals)).toBeNull();
  });

  it('follows the expressions that children are given', () => {
    for (const text of [...locals.values()].map(({ repr }) => repr ?? '')) {
      for (const child of childrenOf(text).page(0, 10)) {
        const expression = child.expression('v');
        if (expression === '') continue;
        const found = lookUp(expression, new Map([['v', { repr: text, confidence: null }]]));
        expect(found?.repr ?? '?', expression).toBe(child.text);
      }
    }
  });

  it('does not find what has no known repr', () => {
    expect(lookUp('x', new Map([['x', { repr: null, confidence: null }]]))).toBeNull();
  });
});
