import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PythonProcess } from '../../adapter/sandbox/pythonProcess';

const folder = mkdtempSync(join(tmpdir(), 'python-process-'));
let count = 0;

function start(code: string, python = 'python3', input = '') {
  const script = join(folder, `script${++count}.py`);
  writeFileSync(script, code);
  return new PythonProcess({ python, script, input, beside: script, memory: 512, processorTime: 60 });
}

async function readAll(process: PythonProcess): Promise<string> {
  let text = '';
  for (let piece = await process.read(); piece !== null; piece = await process.read()) text += piece;
  return text;
}

/** Whether there is such a process; one that has ended and that nobody has asked about yet does not count. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z\s]/.test(stdout);
}

describe('PythonProcess', () => {
  it('passes input in, messages, output and errors out, and says how the process ended', async () => {
    const process = start(
      'import os, sys\nos.write(3, sys.stdin.read().encode())\nprint("out")\nprint("err", file=sys.stderr)\nsys.exit(3)',
      'python3',
      'héllo',
    );
    expect(await readAll(process)).toBe('héllo');
    expect(await process.exit).toEqual({ code: 3, signal: null });
    expect(process.takeOutput()).toBe('out\n');
    expect(process.takeOutput()).toBe('');
    expect(process.takeErrors()).toBe('err\n');
  });

  it('runs in the folder, without the variables that make Python behave otherwise, and without keys', async () => {
    process.env['PYTHONSTARTUP'] = 'x';
    process.env['NEURAL_DEBUG_API_KEY'] = 'secret';
    try {
      const child = start(
        'import os\nnames = sorted(n for n in os.environ if n.startswith(("PYTHON", "NEURAL_DEBUG_", "NODE_")))\nos.write(3, (os.getcwd() + " " + " ".join(names)).encode())',
      );
      expect(await readAll(child)).toBe(`${folder} PYTHONHASHSEED`);
    } finally {
      delete process.env['PYTHONSTARTUP'];
      delete process.env['NEURAL_DEBUG_API_KEY'];
    }
  });

  it('ends the processes that the program has started too', async () => {
    const child = start(
      'import os, subprocess, time\nother = subprocess.Popen(["sleep", "600"])\nos.write(3, b"%d" % other.pid)\ntime.sleep(600)',
    );
    const pid = Number(await child.read());
    expect(isRunning(pid)).toBe(true);
    child.kill();
    expect((await child.exit).signal).toBe('SIGKILL');
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it('keeps only so much of what the program writes, and never makes it wait', async () => {
    const child = start('import os\nfor _ in range(64): os.write(1, b"x" * 65536)\nos.write(3, b"done")');
    expect(await readAll(child)).toBe('done');
    expect(child.takeOutput()).toHaveLength(1 << 20);
  });

  it('says that an interpreter cannot be started', async () => {
    const child = start('', join(folder, 'no-python'));
    await expect(child.read()).rejects.toMatchObject({ code: 501, blame: 'user' });
    await expect(child.exit).rejects.toThrow(/no-python/);
  });
});
