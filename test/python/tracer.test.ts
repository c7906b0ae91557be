import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { traceProgram, TracedRun, type TraceOptions } from '../../adapter/python/tracer';
import type { Ending, Prediction, Step } from '../../adapter/trajectory/state';

const folder = mkdtempSync(join(tmpdir(), 'tracer-'));

function programOf(source: string, entry: string | null = null, args: readonly string[] = []) {
  return { path: join(folder, 'program.py'), source, entry, args };
}

interface Traced {
  readonly states: readonly Prediction[];
  readonly ending: Ending;
  /** What was written to standard output, all together. */
  readonly output: string;
  /** `event function line` of each state. */
  readonly events: readonly string[];
}

async function trace(source: string, options: TraceOptions & { entry?: string } = {}): Promise<Traced> {
  const steps: Step[] = [];
  for await (const batch of traceProgram(programOf(source, options.entry ?? null), options)) {
    steps.push(...batch);
  }
  const states = steps.filter((step) => step.kind === 'state');
  const ending = steps.find((step) => step.kind === 'end');
  if (!ending) throw new Error('The run has no ending.');
  return {
    states,
    ending,
    output: steps.map(({ output }) => output ?? '').join(''),
    events: states.map(({ state }) => `${state.event} ${state.function} ${state.line}`),
  };
}

/** A local's text at the last state on which it is known. */
function last(traced: Traced, name: string): string | null | undefined {
  return traced.states.findLast(({ state }) => state.locals?.has(name))?.state.locals?.get(name)?.repr;
}

describe('ways to run a program', () => {
  const source = [
    'import sys',
    'print("set up", __name__)',
    'class Box:',
    '    def __init__(self, x):',
    '        self.x = x',
    'def f(n, s="ab"):',
    '    box = Box(n)',
    '    print(n)',
    '    return s * n',
    'if __name__ == "__main__":',
    '    f(1)',
  ].join('\n');

  it('traces an entry call only, and shows nothing of the set-up', async () => {
    const traced = await trace(source, { entry: "f(3, s='x')" });
    expect(traced.events).toEqual([
      'call f 6',
      'line f 7',
      'call __init__ 4',
      'line __init__ 5',
      'return __init__ 5',
      'line f 8',
      'line f 9',
      'return f 9',
    ]);
    expect(traced.output).toBe('3\n');
    expect(last(traced, 'box')).toBe('<__main__.Box object>');
    expect(traced.states.at(-1)?.state.argument?.repr).toBe("'xxx'");
    expect(traced.ending).toMatchObject({ how: 'returned', notes: [] });
  });

  it('calls a function by name with literals', async () => {
    const call = { name: 'f', arguments: { n: '2', s: '[1]' }, asMain: false };
    const traced = await trace(source, { call });
    expect(traced.events[0]).toBe('call f 6');
    expect(traced.states.at(-1)?.state.argument?.repr).toBe('[1, 1]');
    const asMain = await trace(source, { call: { ...call, asMain: true } });
    expect(asMain.events[0]).toBe('call f 6');
  });

  it('gives a script its arguments, its name and its file, and an empty standard input', async () => {
    const traced = await trace(
      [
        'import sys, os',
        'args = sys.argv[1:]',
        'name = __name__',
        'file = os.path.basename(__file__)',
        'first = sys.path[0] == os.path.dirname(__file__)',
        'hidden = [n for n in os.environ if n.startswith("PYTHON")]',
        'try:',
        '    input("? ")',
        'except EOFError as e:',
        '    seen = e',
      ].join('\n'),
    );
    expect(last(traced, 'args')).toBe('[]');
    expect(last(traced, 'name')).toBe("'__main__'");
    expect(last(traced, 'file')).toBe("'program.py'");
    expect(last(traced, 'first')).toBe('True');
    expect(last(traced, 'hidden')).toBe('[]');
    expect(last(traced, 'seen')).toBe("EOFError('EOF when reading a line')");
    expect(traced.output).toBe('? ');
  });

  it('runs the text that it is given, not the file', async () => {
    writeFileSync(join(folder, 'program.py'), 'x = "of the file"');
    expect(last(await trace('x = "given"'), 'x')).toBe("'given'");
  });

  it('takes no module of the folder for one of its own, and gives it to the program', async () => {
    writeFileSync(join(folder, 'json.py'), 'mine = True');
    expect(last(await trace('import json\nmine = json.mine'), 'mine')).toBe('True');
  });

  it('says what hinders a run', async () => {
    await expect(trace('x = 1\ndef f(:\n')).rejects.toMatchObject({ code: 502 });
    await expect(trace('x = 1\ndef f(:\n')).rejects.toThrow(/line 2/);
    await expect(trace('def f(): pass', { entry: 'f(' })).rejects.toMatchObject({ code: 503 });
    await expect(trace('x = 1\n1 / 0', { entry: 'x' })).rejects.toThrow(/ZeroDivisionError.* on line 2/);
    await expect(trace('def f(): pass', { entry: 'g()' })).rejects.toThrow(/NameError/);
    const call = { name: 'g', arguments: {}, asMain: false };
    await expect(trace('def f(): pass', { call })).rejects.toMatchObject({ code: 506 });
    const wrong = { name: 'f', arguments: { x: 'open("/")' }, asMain: false };
    await expect(trace('def f(x): pass', { call: wrong })).rejects.toMatchObject({ code: 507 });
    await expect(trace('x = 1', { python: 'no-such-python' })).rejects.toMatchObject({ code: 501 });
  });

  it('agrees with itself on the order of sets', async () => {
    const source = 'words = {"apple", "pear", "plum", "fig", "lime"}\ndone = True';
    expect(last(await trace(source), 'words')).toBe(last(await trace(source), 'words'));
  });
});

