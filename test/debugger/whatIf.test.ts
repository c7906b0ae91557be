import { afterAll, describe, expect, it } from 'vitest';
import { alternativesTo } from '../../adapter/debugger/alternatives';
import { branchesOf, followBranch } from '../../adapter/debugger/branches';
import { Debugger } from '../../adapter/debugger/debugger';
import { changeOf, givenNames } from '../../adapter/debugger/whatIf';
import { createChatFormat } from '../../adapter/format/chat/chatFormat';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';
import { ExpressionEvaluator } from '../../adapter/python/expressions';
import { PythonSource } from '../../adapter/python/source';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { LanguageModelWorld } from '../../adapter/world/languageModel';
import { promptText, ScriptedModel } from '../support/scriptedModel';

const evaluator = new ExpressionEvaluator({});
afterAll(() => evaluator.close());

const source = 'def f(n):\n    m = n + 1\n    d = {"a": m}\n    return d\n';

/** Frames of the format cwm, written as a model might: with a spacing of its own. */
function line(locals: Record<string, string>, text: string): string {
  return `<|line_sep|>${JSON.stringify(locals)}<|action_sep|>    ${text}\n<|frame_sep|>`;
}
const call = '<|call_sep|>{"n":"3"}<|action_sep|>def f(n):\n<|frame_sep|>';
const header = '<|line_sep|>{}<|action_sep|>    return f(3)\n<|frame_sep|>';

/** The value of a local in the newest frame of a prompt that has it in full. */
function newest(prompt: string, name: string): string {
  return [...prompt.matchAll(new RegExp(`"${name}": ?"((?!\\.\\.")[^"]*)"`, 'g'))].at(-1)?.[1] ?? '';
}

/** Answers with one frame: what the program does after the prompt's last one, with the values in the prompt. */
function model(prompt: string): string {
  const history = prompt.slice(prompt.indexOf('START_OF_TRACE'));
  const last = history.lastIndexOf('<|action_sep|>');
  const at = history.slice(last + '<|action_sep|>'.length);
  if (at.includes('<|arg_sep|>')) return '<|end_of_text|>';
  if (at.startsWith('def main')) return header + call;
  if (at.startsWith('def f')) return line({ n: '..' }, 'm = n + 1');
  if (at.startsWith('    m =')) {
    return line({ n: '..', m: String(Number(newest(history, 'n')) + 1) }, 'd = {"a": m}');
  }
  if (at.startsWith('    d =')) {
    return line({ n: '..', m: '..', d: `{'a': ${newest(history, 'm')}}` }, 'return d');
  }
  if (at.startsWith('    return d')) {
    return `<|return_sep|><|action_sep|>    return d\n<|arg_sep|>"${newest(history, 'd')}"<|frame_sep|>`;
  }
  return '<|end_of_text|>';
}

async function debug(
  format: 'cwm' | 'chat' = 'cwm',
  answer: (prompt: string, asked: number) => string = model,
) {
  const program = { path: '/p.py', source, entry: 'f(3)', args: [] };
  const parsed = await PythonSource.parse(source);
  const completions = new ScriptedModel(answer);
  const written =
    format === 'cwm' ? await createCwmFormat(program, parsed) : createChatFormat(program, parsed);
  const world = new LanguageModelWorld(written, completions);
  const session = new Debugger(parsed, new Trajectory(program), world, evaluator);
  const locals = () =>
    Object.fromEntries(
      [...(session.trajectory.locals(session.cursor)?.locals ?? [])].map(([name, { repr }]) => [name, repr]),
    );
  const edit = (name: string, value: string) =>
    session.whatIf({ locals: new Map([[name, value]]), line: null });
  return { session, completions, locals, edit };
}

