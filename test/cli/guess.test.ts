import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { neuralDebug, rows } from '../support/cli';

const gcd = fileURLToPath(new URL('../../examples/gcd.py', import.meta.url));

describe('guess', () => {
  it('finds inputs by really calling the function, once that is asked for', async () => {
    const args = [
      'guess',
      gcd,
      '--function',
      'gcd',
      '--output',
      '6',
      '-n',
      '2',
      '--verify',
      'reference',
      '--json',
    ];
    const { code, stdout, stderr } = await neuralDebug(args);
    expect(code).toBe(0);
    expect(stderr).toMatch(/Really running .*gcd\.py/);
    expect(rows(stdout)).toHaveLength(2);
    for (const row of rows(stdout)) {
      expect(row).toMatchObject({ by: 'search', check: { real: true, verdict: 'same', returns: '6' } });
    }
  });

  it('runs nothing unless that is asked for, and says what can be chosen', async () => {
    const { code, stdout, stderr } = await neuralDebug(['guess', gcd, '--function', 'gcd', '--output', '6']);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/error 111: .*nothing was run.*--by search/);
  });

  it.each([
    [['--output', 'gcd(1)', '--by', 'search'], /error 109/],
    [['--by', 'search'], /error 112/],
    [['--output', '6', '--raises', 'ValueError', '--by', 'search'], /error 112/],
  ])('names what is wrong with %j', async (more, message) => {
    const { code, stderr } = await neuralDebug(['guess', gcd, '--function', 'gcd', ...more]);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
  });
});
