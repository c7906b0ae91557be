import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { neuralDebug, type Running, rows, startNeuralDebug } from '../support/cli';

const recursion = fileURLToPath(new URL('../cases/31-recursion-step-over.py', import.meta.url));
const recording = fileURLToPath(new URL('../dap/recordings/recursion.jsonl', import.meta.url));

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-cli-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('run', () => {
  it.each([
    ['--temperature', '3', 'server.temperature'],
    ['--sampling-temperature', '3', 'server.samplingTemperature'],
    ['--first-byte-seconds', '0', 'server.timeouts.firstByte'],
    ['--stall-seconds', '100000.5', 'server.timeouts.stall'],
    ['--context', '10', 'server.context'],
  ])('%s %s is refused by the name that launch.json has for it', async (option, value, name) => {
    const args = ['run', recursion, '--base-url', 'http://127.0.0.1:1', '--constrain', '--prefetch'];
    const { code, stderr } = await neuralDebug([...args, option, value, '--commands', 'q']);
    expect(code).toBe(1);
    expect(stderr).toContain(name);
  });

  it('tells each stop as one JSON object', async () => {
    const args = [
      'run',
      recording,
      '--world',
      'recording',
      '--json',
      '--break',
      '4',
      '--commands',
      'c; n; p n; back',
    ];
    const { code, stdout } = await neuralDebug(args);
    expect(code).toBe(0);
    const [entry, breakpoint, ...rest] = rows(stdout);
    expect(entry).toEqual({
      reason: 'entry',
      event: 'line',
      function: '<module>',
      line: 11,
      depth: 0,
      locals: { fact: '<function fact>', run: '<function run>' },
      arg: null,
      confidence: null,
      pathConfidence: null,
      world: 'recording',
    });
    expect(breakpoint).toMatchObject({
      reason: 'breakpoint',
      function: 'fact',
      line: 4,
      depth: 2,
      locals: { n: '4' },
    });
    expect(rest).toMatchObject([
      { reason: 'breakpoint', depth: 3, locals: { n: '3' } },
      { expression: 'n', value: '3' },
      { reason: 'step', line: 2, depth: 3 },
    ]);
  });

  it('takes commands from standard input, one or more a line', async () => {
    const { code, stdout } = await neuralDebug(
      ['run', recording, '--world', 'recording', '--json'],
      'b 5\nc; c\n\nr\nq\nn\n',
    );
    expect(code).toBe(0);
    expect(rows(stdout).map(({ reason, line, depth }) => [reason, line, depth])).toEqual([
      ['entry', 11, 0],
      ['breakpoint', 5, 4],
      ['breakpoint', 5, 3],
      ['step', 5, 2],
    ]);
  });

  it('stops where a condition holds, and tells of one that cannot be evaluated', async () => {
    const run = (condition: string) =>
      neuralDebug([
        'run',
        recording,
        '--world',
        'recording',
        '--json',
        '--break',
        `5:${condition}`,
        '--commands',
        'c; c',
      ]);
    expect(rows((await run('below == 2')).stdout)).toMatchObject([
      { line: 11 },
      { line: 5, depth: 3 },
      { reason: 'end' },
    ]);
    const [, stop] = rows((await run('nowhere > 2')).stdout);
    expect(stop).toMatchObject({ reason: 'breakpoint', depth: 4 });
    expect(JSON.stringify(stop)).toContain('nowhere > 2');
  });

  it('goes through a session in words', async () => {
    const { code, stdout } = await neuralDebug([
      'run',
      recording,
      '--world',
      'recording',
      '--commands',
      'b 4; c; w; u; p n * 2; l; n; r; rc; restart; help; ex raised; cl 4; c',
    ]);
    expect(code).toBe(0);
    const { stdout: first } = await neuralDebug([
      'run',
      recording,
      '--world',
      'recording',
      '--commands',
      'c',
    ]);
    expect(stdout).toMatch(/> 31-recursion-step-over\.py:4 fact +\[breakpoint 1; predicted\]/);
    expect(stdout).toMatch(/run at line 8\n> fact at line 4/);
    expect(first).toContain('[end of the program; predicted]');
  });

  it('runs nothing where nothing is chosen, and names the choices', async () => {
    const made = join(folder, 'made');
    const { code, stdout, stderr } = await neuralDebug([
      'run',
      file('effect.py', `open(${JSON.stringify(made)}, "w")\n`),
      '--commands',
      'c',
    ]);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/server/);
    expect(stderr).toMatch(/reference.*really runs/);
    await expect(neuralDebug(['run', made, '--world', 'reference'])).resolves.toMatchObject({ code: 1 });
  });

  it('tells of an exception that ended the program, also where it was not a stop', async () => {
    const path = file('boom.py', 'def a():\n    raise ValueError("boom")\n\n\na()\n');
    const args = ['run', path, '--world', 'reference', '--commands', 'ex none; c'];
    expect((await neuralDebug(args)).stdout).toContain("ValueError('boom') was not caught");
    const [, end] = rows((await neuralDebug([...args, '--json'])).stdout);
    expect(end).toMatchObject({ reason: 'end', exception: "ValueError('boom')" });
  });

  it('that cannot begin says why once, and takes no commands', async () => {
    const { code, stdout, stderr } = await neuralDebug([
      'run',
      recursion,
      '--base-url',
      'http://127.0.0.1:9/v1',
      '--json',
      '--commands',
      'n; s; c',
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.match(/error \d+/g)).toHaveLength(1);
  });

  it('calls a function', async () => {
    const path = file(
      'call.py',
      'def f(a, b):\n    c = a * b\n    return c\n\n\nraise SystemExit\n'.replace(
        'raise SystemExit',
        'g = 1',
      ),
    );
    const { stdout } = await neuralDebug([
      'run',
      path,
      '--world',
      'reference',
      '--entry',
      'f(3, "x")',
      '--json',
      '--commands',
      'n; n; n',
    ]);
    expect(rows(stdout)).toMatchObject([
      { reason: 'entry', function: 'f', line: 2, depth: 0, locals: { a: '3', b: "'x'" }, world: 'reference' },
      { reason: 'step', line: 3, locals: { c: "'xxx'" } },
      { reason: 'return', event: 'return', line: 3, arg: "'xxx'" },
      { reason: 'end' },
    ]);
  });

  it.each([
    ['an unknown option', ['run', 'x.py', '--nonsense']],
    ['no file', ['run']],
    ['an unknown command', ['fly']],
    ['a line that is none', ['run', 'x.py', '--break', 'abc']],
    ['an unknown world', ['run', 'x.py', '--world', 'magic']],
    ['a command that does not exist', ['run', recording, '--world', 'recording', '--commands', 'fly']],
  ])('ends with 2 for wrong usage: %s', async (_, args) => {
    const { code, stderr } = await neuralDebug(args);
    expect(code).toBe(2);
    expect(stderr).not.toBe('');
  });

  it.each([
    ['a file that is not there', () => '/nowhere/x.py', /\/nowhere\/x\.py/],
    ['an empty file', () => file('empty.py', ''), /no statement/],
    ['a file of definitions', () => file('defs.py', 'import os\ndef f(): pass\n'), /entry/],
    ['a syntax error', () => file('wrong.py', 'x = 1\ny = (\n'), /line [23]/],
    ['bytes that are no text', () => file('bytes.py', 'x = "\u0000"\n'), /NUL|null|line 1/i],
  ])('ends with 1 for %s, and says so', async (_, path, message) => {
    const { code, stderr } = await neuralDebug(['run', path(), '--world', 'reference', '--commands', 'c']);
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
  });
});

