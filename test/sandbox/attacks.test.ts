import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CatalogueError } from '../../adapter/errors';
import { type RunLimits, traceProgram } from '../../adapter/python/tracer';
import { canRunPyodide } from '../../adapter/sandbox/pyodide';
import { pyodide, type Python } from '../../adapter/sandbox/python';
import type { Ending, Prediction } from '../../adapter/trajectory/state';

/** Pyodide takes seconds to start, more on a busy machine. */
const patience = 180_000;

const folder = mkdtempSync(join(tmpdir(), 'attacks-'));

/** What a run came to: its states, how it ended, all that it printed, and an error in place of an ending. */
interface Outcome {
  readonly states: readonly Prediction[];
  readonly ending: Ending | null;
  readonly output: string;
  readonly failure: CatalogueError | null;
}

async function attack(python: Python, source: string, limits: Partial<RunLimits> = {}): Promise<Outcome> {
  const states: Prediction[] = [];
  let ending: Ending | null = null;
  let output = '';
  let failure: CatalogueError | null = null;
  const program = { path: join(folder, 'attack.py'), source, entry: null, args: [] };
  try {
    for await (const steps of traceProgram(program, { python, limits: { seconds: 20, ...limits } })) {
      for (const step of steps) {
        output += step.output ?? '';
        if (step.kind === 'end') ending = step;
        else states.push(step);
      }
    }
  } catch (thrown) {
    // Anything but an error of the catalogue is a fault of ours.
    if (!(thrown instanceof CatalogueError)) throw thrown;
    failure = thrown;
  }
  return { states, ending, output, failure };
}

/** Processes of this computer whose command line holds a text. */
function processesWith(text: string): string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'stat=,pid=,args='], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line.includes(text) && !/^\s*Z/.test(line));
}

let server: Server;
let port = 0;
let connections = 0;

beforeAll(async () => {
  server = createServer((_, response) => response.end('reached'));
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  writeFileSync(join(folder, 'random.py'), 'SHADOW = True\n');
  writeFileSync(join(folder, 'secret.txt'), 'top secret');
});

afterAll(() => {
  server.close();
});

const kinds: [string, Python][] = [['python3', 'python3']];
if (canRunPyodide()) kinds.push(['Pyodide', pyodide]);

