import { describe, expect, it } from 'vitest';
import { compareReprs } from '../../adapter/python/reprEquality';

describe('comparing reprs', () => {
  it.each([
    ['1', '1'],
    ['[1, 2]', '[1,2]'],
    ["'ab'", '"ab"'],
    ["{'a': [1, (2,)]}", '{"a": [ 1, (2, ) ]}'],
    ['{3, 1, 2}', '{1, 2, 3}'],
    ['frozenset({1, 2})', 'frozenset({2, 1})'],
    ['{(1, "a"), (2, "b")}', "{(2, 'b'), (1, 'a')}"],
    ['<Foo object>', '<Foo object>'],
    ["Point(x=1, y='a')", 'Point(x=1, y="a")'],
    ['deque([1, 2])', 'deque([1,2])'],
    ['[1, 2, ... +950 more]', '[1, 2, ... +950 more]'],
  ])('%s is the same as %s', (one, other) => {
    expect(compareReprs(one, other)).toBe('same');
    expect(compareReprs(other, one)).toBe('same');
  });

  it.each([
    ['1', '2'],
    ['1', '1.0'],
    ['True', '1'],
    ["'a b'", "'ab'"],
    ["{'a b'}", "{'ab'}"],
    ['[1, 2]', '[2, 1]'],
    ['[1]', '(1,)'],
    ['[1, 2]', '[1, 2, 3]'],
    ['{1, 2}', '{1, 3}'],
    ['{1}', '{1, 2}'],
    ["{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"],
    ["{'a': 1}", "{'a': 2}"],
    ['<Foo object>', '<Bar object>'],
    ['Point(x=1)', 'Pair(x=1)'],
    ['Point(x=1)', 'Point(y=1)'],
    ['[1, 2, ... +950 more]', '[1, 3, ... +950 more]'],
    ['[1, 2, ... +950 more]', '[1, 2]'],
    ["'abc'... +950 more", "'abd'"],
    ["'abc'... +950 more", "'ab'"],
    ['[]', '{}'],
    ['None', '0'],
  ])('%s differs from %s', (one, other) => {
    expect(compareReprs(one, other)).toBe('different');
    expect(compareReprs(other, one)).toBe('different');
  });

  it.each([
    ['[1, 2, ... +950 more]', '[1, 2, 3, 4]'],
    ["'abc'... +950 more", "'abcdef'"],
    ['{1, 2, ... +3 more}', '{7, 8, 9, 10, 11}'],
    [null, '1'],
  ])('%s may be %s', (one, other) => {
    expect(compareReprs(one, other)).toBe('unknown');
    expect(compareReprs(other, one)).toBe('unknown');
  });
});
