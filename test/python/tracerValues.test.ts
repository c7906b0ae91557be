import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const folder = join(import.meta.dirname, '../../adapter/python');

/** Runs Python code that has the tracer at hand as `tracer`, and gives what it prints, parsed as JSON. */
function python(code: string, input: unknown): unknown {
  const prelude =
    'import json, sys\nsys.path.insert(0, sys.argv[1])\nimport tracer\ngiven = json.load(sys.stdin)\n';
  const { stdout, stderr, status } = spawnSync('python3', ['-c', prelude + code, folder], {
    input: JSON.stringify(input),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as unknown;
}

/** The text of a Python literal made of builtins, small enough not to be cut. */
const literal = fc.letrec<{ value: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
    fc.double().map((number) => `float('${number}')`),
    fc.constantFrom(
      'None',
      'True',
      'False',
      '...',
      'NotImplemented',
      '-0.0',
      '(1-2j)',
      'range(1, 9, 2)',
      'range(3)',
    ),
    fc.constantFrom(
      'slice(1, None, 2)',
      'int',
      'ValueError',
      'len',
      "ValueError('a', 1)",
      'KeyError("k")',
      'set()',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }).map((text) => JSON.stringify(text)),
    fc.constantFrom(
      '"\\ud83d"',
      '"it\'s"',
      "'a\"b'",
      'b"\\xff\\x00"',
      'bytearray(b"ab")',
      'frozenset()',
      '"\\x1b[0m"',
    ),
  ),
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    tie('atom'),
    fc.array(tie('value'), { maxLength: 5 }).map((items) => `[${items.join(', ')}]`),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `(${items.map((item) => `${item},`).join(' ')})`),
    fc.array(fc.tuple(fc.nat(99), tie('value')), { maxLength: 4 }).map(dictOf),
    fc.array(fc.nat(999), { minLength: 1, maxLength: 9 }).map((items) => `{${items.join(', ')}}`),
    fc.array(fc.nat(999), { maxLength: 9 }).map((items) => `frozenset([${items.join(', ')}])`),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `collections.deque([${items.join(', ')}], 5)`),
    fc
      .array(fc.tuple(fc.nat(9), tie('value')), { maxLength: 3 })
      .map((pairs) => `collections.OrderedDict(${dictOf(pairs)})`),
    fc
      .array(fc.tuple(fc.nat(9), tie('value')), { maxLength: 3 })
      .map((pairs) => `collections.defaultdict(list, ${dictOf(pairs)})`),
    fc.array(fc.nat(5), { maxLength: 9 }).map((items) => `collections.Counter([${items.join(', ')}])`),
    fc.array(fc.tuple(fc.nat(9), tie('value')), { maxLength: 3 }).map((pairs) => `${dictOf(pairs)}.items()`),
  ),
})).value;

function dictOf(pairs: readonly (readonly [number, string])[]): string {
  return `{${pairs.map(([key, value]) => `${key}: ${value}`).join(', ')}}`;
}

describe('the texts of values', () => {
  it('are those of repr() where a value is made of builtins', () => {
    const code = [
      'import collections',
      'values = [eval(text, {"collections": collections, "float": float}) for text in given]',
      // The texts leave out addresses, so types and functions are compared as they are.
      'print(json.dumps([[tracer.describe(value), repr(value)] for value in values if len(repr(value)) < 200]))',
    ].join('\n');
    fc.assert(
      fc.property(fc.array(literal, { minLength: 200, maxLength: 200, size: 'max' }), (texts) => {
        const pairs = python(code, texts) as [string, string][];
        expect(pairs.length).toBeGreaterThan(0);
        expect(pairs.map(([described]) => described)).toEqual(pairs.map(([, repr]) => repr));
      }),
      { numRuns: 3 },
    );
  });

  it('are cut as documented', () => {
    const texts = python(
      `
sys.set_int_max_str_digits(640)
nested = []
for _ in range(12):
    nested = [nested]
values = [
    list(range(130)), list(range(128)), 'x' * 1001, 'x' * 1000, b'x' * 1001, 10 ** 639, 10 ** 640, 1 << 20000,
    {i: i for i in range(130)}, nested, ['x' * 900] * 4, ('a',) * 129, [['y' * 600] * 9],
]
print(json.dumps([tracer.describe(value) for value in values]))
`,
      null,
    ) as string[];
    expect(texts[0]).toMatch(/, 127, \.\.\. \+2 more\]$/);
    expect(texts[1]).toMatch(/, 127\]$/);
    expect(texts[2]).toBe(`'${'x'.repeat(1000)}'... +1 more`);
    expect(texts[3]).toBe(`'${'x'.repeat(1000)}'`);
    expect(texts[4]).toBe(`b'${'x'.repeat(1000)}'... +1 more`);
    expect(texts[5]).toBe(`1${'0'.repeat(639)}`);
    expect(texts[6]).toBe('<int of 2127 bits>');
    expect(texts[7]).toBe('<int of 20001 bits>');
    expect(texts[8]).toMatch(/, 127: 127, \.\.\. \+2 more\}$/);
    expect(texts[9]).toBe('[[[[[[[[[... +1 more]]]]]]]]]');
    expect(texts[10]).toMatch(/^\['x+', 'x+', 'x+', \.\.\. \+1 more\]$/);
    expect(texts[11]).toMatch(/^\('a', .*, \.\.\. \+1 more\)$/);
    expect(texts[12]).toMatch(/^\[\['y+', 'y+', \.\.\. \+7 more\]\]$/);
  });
});