describe('trace', () => {
  it('writes a recording that can be debugged', async () => {
    const out = join(folder, 'out.jsonl');
    const traced = await neuralDebug(['trace', recursion, '-o', out]);
    expect(traced).toMatchObject({ code: 0, stdout: '' });
    expect(traced.stderr).toContain('Really running');
    const { stdout } = await neuralDebug(['run', out, '--world', 'recording', '--json', '--commands', 'c']);
    expect(rows(stdout)).toMatchObject([{ line: 11 }, { reason: 'end', event: 'return' }]);
  });

  it('writes to standard output, definitions too', async () => {
    const { stdout } = await neuralDebug(['trace', recursion, '-o', '-']);
    const states = rows(stdout).filter(({ event }) => event !== undefined);
    expect(states.slice(0, 3)).toMatchObject([
      { event: 'call', function: '<module>', line: 0, depth: 0 },
      { event: 'line', function: '<module>', line: 1, depth: 0 },
      { event: 'line', function: '<module>', line: 7, depth: 0 },
    ]);
  });

  it('leaves a recording of before alone when the run cannot begin', async () => {
    const out = file('kept.jsonl', 'kept');
    for (const args of [
      ['trace', recursion, '--python', '/nowhere/python', '-o', out],
      ['trace', file('broken.py', 'x = (\n'), '-o', out],
    ]) {
      expect(await neuralDebug(args)).toMatchObject({ code: 1 });
      expect(readFileSync(out, 'utf8')).toBe('kept');
    }
  });

  it('says when it cannot write', async () => {
    const { code, stderr } = await neuralDebug(['trace', recursion, '-o', '/nowhere/out.jsonl']);
    expect(code).toBe(1);
    expect(stderr).toContain('/nowhere/out.jsonl cannot be written: there is no such file or folder.');
    expect(stderr).not.toContain('Recorded');
  });
});

