import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ExpressionEvaluator } from '../../adapter/python/expressions';
import type { Locals } from '../../adapter/trajectory/state';

const evaluator = new ExpressionEvaluator({ python: 'python3' });
afterAll(() => evaluator.close());

function localsOf(values: Record<string, string | null>): Locals {
  return new Map(Object.entries(values).map(([name, repr]) => [name, { repr, confidence: null }]));
}

const evaluate = (expression: string, values: Record<string, string | null> = {}) =>
  evaluator.evaluate(expression, localsOf(values));

describe('evaluate', () => {
  it.each<[string, string, Record<string, string>]>([
    ['a + 1', '3', { a: '2' }],
    ['a < 3 <= b', 'True', { a: '2', b: '3' }],
    ['not a and missing', 'False', { a: '2' }],
    ['a or missing', '2', { a: '2' }],
    ['1 if a else missing', '1', { a: '2' }],
    ['xs[1:][0]', '2', { xs: '[1, 2]' }],
    ["d['k'][-1]", '2', { d: "{'k': (1, 2)}" }],
    ['[x * 2 for x in xs if x > 1]', '[4, 6]', { xs: '[1, 2, 3]' }],
    ['{k: v for v, k in xs}', '{2: 1}', { xs: '[(1, 2)]' }],
    ['sum(x for x in xs)', '6', { xs: '[1, 2, 3]' }],
    ['any(1 / x > 0 for x in xs)', 'True', { xs: '[1, 0]' }],
    ['[(first, rest) for first, *rest in xs]', '[(1, [2, 3])]', { xs: '[(1, 2, 3)]' }],
    ['(n := len(xs)) * n', '4', { xs: '[1, 2]' }],
    ["f'{x:>8.2f}|{x!r}|{x=}'", "'    1.50|1.5|x=1.5'", { x: '1.5' }],
    ["f'{x:{width}}'", "'  1'", { x: '1', width: '3' }],
    ["'%s %d' % (a, 3)", "'x 3'", { a: "'x'" }],
    ["'{} {b:>3}'.format(1, b=2)", "'1   2'", {}],
    ['sorted(xs, key=lambda pair: -pair[1])', "[('b', 2), ('a', 1)]", { xs: "[('a', 1), ('b', 2)]" }],
    ["','.join(map(str, xs))", "'1,2'", { xs: '[1, 2]' }],
    ['list(zip(xs, xs[1:]))', '[(1, 2)]', { xs: '[1, 2]' }],
    ['list(enumerate(xs, 1))', '[(1, 5)]', { xs: '[5]' }],
    ['max(xs, key=len)', "'bb'", { xs: "['a', 'bb']" }],
    ['isinstance(x, (int, str)), type(x) is int, type(x)', "(True, True, <class 'int'>)", { x: '1' }],
    ['x is None, y is not None', '(True, False)', { x: 'None', y: 'None' }],
    ['x', '(-0-1j)', { x: '(-0-1j)' }],
    [
      'x',
      '[nan, inf, -inf, -0.0, Ellipsis, NotImplemented]',
      { x: '[nan, inf, -inf, -0.0, Ellipsis, NotImplemented]' },
    ],
    ['len(x), x[-1]', '(3, 0)', { x: 'range(4, -1, -2)' }],
    ['x | {3}', 'frozenset({1, 2, 3})', { x: 'frozenset({1, 2})' }],
    ['s', "{'b', 'a'}", { s: "{'b', 'a'}" }],
    ['list(s), sorted(s)', "(['b', 'a'], ['a', 'b'])", { s: "{'b', 'a'}" }],
    ["'a' in s, len(s)", '(True, 2)', { s: "{'b', 'a'}" }],
    ['d.items()', "dict_items([('a', {1, 9})])", { d: "{'a': {1, 9}}" }],
    ['ascii(s), repr(s)', '("\'\\\\xe9\'", "\'é\'")', { s: "'é'" }],
    ["s == '\\ud83d'", 'True', { s: "'\\ud83d'" }],
    ['p.x + ps[1].y', '5', { p: 'Point(x=2, y=<A object>)', ps: '[1, Point(y=3)]' }],
    ['len(ps)', '2', { ps: '[<A object>, 1]' }],
    ['a is None, a is not None', '(False, True)', { a: '<A object>' }],
    ['type', "<class 'type'>", {}],
  ])('%s gives %s', async (expression, repr, values) => {
    const answer = await evaluate(expression, values);
    if (expression === 'type') expect(answer.kind).toBe('value');
    else expect(answer).toEqual({ kind: 'value', repr });
  });

  it.each<[string, string, string, Record<string, string>]>([
    ['1 / 0', 'ZeroDivisionError', 'division by zero', {}],
    ['xs[5]', 'IndexError', 'list index out of range', { xs: '[1]' }],
    ["d['k']", 'KeyError', "'k'", { d: '{}' }],
    ['1 + s', 'TypeError', "unsupported operand type(s) for +: 'int' and 'str'", { s: "'a'" }],
    ['list(5)', 'TypeError', "'int' object is not iterable", {}],
    ['list(1)', 'TypeError', "'NoneType' object is not callable", { list: 'None' }],
    ["'a'.foo", 'AttributeError', "'str' object has no attribute 'foo'", {}],
    ["int('x')", 'ValueError', "invalid literal for int() with base 10: 'x'", {}],
    ['[a for a, b in [1]]', 'TypeError', 'cannot unpack non-iterable int object', {}],
    ['a +', 'SyntaxError', 'invalid syntax', {}],
    ['x = 1', 'SyntaxError', 'invalid syntax', {}],
  ])('%s raises %s: %s', async (expression, type, message, values) => {
    const answer = await evaluate(expression, values);
    expect(answer).toMatchObject({ kind: 'raises', type });
    // Other versions of Python word some messages otherwise.
    if (pythonVersion === '3.11') expect(answer).toEqual({ kind: 'raises', type, message });
  });

  it.each<[string, Record<string, string | null>]>([
    ['x', { x: null }],
    ['x', { x: '<A object>' }],
    ['x + 1', { x: '[1, 2' }],
    ['x[0]', { x: '[1, 2, ... +3 more]' }],
    ["x + 'a'", { x: "'abc'... +3 more" }],
    ['x', { x: '[...]' }],
    ['xs[0]', { xs: '[<A object>]' }],
    ["''.join(xs)", { xs: "[<A object>, 'a']" }],
    ['xs == [1]', { xs: '[<A object>]' }],
    ['bool(x)', { x: '<A object>' }],
    ['p.z', { p: 'Point(x=1)' }],
    ['missing', {}],
    ['f(1)', {}],
    ['x.f()', { x: '<A object>' }],
    ["open('a')", {}],
    ["__import__('os')", {}],
    ["eval('1')", {}],
    ['().__class__', {}],
    ["'a'.__len__()", {}],
    ["'{0.__class__}'.format(1)", {}],
    ["'{0[0]}'.format([1])", {}],
    ["'{:{0.real}}'.format(1)", {}],
    ["getattr(1, 'real')", {}],
    ['xs.pop()', { xs: '[1]' }],
    ['xs.append(1)', { xs: '[1]' }],
    ['a is b', { a: '1000', b: '1000' }],
    ['x == y', { x: '[nan]', y: '[nan]' }],
    ["s | {'x'}", { s: "{'b', 'a'}" }],
    ["str(s | {'x'})", { s: "{'b', 'a'}" }],
    ["'%s' % s", { s: "{'b', 'a'}" }],
    ['{*"ab"}', {}],
    ['zip(x, x)', { x: '[]' }],
    ['(yield)', {}],
    ['[await x for x in [1]]', {}],
    ['10 ** 10 ** 9', {}],
    ['1 << 10 ** 10', {}],
    ["'a' * 10 ** 10", {}],
    ['[0] * 10 ** 10', {}],
    ["'a'.ljust(10 ** 10)", {}],
    ["f'{1:9999999999}'", {}],
    ["'%9999999999d' % 1", {}],
    ["'%*d' % (9999999999, 1)", {}],
    ["'{:{}}'.format(1, 9999999999)", {}],
    ['bytes(10 ** 10)', {}],
    ['list(range(10 ** 10))', {}],
    ['sum(1 for a in range(10 ** 6) for b in range(10 ** 6))', {}],
    ['10 ** 5000', {}],
    [`${'-'.repeat(5000)}1`, {}],
    [`'${'a'.repeat(30_000)}'`, {}],
  ])('does not know %.60s', async (expression, values) => {
    const answer = await evaluate(expression, values);
    expect(answer).toMatchObject({ kind: 'unknown', reason: expect.stringMatching(/\S/) as string });
  });

  it('gives what Python gives, or nothing', async () => {
    const samples = fc.sample(fc.tuple(fc.constantFrom(...environments), expressions), {
      numRuns: 1500,
      seed: 11,
    });
    const truths = JSON.parse(
      execFileSync('python3', ['-W', 'ignore', '-c', truthScript], {
        input: JSON.stringify(samples),
        encoding: 'utf8',
      }),
    ) as { names: Record<string, string>; value?: string; error?: string[] }[];
    let known = 0;
    for (const [index, truth] of truths.entries()) {
      const expression = samples[index]?.[1] ?? '';
      const answer = await evaluate(expression, truth.names);
      // Python refuses some of them as they stand: quotes in quotes, mostly.
      if (answer.kind === 'unknown' || truth.error?.[0] === 'SyntaxError') continue;
      known++;
      const seen = answer.kind === 'value' ? answer.repr : [answer.type, answer.message];
      expect(seen, `${expression} over ${JSON.stringify(truth.names)}`).toEqual(truth.value ?? truth.error);
    }
    expect(known / truths.length).toBeGreaterThan(0.8);
  });

  it('answers questions that are asked at the same time, in a process that outlives a kill', async () => {
    const answers = await Promise.all(
      ['1 + 1', '10 ** 10 ** 9', "'a'", '2 + 2'].map((text) => evaluate(text)),
    );
    expect(answers.map((answer) => (answer.kind === 'value' ? answer.repr : answer.kind))).toEqual([
      '2',
      'unknown',
      "'a'",
      '4',
    ]);
  });

  it('stops computations that no check foresees, and goes on', async () => {
    // Neither is large in what it is given or in what it comes to.
    const hopeless = [
      'max([t * 9 for i in range(9 ** 6)], key=len)',
      'pow(7, 3 << 900000, (3 << 900000) + 1)',
    ];
    for (const expression of hopeless) {
      expect((await evaluate(expression, { t: "'abc'" })).kind, expression).toBe('unknown');
      expect(await evaluate('1')).toEqual({ kind: 'value', repr: '1' });
    }
  });

  it('can be cancelled before and while it works', async () => {
    const controller = new AbortController();
    const slow = evaluator.evaluate(
      'sum(1 for a in range(10 ** 6) for b in range(10 ** 6))',
      localsOf({}),
      controller.signal,
    );
    setTimeout(() => {
      controller.abort();
    }, 20);
    expect((await slow).kind).toBe('unknown');
    expect(await evaluator.evaluate('1', localsOf({}), controller.signal)).toMatchObject({ kind: 'unknown' });
    expect(await evaluate('1')).toEqual({ kind: 'value', repr: '1' });
  });

  it('knows nothing without a Python, and says so', async () => {
    const lost = new ExpressionEvaluator({ python: 'no-such-python' });
    for (let time = 0; time < 2; time++) {
      const answer = await lost.evaluate('1', localsOf({}));
      expect(answer).toMatchObject({
        kind: 'unknown',
        reason: expect.stringContaining('no-such-python') as string,
      });
    }
    await lost.close();
  });

  it('can be closed at any time', async () => {
    const short = new ExpressionEvaluator();
    const pending = short.evaluate('1', localsOf({}));
    await short.close();
    expect((await pending).kind).not.toBe('raises');
    expect((await short.evaluate('1', localsOf({}))).kind).toBe('unknown');
    await new ExpressionEvaluator().close();
  });
});

