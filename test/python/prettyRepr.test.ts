import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prettyRepr } from '../../adapter/python/prettyRepr';
import { valueSize } from '../../adapter/python/valueSize';

describe('a value as a document', () => {
  it('is one line where it fits, else one item a line', () => {
    expect(prettyRepr("{'a': [1, 2]}")).toBe("{'a': [1, 2]}");
    const rows = Array.from({ length: 30 }, (_, index) => index + 100).join(', ');
    expect(prettyRepr(`{'rows': (${rows}), 'n': 1}`)).toBe(
      `{\n    'rows': (\n${Array.from({ length: 30 }, (_, index) => `        ${index + 100},\n`).join('')}    ),\n    'n': 1,\n}`,
    );
    expect(prettyRepr(`Point(x=['${'a'.repeat(90)}'])`)).toBe(
      `Point(\n    x=[\n        '${'a'.repeat(90)}',\n    ],\n)`,
    );
    expect(prettyRepr('what is this')).toBe('what is this');
  });

  it('means what the repr means to Python', () => {
    const leaf = fc.oneof(fc.integer(), fc.boolean(), fc.string({ unit: 'grapheme-ascii', maxLength: 40 }));
    const tree = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('value'), { maxLength: 8 }),
        fc.dictionary(fc.string({ unit: 'grapheme-ascii' }), tie('value'), { maxKeys: 5 }),
      ),
    })).value;
    const values = fc.sample(tree, { numRuns: 60, seed: 3 });
    const script = [
      'import json, sys, ast',
      'for line in sys.stdin:',
      '    print(json.dumps(repr(tuple([json.loads(line), {1, 2}, frozenset({3})]))))',
    ].join('\n');
    const reprs = execFileSync('python3', ['-I', '-c', script], {
      input: values.map((value) => JSON.stringify(value)).join('\n'),
      encoding: 'utf8',
    });
    const pairs = reprs
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as string)
      .map((repr) => JSON.stringify([repr, prettyRepr(repr)]))
      .join('\n');
    const check =
      'import json, sys\nfor line in sys.stdin:\n    a, b = json.loads(line)\n    assert eval(a) == eval(b), b\nprint("same")';
    expect(execFileSync('python3', ['-I', '-c', check], { input: pairs, encoding: 'utf8' })).toBe('same\n');
  });
});

describe('a size', () => {
  it.each([
    ['[1, 2, ... +950 more]', { count: 952, unit: 'items', hidden: 950 }],
    ["'ab\\n😀'... +10 more", { count: 14, unit: 'characters', hidden: 10 }],
    ["b'\\x00a'", { count: 2, unit: 'bytes', hidden: 0 }],
    ['12345... +950 more', { count: 955, unit: 'digits', hidden: 950 }],
    ["{'a': 1}", { count: 1, unit: 'items', hidden: 0 }],
    ['frozenset({1, 2})', { count: 2, unit: 'items', hidden: 0 }],
    ['deque([1, 2], maxlen=3)', { count: 2, unit: 'items', hidden: 0 }],
    ['[1, ...]', null],
    ['5', null],
    ['Point(x=1)', null],
    ['<Foo object>', null],
  ])('of %s', (text, size) => {
    expect(valueSize(text)).toEqual(size);
  });
});
