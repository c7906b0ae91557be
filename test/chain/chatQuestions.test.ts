import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../adapter/debugger/configuration';
import { answerInWords } from '../../adapter/debugger/modelQuestion';
import { openDebugger, type Opened } from '../../adapter/debugger/open';
import { FakeServer, sendJson, sendStream } from '../completion/fakeServer';

const source = `count = 0


class Point:
    def __init__(self, x):
        self.x = x


def f(n, words):
    global count
    count += n
    point = Point(n)
    return point


f(3, ["a"])
`;

/** What the model tells, one state at a time. */
const states = [
  ['line', '<module>', 16, { count: '0' }],
  ['call', 'f', 9, { n: '3', words: "['a']" }],
  ['line', 'f', 11, { n: '3', words: "['a']" }],
  ['line', 'f', 12, { n: '3', words: "['a']" }],
  ['call', 'Point.__init__', 5, { self: '<Point object>', x: '3' }],
  ['line', '__init__', 6, { self: '<Point object>', x: '3' }],
  ['return', '__init__', 6, { self: '<Point object>', x: '3' }],
  ['line', 'f', 13, { n: '3', words: "['a']", point: '<__main__.Point object>' }],
] as const;

const folder = mkdtempSync(join(tmpdir(), 'neural-debug-chat-questions-'));
let server: FakeServer;
let opened: Opened;
let told = 0;
/** The answer to the next question: its pieces, each with the probability of its token or none. */
let answer: readonly (readonly [text: string, probability: number | null])[] = [];
let finish = 'stop';

function pieces(body: Readonly<Record<string, unknown>>): typeof answer {
  const { json_schema: schema } = body['response_format'] as { json_schema: { name: string } };
  if (schema.name !== 'states') return answer;
  const [event, name, line, values] = states[told++] ?? states[0];
  const locals = Object.entries(values).map(([local, value]) => ({ name: local, value }));
  const state = { event, function: name, line, locals, value: null, output: '' };
  return [[JSON.stringify({ states: [state], ended: false }), null]];
}