describe.each(kinds)('a program that runs wild, on %s', { timeout: patience }, (_, python) => {
  it('is cut in an endless loop of which nothing is traced', async () => {
    const { states, ending } = await attack(python, 'x = 1\nsum(iter(int, 1))\n', {
      seconds: 2,
    });
    expect(ending).toMatchObject({ how: 'cut' });
    expect(ending?.notes.join()).toContain('took more than 2 seconds');
    // An interpreter that hangs in C lets no other thread write the last states.
    if (python === pyodide) expect(states.at(-1)?.state.locals?.get('x')?.repr).toBe('1');
  });

  it('is cut in an endless loop by its states', async () => {
    const { states, ending } = await attack(python, 'while True:\n    pass\n', { events: 500 });
    expect(ending?.how).toBe('cut');
    expect(states.length).toBeLessThanOrEqual(500);
  });

  it('gets no 10 GB', async () => {
    const { ending, output } = await attack(
      python,
      'kept = []\ntry:\n    for _ in range(1000):\n        kept.append(bytearray(10_000_000))\nexcept MemoryError:\n    kept = len(kept)\n    print("refused", kept)\n',
      { memory: 300 },
    );
    expect(ending?.how).toBe('returned');
    const [, count] = /refused (\d+)/.exec(output) ?? [];
    expect(Number(count)).toBeGreaterThan(3);
    expect(Number(count)).toBeLessThan(40);
  });

  it('has a string of 100 MB, shown in part', async () => {
    const { states, ending } = await attack(python, 's = "x" * 100_000_000\nt = s + "y"\nn = len(t)\n');
    expect(ending?.how).toBe('returned');
    const locals = states.at(-1)?.state.locals;
    expect(locals?.get('n')?.repr).toBe('100000001');
    expect(locals?.get('s')?.repr?.length).toBeLessThan(2000);
  });

  it('is told of deep recursion by Python’s own error', async () => {
    const { ending, output } = await attack(
      python,
      'def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as error:\n    print(error)\n',
    );
    expect(output).toContain('maximum recursion depth exceeded');
    expect(ending?.how).toBe('returned');
  });

  it('ends, however deep it goes with the limit taken away', async () => {
    const { states, ending, failure } = await attack(
      python,
      'import sys\nsys.setrecursionlimit(10 ** 8)\ndef f(n):\n    return [f(n + 1)] and repr(f)\nf(0)\n',
      { events: 50_000, memory: 600 },
    );
    expect(failure).toBeNull();
    expect(ending).not.toBeNull();
    expect(states.length).toBeGreaterThan(100);
  });

  it.each([
    ['os._exit(7)', 'exited'],
    ['os.kill(os.getpid(), 9)', 'exited'],
    ['os.abort()', 'exited'],
    ['sys.exit(3)', 'exited'],
    ['signal.raise_signal(signal.SIGTERM)', 'exited'],
  ])('shows what came before %s', async (call, how) => {
    const { states, ending } = await attack(python, `import os, signal, sys\nx = 41\nx += 1\n${call}\n`);
    expect(ending?.how).toBe(how);
    expect(states.at(-1)?.state.locals?.get('x')?.repr).toBe('42');
  });

  it('is cut when it stops itself', async () => {
    const source = 'import os, signal, time\nx = 1\nos.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(60)\n';
    const { states, ending } = await attack(python, source, { seconds: 2 });
    expect(['cut', 'raised', 'exited']).toContain(ending?.how);
    expect(states.at(-1)?.state.locals?.get('x')?.repr).toBe('1');
  });

  it('goes on with its output closed', async () => {
    const { states, ending } = await attack(
      python,
      'import os, sys\nfor fd in (0, 1, 2):\n    try:\n        os.close(fd)\n    except OSError:\n        pass\nx = 5\nsys.stdout.close()\nx += 1\n',
    );
    expect(ending?.how).toBe('returned');
    expect(states.at(-1)?.state.locals?.get('x')?.repr).toBe('6');
  });

  it('closes every descriptor that there is, and what came before is shown', async () => {
    const { states, ending } = await attack(python, 'import os\nx = 5\nos.closerange(0, 1000)\nx += 1\n');
    expect(ending).not.toBeNull();
    expect(states.at(-1)?.state.locals?.get('x')?.repr).toMatch(/[56]/);
  });

  it('writes more than it may', async () => {
    const { ending, output } = await attack(python, 'while True:\n    print("x" * 100_000)\n', {
      output: 1024,
    });
    expect(ending?.how).toBe('cut');
    expect(output.length).toBeLessThan(2_000_000);
  });

  it('writes past sys.stdout without end', async () => {
    const { ending } = await attack(python, 'import os\nwhile True:\n    os.write(1, b"x" * 65536)\n', {
      events: 300,
    });
    expect(ending?.how).toBe('cut');
  });

  it('breaks the protocol, and is told apart or believed, never followed into a fault', async () => {
    const forged = String.raw`import os
for fd in range(3, 1024):
    try:
        os.write(fd, b'[0,0,999999]\n[7]\n{"k":"end","how":"??"}\n\xff\xfe[[[[\n')
    except OSError:
        pass
x = 1
`;
    const { ending, failure } = await attack(python, forged);
    expect(failure ?? ending).not.toBeNull();
    if (failure) expect(failure.code).toBe(509);
  });

  it('takes the trace function away, and that is said', async () => {
    const { ending } = await attack(python, 'import sys\nx = 1\nsys.settrace(None)\nx = 2\nx = 3\n');
    expect(ending?.notes.join()).toContain('removed the trace function');
  });

  it('breaks what tracing uses', async () => {
    const { ending, failure } = await attack(
      python,
      'import builtins, json, os, sys\nfor module in (builtins, json, os, sys):\n    for name in list(vars(module)):\n        if name not in ("__name__", "print"):\n            try:\n                setattr(module, name, None)\n            except BaseException:\n                pass\nx = 1\n',
      { seconds: 5 },
    );
    expect(failure ?? ending).not.toBeNull();
  });

  it('finds the standard library, also where a file beside it has a module’s name', async () => {
    const { ending, output } = await attack(
      python,
      'import random, json, string\nprint(hasattr(random, "SHADOW"), json.dumps([1]), string.digits)\n',
    );
    expect(ending?.how).toBe('returned');
    // As with a plain run, a program of this computer finds the file; in Pyodide there are no other files.
    expect(output).toBe(`${python === pyodide ? 'False' : 'True'} [1] 0123456789\n`);
  });
});