describe('what if a local had another value', () => {
  it('what follows is predicted from the edited state, and everything else is sent as it was', async () => {
    const { session, completions, locals, edit } = await debug();
    await session.start(true);
    await session.forward('next');
    expect(locals()).toEqual({ n: '3', m: '4' });
    const before = session.trajectory.length;
    expect(await edit('m', '40')).toMatchObject({ reason: 'goto', state: before });
    expect(locals()).toEqual({ n: '3', m: '40' });
    expect(session.trajectory.length).toBe(before + 1);
    await session.forward('next');
    expect(locals()).toEqual({ n: '3', m: '40', d: "{'a': 40}" });
    const sent = promptText(completions.prompts.at(-1));
    const context = sent.slice(0, sent.indexOf('<|call_sep|>'));
    expect(sent).toBe(
      `${context}<|call_sep|>{}<|action_sep|>def main():\n<|frame_sep|>${header}${call}` +
        line({ n: '..' }, 'm = n + 1') +
        '<|line_sep|>{"n": "..", "m": "40"}<|action_sep|>    d = {"a": m}\n<|frame_sep|>',
    );
    expect([...givenNames(session.trajectory, session.cursor)]).toEqual(['m']);
    expect((await session.forward('next')).reason).toBe('return');
    expect(session.trajectory.argument(session.cursor)?.repr).toBe("{'a': 40}");
  });

  it('an edit back to the value before is written in full', async () => {
    const { session, completions, edit } = await debug();
    await session.start(true);
    await edit('n', '7');
    await session.forward('next');
    const original = session.cursor;
    await edit('n', '3');
    await edit('m', '5');
    await session.forward('next');
    expect(promptText(completions.prompts.at(-1))).toContain('{"n": "3", "m": "5"}<|action_sep|>    d =');
    await session.goTo(original);
    await edit('n', '3');
    expect((await edit('n', '7')).state).toBe(original);
  });

  it('the old branch stays, and can be followed again without a question', async () => {
    const { session, completions, locals, edit } = await debug();
    await session.start(true);
    await session.forward('next');
    await session.forward('next');
    await session.back('stepBack');
    await edit('m', '40');
    await session.forward('next');
    expect(locals()).toEqual({ n: '3', m: '40', d: "{'a': 40}" });
    const { trajectory } = session;
    expect(branchesOf(trajectory, session.cursor)).toMatchObject([
      { number: 1, isCurrent: false, length: 4 },
      { number: 2, isCurrent: true, length: 2, label: 'what if m = 40' },
    ]);
    const asked = completions.prompts.length;
    const parting = followBranch(trajectory, 1, session.cursor);
    expect(parting).toBe(2);
    await session.goTo(parting ?? -1);
    expect(locals()).toEqual({ n: '3', m: '4' });
    await session.forward('next');
    expect(locals()).toEqual({ n: '3', m: '4', d: "{'a': 4}" });
    await session.goTo(followBranch(trajectory, 2, session.cursor) ?? -1);
    expect(locals()).toEqual({ n: '3', m: '40' });
    await session.forward('next');
    expect(locals()).toEqual({ n: '3', m: '40', d: "{'a': 40}" });
    expect(completions.prompts.length).toBe(asked);
  });

  it('the same edit twice is one branch, and an edit to what is there is none', async () => {
    const { session, edit } = await debug();
    await session.start(true);
    const original = session.cursor;
    const first = (await edit('n', '9')).state;
    await session.goTo(original);
    expect((await edit('n', '9')).state).toBe(first);
    expect((await edit('n', '9')).state).toBe(first);
    expect((await edit('n', '3')).state).toBe(original);
    expect(session.trajectory.branchBeginnings).toHaveLength(2);
  });

  it('a step back from what follows an edited beginning leads to it, and a restart to the beginning as it was', async () => {
    const { session, locals, edit } = await debug();
    await session.start(true);
    await edit('n', '9');
    await session.forward('next');
    expect(locals()).toEqual({ n: '9', m: '10' });
    expect((await session.back('stepBack')).reason).toBe('entry');
    expect(locals()).toEqual({ n: '9' });
    expect((await session.back('stepBack')).notes).toEqual(['This is the beginning of the record.']);
    expect(locals()).toEqual({ n: '9' });
    await session.forward('next');
    await session.back('reverseContinue');
    expect(locals()).toEqual({ n: '9' });
    await session.start(true);
    expect(locals()).toEqual({ n: '3' });
  });

  it('execution can be put on another line of the function', async () => {
    const { session, locals } = await debug();
    await session.start(true);
    await session.whatIf({ locals: new Map([['m', '5']]), line: 3 });
    expect(session.trajectory.line(session.cursor)).toBe(3);
    expect(session.trajectory.prediction(session.cursor).confidence).toBeNull();
    await session.forward('next');
    expect(locals()).toEqual({ n: '3', m: '5', d: "{'a': 5}" });
  });

  it('is refused with the reason where it cannot be', async () => {
    const { session, edit } = await debug();
    await expect(edit('n', '1')).rejects.toThrow('not started');
    await session.start(true);
    await expect(edit('q', '1')).rejects.toThrow('f has no variable q');
    await expect(edit('n', '<object>')).rejects.toThrow('no literal');
    await expect(session.whatIf({ locals: new Map(), line: 1 })).rejects.toThrow('not a line of f');
    await session.forward('next');
    await session.forward('next');
    await session.forward('next');
    expect(session.trajectory.event(session.cursor)).toBe('return');
    await expect(edit('n', '1')).rejects.toThrow('carry no locals');
  });

  it('a chat model is told the edited state whole, and that a person made it', async () => {
    const states = [
      { event: 'call', function: 'f', line: 1, locals: [{ name: 'n', value: '3' }], value: null, output: '' },
      { event: 'line', function: 'f', line: 2, locals: [{ name: 'n', value: '3' }], value: null, output: '' },
    ];
    const { session, completions, edit } = await debug('chat', (_, asked) =>
      JSON.stringify({ states: [states[asked - 1] ?? states[1]], ended: false }),
    );
    await session.start(true);
    await edit('n', '[1, 2]');
    await expect(session.forward('stepIn')).resolves.toBeDefined();
    expect(promptText(completions.prompts.at(-1))).toContain(
      '"line":2,"locals":[{"name":"n","value":"[1, 2]"}],"value":null,"output":"","setInDebugger":["n"]}',
    );
    await expect(edit('n', `'${'x'.repeat(3_000)}'`)).rejects.toThrow('longer than');
  });
});

