import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { wholeState } from '../../adapter/dap/wholeState';
import { recordSteps } from '../../adapter/debugger/record';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { step } from '../support/steps';

function recorded(...steps: Parameters<typeof recordSteps>[2]): Trajectory {
  const trajectory = new Trajectory({ path: '/p.py', source: '', entry: null, args: [] });
  recordSteps(trajectory, -1, steps);
  return trajectory;
}

describe('a whole state', () => {
  it('sets what Python can read, and remarks the rest', () => {
    const locals = { rows: "{'a': [1]}", shop: '<Shop\u202e object>', '.0': '[1]', lost: null };
    const trajectory = recorded(
      step('line', 'f', 2, locals),
      step('exception', 'f', 2, {}, { argument: "ValueError('no row')" }),
      step('return', 'f', 2, {}, { argument: '<generator object f>' }),
    );
    const texts = [0, 1, 2].map((state) => wholeState(trajectory, state, state > 0).value);
    expect(texts).toEqual([
      "# f, line 2, predicted\nrows = {'a': [1]}\n# shop = <Shop\\u202e object>\n# .0 = [1]\n# lost is not known\n",
      "# f, line 2, as in a real run\n# raised ValueError('no row')\n",
      '# f, line 2, as in a real run\n# returned <generator object f>\n',
    ]);
    expect(wholeState(trajectory, 0, false).isLiteral).toBe(false);
  });

  it('is a program that sets the locals, however long they are', () => {
    const many = Array.from({ length: 300 }, (_, at) => at);
    const { value, isLiteral, name } = wholeState(
      recorded(step('line', 'f', 3, { many: `[${many.join(', ')}]`, café: "'\\x1b'", none: 'None' })),
      0,
      false,
    );
    expect([isLiteral, name]).toEqual([true, 'f, line 3']);
    const program = `${value}\nimport json\nprint(json.dumps([many, café, none]))`;
    const { stdout, stderr } = spawnSync('python3', ['-'], { input: program, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual([many, '\x1b', null]);
  });

  it('lets no function’s name end its comment', () => {
    expect(wholeState(recorded(step('line', 'f\nimport os', 1)), 0, false).value).not.toMatch(/^import/m);
  });
});
