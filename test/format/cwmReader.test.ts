import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CompletionChunk, Token } from '../../adapter/completion/completion';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';
import type { Format } from '../../adapter/format/format';
import { PythonSource } from '../../adapter/python/source';
import type { Program } from '../../adapter/trajectory/program';
import { plainPrediction, type Prediction, type Step } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { promptText } from '../support/scriptedModel';
import { contextOf, readAnswer, trajectoryOf } from './cwmSupport';

async function formatOf(source: string, entry: string | null): Promise<{ format: Format; program: Program }> {
  const program: Program = { path: '/p.py', source, entry, args: [] };
  return { format: await createCwmFormat(program, await PythonSource.parse(source)), program };
}

/** A hand-typed trace, without the line breaks between frames. */
function fixture(name: string): string {
  const text = readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8');
  return text.replaceAll('<|frame_sep|>\n', '<|frame_sep|>').trimEnd();
}

/** What a step says, in a line. */
function said(step: Step): string {
  if (step.kind === 'end') return `end: ${step.how}`;
  const { event, function: name, line, locals, argument } = step.state;
  const values = locals && Array.from(locals, ([local, { repr }]) => `${local}=${repr ?? '?'}`).join(' ');
  return [`${event} ${name} ${line}`, values, argument && `-> ${argument.repr ?? '?'}`]
    .filter(Boolean)
    .join(' ');
}

function states(steps: readonly Step[]): Prediction[] {
  return steps.filter((step) => step.kind === 'state');
}

const text = (piece: string, tokens: readonly Token[] = []): CompletionChunk => ({
  kind: 'text',
  text: piece,
  tokens,
});
const end = (reason: 'stop' | 'length', stopString: string | null = null): CompletionChunk => ({
  kind: 'end',
  reason,
  stopString,
  usage: null,
});

const factorial = `def fact(n):
    if n < 2:
        return 1
    below = fact(n - 1)
    return n * below
`;
const raising = `def inner(text):
    return int(text)
def outer(text):
    try:
        return inner(text)
    except KeyError:
        return None
`;
const squares = `def squares(n):
    for i in range(n):
        yield i * i
total = 0
for s in squares(2):
    total += s
`;
const begin = '<|line_sep|>{}<|action_sep|>    return f(1)\n<|frame_sep|>';
const simple = `def f(n):
    m = n
    return m
`;
const call = `${begin}<|call_sep|>{"n": "1"}<|action_sep|>def f(n):\n<|frame_sep|>`;

describe('hand-typed traces', () => {
  it('of recursion: unchanged values come back after the inner calls have returned', async () => {
    const { format, program } = await formatOf(factorial, 'fact(3)');
    const { trajectory, steps } = trajectoryOf(format, program, fixture('factorial.txt'));
    expect(steps.map(said)).toEqual([
      'call fact 1 n=3',
      'line fact 2 n=3',
      'line fact 4 n=3',
      'call fact 1 n=2',
      'line fact 2 n=2',
      'line fact 4 n=2',
      'call fact 1 n=1',
      'line fact 2 n=1',
      'line fact 3 n=1',
      'return fact 3 -> 1',
      'line fact 5 n=2 below=1',
      'return fact 5 -> 2',
      'line fact 5 n=3 below=2',
      'return fact 5 -> 6',
      'end: returned',
    ]);
    expect(trajectory.frame(12).depth).toBe(0);
  });

  it('of an exception that passes two functions: all ways to show it are the same', async () => {
    const { format, program } = await formatOf(raising, 'outer("x")');
    const { steps } = trajectoryOf(format, program, `${fixture('raised.txt')}<|end_of_text|>`);
    const error = `ValueError("invalid literal for int() with base 10: 'x'")`;
    expect(steps.slice(4).map(said)).toEqual([
      "line inner 2 text='x'",
      `exception inner 2 -> ${error}`,
      'return inner 2 -> None',
      `exception outer 5 -> ${error}`,
      "line outer 6 text='x'",
      'return outer 6 -> None',
      'end: raised',
    ]);
  });

  it('of a script with a generator: the wrapper is the module, and resumed calls are the same frame', async () => {
    const { format, program } = await formatOf(squares, null);
    const { trajectory, steps } = trajectoryOf(format, program, fixture('squares.txt'));
    expect(steps.map(said)).toEqual([
      'line <module> 4',
      'line <module> 5 total=0',
      'call squares 1 n=2',
      'line squares 2 n=2',
      'line squares 3 n=2 i=0',
      'return squares 3 -> 0',
      'line <module> 6 total=0 s=0',
      'line <module> 5 total=0 s=0',
      'call squares 3 n=2 i=0',
      'line squares 2 n=2 i=0',
      'line squares 3 n=2 i=1',
      'return squares 3 -> 1',
      'line <module> 6 total=0 s=1',
      'line <module> 5 total=1 s=1',
      'call squares 3 n=2 i=1',
      'line squares 2 n=2 i=1',
      'return squares 2 -> None',
      'return <module> 5 -> None',
      'end: returned',
    ]);
    expect(trajectory.frames.map(({ activation }) => activation)).toEqual([0, 1, 1, 1]);
    expect(trajectory.frames.map(({ resumed }) => resumed)).toEqual([false, false, true, true]);
  });
});