describe('serve', () => {
  let server: Running;
  let url = '';
  let token = '';
  beforeAll(async () => {
    server = startNeuralDebug(['serve', '--world', 'reference', '--format', 'cwm', '--port', '0']);
    url = await server.line();
    token = await server.line();
  });
  afterAll(async () => {
    await server.stop();
  });

  it('answers a session that has its token', async () => {
    const { code, stdout } = await neuralDebug(
      ['run', recursion, '--base-url', url, '--json', '--break', '5', '--commands', 'c'],
      '',
      { NEURAL_DEBUG_API_KEY: token },
    );
    expect(code).toBe(0);
    expect(rows(stdout)).toMatchObject([
      { line: 11, world: 'server' },
      { reason: 'breakpoint', line: 5, depth: 4, locals: { n: '2', below: '1' } },
    ]);
  });

  it.each(['g()', 'fact()'])('says why the entry call %s cannot be made', async (entry) => {
    const args = ['run', recursion, '--base-url', url, '--entry', entry, '--commands', 'c'];
    const { stdout, stderr } = await neuralDebug(args, '', { NEURAL_DEBUG_API_KEY: token });
    expect(stdout + stderr).toMatch(/NameError|TypeError/);
    expect(stderr).not.toContain('error 100');
  });

  it('refuses a session that has none, and the message has no key in it', async () => {
    const { code, stderr } = await neuralDebug(['run', recursion, '--base-url', url, '--commands', 'c'], '', {
      NEURAL_DEBUG_API_KEY: 'wrong-secret-key',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/401|key/i);
    expect(stderr).not.toContain('wrong-secret-key');
  });

  it('that is killed in the middle leaves the session where it was, with what is known', async () => {
    const mortal = startNeuralDebug(['serve', '--port', '0']);
    const address = await mortal.line();
    const session = startNeuralDebug(['run', recursion, '--base-url', address, '--json'], {
      NEURAL_DEBUG_API_KEY: await mortal.line(),
    });
    const command = async (text: string) => {
      session.process.stdin?.write(`${text}\n`);
      return JSON.parse(await session.line()) as Record<string, unknown>;
    };
    expect(JSON.parse(await session.line())).toMatchObject({ reason: 'entry', line: 11 });
    expect(await command('s')).toMatchObject({ function: 'run', line: 8 });
    await mortal.stop();
    // The failed step tells no stop; the session answers what comes after it.
    expect(await command('s\nback')).toMatchObject({ reason: 'entry', line: 11 });
    expect(await command('n; p fact')).toBeDefined();
    const ended = new Promise((resolve) => session.process.once('close', resolve));
    session.process.stdin?.end('q\n');
    expect(await ended).toBe(1);
  });
});
