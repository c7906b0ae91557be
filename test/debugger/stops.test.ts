import { afterAll, describe, expect, it } from 'vitest';
import type { Logged } from '../../adapter/debugger/breakpoints';
import { Debugger } from '../../adapter/debugger/debugger';
import { defaultOptions } from '../../adapter/debugger/options';
import type { Stop } from '../../adapter/debugger/stop';
import { parseThreshold } from '../../adapter/debugger/doubt';
import { parseExceptionTypes } from '../../adapter/debugger/exceptionTypes';
import { type HitCondition, parseHitCondition } from '../../adapter/debugger/hitCondition';
import { parseLogMessage } from '../../adapter/debugger/logMessage';
import { ExpressionEvaluator } from '../../adapter/python/expressions';
import { PythonSource } from '../../adapter/python/source';
import type { Step } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { RecordingWorld } from '../../adapter/world/recording';
import { recordedSteps } from '../support/recordings';
import { step } from '../support/steps';

const evaluator = new ExpressionEvaluator({});
afterAll(() => evaluator.close());

/** A debugger over steps that are given, as a model's. */
async function debug(source: string, entry: string, steps: readonly Step[]) {
  const program = { path: '/p.py', source, entry, args: [] };
  const ending: Step = { kind: 'end', how: 'returned', notes: [], text: null, output: null };
  const world = new RecordingWorld(
    { world: { name: 'a test', isReal: false } },
    recordedSteps(steps.at(-1)?.kind === 'end' ? steps : [...steps, ending]),
  );
  const logged: Logged[] = [];
  const session = new Debugger(
    await PythonSource.parse(source),
    new Trajectory(program),
    world,
    evaluator,
    defaultOptions,
    { logged: (one) => logged.push(one) },
  );
  const n = ({ state }: Stop) => session.trajectory.locals(state)?.locals.get('n')?.repr ?? undefined;
  return { session, logged, n };
}

function hits(text: string): HitCondition {
  const parsed = parseHitCondition(text);
  if (!parsed) throw new Error(`${text} is no hit condition`);
  return parsed;
}

const loop = 'def f(n):\n    while n < 10:\n        n += 1\n    return n\n';

/** The loop's states: line 2 with 0 to 10, line 3 with 0 to 9. */
const loopSteps: Step[] = [
  step('call', 'f', 1, { n: '0' }),
  ...Array.from({ length: 11 }, (_, n) => [
    step('line', 'f', 2, { n: `${n}` }),
    ...(n < 10 ? [step('line', 'f', 3, { n: `${n}` })] : []),
  ]).flat(),
  step('line', 'f', 4, { n: '10' }),
  step('return', 'f', 4, { n: '10' }, { argument: '10' }),
];

describe('a hit condition', () => {
  it.each([
    ['3', ['2']],
    ['==3', ['2']],
    ['> 8', ['8', '9']],
    ['>=8', ['7', '8', '9']],
    ['<2', ['0']],
    ['<=2', ['0', '1']],
    ['%4', ['3', '7']],
  ])('%s stops at its hits, forwards and backwards, and again', async (text, expected) => {
    const { session, n } = await debug(loop, 'f(0)', loopSteps);
    session.breakpoints.setLines([{ line: 3, condition: null, hitCondition: hits(text) }]);
    await session.start(true);
    for (let round = 0; round < 2; round++) {
      const seen: (string | undefined)[] = [];
      for (;;) {
        const stop = await session.forward('continue');
        if (stop.reason === 'end') break;
        seen.push(n(stop));
      }
      expect(seen).toEqual(expected);
      const back: (string | undefined)[] = [];
      for (;;) {
        const stop = await session.back('reverseContinue');
        if (stop.reason === 'entry') break;
        back.unshift(n(stop));
      }
      expect(back).toEqual(expected);
    }
  });

  it('counts the visits at which the condition holds, also those before it was set', async () => {
    const { session, n } = await debug(loop, 'f(0)', loopSteps);
    await session.start(true);
    for (let count = 0; count < 6; count++) await session.forward('next');
    session.breakpoints.setLines([{ line: 3, condition: 'n % 2 == 1', hitCondition: hits('3') }]);
    expect(n(await session.forward('continue'))).toBe('5');
    expect((await session.forward('continue')).reason).toBe('end');
    expect(n(await session.back('reverseContinue'))).toBe('5');
  });

  it.each(['', 'x', '0x3', '=3', '%0', '-1', '> n', '3 4', '1.5'])('%j is none', (text) => {
    expect(parseHitCondition(text)).toBeNull();
  });
});

