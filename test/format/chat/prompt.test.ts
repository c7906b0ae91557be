import { describe, expect, it } from 'vitest';
import type { Prompt } from '../../../adapter/completion/completion';
import { plainPrediction, type Prediction, type State } from '../../../adapter/trajectory/state';
import { open, program, readAnswer, record, reply, source } from './support';

function user(prompt: Prompt): string {
  if (prompt.kind !== 'chat') throw new Error('The prompt is no chat.');
  return prompt.messages.at(-1)?.content ?? '';
}

function lineState(line: number, locals: Record<string, string>): Prediction {
  const state: State = {
    event: 'line',
    function: '<module>',
    line,
    thread: null,
    locals: new Map(Object.entries(locals).map(([name, repr]) => [name, { repr, confidence: null }])),
    argument: null,
  };
  return plainPrediction(state);
}

describe('the prompt', () => {
  it('holds the numbered source, how it is entered, and the module call', async () => {
    const { format, trajectory, at } = await open(program(source));
    const text = user(format.prompt(trajectory, at, 'many'));
    expect(text).toContain(' 1 | def double(n):\n');
    expect(text).toContain('10 | print(main())');
    expect(text).toContain('the first "line" event is on line 10');
    expect(text).toContain('no line of it has run yet');
    expect(text).toContain('up to 16');
  });

  it('asks for one state where one is wanted, and names the entry call', async () => {
    const { format, trajectory } = await open(program(source, 'double(4)'));
    expect(format.opening).toEqual([]);
    const text = user(format.prompt(trajectory, -1, 'one'));
    expect(text).toContain('double(4)');
    expect(text).toContain('exactly one');
  });

  it('numbers lines as CPython does', async () => {
    const { format, trajectory, at } = await open(program('a = 1\u2028\x0cb\rc = 2\r\nd = 3'));
    expect(user(format.prompt(trajectory, at, 'one'))).toContain(
      '1 | a = 1\u2028\x0cb\n2 | c = 2\n3 | d = 3\n',
    );
  });

  it('sends what the model wrote as it was, and every open frame', async () => {
    const opened = await open(program(source));
    record(opened, readAnswer(opened.format.reader(opened.trajectory, opened.at), reply('wellBehaved')));
    const text = user(opened.format.prompt(opened.trajectory, opened.at, 'one'));
    expect(text).toContain(
      '{"event":"line","function":"main","line":6,"locals":[{"name":"total","value":"0"}],"value":null,"output":""}',
    );
    expect(text).toContain(
      '{"function":"<module>","line":10,"locals":[{"name":"double","value":"<function double>"}',
    );
    expect(text).toContain('{"function":"main","line":6,"locals":[{"name":"total","value":"0"}]}');
  });

  it('tells a bounded number of states, from a beginning that stays for a while', async () => {
    const opened = await open(program('while True:\n    x = 1\n'));
    const beginnings = new Set<number>();
    for (let n = 0; n < 200; n++) {
      record(opened, [lineState(1 + (n % 2), { x: `${n}` })]);
      const told = [
        ...user(opened.format.prompt(opened.trajectory, opened.at, 'one')).matchAll(/"value":"(\d+)"/g),
      ];
      const numbers = told.map(([, number]) => Number(number));
      expect(numbers.at(-1)).toBe(n);
      expect(numbers.length).toBeLessThanOrEqual(33);
      if (n > 40) expect(numbers.length).toBeGreaterThanOrEqual(16);
      beginnings.add(numbers[0] ?? -1);
    }
    expect(beginnings.size).toBeLessThan(15);
  });

  it('stays bounded with large values', async () => {
    const opened = await open(program('x = 1\n'));
    for (let n = 0; n < 40; n++) record(opened, [lineState(1, { x: `'${'y'.repeat(50_000)}'` })]);
    expect(user(opened.format.prompt(opened.trajectory, opened.at, 'one')).length).toBeLessThan(40_000);
  });

  it('has a schema that strict servers take', async () => {
    const { format, trajectory, at } = await open(program(source));
    const prompt = format.prompt(trajectory, at, 'one');
    if (prompt.kind !== 'chat') throw new Error('The prompt is no chat.');
    const check = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      const { type, properties, required, additionalProperties } = node as Record<string, unknown>;
      if (type === 'object') {
        expect(additionalProperties).toBe(false);
        expect(new Set(required as string[])).toEqual(new Set(Object.keys(properties as object)));
      }
      for (const part of Object.values(node)) check(part);
    };
    check(prompt.schema.schema);
    expect(JSON.stringify(prompt.schema.schema)).not.toMatch(/minimum|maximum|minItems|\$schema|pattern/);
    expect(JSON.stringify(prompt.schema.schema)).toContain('["<module>","double","main"]');
  });
});

describe('projection', () => {
  it('leaves states as they are, but for those of other threads', async () => {
    const { format } = await open(program(source));
    const { state } = lineState(1, {});
    expect(format.project(state)).toBe(state);
    expect(format.project({ ...state, thread: 'Thread-1' })).toBeNull();
  });
});