describe('a program that starts processes, on python3', { timeout: patience }, () => {
  it('is kept from a fork bomb, and leaves nothing running', async () => {
    const mark = `bomb${process.pid}`;
    const source = `import os, subprocess, sys\nfor _ in range(20):\n    try:\n        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", "${mark}"])\n    except OSError:\n        pass\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        break\n`;
    const { ending } = await attack('python3', source, { processes: 8, seconds: 20 });
    expect(ending?.notes.join()).toContain('more than 8 processes');
    await expect.poll(() => processesWith(mark), { timeout: 20_000 }).toEqual([]);
  });
});

const searchForProxies = `import gc
seen = []
for found in gc.get_objects():
    values = dict.values(found) if type(found) is dict else [found]
    for value in list(values):
        if "JsProxy" in [base.__name__ for base in type.mro(type(value))]:
            seen.append(type(value))
`;

describe.skipIf(!canRunPyodide())('a program that wants out of Pyodide', { timeout: patience }, () => {
  /** Runs attempts, each a function body that returns what it got; an exception is what keeps it in. */
  async function attempt(attempts: Readonly<Record<string, string>>): Promise<Map<string, string>> {
    const functions = Object.entries(attempts).map(
      ([name, body]) => `def ${name}():\n${body.replace(/^/gm, '    ')}\n`,
    );
    const calls = `for attempt in (${Object.keys(attempts).join(', ')},):
    try:
        print(attempt.__name__, 'GOT', ascii(attempt())[:300], flush=True)
    except BaseException as error:
        print(attempt.__name__, 'KEPT IN BY', type(error).__name__, ascii(str(error))[:200], flush=True)
`;
    const { output, ending, failure } = await attack(pyodide, functions.join('') + calls, {
      events: 1_000_000,
    });
    expect(failure).toBeNull();
    expect(ending?.how).toBe('returned');
    const lines = output.trim().split('\n');
    return new Map(lines.map((line) => [line.split(' ')[0] ?? '', line.slice(line.indexOf(' ') + 1)]));
  }

  it('reads and writes no file', async () => {
    const written = join(folder, 'written.txt');
    // Another test's interpreter may have left its own there.
    const before = readdirSync(folder).sort();
    const said = await attempt({
      hostname: 'return open("/etc/hostname").read()',
      secret: `return open(${JSON.stringify(join(folder, 'secret.txt'))}).read()`,
      listing: 'import os\nassert "etc" not in os.listdir("/"), os.listdir("/etc")\nraise OSError("no etc")',
      proc: 'return open("/proc/self/environ").read()',
      write: `import os\nos.makedirs(${JSON.stringify(folder)}, exist_ok=True)\nopen(${JSON.stringify(written)}, "w").write("x")\nraise OSError("only in memory")`,
      own_script: 'import os\nreturn [open(p).read() for p in ("/sandbox", "/tracer.py")]',
    });
    expect([...said].filter(([, text]) => !text.startsWith('KEPT IN'))).toEqual([]);
    expect(existsSync(written)).toBe(false);
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  it('reaches no network', async () => {
    const before = connections;
    const said = await attempt({
      sockets: `import socket\ns = socket.create_connection(("127.0.0.1", ${port}), 2)\ns.send(b"GET / HTTP/1.0\\r\\n\\r\\n")\nreturn s.recv(9)`,
      urls: `import urllib.request\nreturn urllib.request.urlopen("http://127.0.0.1:${port}/", timeout=2).read()`,
      client: `import http.client\nc = http.client.HTTPConnection("127.0.0.1", ${port}, timeout=2)\nc.request("GET", "/")\nreturn c.getresponse().read()`,
      datagrams: `import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.connect(("127.0.0.1", ${port}))\ns.send(b"x")\nreturn s.recv(9)`,
      fetches: `from pyodide.http import pyfetch\nreturn pyfetch("http://127.0.0.1:${port}/").send(None)`,
      fetches_now: `from pyodide.http import open_url\nreturn open_url("http://127.0.0.1:${port}/").read()`,
      streams: `import asyncio\nreturn asyncio.new_event_loop().run_until_complete(asyncio.open_connection("127.0.0.1", ${port}))`,
    });
    expect([...said].filter(([, text]) => !text.startsWith('KEPT IN'))).toEqual([]);
    expect(connections).toBe(before);
  });

  it('reaches no JavaScript', async () => {
    const said = await attempt({
      js: 'import js\nreturn js.process',
      js_again: 'import sys, importlib\nreturn importlib.import_module("js")',
      api: 'import pyodide_js\nreturn pyodide_js._module',
      runs: 'from pyodide.code import run_js\nreturn run_js("process.env")',
      core: 'import _pyodide_core\nreturn _pyodide_core',
      mounts:
        'import pyodide_js\nreturn pyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, {"root": "/"}, "/mnt")',
      native: 'import ctypes\nreturn ctypes.CDLL(None).emscripten_run_script(b"1")',
      native_again: 'import _ctypes\nreturn _ctypes',
      memory: 'import _testinternalcapi\nreturn _testinternalcapi',
      memory_again: 'import _testcapi\nreturn _testcapi',
      debugging: 'import _remote_debugging\nreturn _remote_debugging',
      below: `import _imp
from importlib.machinery import BuiltinImporter, ModuleSpec
names = ["_pyodide_core", "_ctypes", "_testcapi", "_testinternalcapi", "_remote_debugging", "jsbind", "js", ""]
names += ["\\xff" * len(name) for name in names] + ["\\udcff" * len(name) for name in names]
found = [_imp.create_builtin(ModuleSpec(name, BuiltinImporter, origin="built-in")) for name in names]
assert any(found), "none"
return found`,
      loaded: `import _imp
from importlib.machinery import ModuleSpec
open("native.so", "wb").write(b"\\0asm\\1\\0\\0\\0\\x00\\x0f\\x08dylink.0\\x01\\x04\\0\\0\\0\\0")
return _imp.create_dynamic(ModuleSpec("native", None, origin="native.so"))`,
      // In code of its own, which is not traced: there are many objects.
      proxies: `found = {}\nexec(${JSON.stringify(searchForProxies)}, found)\nassert found["seen"], "none"\nreturn found["seen"]`,
    });
    expect([...said].filter(([, text]) => !text.startsWith('KEPT IN'))).toEqual([]);
  });

  it('can use what needs no way out', async () => {
    const said = await attempt({
      waits: `import asyncio
async def wait(n):
    await asyncio.sleep(n / 100)
    return n
async def both():
    return await asyncio.gather(wait(2), wait(1))
return asyncio.run(both())`,
      keeps: 'open("kept.txt", "w").write("kept")\nreturn open("kept.txt").read()',
      draws: 'import random\nreturn 0 <= random.random() < 1',
    });
    expect(Object.fromEntries(said)).toEqual({ waits: 'GOT [2, 1]', keeps: "GOT 'kept'", draws: 'GOT True' });
  });

  it('starts nothing, and sees nothing of the environment', async () => {
    process.env['NEURAL_DEBUG_API_KEY'] = 'secret-key';
    try {
      const said = await attempt({
        forks: 'import os\nreturn os.fork()',
        shell: 'import os\nassert os.system("true") != 0, "ran"\nraise OSError("no shell")',
        runs: 'import subprocess, sys\nreturn subprocess.run(["ls"])',
        threads: 'import threading\nthreading.Thread(target=print).start()',
        environment:
          'import os\nassert "secret" not in repr(os.environ), os.environ\nraise KeyError("no key")',
        packages: 'import micropip\nreturn micropip',
        parent: 'import os, signal\nos.kill(os.getppid(), signal.SIGTERM)\nraise OSError("no parent")',
      });
      expect([...said].filter(([, text]) => !text.startsWith('KEPT IN'))).toEqual([]);
      expect(said.get('threads')).toContain('RuntimeError');
    } finally {
      delete process.env['NEURAL_DEBUG_API_KEY'];
    }
  });
});