describe('evaluatePrint', () => {
  const print = (
    source: string,
    values: Record<string, string> = {},
    calls: string[] = [],
    after?: Record<string, string>,
  ) => evaluator.evaluatePrint(source, localsOf(values), calls, after ? localsOf(after) : null);

  it.each<[string, Record<string, string>, string[], string]>([
    ['', {}, [], '\n'],
    ["'a', x, 1.0", { x: "'é'" }, [], 'a é 1.0\n'],
    ["*xs, sep='', end='!'", { xs: "[1, 'b']" }, [], '1b!'],
    ['x, sep=None', { x: '1' }, [], '1\n'],
    ['x,  # a comment', { x: '1' }, [], '1\n'],
    ["f'{x}: {f(x)}'", { x: '1' }, ['5'], '1: 5\n'],
    ["f(x), g(f(2), missing), sep='-'", { x: '3' }, ['1', '2', '4'], '1-4\n'],
    ['[f(i) for i in range(2)]', {}, ['1', "'a'"], "[1, 'a']\n"],
    ['f(1) or f(2)', {}, ['0', '7'], '7\n'],
    ['f(1) or f(2)', {}, ['6'], '6\n'],
    ['a.b(3)', { a: '<A object>' }, ["'q'"], 'q\n'],
    ['make(1).g()', {}, ['<A object>', "'q'"], 'q\n'],
    ['len(f(3))', {}, ['[1, 2]'], '2\n'],
    ['f(Point(1))', {}, ['None', '3'], '3\n'],
    ['f(xs)', { xs: '[1]' }, ['2'], '2\n'],
    ['"\\ud83d" == s', { s: "'\\ud83d'" }, [], 'True\n'],
  ])('print(%s) with %j and calls %j', async (source, values, calls, text) => {
    expect(await print(source, values, calls)).toBe(text);
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['x', {}, []],
    ['x', { x: '<A object>' }, []],
    ['f(x)', { x: '1' }, []],
    ['f(x)', { x: '1' }, ['1', '2']],
    ['1', {}, ['1']],
    ['Point(1)', {}, ['None']],
    ['point(1)', { point: "<class '__main__.point'>" }, ['None']],
    ['f(1)', {}, ['<A object>']],
    ['f(xs), xs', { xs: '[1]' }, ['2']],
    ['x, file=out', { x: '1' }, []],
    ['x, flush=True', { x: '1' }, []],
    ['x, end=1', { x: '1' }, []],
    [') + (', {}, []],
    ['1); print(2', {}, []],
    ['1 / 0', {}, []],
    ['input()', {}, []],
    ['(', {}, []],
  ])('does not know print(%s) with %j and calls %j', async (source, values, calls) => {
    expect(await print(source, values, calls)).toBeNull();
  });

  it('trusts values beside a call if they are the same afterwards', async () => {
    expect(await print('f(xs), xs', { xs: '[1]' }, ['2'], { xs: '[1]' })).toBe('2 [1]\n');
    expect(await print('f(xs), xs', { xs: '[1]' }, ['2'], { xs: '[1, 2]' })).toBeNull();
    expect(await print('f(), n', { n: '1' }, ['2'], { n: '2' })).toBeNull();
  });
});

