import { afterAll, describe, expect, it } from 'vitest';
import { Debugger } from '../../adapter/debugger/debugger';
import { defaultOptions } from '../../adapter/debugger/options';
import type { Stop } from '../../adapter/debugger/stop';
import { ExpressionEvaluator } from '../../adapter/python/expressions';
import { PythonSource } from '../../adapter/python/source';
import type { Ending, Step } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { RecordingWorld } from '../../adapter/world/recording';
import { recordedSteps } from '../support/recordings';
import { step } from '../support/steps';

const evaluator = new ExpressionEvaluator({});
afterAll(() => evaluator.close());

function end(how: Ending['how'], notes: readonly string[] = []): Ending {
  return { kind: 'end', how, notes, text: null, output: null };
}

/** A debugger over steps that are given, and what its program wrote. */
async function debug(source: string, entry: string | null, steps: readonly Step[]) {
  const program = { path: '/p.py', source, entry, args: [] };
  const world = new RecordingWorld({ world: { name: 'a test', isReal: false } }, recordedSteps(steps));
  const output: string[] = [];
  const session = new Debugger(
    await PythonSource.parse(source),
    new Trajectory(program),
    world,
    evaluator,
    defaultOptions,
    { output: (text) => output.push(text) },
  );
  const place = ({ reason, state }: Stop) =>
    state < 0
      ? reason
      : `${reason} ${session.trajectory.frame(state).function}:${session.trajectory.line(state)}`;
  return { session, output, place };
}

const two = 'def g(n):\n    return n\n\n\ndef f(n):\n    return n\n';

describe('calls that an entry makes one after the other', () => {
  const steps = [
    step('call', 'g', 1, { n: '1' }),
    step('line', 'g', 2, { n: '1' }),
    step('return', 'g', 2, { n: '1' }, { argument: '1' }),
    step('call', 'f', 5, { n: '1' }),
    step('line', 'f', 6, { n: '1' }),
    step('return', 'f', 6, { n: '1' }, { argument: '1' }),
    end('returned'),
  ];

  it.each(['next', 'stepIn', 'stepOut'] as const)('are stepped through by %s, and back', async (request) => {
    const { session, place } = await debug(two, 'f(g(1))', steps);
    expect(place(await session.start(true))).toBe('entry g:2');
    expect(place(await session.forward(request))).toBe('step f:6');
    expect(place(await session.back('stepBack'))).toBe('entry g:2');
    expect(place(await session.forward(request))).toBe('step f:6');
    expect(place(await session.forward(request))).toBe('return f:6');
    expect(place(await session.forward(request))).toBe('end f:6');
  });
});

describe('an exception', () => {
  const source = 'def f():\n    try:\n        raise E("x")\n    finally:\n        done = 1\n\n\nf()\n';
  const steps = [
    step('call', '<module>', 0),
    step('line', '<module>', 1),
    step('line', '<module>', 8),
    step('call', 'f', 1),
    step('line', 'f', 2),
    step('line', 'f', 3),
    step('exception', 'f', 3, {}, { argument: "E('x')" }),
    step('line', 'f', 5),
    step('return', 'f', 5, { done: '1' }, { argument: 'None' }),
    step('exception', '<module>', 8, {}, { argument: "E('x')" }),
    step('return', '<module>', 8, {}, { argument: 'None' }),
    end('raised'),
  ];

  it('that passes a finally block is one raise, and is found once the program has ended', async () => {
    const { session, place } = await debug(source, null, steps);
    session.breakpoints.raised = true;
    await session.start(true);
    expect(place(await session.forward('continue'))).toBe('exception f:3');
    expect(place(await session.forward('continue'))).toBe('end <module>:8');
    expect(place(await session.back('reverseContinue'))).toBe('exception f:3');
  });

  it('that nobody catches puts the cursor at its raise, and then at the end', async () => {
    const { session, place } = await debug(source, null, steps);
    await session.start(true);
    expect(place(await session.forward('next'))).toBe('exception f:3');
    expect(place(await session.forward('next'))).toBe('step f:5');
    expect(place(await session.forward('next'))).toBe('end <module>:8');
  });

  it('that ends iterations is no raise', async () => {
    const { session, place } = await debug(two, 'f(1)', [
      step('call', 'f', 5, { n: '1' }),
      step('line', 'f', 6, { n: '1' }),
      step('exception', 'f', 6, { n: '1' }, { argument: 'StopIteration()' }),
      step('return', 'f', 6, { n: '1' }, { argument: '1' }),
      end('returned'),
    ]);
    session.breakpoints.raised = true;
    await session.start(true);
    expect(place(await session.forward('continue'))).toBe('end f:6');
  });
});