describe('what is seen', () => {
  it('calls none of the program’s code to describe values', async () => {
    const traced = await trace(
      [
        'calls = []',
        'class Meta(type):',
        '    def __hash__(cls): calls.append("meta hash"); return 1',
        '    def __eq__(cls, other): calls.append("meta eq"); return True',
        '    def __getattribute__(cls, name): calls.append("meta get " + name); return type.__getattribute__(cls, name)',
        'class Spy(metaclass=Meta):',
        '    def __repr__(self): calls.append("repr"); return "spy"',
        '    def __eq__(self, other): calls.append("eq"); return True',
        '    def __hash__(self): return 1',
        '    def __getattribute__(self, name): calls.append("get " + name); raise AttributeError(name)',
        '    __class__ = property(lambda self: calls.append("class") or int)',
        'class Numbers(list):',
        '    def __iter__(self): calls.append("iter"); return iter(())',
        '    def __len__(self): calls.append("len"); return 0',
        'class Failure(Exception):',
        '    args = property(lambda self: calls.append("args"))',
        '    def __str__(self): calls.append("str"); return ""',
        'def run():',
        '    spy = Spy()',
        '    calls.clear()',
        '    held = [spy, (spy,), {1: spy}, Numbers([1])]',
        '    held.append(3)',
        '    failure = Failure(1, spy)',
        '    held[0] = 5',
        '    return 1',
        'run()',
        'calls',
      ].join('\n'),
    );
    expect(last(traced, 'calls')).toBe('[]');
    expect(last(traced, 'failure')).toBe('Failure(1, <__main__.Spy object>)');
    expect(last(traced, 'held')).toBe(
      '[5, (<__main__.Spy object>,), {1: <__main__.Spy object>}, <__main__.Numbers object>, 3]',
    );
  });

  it('sees what changes through another name', async () => {
    const traced = await trace(
      [
        'def change(items, table, seen, rows):',
        '    items[1] = "new"',
        '    items.append(4)',
        '    table["b"] = 2',
        '    del table["a"]',
        '    seen.discard(1)',
        '    seen.add(9)',
        '    rows[1][0] = True',
        '    rows[0].append(rows)',
        'items, table, seen, rows = [1, 2, 3], {"a": 1}, {1, 2}, [[0], [1]]',
        'change(items, table, seen, rows)',
        'done = True',
      ].join('\n'),
    );
    expect(last(traced, 'items')).toBe("[1, 'new', 3, 4]");
    expect(last(traced, 'table')).toBe("{'b': 2}");
    expect(last(traced, 'seen')).toBe('{9, 2}');
    expect(last(traced, 'rows')).toBe('[[0, [...]], [True]]');
  });

  it('does not put off the end of objects', async () => {
    const traced = await trace(
      [
        'class Guard:',
        '    def __init__(self, name):',
        '        self.name = name',
        '    def __del__(self):',
        '        ended.append(self.name)',
        'ended = []',
        'def f():',
        '    a = Guard("a")',
        '    del a',
        '    held = [Guard("b"), 1]',
        '    held.pop(0)',
        '    c = Guard("c")',
        '    c = None',
        'f()',
        'd = Guard("d")',
        'del d',
        'last = 1',
      ].join('\n'),
    );
    const ends = traced.events.flatMap((event, index) =>
      event === 'call __del__ 4' ? [traced.events[index - 1]] : [],
    );
    expect(ends).toEqual(['line f 9', 'line f 11', 'line f 13', 'line <module> 16']);
    expect(last(traced, 'ended')).toBe("['a', 'b', 'c', 'd']");
  });

  it('puts output where it was written', async () => {
    const traced = await trace(
      'print("a", end="")\nprint("é\\ud83d")\nimport sys\nsys.stdout.buffer.write(b"b")\n',
    );
    expect(traced.states.map(({ output }) => output)).toEqual([null, null, 'a', 'é\ud83d\n', null, 'b']);
  });

  it('numbers frames, and gives a resumed generator its number again', async () => {
    const traced = await trace(
      'def g():\n    yield 1\n    yield 2\na, b = g(), g()\nnext(a), next(b), next(a)\n',
    );
    const calls = traced.states.filter(({ state }) => state.event === 'call' && state.function === 'g');
    const [first, second, third] = calls.map(({ activation }) => activation);
    expect(first).not.toBe(second);
    expect(third).toBe(first);
  });

  it('says what was not seen', async () => {
    const removed = await trace('import sys\nx = 1\nsys.settrace(None)\ny = 2\n');
    expect(removed.ending.notes.join()).toMatch(/removed the trace function at line 3/);
    const daemon = await trace(
      'import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n',
    );
    expect(daemon.ending.notes.join()).toMatch(/1 daemon threads/);
    expect((await trace('exec("x = 1\\ny = 2")')).ending.notes.join()).toMatch(/exec/);
  });

  it('waits for threads as Python does', async () => {
    const traced = await trace(
      'import threading, time\ndef work():\n    time.sleep(0.1)\n    print("done")\nthreading.Thread(target=work).start()\n',
    );
    expect(traced.output).toBe('done\n');
    expect(traced.states.at(-1)?.state.thread).toBe('Thread-1 (work)');
  });
});