describe('watches', () => {
  /** Changes containers at random, and compares what their watches say with a fresh description. */
  const code = `
import random
from collections import defaultdict

class Box:
    pass

class Crate:
    pass

def atom(chance):
    return chance.choice([0, 1, True, False, 1.0, None, 'a', 'b' * chance.randrange(60), -7, 'é', (1, 'x'), b'', 5 << 70])

def value(chance, depth=0):
    kind = chance.randrange(14)
    if kind < 8 or depth > 2:
        return atom(chance)
    items = [value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 8:
        return tuple(items)
    if kind == 9:
        return {atom(chance) for _ in items}
    if kind == 10:
        return {atom(chance): item for item in items}
    if kind == 11:
        return chance.choice([Box, Crate])()
    return items

def inner(chance, container):
    found = [item for item in (container.values() if isinstance(container, dict) else container)
             if isinstance(item, (list, dict, set))]
    return chance.choice(found) if found else None

def change(chance, container, root):
    choice = chance.randrange(13)
    if choice < 3 and not isinstance(container, set):
        nested = inner(chance, container)
        if nested is not None and nested is not root:
            return change(chance, nested, root)
    if isinstance(container, list):
        at = chance.randrange(len(container) + 1)
        if choice < 6:
            container.append(value(chance))
        elif choice == 6:
            container.insert(at, value(chance))
        elif choice == 7 and container:
            container.pop(at % len(container))
        elif choice == 8 and container:
            container[at % len(container)] = value(chance)
        elif choice == 9:
            container.reverse()
        elif choice == 10:
            container.extend(range(chance.randrange(60)))
        elif choice == 11 and chance.randrange(4) == 0:
            container.append(root)
        elif choice == 12 and chance.randrange(6) == 0:
            container.clear()
        elif container and type(container[0]) is Box:
            container[0].__class__ = Crate
    elif isinstance(container, dict):
        if choice < 8:
            container[chance.choice([atom(chance), chance.randrange(200)])] = value(chance)
        elif choice < 10 and container:
            container.pop(chance.choice(list(container)))
        elif choice == 10 and container:
            container[chance.choice(list(container))] = value(chance)
        elif choice == 11 and container:
            container.popitem()
        elif choice == 12 and chance.randrange(6) == 0:
            container.clear()
    else:
        item = chance.choice([atom(chance), chance.randrange(400)])
        container.add(item) if choice < 9 else container.discard(item)
        if choice == 12 and container:
            container.pop()
        if choice == 11 and chance.randrange(6) == 0:
            count = len(container)
            container.clear()
            container.update(range(count))

wrong = []
for seed in given['seeds']:
    chance = random.Random(seed)
    tracer.peeking = given['peeking']
    container = chance.choice([[], {}, set(), defaultdict(list)])
    watch = tracer.watch(container)
    for step in range(150):
        before = watch.text
        for _ in range(chance.randrange(3)):
            change(chance, container, container)
        if watch.is_same():
            changed = False
        else:
            changed = watch.update(container)
        text = tracer.describe(container)
        told = json.loads(watch.change())
        rebuilt = told if type(told) is str else before[:told[0]] + told[1]
        if watch.text != text or changed != (before != text) or (changed and rebuilt != text):
            wrong.append([seed, step, watch.text, text])
            break
print(json.dumps(wrong))
`;

  it.each([true, false])('agree with a fresh description after any change (peeking: %s)', (peeking) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 60, maxLength: 60, size: 'max' }), (seeds) => {
        expect(python(code, { seeds, peeking })).toEqual([]);
      }),
      { numRuns: 2, endOnFailure: true },
    );
  });

  it('peek under the Pythons whose memory they know', () => {
    const [version, known] = python(
      'print(json.dumps([sys.version_info[:2], tracer.layouts_are_known()]))',
      null,
    ) as [[number, number], boolean];
    expect(known).toBe(version[0] === 3 && (version[1] === 11 || version[1] === 12));
  });
});
