import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startModelServer } from '../../adapter/modelServer/server';
import { play, type Request, type Script } from '../support/sessions';

/** Programs whose traces are many times as long as the context. */
const programs = {
  calls: `def add(total, i):
    extra = i % 3
    return total + extra


def f(n, k):
    total = 0
    for i in range(n):
        total = add(total, i)
    return total * k


def g():
    k = 2
    note = 'kept'
    total = f(40, 1)
    total = total * k
    return total, note


x = g()
y = x
`,
  generators: `def count(n):
    got = None
    for i in range(n):
        try:
            got = yield i
        except ValueError as error:
            got = str(error)
    return got


def run(n):
    seen = []
    numbers = count(n)
    for number in numbers:
        seen.append(number)
        if number % 5 == 4:
            seen.append(numbers.throw(ValueError(f'no {number}')))
        try:
            seen[100]
        except IndexError:
            continue
    return seen, [a * b for a in seen[:4] for b in seen[:3]]


seen = run(22)
`,
  recursion: `def fib(n):
    if n < 2:
        return n
    first = fib(n - 1)
    second = fib(n - 2)
    return first + second


x = fib(7)
`,
};

/** Single steps through whole programs take long. */
const isFull = process.env['NEURAL_DEBUG_FULL'] === '1';

/** In tokens. The server refuses what is longer; a trace of these programs is several times as long. */
const context = 1_500;

const steps = (count: number, request: Request): Request[] => Array.from({ length: count }, () => request);

const scripts: readonly (readonly [name: string, program: keyof typeof programs, script: Script])[] = [
  ...Object.keys(programs).flatMap((program) =>
    (isFull ? (['stepIn', 'next', 'continue'] as const) : (['next', 'continue'] as const)).map(
      (requests) =>
        [
          requests,
          program as keyof typeof programs,
          { requests, breakpoints: requests === 'continue' ? [5, 9, 10, 20] : [], mostStops: 400 },
        ] as const,
    ),
  ),
  [
    'back and forth',
    'calls',
    {
      requests: [
        ...steps(70, 'stepIn'),
        ...steps(9, 'stepBack'),
        ...steps(3, 'stepOut'),
        'reverseContinue',
        ...steps(30, 'stepIn'),
        'continue',
      ],
    },
  ],
  [
    'a value that is set in the window',
    'calls',
    { requests: [...steps(120, 'stepIn'), { set: ['total', '1000'] }, ...steps(60, 'stepIn'), 'continue'] },
  ],
  [
    'a value that is set before the window, in an outer frame, and the way that was left',
    'calls',
    {
      breakpoints: [3, 17, 18],
      requests: [
        'stepIn',
        'stepIn',
        'next',
        { set: ['k', '7'] },
        ...steps(38, 'continue'),
        { branch: 1 },
        ...steps(45, 'continue'),
        { branch: 2 },
        ...steps(45, 'continue'),
      ],
    },
  ],
  [
    'edits in the window of a way that was edited before it',
    'calls',
    {
      breakpoints: [3, 17, 18],
      requests: [
        'stepIn',
        'stepIn',
        'next',
        { set: ['k', '7'] },
        ...steps(25, 'continue'),
        { set: ['extra', '-50'] },
        ...steps(20, 'stepIn'),
        { set: ['total', '-1'] },
        ...steps(2, 'next'),
        'stepOut',
        'next',
        { jump: 10 },
        ...steps(5, 'continue'),
      ],
    },
  ],
];

describe('prompts longer than the context', () => {
  let server: Awaited<ReturnType<typeof startModelServer>>;
  let folder = '';
  beforeAll(async () => {
    server = await startModelServer({ port: 0, onDivergence: 'inject', context });
    folder = mkdtempSync(join(tmpdir(), 'neural-debug-windows-'));
    for (const [name, source] of Object.entries(programs)) writeFileSync(join(folder, `${name}.py`), source);
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const cases = scripts.flatMap((script) =>
    (['ids', 'text'] as const).map((mode) => [...script, mode] as const),
  );
  it.each(cases)('%s in %s stops as in a real run %#', async (_, name, script, mode) => {
    const program = join(folder, `${name}.py`);
    const real = await play({ program, world: 'reference' }, script);
    const options = { baseUrl: server.url, context, mode };
    const predicted = await play({ program, world: 'server', server: options }, script, server.token);
    expect(predicted).toEqual(real);
  });
});