describe('the end of an answer', () => {
  it('at the token limit keeps whole frames, drops the cut one, and ends nothing', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const reader = format.reader(new Trajectory(program), -1);
    expect(reader.read(text(`${call}<|line_sep|>{"n": "1"}<|action_s`)).map(said)).toEqual(['call f 1 n=1']);
    expect(reader.read(end('length'))).toEqual([]);
  });

  it('by a stop string ends the frame', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const reader = format.reader(new Trajectory(program), -1);
    reader.read(text(`${call}<|line_sep|>{"n": ".."}<|action_sep|>    m = n\n`));
    const [step] = reader.read(end('stop', '<|frame_sep|>'));
    expect(step && said(step)).toBe('line f 2 n=1');
    expect(step?.text).toBe('<|line_sep|>{"n": ".."}<|action_sep|>    m = n\n<|frame_sep|>');
  });

  it('within the program says so', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const reader = format.reader(new Trajectory(program), -1);
    reader.read(text(call));
    const [step] = reader.read(end('stop'));
    expect(step).toMatchObject({
      kind: 'end',
      how: 'cut',
      notes: ['The model ended the trace before f returned.'],
    });
    expect(reader.read(text(call))).toEqual([]);
  });

  it.each([
    ['SystemExit(3)', 'exited'],
    ['SystemExit', 'exited'],
    ['ValueError(1)', 'raised'],
  ])('after %s: %s', async (error, how) => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const exception = `<|exception_sep|><|action_sep|>    m = n\n<|arg_sep|>"${error}"<|frame_sep|>`;
    const line = '<|line_sep|>{"n": "1"}<|action_sep|>    m = n\n<|frame_sep|>';
    const answer = `${call}${line}${exception}`;
    const left = '<|return_sep|><|action_sep|>    m = n\n<|arg_sep|>"None"<|frame_sep|>';
    for (const frames of [answer, answer + left]) {
      const steps = readAnswer(format, new Trajectory(program), -1, `${frames}<|end_of_text|>`);
      expect(steps.at(-1)).toMatchObject({ kind: 'end', how });
    }
  });

  it('tells a normal return after a handled exception from one that is left by it', async () => {
    const source = 'def f(n):\n    try:\n        raise n\n    except E:\n        return None\n';
    const { format, program } = await formatOf(source, 'f(1)');
    const frames =
      `${call}<|line_sep|>{"n": ".."}<|action_sep|>    try:\n<|frame_sep|>` +
      '<|line_sep|>{"n": ".."}<|action_sep|>        raise n\n<|frame_sep|>' +
      '<|exception_sep|><|action_sep|>        raise n\n<|arg_sep|>"E()"<|frame_sep|>' +
      '<|line_sep|>{"n": ".."}<|action_sep|>    except E:\n<|frame_sep|>' +
      '<|line_sep|>{"n": ".."}<|action_sep|>        return None\n<|frame_sep|>' +
      '<|return_sep|><|action_sep|>        return None\n<|arg_sep|>"None"<|frame_sep|><|end_of_text|>';
    expect(readAnswer(format, new Trajectory(program), -1, frames).at(-1)).toMatchObject({ how: 'returned' });
  });
});

