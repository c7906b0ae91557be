import { describe, expect, it } from 'vitest';
import { CatalogueError } from '../../../adapter/errors';
import type { Step } from '../../../adapter/trajectory/state';
import { brief, end, isState, open, program, readAnswer, record, reply, source } from './support';

async function read(
  answer: string,
  options: { pieces?: number; reason?: 'stop' | 'length' } = {},
  of = program(source),
): Promise<Step[]> {
  const { format, trajectory, at } = await open(of);
  return readAnswer(format.reader(trajectory, at), answer, options);
}

const briefly = async (...args: Parameters<typeof read>) => (await read(...args)).map(brief);

const functions = '{double: <function double>, main: <function main>}';
const state = (fields: object) =>
  JSON.stringify({
    event: 'line',
    function: 'main',
    line: 5,
    locals: [],
    value: null,
    output: '',
    ...fields,
  });
const states = (...of: string[]) => `{"states":[${of.join(',')}],"ended":false}`;
const first = state({ function: '<module>', line: 10 });
const call = state({ event: 'call', line: 4 });

describe('answers in the styles of models', () => {
  it.each([
    [
      'wellBehaved',
      [`<module>: line 10 ${functions}`, 'main: call 4 {}', 'main: line 5 {}', 'main: line 6 {total: 0}'],
    ],
    ['fenced', [`<module>: line 10 ${functions}`, 'main: call 4 {}']],
    ['thinking', ['<module>: line 10 {}']],
    ['thinkingWithoutOpening', ['<module>: line 10 {}']],
    ['single', ["<module>: line 10 {event: 'x', line: 3} ! <module> has no variable event."]],
    ['lines', ['<module>: line 10 {}', 'main: call 4 {}']],
    [
      'ending',
      [
        '<module>: line 10 {}',
        'main: call 4 {}',
        'main: return 8 {total: 6} = 6',
        '<module>: return 10 {} = None',
        'end: returned',
      ],
    ],
    [
      'raising',
      [
        '<module>: line 10 {}',
        'main: call 4 {}',
        'main: line 5 {}',
        "main: exception 5 {} = ValueError('no')",
        "<module>: exception 10 {} = ValueError('no') ^1",
        '<module>: return 10 {} = None',
        'end: raised',
      ],
    ],
    [
      'sloppy',
      [
        `<module>: line 10 ${functions}`,
        'main: call 4 {}',
        'main: line 5 ?',
        `main: line 6 {total: 0, flag: True, nothing: None, items: [1, "it's", 2.50], pair: (1, 'a'), table: {'k': [False]}, bag: {1, 2}, name: 'ann', big: 123456789012345678901234567890} ! main has no variable flag.`,
        `main: exception 6 ? = ValueError("it's bad")`,
      ],
    ],
  ])('reads %s', async (name, expected) => {
    for (const pieces of [1, 7, 100_000])
      expect(await briefly(reply(name), { pieces }), `${pieces}`).toEqual(expected);
  });

  it('keeps the complete states of an answer that the token limit cut', async () => {
    expect(await briefly(reply('cut'), { reason: 'length' })).toEqual([
      '<module>: line 10 {}',
      'main: call 4 {}',
    ]);
  });

  it('takes a last state that lacks only its closing brackets', async () => {
    const answer = `{"states":[${first},${call},{"event":"line","function":"main","line":5,"locals":[]`;
    expect(await briefly(answer)).toEqual(['<module>: line 10 {}', 'main: call 4 {}', 'main: line 5 {}']);
    expect(await briefly(answer, { reason: 'length' })).toHaveLength(2);
  });

  it('gives each state when it is complete', async () => {
    const { format, trajectory, at } = await open(program(source));
    const reader = format.reader(trajectory, at);
    const text = (piece: string) => reader.read({ kind: 'text', text: piece, tokens: [] }).map(brief);
    expect(text(`{"states":[${first.slice(0, -1)}`)).toEqual([]);
    expect(text('}')).toEqual(['<module>: line 10 {}']);
    expect(text(`,${call}`)).toEqual(['main: call 4 {}']);
    expect(text('],"ended":false}')).toEqual([]);
    expect(reader.read(end())).toEqual([]);
  });

  it('keeps the text, the output and the number of tokens of each state', async () => {
    const steps = await read(states(first, state({ event: 'call', line: 4, output: 'hi\n' })));
    expect(steps.filter(isState).map(({ text, output }) => [text, output])).toEqual([
      [first, ''],
      [state({ event: 'call', line: 4, output: 'hi\n' }), 'hi\n'],
    ]);
    for (const { tokens } of steps.filter(isState)) expect(tokens).toBeGreaterThan(10);
  });
});

