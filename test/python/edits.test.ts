import { describe, expect, it } from 'vitest';
import { type RunEdit, traceProgram } from '../../adapter/python/tracer';
import type { Prediction, Step } from '../../adapter/trajectory/state';

function edit(at: number, locals: Readonly<Record<string, string>>, ...lines: number[]): RunEdit {
  return { at, locals: new Map(Object.entries(locals)), lines: lines.length > 0 ? lines : null };
}

/** Each state of a run in few words: `line f 3 a=1`. */
async function run(lines: readonly string[], entry: string | null, ...edits: RunEdit[]): Promise<string[]> {
  const program = { path: '/nowhere/edits.py', source: lines.join('\n'), entry, args: [] };
  const steps: Step[] = [];
  for await (const batch of traceProgram(program, { edits })) steps.push(...batch);
  return steps.filter((step) => step.kind === 'state').map(words);
}

function words({ state }: Prediction): string {
  const locals = [...(state.locals ?? [])].map(([name, { repr }]) => `${name}=${repr ?? '?'}`);
  const argument = state.argument === null ? [] : [`-> ${state.argument.repr ?? '?'}`];
  return [state.event, state.function, state.line, ...locals, ...argument].join(' ');
}

const sum = [
  'def f(n):',
  '    total = 0',
  '    for i in range(n):',
  '        total += i',
  '    return total',
];