describe('the value that a person gives', () => {
  const locals = new Map(
    Object.entries({ n: '3', d: "{'a': [1, 2], 'b': None}", o: '<object>', t: '(1, 2)', s: "'ab'" }).map(
      ([name, repr]) => [name, { repr, confidence: null }] as const,
    ),
  );

  it.each([
    ['n', '0x10', 'n', '16'],
    ['n', 'n * 2 + len(t)', 'n', '8'],
    ['n', '{3, 1}', 'n', '{1, 3}'],
    ['d["a"][1]', 'n', 'd', "{'a': [1, 3], 'b': None}"],
    ["d['a'][-2]", '"x"', 'd', "{'a': ['x', 2], 'b': None}"],
    ['d["b"]', '{}', 'd', "{'a': [1, 2], 'b': {}}"],
    ['d["new"]', '1', 'd', "{'a': [1, 2], 'b': None, 'new': 1}"],
    ['t[0]', 'None', 't', '(None, 2)'],
  ])('%s = %s writes %s anew', async (target, value, name, repr) => {
    expect([...(await changeOf(target, value, locals, evaluator)).locals]).toEqual([[name, repr]]);
  });

  it.each([
    ['n', 'nothing', 'nothing'],
    ['n', '1 / 0', 'ZeroDivisionError'],
    ['n', 'object()', 'cannot be set'],
    ['n', 'n +', 'SyntaxError'],
    ['n', 'float("inf")', 'no literal'],
    ['s[0]', '"x"', 'no part'],
    ['d["a"][7]', '1', 'no part'],
    ['o.x', '1', 'no part'],
    ['n + 1', '1', 'no part'],
    ['', '1', 'no part'],
  ])('%s = %s is refused', async (target, value, message) => {
    await expect(changeOf(target, value, locals, evaluator)).rejects.toThrow(message);
  });
});