const pythonVersion = execFileSync('python3', ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
  encoding: 'utf8',
}).trim();

const environments = [
  {
    a: '3',
    b: '-2',
    s: "'héllo'",
    t: "'abcab'",
    xs: '[3, 1, 2]',
    ys: "['b', 'a', 'b']",
    d: "{'a': 1, 'b': [1, 2]}",
    u: '{1, 2, 9}',
    w: "{'x', 'yy', 'z'}",
    p: '(1, 2.5, None)',
    z: '0.0',
  },
  {
    a: '0',
    b: '7',
    s: "''",
    t: "'x'",
    xs: '[]',
    ys: '[(1, 2), (0, 5)]',
    d: '{}',
    u: 'set()',
    w: "frozenset({'q'})",
    p: '((1, 2), {3: 4})',
    z: 'True',
  },
  {
    a: '10**20',
    b: '2',
    s: "'a b  c\\n'",
    t: "'\\ud83d\\n'",
    xs: '[8, 0, 16]',
    ys: '[1.5, float("inf"), -0.0]',
    d: '{1: {2: 3}, (1, 2): "t"}',
    u: '{8, 0, 16, "k"}',
    w: '{(1, "a"), (2, "b")}',
    p: 'range(5, 0, -2)',
    z: '3j',
  },
];

