import { afterAll, describe, expect, it } from 'vitest';
import { Debugger } from '../../adapter/debugger/debugger';
import { stepTargets } from '../../adapter/debugger/stepTargets';
import { ExpressionEvaluator } from '../../adapter/python/expressions';
import { PythonSource } from '../../adapter/python/source';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { ReferenceWorld } from '../../adapter/world/reference';

const evaluator = new ExpressionEvaluator({});
afterAll(() => evaluator.close());

const source = `import functools


def wrap(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper


class A:
    def __init__(self, n):
        self.n = n

    def get(self):
        return self.n


class B(A):
    pass


@wrap
def traced(n):
    return n


def g(n):
    return n


def items(n):
    yield n


def f(n):
    h = g
    return B(g(n) + g(2)).get() + traced(n) + sum(g(k) for k in items(n)) + h(7) + abs(n) + g(9)


f(1)
`;

/** The debugger at the line with the calls. */
async function atTheLine() {
  const program = { path: '/p.py', source, entry: null, args: [] };
  const session = new Debugger(
    await PythonSource.parse(source),
    new Trajectory(program),
    new ReferenceWorld(program),
    evaluator,
  );
  const line = source.split('\n').findIndex((text) => text.includes('return B(')) + 1;
  session.breakpoints.setLines([{ line, condition: null }]);
  await session.start(true);
  await session.forward('continue');
  session.breakpoints.setLines([]);
  return session;
}

describe('the calls that a step can go into', () => {
  it('are those of the program and of what is not known, in the order of evaluation', async () => {
    const session = await atTheLine();
    const targets = stepTargets(session.source, session.trajectory, session.cursor);
    expect(targets.map(({ call }) => call.text)).toEqual([
      'g',
      'g',
      'B',
      'B(g(n) + g(2)).get',
      'traced',
      'g',
      'h',
      'g',
    ]);
    await session.close();
  });

  it.each([
    [0, 'g', { n: '1' }],
    [1, 'g', { n: '2' }],
    [2, '__init__', { n: '3' }],
    [3, 'get', {}],
    [4, 'wrapper', {}],
    [6, 'g', { n: '7' }],
  ])('number %i leads to %s', async (number, name, locals) => {
    const session = await atTheLine();
    const target = stepTargets(session.source, session.trajectory, session.cursor)[number] ?? null;
    const { state, reason } = await session.forward('stepIn', target);
    expect(reason).toBe('step');
    expect(session.trajectory.frame(state).function).toBe(name);
    expect(session.trajectory.event(state)).toBe('line');
    const seen = session.trajectory.locals(state)?.locals;
    for (const [local, repr] of Object.entries(locals)) expect(seen?.get(local)?.repr).toBe(repr);
    await session.close();
  });

  it('that is never made lets the step end where a step over does', async () => {
    const program = {
      path: '/p.py',
      source: 'def g(n):\n    return n\n\n\ndef f(n):\n    a = n and g(n)\n    return a\n\n\nf(0)\n',
      entry: null,
      args: [],
    };
    const session = new Debugger(
      await PythonSource.parse(program.source),
      new Trajectory(program),
      new ReferenceWorld(program),
      evaluator,
    );
    await session.start(true);
    await session.forward('stepIn');
    const [target = null] = stepTargets(session.source, session.trajectory, session.cursor);
    const { state } = await session.forward('stepIn', target);
    expect(session.trajectory.line(state)).toBe(7);
    await session.close();
  });

  it.each([
    ['n and g(1) or g(2)', '0', 1, '2'],
    ['n and g(1) or g(2)', '0', 0, null],
    ['n and g(1) and g(2)', '5', 1, '2'],
    ['g(n) if n else g("x")', '0', 1, "'x'"],
    ['[g(k) for k in range(2)] + [g(7)]', '0', 1, '7'],
    ['g(1) + g(1)', '0', 1, '1'],
  ])('of %s with n = %s, call %i is told apart by its arguments', async (expression, n, number, given) => {
    const program = {
      path: '/p.py',
      source: `def g(n):\n    return n\n\n\ndef f(n):\n    a = ${expression}\n    return a\n`,
      entry: `f(${n})`,
      args: [],
    };
    const session = new Debugger(
      await PythonSource.parse(program.source),
      new Trajectory(program),
      new ReferenceWorld(program),
      evaluator,
    );
    await session.start(true);
    const target = stepTargets(session.source, session.trajectory, session.cursor)[number] ?? null;
    const { state } = await session.forward('stepIn', target);
    const { trajectory } = session;
    if (given === null) expect([trajectory.frame(state).function, trajectory.line(state)]).toEqual(['f', 7]);
    else {
      expect(trajectory.frame(state).function).toBe('g');
      expect(trajectory.locals(state)?.locals.get('n')?.repr).toBe(given);
    }
    await session.close();
  });
});