describe('confidence', () => {
  it('is the least probability of what says a thing', async () => {
    const { format, trajectory, at } = await open(program(source));
    const reader = format.reader(trajectory, at);
    const parts: [string, number][] = [
      ['{"event":"line","function":"<module>","line":', 0.5],
      ['1', 0.9],
      ['0', 0.8],
      [',"locals":[{"name":"double","value":"', 0.3],
      ['<function', 0.7],
      [' double>', 0.6],
      ['"}]}', 0.1],
    ];
    const tokens = parts.map(([text, probability]) => ({ text, logprob: Math.log(probability) }));
    const text = parts.map(([piece]) => piece).join('');
    const [step] = reader.read({ kind: 'text', text, tokens });
    if (step?.kind !== 'state') throw new Error('no state was read');
    expect(step.confidence).toBeCloseTo(0.5);
    // The quotes of the value belong to the tokens around it.
    expect(step.state.locals?.get('double')?.confidence).toBeCloseTo(0.1);
    expect(step.tokens).toBeGreaterThanOrEqual(parts.length - 1);
  });

  it('is not made up where the server tells no probabilities', async () => {
    const [step] = (
      await read(states(state({ function: '<module>', line: 10, locals: [{ name: 'main', value: '1' }] })))
    ).filter(isState);
    expect(step?.confidence).toBeNull();
    expect(step?.state.locals?.get('main')).toEqual({ repr: '1', confidence: null });
  });
});

describe('what does not check', () => {
  const after = (...of: string[]) => briefly(states(first, call, ...of)).then((all) => all.slice(2));

  it.each([
    ['a line that is not there', state({ line: 99 }), 'main: line 4 {} ! The file has no line 99.'],
    ['a line of another function', state({ line: 2 }), 'main: line 2 {} ! main has no statement that begins on line 2.'],
    ['a line that is not reached', state({ line: 8 }), 'main: line 8 {} ! main does not begin on line 8.'],
    ['a missing line', '{"event":"line","function":"main","locals":[]}', 'main: line 4 {} ! The model does not say on which line.'],
    ['a missing event', '{"function":"main","line":5,"locals":[]}', 'main: line 5 {} ! The model does not say which event this is.'],
    ['a return of a function that is not running', state({ event: 'return', function: 'double', line: 8, value: '2' }), 'main: return 8 {} = 2 ! The model names double, but main is running.'],
    ['a return from a line that has none', state({ event: 'return', line: 5, value: '2' }), 'main: return 5 {} = 2 ! main cannot be left from line 5.'],
    ['a call of a builtin', state({ event: 'call', function: 'len', line: 5 }), 'len: call 5 {} ! The file has no function len.'],
    ['the line of the caller for a call', state({ event: 'call', function: 'double', line: 7 }), 'double: call 1 {}'],
    ['a value that is not known', state({ event: 'return', line: 8, value: 'unknown' }), 'main: return 8 {} = ?'],
    ['a missing value', '{"event":"return","function":"main","line":8,"locals":[]}', 'main: return 8 {} = ?'],
  ])('doubts or mends %s', async (_, answered, expected) => {
    expect(await after(answered)).toEqual([expected]);
  }); // prettier-ignore

  it('leaves frames whose return events are missing', async () => {
    expect(await after(state({ line: 5 }), state({ function: '<module>', line: 10 }))).toEqual([
      'main: line 5 {}',
      '<module>: line 10 {} ^1 ! main was left without a return event. Control cannot go from line 10 to line 10.',
    ]);
  });

  it('adds a call that was left out', async () => {
    expect(await after(state({ function: 'double', line: 2, locals: [{ name: 'n', value: '1' }] }))).toEqual([
      'double: call 1 ? ! The model left this call out.',
      'double: line 2 {n: 1}',
    ]);
  });

  it('takes the call of a class for that of its __init__', async () => {
    const text = 'class A:\n    def __init__(self):\n        self.x = 1\n\na = A()\n';
    const answer = states(
      state({ function: 'module', line: 5 }),
      state({ event: 'call', function: 'A', line: 5 }),
    );
    expect((await briefly(answer, {}, program(text))).at(-1)).toBe(
      '__init__: call 2 {} ! The model names the class A instead of its __init__.',
    );
  });

  it('keeps what the model marks as unchanged', async () => {
    expect(
      await after(
        state({}),
        state({ line: 6, locals: [{ name: 'total', value: '0' }] }),
        state({
          line: 7,
          locals: [
            { name: 'total', value: '..' },
            { name: 'i', value: '1' },
          ],
        }),
      ),
    ).toEqual(['main: line 5 {}', 'main: line 6 {total: 0}', 'main: line 7 {total: 0, i: 1}']);
  });

  it('drops a repetition of the current state, and fails where nothing else comes', async () => {
    const opened = await open(program(source));
    record(opened, readAnswer(opened.format.reader(opened.trajectory, opened.at), states(first)));
    const again = (answer: string) => () =>
      readAnswer(opened.format.reader(opened.trajectory, opened.at), answer).map(brief);
    expect(again(states(first, call))()).toEqual(['main: call 4 {}']);
    expect(again(states(first))).toThrow(expect.objectContaining({ code: 405 }));
    const module = state({ event: 'call', function: '<module>', line: 1 });
    expect(await briefly(states(module, first))).toEqual(['<module>: line 10 {}']);
  });

  it('takes a line twice that leads to itself', async () => {
    const opened = await open(program('for i in [1, 1, 1]: pass\n'));
    const turn = states(state({ function: '<module>', line: 1, locals: [{ name: 'i', value: '1' }] }));
    for (let n = 0; n < 3; n++) {
      const steps = readAnswer(opened.format.reader(opened.trajectory, opened.at), turn);
      expect(steps.map(brief)).toEqual(['<module>: line 1 {i: 1}']);
      record(opened, steps);
    }
  });
});