describe('answers that are not as they should be', () => {
  it('are read with other JSON spacing, and sent back as they were', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const odd = `${begin}<|call_sep|>{ "n" :"1"}<|action_sep|>def f(n):\n<|frame_sep|>`;
    const { trajectory } = trajectoryOf(format, program, odd);
    expect(trajectory.state(0).locals?.get('n')?.repr).toBe('1');
    const prompt = format.prompt(trajectory, 0, 'one');
    expect(prompt.kind === 'text' && prompt.text.endsWith(odd)).toBe(true);
  });

  it('show no variable for locals that cannot be read, and know nothing of values unchanged since', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const broken = '<|line_sep|>{"n": "1, "x": }<|action_sep|>    m = n\n<|frame_sep|>';
    const next = '<|line_sep|>{"n": "..", "m": "1"}<|action_sep|>    return m\n<|frame_sep|>';
    const [, second, third] = states(readAnswer(format, new Trajectory(program), -1, call + broken + next));
    expect(second?.state.locals).toBeNull();
    expect(second?.doubt).toBe('The locals could not be read.');
    expect(third && said(third)).toBe('line f 3 n=? m=1');
    expect(third?.doubt).toBeNull();
  });

  it('keep their states when what follows cannot be read', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const reader = format.reader(new Trajectory(program), -1);
    expect(reader.read(text(`${call}I am sorry<|frame_sep|>`)).map(said)).toEqual(['call f 1 n=1']);
    expect(() => reader.read(end('stop'))).toThrow(/no frame of a trace: "I am sorry/);
  });

  it('without control tokens say how to get them', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const reader = format.reader(new Trajectory(program), -1);
    expect(reader.read(text('{"n": "1"}    m = n\n'))).toEqual([]);
    expect(() => reader.read(end('stop'))).toThrow(/control tokens/);
  });

  it('with lines that the source has not are doubtful', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const unknown =
      '<|line_sep|>{}<|action_sep|>    k = 7\n<|frame_sep|><|call_sep|>{}<|action_sep|>def g():\n<|frame_sep|>';
    const [, line, enter] = states(readAnswer(format, new Trajectory(program), -1, call + unknown));
    expect(line?.doubt).toBe('The source has no line that reads "k = 7".');
    expect(enter && said(enter)).toBe('call g 1');
    expect(enter?.doubt).toContain('defines no function');
  });

  it('never make the reader fail in another way, whatever they are', async () => {
    const { format, program } = await formatOf(factorial, 'fact(3)');
    const tokens = ['<|call_sep|>', '<|line_sep|>', '<|return_sep|>', '<|exception_sep|>', '<|action_sep|>'];
    const rest = [
      '<|arg_sep|>',
      '<|frame_sep|>',
      '{"n": "3"}',
      '{"n": ".."}',
      '"1"',
      '    return 1\n',
      'def fact(n):\n',
    ];
    const piece = fc.oneof(fc.constantFrom(...tokens, ...rest), fc.string({ maxLength: 5 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const reader = format.reader(new Trajectory(program), -1);
        const steps: Step[] = [];
        try {
          for (const one of pieces) steps.push(...reader.read(text(one)));
          steps.push(...reader.read(end('stop')));
        } catch (thrown) {
          expect((thrown as Error).name).toBe('CatalogueError');
        }
        const trajectory = new Trajectory(program);
        let from = -1;
        for (const step of states(steps)) from = trajectory.append(from, { name: 'step_into' }, step);
        expect(trajectory.length).toBe(states(steps).length);
        format.prompt(trajectory, from, 'many');
      }),
      { numRuns: 300 },
    );
  });
});