describe('conditions over a long record', () => {
  it('stop where they hold, one by one in both directions', async () => {
    const turns = Array.from({ length: 3_000 }, (_, n) => step('line', 'f', 3, { n: `${n}` }));
    const { session, n } = await debug(loop, 'f(0)', [step('call', 'f', 1, { n: '0' }), ...turns]);
    const condition = 'n in (1, 1500, 1501, 2999) or n == 700 and 1 // 0';
    session.breakpoints.setLines([{ line: 3, condition, id: 7 }]);
    await session.start(true);
    const expected = ['1', '700', '1500', '1501', '2999'];
    const seen: (string | undefined)[] = [];
    for (let stop = await session.forward('continue'); stop.reason !== 'end';) {
      seen.push(n(stop));
      expect(stop.hits).toEqual([7]);
      expect(stop.notes).toHaveLength(n(stop) === '700' ? 1 : 0);
      stop = await session.forward('continue');
    }
    expect(seen).toEqual(expected);
    const back: (string | undefined)[] = [];
    for (let stop = await session.back('reverseContinue'); stop.reason !== 'entry';) {
      back.unshift(n(stop));
      stop = await session.back('reverseContinue');
    }
    // The newest is the last state itself.
    expect(back).toEqual(expected.slice(0, -1));
  });
});

describe('a log point', () => {
  it('writes and does not stop, at each pass on the way forward', async () => {
    const { session, logged } = await debug(loop, 'f(0)', loopSteps);
    const logMessage = parseLogMessage('n={n} {{n}} { {1: n}[1] - n + 1 } {"{}"} {missing} {1 // n} {}');
    session.breakpoints.setLines([{ line: 3, condition: 'n > 7', logMessage }]);
    await session.start(true);
    expect((await session.forward('continue')).reason).toBe('end');
    const texts = ['8', '9'].map((n) => `n=${n} {n} 1 {} not predicted 0 {}`);
    expect(logged.map(({ text }) => text)).toEqual(texts);
    expect((await session.back('reverseContinue')).reason).toBe('entry');
    expect(logged).toHaveLength(2);
    await session.forward('continue');
    expect(logged).toHaveLength(4);
  });

  it('shows what an expression raises, and strings as they are', async () => {
    const { session, logged } = await debug(loop, 'f(0)', loopSteps);
    session.breakpoints.setLines([
      { line: 4, condition: null, logMessage: parseLogMessage('{1 // 0} {"a\\n" + "é"} {n') },
    ]);
    await session.start(true);
    await session.forward('continue');
    expect(logged).toEqual([
      { line: 4, state: 22, text: 'ZeroDivisionError: integer division or modulo by zero a\né {n' },
    ]);
    expect(session.trajectory.line(22)).toBe(4);
    expect(session.trajectory.event(22)).toBe('line');
  });

  it('is no stop of a step, and a step that ends on it writes', async () => {
    const { session, logged } = await debug(loop, 'f(0)', loopSteps);
    session.breakpoints.setLines([{ line: 3, condition: null, logMessage: ['here'] }]);
    await session.start(true);
    expect((await session.forward('next')).reason).toBe('step');
    expect(logged).toHaveLength(1);
  });
});

const classes =
  'class A:\n    def get(self, n):\n        return n\n\n\nclass B:\n    def get(self, n):\n        return n\n\n\ndef f(n):\n    a = A().get(n)\n    return B().get(a)\n';
const classSteps = [
  step('call', 'f', 11, { n: '1' }),
  step('line', 'f', 12, { n: '1' }),
  step('call', 'get', 2, { self: '<A object>', n: '1' }),
  step('line', 'get', 3, { self: '<A object>', n: '1' }),
  step('return', 'get', 3, null, { argument: '1' }),
  step('line', 'f', 13, { n: '1', a: '1' }),
  step('call', 'get', 7, { self: '<B object>', n: '1' }),
  step('line', 'get', 8, { self: '<B object>', n: '1' }),
  step('return', 'get', 8, null, { argument: '1' }),
  step('return', 'f', 13, null, { argument: '1' }),
];