it('shows what the calls of a stepped line returned, comprehensions and what raised left out', async () => {
  const source = 'def g(n):\n    return n\n\n\ndef f():\n    a = [g(k) for k in x] + g(3)\n    return a\n';
  const { session } = await debug(source, 'f()', [
    step('call', 'f', 5),
    step('line', 'f', 6),
    step('call', '<listcomp>', 6),
    step('call', 'g', 1, { n: '1' }),
    step('line', 'g', 2),
    step('return', 'g', 2, {}, { argument: '1' }),
    step('return', '<listcomp>', 6, {}, { argument: '[1]' }),
    step('call', 'g', 1, { n: '3' }),
    step('line', 'g', 2),
    step('return', 'g', 2, {}, { argument: '[3]' }),
    step('line', 'f', 7, { a: '[1, 3]' }),
    end('cut', ['No more is known.']),
  ]);
  await session.start(true);
  const { returned } = await session.forward('next');
  expect(returned.map(({ function: name, value }) => [name, value.repr])).toEqual([['g', '[3]']]);
  expect(await session.forward('next')).toMatchObject({ reason: 'end', notes: ['No more is known.'] });
});

it('goes on in another thread when the stepped one is over', async () => {
  const { session, place } = await debug(two, 'f(1)', [
    step('call', 'f', 5, { n: '1' }),
    step('line', 'f', 6, { n: '1' }),
    step('call', 'g', 1, { n: '2' }, { thread: 'T' }),
    step('line', 'g', 2, { n: '2' }, { thread: 'T' }),
    step('return', 'f', 6, {}, { argument: '1' }),
    step('return', 'g', 2, {}, { argument: '2', thread: 'T' }),
    end('returned'),
  ]);
  session.breakpoints.setLines([{ line: 2, condition: null }]);
  await session.start(true);
  expect(place(await session.forward('next'))).toBe('breakpoint g:2');
  expect(session.trajectory.frame(session.cursor).thread).toBe('T');
  expect(place(await session.forward('next'))).toBe('return g:2');
});

it('follows a record that is longer than what a world gives at once', async () => {
  const turns = Array.from({ length: 1_000 }, (_, n) => step('line', 'f', 6, { n: `${n}` }));
  const call = step('call', 'f', 5, { n: '0' });
  const { session } = await debug(two, 'f(0)', [call, ...turns, end('returned')]);
  await session.start(true);
  for (let n = 1; n < 1_000; n++) {
    const { state } = await session.forward('next');
    expect(session.trajectory.locals(state)?.locals.get('n')?.repr).toBe(`${n}`);
  }
  expect((await session.forward('next')).reason).toBe('end');
  expect(session.trajectory.length).toBe(1_001);
});

describe('what print writes', () => {
  const source =
    'def g(n):\n    return n * 2\n\n\ndef f(n, q):\n    print("a", n, sep="-")\n    print(g(n))\n    print(q)\n    return n\n';
  const locals = { n: '3', q: '<__main__.Q object>' };
  const steps = [
    step('call', 'f', 5, locals),
    step('line', 'f', 6, locals),
    step('line', 'f', 7, locals),
    step('call', 'g', 1, { n: '3' }),
    step('line', 'g', 2, { n: '3' }),
    step('return', 'g', 2, { n: '3' }, { argument: '6' }),
    step('line', 'f', 8, locals),
    step('line', 'f', 9, locals),
    step('return', 'f', 9, locals, { argument: '3' }),
    end('returned'),
  ];

  it('is worked out from what is known, once, and what is not known says so', async () => {
    const { session, output } = await debug(source, 'f(3, Q())', steps);
    await session.start(true);
    await session.forward('next');
    expect(output).toEqual(['a-3\n']);
    await session.back('stepBack');
    await session.forward('continue');
    expect(output).toEqual(['a-3\n', '6\n', '(not known)\n']);
  });
});

describe('a program that cannot be debugged', () => {
  it.each([
    ['', 'no statement'],
    ['import os\n\n\ndef f():\n    pass\n', 'no statement'],
    ['x = 1\ny = (\n', 'syntax error'],
  ])('%j is refused before anything is asked', async (source, message) => {
    const { session } = await debug(source, null, []);
    await expect(session.start(true)).rejects.toThrow(message);
    expect(session.cursor).toBe(-1);
  });
});
