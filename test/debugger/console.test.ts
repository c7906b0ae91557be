import { afterAll, expect, it } from 'vitest';
import { completionsAfter } from '../../adapter/debugger/completions';
import { obeyConsole } from '../../adapter/debugger/console';
import { Debugger } from '../../adapter/debugger/debugger';
import { ExpressionEvaluator } from '../../adapter/python/expressions';
import { PythonSource } from '../../adapter/python/source';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { ReferenceWorld } from '../../adapter/world/reference';

const evaluator = new ExpressionEvaluator({});
afterAll(() => evaluator.close());

const source = `LIMITS = {"low": 1}


class Point:
    def __init__(self, x):
        self.x = x


def f(n):
    point = Point(n)
    return point.x + LIMITS["low"]
`;

it('the console and its completions see derived attributes and names of the module', async () => {
  const program = { path: '/p.py', source, entry: 'f(3)', args: [] };
  const python = await PythonSource.parse(source);
  const session = new Debugger(python, new Trajectory(program), new ReferenceWorld(program), evaluator);
  await session.start(true);
  const { state } = await session.forward('next');
  const stack = session.trajectory.stack(state);
  const context = { session, evaluator, state, stack, signal: AbortSignal.timeout(20_000) };
  const obey = (word: string, argument: string) => obeyConsole({ word, argument }, context, '.');
  expect(await obey('pp', 'point.x + LIMITS["low"]')).toEqual({ text: '4' });
  expect(await obey('whatis', 'point.x')).toEqual({ text: 'int' });
  const offered = async (text: string) =>
    (await completionsAfter(text, session, evaluator, state)).map((one) => one.text);
  expect(await offered('point.')).toEqual(['x']);
  expect(await offered('LIM')).toEqual(['LIMITS']);
  expect(await offered('LIMITS[')).toEqual(["'low']"]);
  await session.close();
});