describe('positions', () => {
  async function read(source: string, entry: string | null, answer: string): Promise<Prediction[]> {
    const { format, program } = await formatOf(source, entry);
    const { steps } = trajectoryOf(format, program, answer);
    return states(steps);
  }
  const line = (content: string, locals = '{}') =>
    `<|line_sep|>${locals}<|action_sep|>${content}\n<|frame_sep|>`;

  it('come from where control can go, not from the first equal text', async () => {
    const source = 'x = 1\nif x:\n    y = 2\nx = 1\ny = 2\n';
    const wrapped = ['x = 1', 'if x:', '    y = 2', 'x = 1', 'y = 2'];
    const found = await read(source, null, wrapped.map((content) => line(`    ${content}`)).join(''));
    expect(found.map(({ state }) => state.line)).toEqual([1, 2, 3, 4, 5]);
    expect(found.map(({ doubt }) => doubt)).toEqual([null, null, null, null, null]);
  });

  const branches =
    'def f(n):\n    if n:\n        n += 1\n        a = 1\n    else:\n        n += 1\n        b = 1\n';
  it('that the frame after them tells are sure', async () => {
    const answer = call + line('    if n:') + line('        n += 1') + line('        b = 1');
    const found = await read(branches, 'f(1)', answer);
    expect(found.map(({ state, doubt, otherLines }) => [state.line, doubt, otherLines])).toEqual([
      [1, null, []],
      [2, null, []],
      [6, null, []],
      [7, null, []],
    ]);
  });

  it('that nothing tells are doubtful, and name the others', async () => {
    const found = await read(branches, 'f(1)', call + line('    if n:') + line('        n += 1'));
    expect(found.at(-1)).toMatchObject({
      state: { line: 3 },
      otherLines: [6],
      doubt: 'Lines 3 and 6 read the same, and each can come here.',
    });
  });

  it('are counted by CPython, for which a form feed or U+2028 ends no line', async () => {
    const source = 'a = 1\n\x0c\ns = "\u2028\x1c"\nb = 2\r\nc = 3\rd = 4';
    const wrapped = ['a = 1', 's = "\u2028\x1c"', 'b = 2', 'c = 3', 'd = 4'];
    const found = await read(source, null, wrapped.map((content) => line(`    ${content}`)).join(''));
    expect(found.map(({ state }) => state.line)).toEqual([1, 3, 4, 5, 6]);
  });

  it('are found with the marker at the end, and for lines that end in its letters', async () => {
    const source = 'def f(n):\n    TRACE = n\n    C = TRACE\n    return TRACE\n';
    const answer =
      '<|call_sep|>{"n": "1"}<|action_sep|>def f(n):  # << START_OF_TRACE\n<|frame_sep|>' +
      line('    TRACE = n') +
      line('    C = TRACE') +
      line('    return TRACE');
    const found = await read(source, 'f(1)', answer);
    expect(found.map(({ state }) => state.line)).toEqual([1, 2, 3, 4]);
    expect(found.every(({ doubt }) => doubt === null)).toBe(true);
  });
});

describe('confidence', () => {
  it('is the least of the tokens of the event and the line, and of each value its own', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const reader = format.reader(new Trajectory(program), -1);
    const pieces: [string, number][] = [
      ['<|call_sep|>', 0.9],
      ['{"n": ', 0.1],
      ['"1"', 0.5],
      ['}', 0.2],
      ['<|action_sep|>', 1],
      ['def f(n):\n', 0.8],
      ['<|frame_sep|>', 0.3],
    ];
    const tokens = pieces.map(([piece, probability]) => ({ text: piece, logprob: Math.log(probability) }));
    reader.read(text(begin));
    const [first] = states(reader.read(text(tokens.map((token) => token.text).join(''), tokens)));
    expect(first?.confidence).toBeCloseTo(0.8);
    expect(first?.state.locals?.get('n')?.confidence).toBeCloseTo(0.5);
    expect(first?.tokens).toBe(7);
    const unchanged = '<|line_sep|>{"n": ".."}<|action_sep|>    m = n\n<|frame_sep|>';
    const [second] = states(reader.read(text(unchanged, [{ text: unchanged, logprob: Math.log(0.6) }])));
    expect(second?.state.locals?.get('n')?.confidence).toBeCloseTo(0.5);
    expect(second?.confidence).toBeCloseTo(0.6);
  });
});

