import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CompletionChunk, CompletionSource } from '../../adapter/completion/completion';
import { noUsage } from '../../adapter/completion/usage';
import { Debugger } from '../../adapter/debugger/debugger';
import { CatalogueError } from '../../adapter/errors';
import { createChatFormat } from '../../adapter/format/chat/chatFormat';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';
import { ExpressionEvaluator } from '../../adapter/python/expressions';
import { PythonSource } from '../../adapter/python/source';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { LanguageModelWorld } from '../../adapter/world/languageModel';

const program = {
  path: '/project/p.py',
  source:
    'def f(n):\n    if n > 1:\n        return n * f(n - 1)\n    return 1\n\n\ndef g(xs):\n    return [f(x) for x in xs]\n',
  entry: 'g([1, 2])',
  args: [],
};

const cwm = [
  '<|line_sep|>{}<|action_sep|>    return g([1, 2])\n<|frame_sep|>',
  '<|call_sep|>{"xs": "[1, 2]"}<|action_sep|>def g(xs):\n<|frame_sep|>',
  '<|line_sep|>{"xs": ".."}<|action_sep|>    return [f(x) for x in xs]\n<|frame_sep|>',
  '<|call_sep|>{".0": "<list_iterator object>"}<|action_sep|>    return [f(x) for x in xs]\n<|frame_sep|>',
  '<|line_sep|>{".0": ".."}<|action_sep|>    return [f(x) for x in xs]\n<|frame_sep|>',
  '<|call_sep|>{"n": "1"}<|action_sep|>def f(n):\n<|frame_sep|>',
  '<|line_sep|>{"n": ".."}<|action_sep|>    if n > 1:\n<|frame_sep|>',
  '<|line_sep|>{"n": ".."}<|action_sep|>    return 1\n<|frame_sep|>',
  '<|return_sep|><|action_sep|>    return 1\n<|arg_sep|>"1"<|frame_sep|>',
  '<|line_sep|>{".0": "..", "x": "1"}<|action_sep|>    return [f(x) for x in xs]\n<|frame_sep|>',
  `<|exception_sep|><|action_sep|>    return [f(x) for x in xs]\n<|arg_sep|>"ValueError('x')"<|frame_sep|>`,
  '<|return_sep|><|action_sep|>    return [f(x) for x in xs]\n<|arg_sep|>"None"<|frame_sep|>',
].join('');

const chatState = (event: string, name: string, line: number, locals: object[], value: string | null) =>
  JSON.stringify({ event, function: name, line, locals, value, output: null });
const chat = `{"states": [${[
  chatState('call', 'g', 7, [{ name: 'xs', value: '[1, 2]' }], null),
  chatState('line', 'g', 8, [{ name: 'xs', value: '[1, 2]' }], null),
  chatState('call', 'f', 1, [{ name: 'n', value: '1' }], null),
  chatState('line', 'f', 2, [{ name: 'n', value: '1' }], null),
  chatState('line', 'f', 4, [{ name: 'n', value: '1' }], null),
  chatState('return', 'f', 4, [{ name: 'n', value: '1' }], '1'),
].join(', ')}], "ended": false}`;

/** The pieces that a mutation moves: control tokens, JSON's punctuation, words, white space. */
function pieces(text: string): string[] {
  return text.match(/<\|\w+\|>|\w+|\s+|[^\w\s]/g) ?? [];
}

const junk = [
  '<|frame_sep|>',
  '<|line_sep|>',
  '<|return_sep|>',
  '<|arg_sep|>',
  '<|end_of_text|>',
  '"',
  '{',
  '}',
  '[',
  ']',
  '..',
  ',',
  ':',
  '\n',
  '\\',
  '\ud800',
  '\u2028',
  '\0',
  '1e999',
  'null',
  '-1',
  '```',
  '<think>',
];

const mutation = fc.record({
  kind: fc.constantFrom('delete', 'repeat', 'swap', 'insert', 'cut', 'replace'),
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  to: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  junk: fc.constantFrom(...junk),
});

function mutate(
  text: string,
  mutations: readonly (typeof mutation extends fc.Arbitrary<infer T> ? T : never)[],
): string {
  const all = pieces(text);
  for (const { kind, at, to, junk: inserted } of mutations) {
    const index = Math.floor(at * all.length);
    const other = Math.floor(to * all.length);
    if (kind === 'delete') all.splice(index, 1 + (other % 7));
    else if (kind === 'repeat') all.splice(other, 0, ...all.slice(index, index + 12));
    else if (kind === 'insert') all.splice(index, 0, inserted);
    else if (kind === 'replace') all.splice(index, 1, inserted);
    else if (kind === 'cut') all.splice(Math.max(index, other));
    else [all[index], all[other]] = [all[other] ?? '', all[index] ?? ''];
  }
  return all.join('');
}

/** A server that gives one answer, in pieces, and then none. */
class OneAnswer implements CompletionSource {
  readonly name = 'a model';
  readonly traits = { contextTokens: null, charactersPerToken: 3, separatesControl: false };
  readonly notes = [];
  readonly usage = noUsage;
  #isGiven = false;

  constructor(
    private readonly text: string,
    private readonly size: number,
  ) {}

  async *complete(): AsyncGenerator<CompletionChunk> {
    await Promise.resolve();
    for (let at = 0; !this.#isGiven && at < this.text.length; at += this.size) {
      yield { kind: 'text', text: this.text.slice(at, at + this.size), tokens: [] };
    }
    this.#isGiven = true;
    yield { kind: 'end', reason: 'length', stopString: null, usage: null };
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    this.#isGiven = true;
  }
}

describe('whatever a model answers', () => {
  let source: PythonSource;
  // No state of these programs prints: nothing is evaluated.
  const evaluator = new ExpressionEvaluator({});
  beforeAll(async () => {
    source = await PythonSource.parse(program.source);
  });

  it.each(['cwm', 'chat'] as const)(
    '(%s) ends in states or an error of the catalogue, and nothing is lost',
    async (name) => {
      const text = name === 'cwm' ? cwm : chat;
      await fc.assert(
        fc.asyncProperty(
          fc.array(mutation, { minLength: 1, maxLength: 4 }),
          fc.integer({ min: 1, max: 60 }),
          async (mutations, size) => {
            const format =
              name === 'cwm' ? await createCwmFormat(program, source) : createChatFormat(program, source);
            const world = new LanguageModelWorld(format, new OneAnswer(mutate(text, mutations), size));
            const trajectory = new Trajectory(program);
            const session = new Debugger(source, trajectory, world, evaluator);
            let known = 0;
            for (const request of ['start', 'stepIn', 'next', 'continue'] as const) {
              const cursor = session.cursor;
              try {
                await (request === 'start' ? session.start(true) : session.forward(request));
              } catch (thrown) {
                expect(thrown).toBeInstanceOf(CatalogueError);
                expect((thrown as CatalogueError).blame, String(thrown)).not.toBe('internal');
                expect(session.cursor).toBe(cursor);
              }
              expect(trajectory.length).toBeGreaterThanOrEqual(known);
              known = trajectory.length;
              if (session.cursor < 0) break;
            }
            // Every state that was kept can be shown.
            for (let index = 0; index < trajectory.length; index++) {
              expect(trajectory.line(index)).toBeLessThanOrEqual(source.lines.length);
              trajectory.stack(index);
              trajectory.locals(index);
            }
          },
        ),
        { numRuns: 5_000 },
      );
    },
    300_000,
  );
});