describe('edits of a run', () => {
  it('sets a local at a line, and the run goes on from there', async () => {
    const states = await run(sum, 'f(2)', edit(5, { total: '100' }));
    expect(states).toEqual([
      'call f 1 n=2',
      'line f 2 n=2',
      'line f 3 n=2 total=0',
      'line f 4 n=2 total=0 i=0',
      'line f 3 n=2 total=0 i=0',
      'line f 4 n=2 total=100 i=1',
      'line f 3 n=2 total=101 i=1',
      'line f 5 n=2 total=101 i=1',
      'return f 5 n=2 total=101 i=1 -> 101',
    ]);
  });

  it('sets an argument at the call', async () => {
    const states = await run(sum, 'f(2)', edit(0, { n: '0' }));
    expect(states).toEqual([
      'call f 1 n=0',
      'line f 2 n=0',
      'line f 3 n=0 total=0',
      'line f 5 n=0 total=0',
      'return f 5 n=0 total=0 -> 0',
    ]);
  });

  it('sets a local that was not bound yet, and more than one', async () => {
    const states = await run(sum, 'f(1)', edit(1, { i: "'x'", total: '[1, {2: None}]' }));
    expect(states.slice(0, 3)).toEqual([
      'call f 1 n=1',
      "line f 2 n=1 total=[1, {2: None}] i='x'",
      "line f 3 n=1 total=0 i='x'",
    ]);
  });

  it('jumps forwards and backwards, each state once', async () => {
    const states = await run(sum, 'f(1)', edit(3, {}, 5));
    expect(states.slice(2)).toEqual([
      'line f 3 n=1 total=0',
      'line f 5 n=1 total=0 i=0',
      'return f 5 n=1 total=0 i=0 -> 0',
    ]);
    const back = await run(
      ['def f():', '    a = 1', '    b = 2', '    return a'],
      'f()',
      edit(3, { a: '7' }, 2),
    );
    expect(back).toEqual([
      'call f 1',
      'line f 2',
      'line f 3 a=1',
      'line f 2 a=7 b=2',
      'line f 3 a=1 b=2',
      'line f 4 a=1 b=2',
      'return f 4 a=1 b=2 -> 1',
    ]);
  });

  it('makes several edits', async () => {
    const states = await run(
      sum,
      'f(3)',
      edit(4, { total: '5' }),
      edit(6, { n: '9', i: '3' }),
      edit(7, {}, 5),
    );
    expect(states.at(-1)).toBe('return f 5 n=9 total=6 i=2 -> 6');
  });

  it("sets cells, free variables and a generator's locals", async () => {
    const lines = [
      'def outer(x):',
      '    def inner():',
      '        y = x',
      '        return y + x',
      '    return inner() + x',
      'def gen():',
      '    for k in range(3):',
      '        yield k',
      'def g(q):',
      '    return [outer(q), list(gen())]',
    ];
    const plain = await run(lines, 'g(1)');
    const inner = plain.indexOf('line inner 4 x=1 y=1');
    expect((await run(lines, 'g(1)', edit(inner, { x: '50' }))).at(-1)).toContain('-> [101, [0, 1, 2]]');
    const called = plain.indexOf('call outer 1 x=1');
    expect((await run(lines, 'g(1)', edit(called, { x: '4' }))).at(-1)).toContain('-> [12, [0, 1, 2]]');
    const resumed = plain.findIndex((state) => state.startsWith('line gen 8'));
    expect((await run(lines, 'g(1)', edit(resumed, { k: '-3' }))).at(-1)).toContain('-> [3, [-3, 1, 2]]');
  });

  it("sets a module's names and those of a class body", async () => {
    const lines = ['a = 1', 'class C:', '    b = a', '    c = b', 'print(C.c)', 'd = a'];
    const plain = await run(lines, null);
    const body = plain.findIndex((state) => state.startsWith('line C 4'));
    const last = plain.findIndex((state) => state.startsWith('line <module> 6'));
    const states = await run(lines, null, edit(body, { b: '(1,)' }), edit(last, { a: "'new'" }));
    expect(states[body + 1]).toContain('b=(1,) c=(1,)');
    expect(states.at(-1)).toContain("a='new'");
    expect(states.at(-1)).toContain("d='new'");
  });

  it('names the line of several that belongs to the code', async () => {
    const lines = [
      'def f():',
      '    a = 1',
      '    return a',
      'def g():',
      '    a = 1',
      '    b = f()',
      '    return b',
    ];
    const plain = await run(lines, 'g()');
    const at = plain.indexOf('line g 6 a=1');
    expect((await run(lines, 'g()', edit(at, {}, 2, 5)))[at]).toBe('line g 5 a=1');
  });

  it.each([
    [
      'a value that is no literal',
      edit(1, { n: 'open(1)' }),
      'n would be open(1), which is no Python literal',
    ],
    ['a name that is no local', edit(1, { other: '1' }), 'other is no variable of f'],
    ['a name that is none', edit(1, { '.0': '1' }), '.0 is no variable of f'],
    ['a jump into a loop', edit(1, {}, 4), "Python says: can't jump into the body of a for loop"],
    ['a jump out of the function', edit(1, {}, 1), 'execution of f cannot go on from line 1'],
    ['a jump at a call', edit(0, {}, 2), 'a call event cannot be edited'],
    ['a return', edit(4, { n: '1' }), 'a return event cannot be edited'],
    ['a state after the end', edit(40, { n: '1' }), 'the program ends before'],
  ])('refuses %s', async (_, refused, why) => {
    const entry = refused.at === 4 ? 'f(0)' : 'f(1)';
    await expect(run(sum, entry, refused)).rejects.toMatchObject({
      code: 510,
      message: expect.stringContaining(
        `State ${refused.at + 1} of the real run cannot be changed: `,
      ) as string,
    });
    await expect(run(sum, entry, refused)).rejects.toThrow(why);
  });

  it('gives the states before an edit that is refused', async () => {
    const program = { path: '/nowhere/edits.py', source: sum.join('\n'), entry: 'f(3)', args: [] };
    const seen: Step[] = [];
    const reading = (async () => {
      for await (const batch of traceProgram(program, { edits: [edit(6, {}, 1)] })) seen.push(...batch);
    })();
    await expect(reading).rejects.toMatchObject({ code: 510 });
    expect(seen).toHaveLength(6);
  });
});