describe('the end', () => {
  it('is believed without the return of the last frame, with a note', async () => {
    expect(await briefly(`{"states":[${first}],"ended":true}`)).toEqual([
      '<module>: line 10 {}',
      'end: returned (The model says that the program ended here; <module> was not left.)',
    ]);
    expect(await briefly('{"states":[],"ended":true}')).toHaveLength(1);
    expect(await briefly(`{"states":[${first}, {"event": "end"}]}`)).toHaveLength(2);
  });

  it('is not believed while functions are running', async () => {
    expect((await briefly(`{"states":[${first},${call}],"ended":true}`)).at(-1)).toBe('main: call 4 {}');
  });

  it('tells an exit from a failure', async () => {
    const raising = (value: string) =>
      `{"states":[${first},${state({ event: 'exception', function: '<module>', line: 10, value })}],"ended":true}`;
    expect((await briefly(raising('SystemExit(0)'))).at(-1)).toMatch(/^end: exited/);
    expect((await briefly(raising('KeyError'))).slice(1)).toEqual([
      '<module>: exception 10 {} = KeyError()',
      expect.stringMatching(/^end: raised/),
    ]);
  });

  it('follows the return of the entry function', async () => {
    const answer = states(
      state({ event: 'call', function: 'double', line: 1, locals: [{ name: 'n', value: '4' }] }),
      state({ function: 'double', line: 2, locals: [{ name: 'n', value: '4' }] }),
      state({
        event: 'return',
        function: 'double',
        line: 2,
        locals: [{ name: 'n', value: '4' }],
        value: '8',
      }),
    );
    expect(await briefly(answer, {}, program(source, 'double(4)'))).toEqual([
      'double: call 1 {n: 4}',
      'double: line 2 {n: 4}',
      'double: return 2 {n: 4} = 8',
      'end: returned',
    ]);
  });
});

describe('answers without a state', () => {
  it.each([
    ['nothing', '  \n', 'stop', 403],
    ['words', "I'm sorry, I can't run code\u001b[31m \u202e.", 'stop', 401],
    ['other JSON', '{"answer": 42}', 'stop', 401],
    ['garbage', '{{{{[[[["\\', 'stop', 401],
    ['a state that was cut', '{"states":[{"event":"line","func', 'length', 402],
    ['a thought without an end', '<think>Hmm, {"event":"line","line":10}', 'length', 404],
  ] as const)('are an error: %s', async (_, answer, reason, code) => {
    const thrown: unknown = await read(answer, { reason }).catch((error: unknown) => error);
    if (!(thrown instanceof CatalogueError)) throw new Error('no error of the catalogue was thrown');
    expect(thrown.code).toBe(code);
    expect(thrown.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
