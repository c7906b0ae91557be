import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../adapter/debugger/configuration';
import { openDebugger } from '../../adapter/debugger/open';
import { startModelServer } from '../../adapter/modelServer/server';
import { play, type Script } from '../support/sessions';

const loop =
  'def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n\n\nx = f(3)\nprint(x)\n';

/** Sources that readers of Python get wrong. */
const sources: Record<string, string | Uint8Array> = {
  'a literal control token': loop.replace('x = f(3)', 'x = "<|frame_sep|>" + "<|line_sep|>{}<|action_sep|>"'),
  'a control token in a comment': loop.replace('total = 0', 'total = 0  # <|call_sep|> <|frame_sep|>'),
  'the marker in the source': loop.replace('total = 0', 'total = 0  # << START_OF_TRACE'),
  'a byte order mark': `\ufeff${loop}`,
  'CRLF line ends': loop.replaceAll('\n', '\r\n'),
  'CR line ends': loop.replaceAll('\n', '\r'),
  'mixed line ends': loop.replace('\n', '\r\n').replace('total = 0\n', 'total = 0\r'),
  tabs: loop.replaceAll('    ', '\t'),
  'a form feed': loop.replace('def f', '\fdef f').replace('x = ', '\fx = '),
  'U+2028, \\x1c and \\x0b in a string': loop.replace('total = 0', 'total = len("a\u2028b\u001c\u000b")'),
  'no line end at the end': loop.trimEnd(),
  'a declared encoding': Buffer.from(`# -*- coding: latin-1 -*-\ns = "é"\n${loop}`, 'latin1'),
  'strings over several lines': `def f():\n    return """a\n  b\nc"""\n\nx = f()\ny = """one\n    two\nthree"""\nz = f"""{x}\n{y}"""\n`,
  'continued lines':
    'def f(a,\n      b=2):\n    return (a +\n            b)\n\nx = f(1,\n  b=3)\ny = 1 + \\\n  x\nprint(x,\n      y)\n',
  'names that are taken': 'def main():\n    return 1\n\ndef _main():\n    return main()\n\nx = _main()\n',
  'globals that functions change':
    'count = 0\nlimit: int = 2\n\ndef bump():\n    global count\n    count += limit\n    return count\n\na = bump()\nb = bump()\n',
  'a class after the beginning':
    'base = 2\n\nclass Box:\n    size: int = base\n    def __init__(self, n):\n        self.n = n * base\n    def twice(self):\n        return self.n * 2\n\nbox = Box(3)\nprint(box.twice())\n',
  'a main guard': `${loop}\nif __name__ == "__main__":\n    y = f(2)\n    print("main", y)\n`,
  'an uncaught exception':
    'def f(n):\n    try:\n        return 1 // n\n    finally:\n        done = True\n\nf(1)\nf(0)\nf(2)\n',
  'an exit': 'import sys\n\ndef f():\n    sys.exit("bye")\n\nx = 1\nf()\ny = 2\n',
  coroutines:
    'import asyncio\n\nasync def add(a, b):\n    await asyncio.sleep(0)\n    return a + b\n\nasync def both():\n    x = await add(1, 2)\n    y = await add(x, 3)\n    return y\n\nr = asyncio.run(both())\nprint(r)\n',
  generators:
    'def count(n):\n    for i in range(n):\n        got = yield i\n        if got:\n            yield got\n\na = count(3)\nb = count(2)\nx = next(a)\ny = next(b)\nz = a.send("s")\nrest = list(a) + list(b)\n\ndef both():\n    yield from count(2)\n\nw = list(both())\n',
  'a program that defines with effects':
    'def deco(f):\n    return lambda *a: f(*a) + 1\n\n@deco\ndef f(n):\n    return n\n\nx = f(1)\n',
};

const scripts: Record<string, Script> = {
  'step into': { requests: 'stepIn' },
  'step over': { requests: 'next' },
  breakpoints: { breakpoints: [2, 4, 5, 8], requests: 'continue' },
};

/** Both ways that prompts go with each source, else one with each second source. */
const isFull = process.env['NEURAL_DEBUG_FULL'] === '1';
const modes = ['ids', 'text'] as const;

describe('a source with', () => {
  let server: Awaited<ReturnType<typeof startModelServer>>;
  let folder = '';
  beforeAll(async () => {
    server = await startModelServer({ port: 0 });
    folder = mkdtempSync(join(tmpdir(), 'neural-debug-sources-'));
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const chosen = Object.entries(sources).flatMap(([name, source], index) =>
    modes
      .filter((_, at) => isFull || at === index % modes.length)
      .map((mode) => [name, mode, source] as const),
  );
  it.each(chosen)('%s stops over HTTP in %s as in a real run', async (name, mode, source) => {
    const program = join(folder, `${name.replaceAll(/\W/g, '_')}.py`);
    writeFileSync(program, source);
    for (const [requests, script] of Object.entries(scripts)) {
      const real = await play({ program, world: 'reference' }, script);
      const predicted = await play(
        { program, world: 'server', server: { baseUrl: server.url, format: 'cwm', mode } },
        script,
        server.token,
      );
      expect(predicted, requests).toEqual(real);
      expect(real.length, requests).toBeGreaterThan(1);
    }
  });

  it('equal lines in two branches marks what cannot be told apart, with the true line among what it may be', async () => {
    const program = join(folder, 'equal.py');
    writeFileSync(
      program,
      'def f(n):\n    x = 1\n    if n:\n        x = 2\n        x += 1\n    else:\n        x = 2\n        x += 1\n    return x\n\nf(0)\nf(1)\n',
    );
    const opened = await openDebugger(parseConfiguration({ program, server: { baseUrl: server.url } }), () =>
      Promise.resolve(server.token),
    );
    const { debugger: session } = opened;
    try {
      session.breakpoints.setLines([7].map((line) => ({ line, condition: null })));
      await session.start(true);
      const { reason, state } = await session.forward('continue');
      const { doubt, otherLines } = session.trajectory.prediction(state);
      expect(reason).toBe('breakpoint');
      expect(doubt).not.toBeNull();
      expect([session.trajectory.line(state), ...otherLines].sort()).toEqual([4, 7]);
    } finally {
      await session.close();
      await opened.evaluator.close();
    }
  });

  it('20,000 lines is debugged too', async () => {
    const program = join(folder, 'long.py');
    const filler = Array.from({ length: 6_600 }, (_, n) => `def g${n}(a):\n    return a + ${n}\n\n`).join('');
    writeFileSync(program, `${filler}\n${loop}`);
    const script: Script = { requests: ['stepIn', 'next', 'next', 'stepOut'] };
    const predicted = await play(
      { program, world: 'server', server: { baseUrl: server.url, format: 'cwm' } },
      script,
      server.token,
    );
    expect(predicted).toEqual(await play({ program, world: 'reference' }, script));
    expect(predicted.at(-1)).toMatchObject({ function: '<module>' });
  });
});
