import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { ExpressionEvaluator } from '../../adapter/python/expressions';
import { PythonProcess } from '../../adapter/sandbox/pythonProcess';
import { choosePython, pyodide } from '../../adapter/sandbox/python';
import { canRunPyodide, spawnPyodide } from '../../adapter/sandbox/pyodide';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { ReferenceWorld } from '../../adapter/world/reference';

/** Pyodide takes seconds to start, more on a busy machine. */
const patience = 120_000;

describe('choosePython', () => {
  it('takes what is asked for, and an interpreter that is named as it is', async () => {
    expect(await choosePython('pyodide', 'no-such-python')).toBe(pyodide);
    expect(await choosePython('python', null)).toMatch(/^python/);
    expect(await choosePython(null, 'no-such-python')).toBe('no-such-python');
  });

  it('takes the interpreter of this computer where there is one', async () => {
    expect(await choosePython(null, null)).toBe('python3');
  });
});

describe.skipIf(!canRunPyodide())(
  'Pyodide (skipped where it is not installed)',
  { timeout: patience },
  () => {
    it('passes input in, messages, output and errors out, and says how the process ended', async () => {
      const script = join(mkdtempSync(join(tmpdir(), 'pyodide-')), 'script.py');
      writeFileSync(
        script,
        'import os, sys\nos.write(3, sys.stdin.read().encode())\nprint("out")\nprint("err", file=sys.stderr)\nsys.exit(3)',
      );
      const child = new PythonProcess({
        python: pyodide,
        script,
        input: 'héllo',
        beside: script,
        memory: 512,
        processorTime: 60,
      });
      let said = '';
      for (let piece = await child.read(); piece !== null; piece = await child.read()) said += piece;
      expect(said).toBe('héllo');
      expect(await child.exit).toEqual({ code: 3, signal: null });
      expect(child.takeOutput()).toBe('out\n');
      expect(child.takeErrors()).toBe('err\n');
    });

    it.each([tmpdir(), join(import.meta.dirname, '../../dist')])(
      'needs no path for a script in %s, and none for its snapshot',
      async (place) => {
        const folder = mkdtempSync(join(place, 'pyodide-'));
        const script = join(folder, 'script.py');
        writeFileSync(script, 'import os\nos.write(3, b"ran")');
        const start = { script, options: [], folder: null, environment: {}, memory: 512, processorTime: 60 };
        const child = spawnPyodide({ ...start, errors: 'pipe' });
        // More would make Node take what they have in common, such as the root, for readable too.
        expect(child.spawnargs.filter((arg) => arg.startsWith('--allow-fs-read='))).toHaveLength(2);
        child.stdin?.end();
        const texts = [child.stdio[3], child.stderr].map((stream) => text(stream as Readable));
        expect(await Promise.all(texts)).toEqual(['ran', '']);
        rmSync(folder, { recursive: true });
      },
    );

    it('runs nothing where the process is not locked down', () => {
      const host = join(import.meta.dirname, '../../adapter/sandbox/pyodideHost.mjs');
      const { status, stderr } = spawnSync(process.execPath, [host, '/', '/', '512'], { encoding: 'utf8' });
      expect(status).toBe(97);
      expect(stderr).toContain('has no permission model');
    });

    it('is a world that says which Python it is', async () => {
      const source = 'def double(n):\n    return [n * i for i in range(2)]\nprint(double(4))\n';
      const program = { path: '/nowhere/double.py', source, entry: null, args: [] };
      const world = new ReferenceWorld(program, { python: pyodide });
      const trajectory = new Trajectory(program);
      const { signal } = new AbortController();
      let last = -1;
      const endings: string[] = [];
      const action = { name: 'step_into' } as const;
      for await (const steps of world.predict({ trajectory, from: -1, action, wanted: 'many', signal })) {
        for (const step of steps) {
          if (step.kind === 'end') endings.push(step.how, ...step.notes);
          else last = trajectory.append(last, action, step);
        }
      }
      await world.close();
      expect(endings).toEqual(['returned']);
      expect(world.description.name).toMatch(
        /^Python 3\.\d+\.\d+ in a sandbox \(Pyodide\), which really runs/,
      );
      expect(trajectory.state(last)).toMatchObject({ event: 'return', function: '<module>', line: 3 });
      expect(trajectory.prediction(last).output).toBe('[0, 4]\n');
    });

    it('evaluates, also after an expression that had to be stopped', async () => {
      const evaluator = new ExpressionEvaluator({ python: pyodide });
      const locals = new Map([['x', { repr: '[1, 2]', confidence: null }]]);
      expect(await evaluator.evaluate('sum(x) * 2', locals)).toEqual({ kind: 'value', repr: '6' });
      const hostile = [
        "'{0.__class__}'.format(x)",
        '10 ** 10 ** 9',
        "'a' * 10 ** 10",
        'x.__class__.__base__.__subclasses__()',
        '(lambda: 1).__globals__',
        'sum(i * j * k for i in range(999) for j in range(999) for k in range(999))',
      ];
      for (const expression of hostile) {
        expect(await evaluator.evaluate(expression, locals)).not.toMatchObject({ kind: 'value' });
      }
      expect(await evaluator.evaluate('x[0]', locals)).toEqual({ kind: 'value', repr: '1' });
      await evaluator.close();
    });
  },
);