/** Expressions over the names of `environments`, many of which raise. */
const expressions: fc.Arbitrary<string> = fc.letrec<{ expression: string }>((tie) => {
  const part = tie('expression');
  const fill = (template: string) =>
    fc
      .tuple(part, part, part)
      .map((parts) => template.replace(/#(\d)/g, (_, at: string) => `(${parts[Number(at)] ?? ''})`));
  return {
    expression: fc.oneof(
      { maxDepth: 3, depthSize: 'medium' },
      fc.constantFrom(
        'a',
        'b',
        's',
        't',
        'xs',
        'ys',
        'd',
        'u',
        'w',
        'p',
        'z',
        '0',
        '1',
        '-1',
        '2.5',
        "'a'",
        'None',
        'True',
        '[]',
        '()',
        "'b'",
      ),
      fc
        .constantFrom(
          ...[
            '#0 + #1',
            '#0 - #1',
            '#0 * 2',
            '#0 / #1',
            '#0 // #1',
            '#0 % #1',
            '-#0',
            'not #0',
            '#0 & #1',
            '#0 | #1',
            '#0 ^ #1',
            '#0 == #1',
            '#0 < #1',
            '#0 in #1',
            '#0 and #1',
            '#0 or #1',
            '#0 if #1 else #2',
            '#0 < #1 <= #2',
          ],
          ...[
            '#0[#1]',
            '#0[#1:]',
            '#0[::-1]',
            '#0[:#1]',
            '[#0, #1]',
            '(#0, #1)',
            '{#0, #1}',
            '{#0: #1}',
            '[*#0, #1]',
            '{**#0}',
          ],
          ...[
            'len(#0)',
            'sorted(#0)',
            'list(#0)',
            'tuple(#0)',
            'set(#0)',
            'dict(#0)',
            'sum(#0)',
            'min(#0)',
            'max(#0, #1)',
            'str(#0)',
            'repr(#0)',
            'ascii(#0)',
            'bool(#0)',
            'int(#0)',
            'float(#0)',
            'abs(#0)',
            'any(#0)',
            'all(#0)',
            'round(#0)',
            'ord(#0)',
            'list(zip(#0, #1))',
            'list(enumerate(#0))',
            'list(reversed(#0))',
            'list(map(str, #0))',
            'list(filter(None, #0))',
            'frozenset(#0)',
            'divmod(#0, #1)',
            'isinstance(#0, (int, str))',
            'type(#0)',
            'sorted(#0, key=str)',
            'max(#0, key=lambda v: v)',
            'hex(#0)',
            'bytes(#0)',
            'pow(#0, 2)',
            'range(b)',
            'next(iter(#0))',
          ],
          ...[
            '#0.upper()',
            '#0.split()',
            '#0.join(#1)',
            '#0.count(#1)',
            '#0.index(#1)',
            '#0.get(#1)',
            '#0.items()',
            '#0.keys()',
            'sorted(#0.values())',
            '#0.union(#1)',
            '#0.replace(#1, #2)',
            '#0.startswith(#1)',
            '#0.copy()',
            '#0.real',
            '#0.center(9)',
            '#0.encode()',
            '#0.strip()',
            '#0.find(#1)',
            '#0.isdisjoint(#1)',
            '#0.title()',
            'str.lower(#0)',
            'dict.fromkeys(#0)',
          ],
          ...[
            '[v for v in #0]',
            '[v for v in #0 if v]',
            '{v for v in #0}',
            '{v: #1 for v in #0}',
            'sum(v for v in #0)',
            '[v + w2 for v in #0 for w2 in #1]',
            '[i for i, v in #0]',
            'list(v for v in #0)',
            '(lambda v: v)(#0)',
            '[n := #0, n]',
          ],
          ...[
            "f'{#0}'",
            "f'{#0!r:>9}'",
            "f'{#0:5}'",
            "f'{#0:.2f}'",
            "'%s' % #0",
            "'%r|%r' % #0",
            "'%5d' % #0",
            "'{}-{}'.format(#0, #1)",
            "'{:>4}'.format(#0)",
            "format(#0, '08')",
            "' '.join(str(v) for v in #0)",
          ],
        )
        .chain(fill),
    ),
  };
}).expression;

const truthScript = `
import json, sys
out = []
for names, expression in json.load(sys.stdin):
    values = {name: eval(text) for name, text in names.items()}
    row = {'names': {name: repr(value) for name, value in values.items()}}
    try: row['value'] = repr(eval(expression, {**values}))
    except Exception as error: row['error'] = [type(error).__name__, str(error)]
    out.append(row)
json.dump(out, sys.stdout)
`;