describe('samples of what comes next', () => {
  /** A model that is not sure of m: 4, 4, 5, and so on. */
  const unsure = (prompt: string, asked: number) => {
    const answer = model(prompt);
    return asked % 3 === 2 ? answer.replace('"m":"4"', '"m":"5"') : answer;
  };

  it('are grouped, shared out, kept as branches, and give the confidence that the server does not', async () => {
    const { session, completions, locals } = await debug('cwm', unsure);
    await session.start(true);
    const { trajectory } = session;
    const from = session.cursor;
    const samples = await session.sampleAgain(6);
    expect(completions.temperatures.slice(-6)).toEqual(Array(6).fill(0.6));
    expect(session.cursor).toBe(from);
    expect(samples).toMatchObject({ drawn: 6, groups: [{ count: 4 }, { count: 2 }], notes: [] });
    const [most, least] = samples.groups.map(({ state }) => state ?? -1);
    expect(trajectory.next(from)).toBe(most);
    expect(trajectory.prediction(most ?? -1).confidence).toBe(1);
    expect(trajectory.state(most ?? -1).locals?.get('m')).toEqual({ repr: '4', confidence: 4 / 6 });
    expect(trajectory.state(most ?? -1).locals?.get('n')?.confidence).toBeNull();
    expect(trajectory.children(from)).toEqual(expect.arrayContaining([most, least]));
    await session.goTo(followBranch(trajectory, 2, session.cursor) ?? -1);
    expect(locals()).toEqual({ n: '3', m: '5' });
  });

  it('of what is recorded already are not taken from the record, and add to it only what is new', async () => {
    const { session, completions } = await debug('cwm', unsure);
    await session.start(true);
    const from = session.cursor;
    await session.forward('next');
    const known = session.cursor;
    await session.back('stepBack');
    const asked = completions.prompts.length;
    const { groups } = await session.sampleAgain(3);
    expect(completions.prompts.length).toBe(asked + 3);
    expect(groups.map(({ state }) => state)).toContain(known);
    expect(session.trajectory.children(from)).toHaveLength(2);
    expect(session.trajectory.next(from)).toBe(known);
  });

  it('a model that fails after some samples loses none of them', async () => {
    const { session } = await debug('cwm', (prompt, asked) => (asked === 5 ? 'nonsense' : model(prompt)));
    await session.start(true);
    const samples = await session.sampleAgain(9);
    expect(samples.groups).toHaveLength(1);
    expect(samples.notes.at(-1)).toMatch(/^\d of 9 samples were drawn\.$/);
  });
});

describe('what else could stand there', () => {
  /** A model that is not sure of m where it is sampled: 4, 4, 5, and so on. */
  const unsure = (prompt: string, asked: number) => {
    const answer = model(prompt);
    return asked % 3 === 2 ? answer.replace('"m":"4"', '"m":"5"') : answer;
  };

  it('is sampled where a value was given, and shared out over its values', async () => {
    const { session, completions } = await debug('cwm', unsure);
    await session.start(true);
    await session.forward('next');
    const given = session.cursor;
    await session.forward('next');
    const asked = completions.prompts.length;
    const cursor = session.cursor;
    const found = await alternativesTo(session, cursor, 'm', 6);
    expect(completions.prompts.length).toBe(asked + 6);
    expect(found).toMatchObject({ name: 'm', state: given, line: 3, shown: '4', drawn: 6 });
    expect(found.rows).toEqual([
      { value: '4', count: 4, share: 4 / 6, isShown: true, branch: 1 },
      { value: '5', count: 2, share: 2 / 6, isShown: false, branch: 2 },
    ]);
    expect(session.cursor).toBe(cursor);
    await session.goTo(followBranch(session.trajectory, 2, session.cursor) ?? -1);
    expect(session.trajectory.locals(session.cursor)?.locals.get('m')?.repr).toBe('5');
  });

  it('is told of states as a whole, and of what is shown also where no sample said it', async () => {
    const { session } = await debug('cwm', (prompt, asked) =>
      asked > 3 ? model(prompt).replace('"m":"4"', '"m":"7"') : model(prompt),
    );
    await session.start(true);
    await session.forward('next');
    const { rows } = await alternativesTo(session, session.cursor, null, 2);
    expect(rows).toEqual([
      { value: 'line f:3  m = 7', count: 2, share: 1, isShown: false, branch: 2 },
      { value: 'line f:3  m = 4', count: 0, share: 0, isShown: true, branch: 1 },
    ]);
  });

  it('is nothing for what a person set, for the beginning, and for names that are not there', async () => {
    const { session, edit } = await debug();
    await session.start(true);
    await session.forward('next');
    await edit('m', '9');
    await expect(alternativesTo(session, session.cursor, 'm', 2)).rejects.toThrow(/set it yourself/);
    await expect(alternativesTo(session, 0, null, 2)).rejects.toThrow(/begins with it/);
    await expect(alternativesTo(session, session.cursor, 'x', 2)).rejects.toThrow(/not known/);
  });
});
