import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { neuralDebug, rows } from '../support/cli';

const recording = fileURLToPath(new URL('../dap/recordings/stops.jsonl', import.meta.url));

/** Runs commands over the recording. */
function run(commands: string, ...more: string[]) {
  return neuralDebug(['run', recording, '--world', 'recording', '--commands', commands, ...more]);
}

/** The stops, as `reason line numbers`, and the other rows as they are. */
async function stops(commands: string): Promise<unknown[]> {
  const { stdout, stderr } = await run(commands, '--json');
  expect(stderr).not.toContain('error');
  return rows(stdout).map((row) =>
    'reason' in row ? [row['reason'], row['line'], row['breakpoints'] ?? null] : row,
  );
}

describe('breakpoints by commands', () => {
  it('are on lines and functions, once or always, with conditions', async () => {
    expect(await stops('b double, x > 2; tbreak 20; b 14:x == 6; c; c; c; cl 1; c; c')).toEqual([
      ['entry', 24, null],
      ['breakpoint', 20, [2]],
      ['function breakpoint', 14, [1]],
      ['function breakpoint', 14, [1]],
      ['end', 29, null],
      ['end', 29, null],
    ]);
  });

  it('pass over hits, counted along the path, until that is taken back', async () => {
    expect(
      await stops('b double; c; ignore 1 2; c; rc; rc; c; ignore 1 0; rc; condition 1 x == 1; rc'),
    ).toEqual([
      ['entry', 24, null],
      ['function breakpoint', 14, [1]],
      ['function breakpoint', 14, [1]],
      ['entry', 24, null],
      ['entry', 24, null],
      ['function breakpoint', 14, [1]],
      ['function breakpoint', 14, [1]],
      ['function breakpoint', 14, [1]],
    ]);
  });

  it('watch variables, and tell how they changed', async () => {
    const { stdout } = await run('b 20; c; cl; watch account["total"]; c; c; rc', '--json');
    expect(rows(stdout).slice(2)).toMatchObject([
      { reason: 'data breakpoint', why: 'account["total"] changed from 0 to 4', breakpoints: [2] },
      { reason: 'data breakpoint', why: 'account["total"] changed from 4 to 10' },
      { reason: 'data breakpoint', why: 'account["total"] changed from 0 to 4' },
    ]);
  });

  it('stop at exceptions of some types, and at doubts', async () => {
    expect(await stops('catch raised ValueError; catch doubt 0.8; c; c; c; c; c')).toEqual([
      ['entry', 24, null],
      ['doubt', 20, null],
      ['doubt', 19, null],
      ['doubt', 9, null],
      ['exception', 8, null],
      ['end', 29, null],
    ]);
    expect(await stops('catch raised KeyError; c; catch none; rc')).toEqual([
      ['entry', 24, null],
      ['end', 29, null],
      ['entry', 24, null],
    ]);
  });

  it('log, and do not stop', async () => {
    expect(await stops('log 20, amount {amount}; c')).toEqual([
      ['entry', 24, null],
      ...[1, 2, 3].map((amount) => ({ log: `amount ${amount}`, line: 20, predicted: true })),
      ['end', 29, null],
    ]);
  });

  it('say what is wrong with a command, one line for each', async () => {
    const wrong = [
      ['b 99', 'no code on line 99'],
      ['b missing', 'no function missing'],
      ['b 1 2', 'LINE or FUNCTION'],
      ['condition 4 x', 'NUMBER of a breakpoint'],
      ['ignore 1', 'NUMBER of a breakpoint'],
      ['cl 7', 'no breakpoint 7'],
      ['watch nothing', 'no variable'],
      ['log 3', 'LINE, MESSAGE'],
      ['catch everything', 'raised, uncaught or doubt'],
      ['catch doubt 7', 'least confidence'],
      ['s nothing', 'no such call'],
      ['u 1x', 'number of frames'],
      ['help nothing', 'no command "nothing"'],
      ['ll now', 'takes no argument'],
      ['whatis', 'needs EXPRESSION'],
      ['undisplay x', 'not displayed'],
    ] as const;
    const { code, stderr } = await run(wrong.map(([command]) => command).join('; '));
    const said = stderr.trim().split('\n');
    expect(said).toEqual(wrong.map(([, message]) => expect.stringContaining(message) as string));
    expect(code).toBe(2);
  });
});

describe('a session in words', () => {
  it('steps into a call by its name, shows expressions, and looks around', async () => {
    const { code, stdout } = await run(
      'b 20; c; display amount + 1; s double 2; p x; u; a; ll; whatis account; pp amounts; d 5; w; n; display; help s; b',
    );
    expect(code).toBe(0);
    expect(stdout).toContain('[breakpoint 1; predicted');
    expect(stdout).toContain('display amount + 1: 2\n');
    expect(stdout).toContain('display amount + 1: not predicted: amount is not known here  [old: 2]');
    expect(stdout).toContain('\n2\n');
    expect(stdout).toContain('amounts = [1, 2, 3]\n   17     def run(amounts):');
    expect(stdout).toContain('   20 B-> ');
    expect(stdout).toContain('\ndict\n[1, 2, 3]\n');
    expect(stdout).toMatch(/ run at line 20\n> double at line 14/);
    expect(stdout).toMatch(/step, s +s: step into/);
    expect(stdout).toContain('Breakpoint 1 on line 20.');
  });
});