beforeAll(async () => {
  const program = join(folder, 'p.py');
  writeFileSync(program, source);
  server = await FakeServer.start(({ url, body }, response) => {
    if (!url.endsWith('/chat/completions')) {
      sendJson(response, url.endsWith('/models') ? 200 : 404, { object: 'list', data: [{ id: 'chat' }] });
      return;
    }
    const isQuestion = JSON.stringify(body).includes('What does this expression give');
    const lines = pieces(body).map(([content, probability]) => {
      const token = { token: content, logprob: Math.log(probability ?? 1), bytes: null, top_logprobs: [] };
      const logprobs = probability === null ? null : { content: [token] };
      return JSON.stringify({ choices: [{ index: 0, delta: { content }, logprobs, finish_reason: null }] });
    });
    const reason = isQuestion ? finish : 'stop';
    lines.push(JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }), '[DONE]');
    sendStream(response, lines.map((line) => `data: ${line}\n\n`).join(''));
  });
  const configuration = { program, server: { baseUrl: server.baseUrl, format: 'chat', model: 'chat' } };
  opened = await openDebugger(parseConfiguration(configuration), () => Promise.resolve(null));
  const { debugger: session } = opened;
  await session.start(true);
  await session.forward('stepIn');
  for (let at = 0; at < 2; at++) await session.forward('next');
});
afterAll(async () => {
  await opened.debugger.close();
  await opened.evaluator.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

function ask(expression: string, given: typeof answer, ending = 'stop'): Promise<string> {
  answer = given;
  finish = ending;
  const { debugger: session, evaluator } = opened;
  return answerInWords(session, evaluator, session.cursor, expression, AbortSignal.timeout(20_000));
}

describe('a question to a chat model', () => {
  it('tells the program, the way, and all that is known of what the expression reads', async () => {
    const { trajectory, cursor } = opened.debugger;
    const before = [trajectory.length, cursor, trajectory.next(cursor)];
    expect(trajectory.line(cursor)).toBe(13);
    const said = await ask('point.x + count + len(words)', [
      ['{"reasoning": "3 + 3 + 1", ', 0.5],
      ['"raises": false, "repr": "', 0.95],
      ['7', 0.8],
      ['"}', 0.9],
    ]);
    expect(said).toBe("7   (the model's guess, 80% sure)");
    expect([trajectory.length, opened.debugger.cursor, trajectory.next(cursor)]).toEqual(before);
    const { messages, response_format: format } = server.received.at(-1)?.body as {
      messages: { content: string }[];
      response_format: { json_schema: { schema: object } };
    };
    const prompt = messages.at(-1)?.content ?? '';
    expect(prompt).toContain(' 9 | def f(n, words):');
    expect(prompt).toContain('"event":"line","function":"f","line":13');
    expect(prompt).toContain("The locals that the expression reads:\nwords = ['a']\npoint = Point(x=3)\n");
    expect(prompt).toContain('Names of the module that may have changed since its code ran:\ncount = 3\n');
    expect(prompt).toContain('in the frame of the last state?\npoint.x + count + len(words)');
    expect(format.json_schema.schema).toMatchObject({
      required: ['reasoning', 'raises', 'repr'],
      additionalProperties: false,
    });
  });

  it.each([
    [
      'fenced, with words around',
      'Sure!\n```json\n{"raises": false, "repr": "[1, 2]"}\n```\nAnything else?',
      '[1, 2]',
    ],
    [
      'after thoughts with another answer',
      '<think>{"repr": "1"}? no.</think>{"raises":false,"repr":"2"}',
      '2',
    ],
    ['after thoughts without their beginning', 'Maybe {"repr": "1"}.\n</think>\n{"repr": "2"}', '2'],
    [
      'as a JSON value',
      '{"reasoning": "…", "raises": false, "repr": {"a": [1.0, null]}}',
      "{'a': [1.0, None]}",
    ],
    ['as a text without quotes', '{"raises": false, "repr": "hello you"}', "'hello you'"],
    ['under another key, loosely', "{'Result': 'None', raised: False,}", 'None'],
    ['within another object', '{"answer": {"raises": false, "repr": "5"}}', '5'],
    ['as JSON null', '{"raises": false, "repr": null}', 'None'],
    ['left open', '{"raises": false, "repr": "True"', 'True'],
    ['as code alone', 'The expression gives `[3]`.', '[3]'],
    ['as a value alone', '\n42\n', '42'],
    ['as an exception', '{"raises": true, "repr": "KeyError(\'a\')"}', "raises KeyError('a')"],
    [
      'as an exception with its message',
      '{"raises": true, "repr": "ValueError: no"}',
      "raises ValueError('no')",
    ],
    [
      'as an exception in the flag',
      '{"raises": "IndexError(\'far\')", "repr": null}',
      "raises IndexError('far')",
    ],
    ['as an exception of its own', '{"error": {"type": "KeyError", "message": "k"}}', "raises KeyError('k')"],
    [
      'as an exception in words',
      '{"repr": "raises ZeroDivisionError: division by zero"}',
      "raises ZeroDivisionError('division by zero')",
    ],
  ])('is read where it comes %s', async (_, text, value) => {
    expect(await ask('n', [[text, null]])).toBe(`${value}   (the model's guess, no number says how sure)`);
  });

  it.each([
    ['words', 'I cannot know this.', 'stop'],
    ['nothing', '', 'stop'],
    ['a thought', '<think>{"repr": "1"} or so', 'stop'],
    ['an object that was cut off', '{"raises": false, "repr": "12', 'length'],
    ['an exception without a type', '{"raises": true, "repr": "division by zero"}', 'stop'],
    ['another object', '{"states": [{"event": "line"}]}', 'stop'],
    ['a value that it does not know', '{"raises": false, "repr": "?"}', 'stop'],
  ])('is an error of the catalogue where the answer is %s', async (_, text, ending) => {
    const before = opened.debugger.cursor;
    await expect(ask('n', [[text, null]], ending)).rejects.toThrow('no answer that can be read');
    expect(opened.debugger.cursor).toBe(before);
  });
});