describe('a function breakpoint', () => {
  it.each([
    ['get', [3, 8]],
    ['B.get', [8]],
    ['A.get()', [3]],
    ['et', []],
    ['f', []],
  ])('on %s stops at the first lines of its calls', async (name, lines) => {
    const { session } = await debug(classes, 'f(1)', classSteps);
    session.breakpoints.setFunctions([{ function: name, condition: null, id: 3 }]);
    await session.start(true);
    const seen: number[] = [];
    for (;;) {
      const { reason, state, hits: ids } = await session.forward('continue');
      if (reason === 'end') break;
      expect([reason, ids]).toEqual(['function breakpoint', [3]]);
      seen.push(session.trajectory.line(state));
    }
    expect(seen).toEqual(lines);
  });

  it('stops at the beginning too, and heeds its condition', async () => {
    const { session } = await debug(classes, 'f(1)', classSteps);
    session.breakpoints.setFunctions([{ function: 'f', condition: 'n == 1' }]);
    expect(await session.start(false)).toMatchObject({ reason: 'function breakpoint', state: 1 });
    session.breakpoints.setFunctions([{ function: 'get', condition: 'n > 1' }]);
    expect((await session.forward('continue')).reason).toBe('end');
  });
});

describe('a data breakpoint', () => {
  const steps = [
    step('call', 'f', 1, { n: '1' }),
    step('line', 'f', 2, { n: '1' }),
    step('line', 'f', 3, { n: '1', d: "{'a': [1]}" }),
    step('call', 'f', 1, { n: '9' }),
    step('line', 'f', 2, { n: '9' }),
    step('return', 'f', 2, null, { argument: 'None' }),
    step('line', 'f', 2, { n: '1', d: "{'a': [1, 2]}" }),
    step('line', 'f', 3, { n: '2', d: null }),
    step('line', 'f', 2, { n: '2', d: "{'a': [1, 2]}" }),
    step('line', 'f', 3, { n: '2' }),
    step('return', 'f', 3, null, { argument: '2' }),
  ];

  it.each([
    ['n', ['7 n changed from 1 to 2']],
    [
      'd["a"]',
      [
        '2 d["a"] is now [1], and was not there before',
        '6 d["a"] changed from [1] to [1, 2]',
        '9 d["a"] is gone, and was [1, 2]',
      ],
    ],
    ['d["a"][0]', ['2 d["a"][0] is now 1, and was not there before', '9 d["a"][0] is gone, and was 1']],
  ])('on %s stops where it has changed in its own frame, backwards too', async (path, changes) => {
    const { session } = await debug(loop, 'f(1)', steps);
    session.breakpoints.setData([{ variable: { activation: 0, function: 'f', path }, condition: null }]);
    await session.start(true);
    const seen: string[] = [];
    for (let stop = await session.forward('continue'); stop.reason !== 'end';) {
      expect(stop.reason).toBe('data breakpoint');
      seen.push(`${stop.state} ${stop.why ?? ''}`);
      stop = await session.forward('continue');
    }
    expect(seen).toEqual(changes);
    const back: string[] = [];
    for (let stop = await session.back('reverseContinue'); stop.reason !== 'entry';) {
      back.unshift(`${stop.state} ${stop.why ?? ''}`);
      stop = await session.back('reverseContinue');
    }
    expect(back).toEqual(changes);
  });

  it('says so where a step ends on the change', async () => {
    const { session } = await debug(loop, 'f(1)', steps);
    session.breakpoints.setData([
      { variable: { activation: 0, function: 'f', path: 'd' }, condition: null, hitCondition: hits('1') },
    ]);
    await session.start(true);
    expect((await session.forward('next')).reason).toBe('data breakpoint');
    expect((await session.forward('next')).reason).toBe('step');
  });
});

