import { describe, expect, it } from 'vitest';
import { inlineValues } from '../../adapter/debugger/inlineValues';
import { recordSteps } from '../../adapter/debugger/record';
import { PythonSource } from '../../adapter/python/source';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { step } from '../support/steps';

const text = `def total(prices):
    result = 0
    for price in prices:
        result += price
    return result
`;

const prices = '[3, 4]';
const steps = [
  step('call', 'total', 1, { prices }),
  step('line', 'total', 2, { prices }),
  step('line', 'total', 3, { prices, result: '0' }),
  step('line', 'total', 4, { prices, result: '0', price: '3' }),
  step('line', 'total', 3, { prices, result: '3', price: '3' }),
  step('line', 'total', 4, { prices, result: '3', price: '4' }),
  step('line', 'total', 3, { prices, result: '7', price: '4' }),
  step('line', 'total', 5, { prices, result: '7', price: '4' }),
];

async function shown(state: number): Promise<string[]> {
  const trajectory = new Trajectory({ path: '/p.py', source: text, entry: 'total([3, 4])', args: [] });
  recordSteps(trajectory, -1, steps);
  return inlineValues(await PythonSource.parse(text), trajectory, state).map(
    ({ line, values }) => `${line}: ${values.map(({ name, repr }) => `${name} = ${repr}`).join(', ')}`,
  );
}

describe('inline values', () => {
  it('are those of the last time that each line ran', async () => {
    expect(await shown(7)).toEqual([
      '2: result = 0',
      '3: price = 4, prices = [3, 4]',
      '4: result = 7, price = 4',
      '5: result = 7',
    ]);
  });

  it('are what they were in the past', async () => {
    expect(await shown(4)).toEqual(['2: result = 0', '3: prices = [3, 4]', '4: result = 3, price = 3']);
  });

  it('of the line that is about to run are what it reads', async () => {
    expect(await shown(3)).toEqual([
      '2: result = 0',
      '3: price = 3, prices = [3, 4]',
      '4: result = 0, price = 3',
    ]);
  });

  it('hold what a line sets to what it was before', async () => {
    const source = 'def again(flag):\n    flag = True\n    return flag\n';
    const trajectory = new Trajectory({ path: '/p.py', source, entry: 'again(True)', args: [] });
    recordSteps(trajectory, -1, [
      step('call', 'again', 1, { flag: 'True' }),
      step('line', 'again', 2, { flag: 'True' }),
      step('line', 'again', 3, { flag: 'True' }),
    ]);
    const values = [{ name: 'flag', repr: 'True' }];
    const shownThere = inlineValues(await PythonSource.parse(source), trajectory, 2);
    expect(shownThere).toEqual([
      { line: 2, values },
      { line: 3, values },
    ]);
  });

  it('beside a line do not hold what a person put there after it', async () => {
    const source = 'def twice(n):\n    n = n + n\n    return n\n';
    const trajectory = new Trajectory({ path: '/p.py', source, entry: 'twice(2)', args: [] });
    recordSteps(trajectory, -1, [
      step('call', 'twice', 1, { n: '2' }),
      step('line', 'twice', 2, { n: '2' }),
      step('line', 'twice', 3, { n: '4' }),
    ]);
    const edit = { name: 'what_if', locals: new Map([['n', '100']]), line: null } as const;
    const edited = trajectory.append(1, edit, step('line', 'twice', 3, { n: '100' }));
    expect(inlineValues(await PythonSource.parse(source), trajectory, edited)).toEqual([
      { line: 2, values: [{ name: 'n', repr: '2' }] },
      { line: 3, values: [{ name: 'n', repr: '100' }] },
    ]);
  });

  it('leave out what says no more than what kind of thing it is', async () => {
    const source = 'def make():\n    def inner(): pass\n    cart = Cart()\n    return cart\n';
    const inner = '<function make.<locals>.inner>';
    const made = new Trajectory({ path: '/p.py', source, entry: 'make()', args: [] });
    recordSteps(made, -1, [
      step('call', 'make', 1, {}),
      step('line', 'make', 2, {}),
      step('line', 'make', 3, { inner }),
      step('line', 'make', 4, { inner, cart: '<__main__.Cart object at 0x7f00>' }),
    ]);
    expect(inlineValues(await PythonSource.parse(source), made, 3)).toEqual([]);
  });

  it('are none before anything has run', async () => {
    expect(await shown(1)).toEqual([]);
  });
});