describe('prompts', () => {
  it('put an entry call into a function after the source, whose frames are hidden', async () => {
    const { format, program } = await formatOf('def main(n):\r\n    return n', 'main(1)');
    const { context, wrapper } = contextOf(format, program);
    expect(wrapper).toBe('_main');
    expect(context).toBe(
      'def main(n):\n    return n\ndef _main():  # << START_OF_TRACE\n    return main(1)\n',
    );
    expect(format.opening).toEqual([]);
    expect(format.prompt(new Trajectory(program), -1, 'many')).toMatchObject({
      kind: 'text',
      text: `<|begin_of_text|><|trace_context_start|>${context}<|frame_sep|><|call_sep|>{}<|action_sep|>def _main():\n<|frame_sep|>`,
      stop: [],
    });
  });

  it('write states that no model wrote, with the frame of the entry call before the first', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const { trajectory } = trajectoryOf(format, program, call);
    const written = new Trajectory(program);
    written.append(-1, { name: 'step_into' }, plainPrediction(trajectory.state(0)));
    expect(promptText(format.prompt(written, 0, 'one'))).toBe(
      promptText(format.prompt(trajectory, 0, 'one')),
    );
  });

  it('write an edited state anew, and nothing else', async () => {
    const { format, program } = await formatOf(simple, 'f(1)');
    const odd = call + '<|line_sep|>{"n":".."}<|action_sep|>    m = n\n<|frame_sep|>';
    const { trajectory } = trajectoryOf(format, program, odd);
    const locals = new Map([['n', { repr: '5', confidence: null }]]);
    const edited = trajectory.append(
      0,
      { name: 'step_into' },
      { ...plainPrediction({ ...trajectory.state(1), locals }), text: null },
    );
    const prompt = format.prompt(trajectory, edited, 'one');
    const original = format.prompt(trajectory, 0, 'one');
    if (prompt.kind !== 'text' || original.kind !== 'text') throw new Error('CWM prompts are text.');
    expect(prompt.text).toBe(`${original.text}<|line_sep|>{"n": "5"}<|action_sep|>    m = n\n<|frame_sep|>`);
  });

  it('hold no control token of the source or the values, and say so once', async () => {
    const source = 'def f(n):\n    return "<|frame_sep|>" + n\n';
    const { format, program } = await formatOf(source, 'f("<|end_of_text|>")');
    const { context } = contextOf(format, program);
    expect(context).not.toMatch(/<\|\w+\|>/);
    const answer =
      `<|line_sep|>{}<|action_sep|>    return f("<|end_of_text\u200b|>")\n<|frame_sep|>` +
      `<|call_sep|>{"n": "'<|end_of_text\u200b|>'"}<|action_sep|>def f(n):\n<|frame_sep|>` +
      `<|line_sep|>{"n": ".."}<|action_sep|>    return "<|frame_sep\u200b|>" + n\n<|frame_sep|>`;
    const [first, second] = states(readAnswer(format, new Trajectory(program), -1, answer));
    expect(first && said(first)).toBe("call f 1 n='<|end_of_text|>'");
    expect(first?.doubt).toContain('control token');
    expect(second && said(second)).toBe("line f 2 n='<|end_of_text|>'");
    expect(second?.doubt).toBeNull();
  });

  it('take as long for a state however many came before', async () => {
    const { format, program } = await formatOf('n = 0\nwhile True:\n    n += 1\n', null);
    const trajectory = new Trajectory(program);
    let from = -1;
    for (const step of states(format.opening)) from = trajectory.append(from, { name: 'step_into' }, step);
    let lengthRead = 0;
    for (let index = 0; index < 3000; index++) {
      const content = index === 0 ? '    n = 0' : index % 2 === 1 ? '    while True:' : '        n += 1';
      const answer = `<|line_sep|>{"n": "${index}"}<|action_sep|>${content}\n<|frame_sep|>`;
      const prompt = format.prompt(trajectory, from, 'one');
      lengthRead = prompt.kind === 'text' ? prompt.text.length : 0;
      const [step] = states(readAnswer(format, trajectory, from, answer));
      if (!step) throw new Error('No state was read.');
      from = trajectory.append(from, { name: 'step_into' }, step);
    }
    expect(trajectory.line(from)).toBe(2);
    expect(lengthRead).toBeGreaterThan(100_000);
  });
});