describe('the filter of doubts', () => {
  const steps = [
    step('call', 'f', 1, { n: '1' }, { confidence: 0.99 }),
    step('line', 'f', 2, { n: '1' }, { confidence: 0.7, otherLines: [3, 4] }),
    step('line', 'f', 3, { n: '2' }, { confidence: 0.9, doubt: 'Line 3 cannot follow line 2.' }),
    {
      ...step('line', 'f', 4, {}, { confidence: 0.95 }),
      state: {
        ...step('line', 'f', 4).state,
        locals: new Map([['n', { repr: '3', confidence: 0.45 }]]),
      },
    },
    {
      ...step('line', 'f', 4, {}, { confidence: 0.95 }),
      state: {
        ...step('line', 'f', 4).state,
        locals: new Map([['n', { repr: '3', confidence: 0.44 }]]),
      },
    },
    step('return', 'f', 4, null, { argument: '3', confidence: 0.2 }),
  ];

  it('stops below the threshold, says why and names the alternatives', async () => {
    const { session } = await debug(loop, 'f(1)', steps);
    session.breakpoints.doubtBelow = 0.8;
    expect((await session.start(true)).reason).toBe('entry');
    const seen: unknown[] = [];
    await session.back('reverseContinue');
    for (;;) {
      const stop = await session.forward('continue');
      if (stop.reason === 'end') break;
      seen.push([stop.reason, stop.state, stop.why]);
    }
    expect(seen).toEqual([
      ['doubt', 2, 'Line 3 cannot follow line 2'],
      ['doubt', 3, 'n = 3 is 45% sure'],
      ['doubt', 5, 'the return on line 4 is 20% sure'],
    ]);
    session.breakpoints.doubtBelow = 0.5;
    expect(await session.back('reverseContinue')).toMatchObject({ reason: 'doubt', state: 3 });
  });

  it('names other lines, and is told where a step ends', async () => {
    const { session } = await debug(loop, 'f(1)', steps);
    await session.start(true);
    session.breakpoints.doubtBelow = 0.8;
    const match = await session.breakpoints.match(session.trajectory, 1);
    expect(match?.why).toBe('line 2 is 70% sure; it may also be on line 3 or 4');
    expect(await session.forward('next')).toMatchObject({ reason: 'doubt', state: 2 });
  });

  it.each([
    ['0.8', 0.8],
    ['80%', 0.8],
    ['1', 1],
    ['0', null],
    ['80', null],
    ['x', null],
  ])('reads %j', (text, threshold) => {
    expect(parseThreshold(text)).toBe(threshold);
  });
});

describe('filters of exceptions', () => {
  const steps: Step[] = [
    step('call', 'f', 1, { n: '1' }),
    step('line', 'f', 2, { n: '1' }),
    step('exception', 'f', 2, { n: '1' }, { argument: "KeyError('a')" }),
    step('line', 'f', 3, { n: '1' }),
    step('exception', 'f', 3, { n: '1' }, { argument: "json.decoder.JSONDecodeError('x')" }),
    step('return', 'f', 3, null, { argument: 'None' }),
    { kind: 'end', how: 'raised', notes: [], text: null, output: null },
  ];

  it.each([
    ['KeyError', [2]],
    ['JSONDecodeError', [4]],
    ['KeyError, json.decoder.JSONDecodeError', [2, 4]],
    ['Key', []],
    ['LookupError', [2]],
    ['Exception', [2, 4]],
    ['IndexError, OSError', []],
  ])('limited to %s stop at these types', async (names, states) => {
    const { session } = await debug(loop, 'f(1)', steps);
    const types = parseExceptionTypes(names);
    Object.assign(session.breakpoints, { raised: true, raisedTypes: types, uncaught: false });
    await session.start(true);
    const seen: number[] = [];
    for (let stop = await session.forward('continue'); stop.reason !== 'end';) {
      seen.push(stop.state);
      stop = await session.forward('continue');
    }
    expect(seen).toEqual(states);
  });

  it('limit uncaught exceptions too', async () => {
    const { session } = await debug(loop, 'f(1)', steps);
    session.breakpoints.uncaughtTypes = parseExceptionTypes('KeyError');
    await session.start(true);
    expect((await session.forward('continue')).reason).toBe('end');
    session.breakpoints.uncaughtTypes = parseExceptionTypes('JSONDecodeError');
    await session.start(true);
    expect(await session.forward('continue')).toMatchObject({ reason: 'exception', state: 4 });
  });

  it.each(['', 'a-b', '1', 'A; B'])('%j names no types', (text) => {
    expect(parseExceptionTypes(text)).toBeNull();
  });
});

describe('a breakpoint on a function', () => {
  const source =
    'class A:\n    def f(self):\n        pass\n\n\nclass B:\n    def f(self):\n        pass\n\n\nA().f()\n';

  it.each([
    ['B.f', [7], [], 2],
    ['B.f', [], [8], 2],
    ['B.f', [], [], null],
    ['A.f', [7], [8], 2],
  ])('on %s stops where a call may be on %j, its line on %j', async (name, called, entered, expected) => {
    const steps: Step[] = [
      step('line', '<module>', 11),
      step('call', 'f', 2, {}, { otherLines: called }),
      step('line', 'f', 3, {}, { otherLines: entered }),
      step('return', 'f', 3, null, { argument: 'None' }),
      step('return', '<module>', 11, null, { argument: 'None' }),
    ];
    const { session } = await debug(source, 'g()', steps);
    session.breakpoints.setFunctions([{ function: name, condition: null }]);
    await session.start(true);
    const { reason, state } = await session.forward('continue');
    expect(reason).toBe(expected === null ? 'end' : 'function breakpoint');
    if (expected !== null) expect(state).toBe(expected);
  });
});
