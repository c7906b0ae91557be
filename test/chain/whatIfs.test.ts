import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';
import { play, type Request, type Script } from '../support/sessions';

const folder = fileURLToPath(new URL('../cases/', import.meta.url));

type WhatIfs = Script & { readonly requests: readonly Request[] };

/** Per case, sessions that change values and jump, in loops, in closures, in recursion and inside of `try`. */
const sessions: readonly (readonly [name: string, what: string, script: WhatIfs])[] = [
  [
    '02-listcomp-frame.py',
    'an item of a list, then a jump back over the comprehension',
    {
      breakpoints: [6],
      requests: [
        'continue',
        { set: ['out[1]', '70'] },
        { jump: 2 },
        'next',
        'next',
        'next',
        'stepOut',
        'next',
      ],
    },
  ],
  [
    '08-finally-return.py',
    'no exception where there was one, then the old branch',
    {
      breakpoints: [3],
      requests: ['continue', { set: ['n', '2'] }, 'next', 'next', { branch: 1 }, 'next', 'next', 'continue'],
    },
  ],
  [
    '09-del-and-except-name.py',
    'a longer list, then a jump over an except clause',
    {
      breakpoints: [6],
      requests: [
        'continue',
        { set: ['keep', '[0] * 6'] },
        'next',
        'next',
        { branch: 1 },
        { jump: 9 },
        'next',
        'next',
        { branch: 2 },
        'stepOut',
      ],
    },
  ],
  [
    '22-closure-nonlocal.py',
    'names of a closure, in the inner frame and in the outer one',
    {
      breakpoints: [7, 13],
      requests: [
        'continue',
        { set: ['step', '10'] },
        { set: ['count', '100'] },
        'next',
        'stepOut',
        'continue',
        { branch: 1 },
        'continue',
        'continue',
        { set: ['first', '"one"'] },
        'next',
        'continue',
      ],
    },
  ],
  [
    '24-walrus.py',
    'a tuple in a list, a jump into a loop and out of it',
    {
      breakpoints: [5],
      requests: [
        'continue',
        { set: ['pairs[0]', '("z", 1)'] },
        { jump: 6 },
        'next',
        { jump: 7 },
        'next',
        { branch: 2 },
        'next',
        'continue',
      ],
    },
  ],
  [
    '31-recursion-step-over.py',
    'several edits in a row in deep frames, a jump to a return',
    {
      breakpoints: [4],
      requests: [
        'continue',
        'continue',
        { set: ['n', '2'] },
        'next',
        'next',
        { set: ['below', '50'] },
        'stepOut',
        { branch: 1 },
        'continue',
        { jump: 3 },
        'stepOut',
        'stepOut',
        'continue',
      ],
    },
  ],
  [
    '34-args-shadowing.py',
    'parameters of every kind, one edit after another',
    {
      breakpoints: [3],
      requests: [
        'continue',
        { set: ['b', 'a + 40'] },
        { set: ['rest', '(1, 2)'] },
        { set: ['extra["k"]', '5'] },
        { set: ['b', '2'] },
        'next',
        'next',
        'continue',
        { set: ['rest[0]', '[]'] },
        'next',
        { branch: 1 },
        'next',
        'continue',
      ],
    },
  ],
  [
    '36-loop-else-finally.py',
    'other turns of a loop, a jump out of it, and back to the first way',
    {
      breakpoints: [5, 17],
      requests: [
        'continue',
        { set: ['s', '3'] },
        'next',
        'next',
        'next',
        { branch: 1 },
        'continue',
        { jump: 7 },
        { set: ['found', '"early"'] },
        'next',
        'continue',
        { jump: 2 },
        'continue',
        { branch: 2 },
        'continue',
        'continue',
      ],
    },
  ],
];

describe('what-ifs over HTTP against a server that follows them, as in a real run', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ port: 0, onDivergence: 'inject' });
  });
  afterAll(async () => {
    await server.close();
  });

  it.each(sessions)('%s: %s', { timeout: 60_000 }, async (name, _, script) => {
    const program = `${folder}${name}`;
    const before = server.requests();
    const [real, predicted] = await Promise.all([
      play({ program, world: 'reference' }, script),
      play(
        { program, world: 'server', server: { baseUrl: server.url, format: 'cwm' } },
        script,
        server.token,
      ),
    ]);
    expect(server.requests()).toBeGreaterThan(before);
    expect(predicted).toEqual(real);
    // Each change makes the state another one than it was.
    for (const [index, request] of script.requests.entries()) {
      if (typeof request === 'string') continue;
      const changed = { ...real[index + 1] };
      expect(changed.reason).toBe('goto');
      expect({ ...real[index], reason: 'goto' }).not.toEqual(changed);
    }
  });
});