describe('sources that cannot be put to a model', () => {
  it.each([
    ['def f(:\n', null, /syntax error in line 1/],
    ['x = 1\nfrom os import *\n', null, /Line 2 imports all names/],
    ['def f():\n    pass\n', null, /no statement to debug/],
    ['', null, /no statement to debug/],
    [simple, 'f(1', /not a Python expression/],
    [simple, 'x = 1', /not a Python expression/],
    [simple, 'f(1)\nf(2)', /not a Python expression/],
    [simple, ' ', /not a Python expression/],
  ])('%j, entry %j', async (source, entry, message) => {
    await expect(formatOf(source, entry)).rejects.toThrow(message);
  });

  it('are none that import all names before the script begins, or for an entry call', async () => {
    await formatOf('from os import *\nx = 1\n', null);
    await formatOf('x = 1\nfrom os import *\n', 'x');
  });
});

describe('the wrapper of a script', () => {
  async function contextLines(source: string): Promise<string[]> {
    const { format, program } = await formatOf(source, null);
    return contextOf(format, program).context.split('\n');
  }

  it('declares what functions share, definitions, and what was bound before; the rest are its locals', async () => {
    const source =
      'import os\ndef f():\n    global count\n    count += step\ncount = 0\nstep = 1\nos = 2\nlist = list("a")\n' +
      'own = 3\nclass C: pass\n[last := v for v in list]\n';
    const lines = await contextLines(source);
    const declared = lines[lines.indexOf('def main():  # << START_OF_TRACE') + 1];
    const names = declared?.replace('    global ', '').split(', ').sort();
    expect(names).toEqual(['C', 'count', 'last', 'list', 'os', 'step']);
    const { format } = await formatOf(source, null);
    const value = { repr: '1', confidence: null };
    const state = {
      event: 'line',
      function: '<module>',
      line: 9,
      thread: null,
      locals: new Map([
        ['own', value],
        ['count', value],
        ['os', value],
      ]),
      argument: null,
    } as const;
    expect([...(format.project(state)?.locals?.keys() ?? [])]).toEqual(['own']);
  });

  it('cuts annotations out of globals, over several lines too, and keeps the lines', async () => {
    const source =
      'a: int = 1; b: "x" = 2\nc: dict[\n    str,  # key\n    int\n] = {}\nd: list[\n    int\n]\ndef f():\n    return a, b, c, d\nown: int = 3\n';
    const lines = await contextLines(source);
    execFileSync('python3', ['-c', 'import sys; compile(sys.stdin.read(), "context", "exec")'], {
      input: lines.join('\n'),
    });
    expect(lines).toEqual([
      'def main():  # << START_OF_TRACE',
      '    global a, b, c, f',
      '    a = 1; b = 2',
      '    c \\',
      '    \\',
      '    \\',
      '     = {}',
      '    pass \\',
      '    \\',
      ' ',
      '    def f():',
      '        return a, b, c, d',
      '    own: int = 3',
      '',
    ]);
  });

  it('indents no line that begins within a string, and counts form feeds and tabs as Python does', async () => {
    expect(await contextLines('s = """a\n  b\n"""\n\x0cif s:\n    t = 1\n')).toEqual([
      'def main():  # << START_OF_TRACE',
      '    s = """a',
      '  b',
      '"""',
      '\x0c    if s:',
      '        t = 1',
      '',
    ]);
    expect((await contextLines('if 1:\n\tx = 1\n'))[2]).toBe('\t\tx = 1');
  });
});

describe('projection', () => {
  it('leaves out other threads, definitions, and the locals of returns and exceptions', async () => {
    const source = 'class A:\n    x = [i for i in ()]\ndef f():\n    return 1\ny = f()\n';
    const { format } = await formatOf(source, null);
    const locals = new Map([['y', { repr: '<a at 0x1f>', confidence: null }]]);
    const state = { event: 'line', function: 'f', line: 4, thread: null, locals, argument: null } as const;
    expect(format.project({ ...state, thread: 'T-1' })).toBeNull();
    expect(format.project({ ...state, function: '<module>', line: 3 })).toBeNull();
    expect(format.project({ ...state, function: 'A', line: 2 })).toBeNull();
    expect(format.project({ ...state, function: '<listcomp>', line: 2 })).toBeNull();
    expect(format.project({ ...state, event: 'return' })?.locals).toBeNull();
    expect(format.project(state)?.locals?.get('y')?.repr).toBe('<a>');
    expect(format.project({ ...state, event: 'call', function: '<module>', line: 0 })?.locals?.size).toBe(0);
  });
});