describe('ways to end', () => {
  it.each([
    ['import sys\nsys.exit(3)', 'exited', /code 3/],
    ['import sys\nsys.exit()', 'exited', /code 0/],
    ['import sys\nsys.exit("bye")', 'exited', /code 1, and says 'bye'/],
    ['import os\nx = 1\nos._exit(4)', 'exited', /code 4/],
    ['import os, signal\nos.kill(os.getpid(), signal.SIGKILL)', 'exited', /SIGKILL/],
    ['raise ValueError("bad")', 'raised', null],
    ['import sys\nsys.stdout.close()\nx = 1', 'returned', null],
    ['import os\nos.close(1)\nos.closerange(3, 10)\nx = 1', 'returned', null],
  ] as const)('%j', async (source, how, note) => {
    const traced = await trace(source);
    expect(traced.ending.how).toBe(how);
    if (note) expect(traced.ending.notes.join(' ')).toMatch(note);
    expect(traced.states.length).toBeGreaterThanOrEqual(source.split('\n').length + 1);
  });

  it('leaves a recursion error to the program', async () => {
    const traced = await trace(
      'def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n    seen = e\nafter = 1\n',
    );
    expect(last(traced, 'seen')).toMatch(/^RecursionError\('maximum recursion depth exceeded/);
    expect(last(traced, 'after')).toBe('1');
    expect(traced.ending).toMatchObject({ how: 'returned', notes: [] });
  });
});

describe('limits', () => {
  it('cuts an endless loop, and one without events', async () => {
    const loop = await trace('while True:\n    pass\n', { limits: { events: 500 } });
    expect(loop.states).toHaveLength(500);
    expect(loop.ending.how).toBe('cut');
    expect(loop.ending.notes.join()).toMatch(/500 states.*"events"/);
    const silent = await trace('x = 1\nsum(iter(int, 1))\n', { limits: { seconds: 1 } });
    expect(silent.ending.how).toBe('cut');
    expect(silent.ending.notes.join()).toMatch(/1 seconds.*"seconds"/);
    const sleeping = await trace('import time\ntime.sleep(1000)\n', { limits: { seconds: 1 } });
    expect(sleeping.events.at(-1)).toBe('line <module> 2');
    expect(sleeping.ending.how).toBe('cut');
  });

  it.each([
    ['a sum', 'return sum(range(10 ** 12))'],
    ['a pattern that backtracks', "return re.match('(a+)+$', 'a' * 40 + 'b')"],
    ['a power', 'return 10 ** 10 ** 9'],
  ])('tells all states before %s that does not return', async (_, line) => {
    const source = `import re\ndef f():\n    a = 0\n    for i in range(20):\n        a += i\n    ${line}\nf()\n`;
    const traced = await trace(source, { limits: { seconds: 1 } });
    expect(traced.ending.how).toBe('cut');
    expect(traced.events.at(-1)).toBe('line f 6');
    expect(last(traced, 'a')).toBe('190');
  });

  it('cuts what takes too much memory', async () => {
    for (const source of ['x = bytearray(10 << 30)', 'x = []\nwhile True:\n    x = [x] * 10000000\n']) {
      const traced = await trace(source, { limits: { memory: 256 } });
      expect(traced.ending.how).toBe('cut');
      expect(traced.ending.notes.join()).toMatch(/256 MiB.*"memory"/);
    }
  });

  it('cuts what writes too much', async () => {
    const traced = await trace('while True:\n    print("x" * 1000)\n', { limits: { output: 10 } });
    expect(traced.ending.how).toBe('cut');
    expect(traced.ending.notes.join()).toMatch(/10 KiB.*"output"/);
  });

  it('stops a program from starting ever more processes', async () => {
    const traced = await trace(
      'import os\nfailed = None\ntry:\n    while True:\n        if os.fork() == 0:\n            os.fork()\nexcept OSError as e:\n    failed = e\n',
      { limits: { processes: 3 } },
    );
    expect(last(traced, 'failed')).toMatch(/^BlockingIOError\(11/);
    expect(traced.ending.notes.join()).toMatch(/more than 3 processes.*"processes"/);
  });
});

describe('the pace', () => {
  it('waits while nobody reads', async () => {
    const mark = join(folder, 'mark');
    const source = `for i in range(300000):\n    x = i\nopen(${JSON.stringify(mark)}, "w").close()\n`;
    const run = new TracedRun(programOf(source));
    const { signal } = new AbortController();
    await run.next(signal);
    await wait(1500);
    expect(existsSync(mark)).toBe(false);
    for (let steps = await run.next(signal); steps;) steps = await run.next(signal);
    expect(readFileSync(mark, 'utf8')).toBe('');
  });

  it('ends the program when the signal is aborted, and when the iteration is left', async () => {
    const source = 'import os\npid = os.getpid()\nwhile True:\n    pass\n';
    const isRunning = (pid: number) => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    const controller = new AbortController();
    let pid = 0;
    for await (const steps of traceProgram(programOf(source), {}, controller.signal)) {
      for (const step of steps) {
        if (step.kind === 'state') pid = Number(step.state.locals?.get('pid')?.repr ?? 0);
      }
      if (pid > 0) controller.abort();
    }
    await expect.poll(() => isRunning(pid)).toBe(false);
    let other = 0;
    for await (const steps of traceProgram(programOf(source))) {
      for (const step of steps) {
        if (step.kind === 'state') other = Number(step.state.locals?.get('pid')?.repr ?? 0);
      }
      if (other > 0) break;
    }
    await expect.poll(() => isRunning(other)).toBe(false);
  });
});
