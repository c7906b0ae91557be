import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { readAnswerChunk } from '../../adapter/completion/answerChunk';
import type { Prompt, PromptHistory } from '../../adapter/completion/completion';
import { IdAnswer } from '../../adapter/completion/idAnswer';
import { TokenIds } from '../../adapter/completion/tokenIds';
import { cwmControlText } from '../../adapter/format/cwm/controlText';
import { breakControlText } from '../../adapter/format/cwm/tokens';
import { client, collect, FakeServer, type Received, sendJson, sendStream } from './fakeServer';

const { tokens: controlTexts } = cwmControlText;
const firstControl = 128_000;

/** A tokenizer with one id a UTF-16 unit, which reads control tokens in every text, as vLLM's does. */
function tokenize(text: string): number[] {
  const ids: number[] = [];
  for (let at = 0; at < text.length;) {
    const control = controlTexts.findIndex((token) => text.startsWith(token, at));
    ids.push(control < 0 ? text.charCodeAt(at) : firstControl + control);
    at += control < 0 ? 1 : (controlTexts[control]?.length ?? 1);
  }
  return ids;
}

/** What ids stand for: content as it is, control tokens in brackets that content does not have. */
function shown(ids: readonly number[]): string {
  return ids
    .map((id) =>
      id >= firstControl ? `⟦${controlTexts[id - firstControl] ?? '?'}⟧` : String.fromCharCode(id),
    )
    .join('');
}

const idOf = (control: string) => firstControl + controlTexts.indexOf(control);
const { signal } = new AbortController();

/** Text of a program with what looks like control tokens. */
const literalText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...controlTexts, '<|', '|>', '<|frame_sep', '|', '<'),
    ),
  )
  .map((parts) => parts.join(''));

describe('token ids', () => {
  const make = async () => {
    const asked: string[] = [];
    const ids = await TokenIds.of(
      cwmControlText,
      (text) => {
        asked.push(text);
        return Promise.resolve(tokenize(text));
      },
      signal,
    );
    if (!ids) throw new Error('The tokenizer has the control tokens.');
    return { ids, asked };
  };

  it('keep content apart from control tokens, whatever it looks like', async () => {
    const frame = fc.record({ kind: fc.constantFrom(...controlTexts), content: literalText });
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 8 }), async (frames) => {
        const { ids } = await make();
        const text = frames.map(({ kind, content }) => kind + breakControlText(content)).join('');
        await ids.prepare([text], signal);
        expect(shown(ids.encode(text))).toBe(
          frames.map(({ kind, content }) => `⟦${kind}⟧${content}`).join(''),
        );
      }),
    );
  });

  it('are asked for once, and all that is missing at a time', async () => {
    const { ids, asked } = await make();
    await ids.prepare(['<|line_sep|>{}<|action_sep|>a = 1\n<|frame_sep|>'], signal);
    await ids.prepare(['<|line_sep|>{}<|action_sep|>b = 2\n<|frame_sep|>'], signal);
    await ids.prepare(['<|line_sep|>{}<|action_sep|>a = 1\n<|frame_sep|>'], signal);
    expect(asked.slice(1).map((text) => text.replaceAll(/<\|\w+\|>/g, '/'))).toEqual([
      '{}/a = 1\n',
      'b = 2\n',
    ]);
  });

  it('are none where the tokenizer does not have the control tokens', async () => {
    const plain = (text: string) => Promise.resolve(Array.from(text, (character) => character.charCodeAt(0)));
    expect(await TokenIds.of(cwmControlText, plain, signal)).toBeNull();
  });

  it('tell control tokens in answers from content, in pieces of any size, with or without the texts', async () => {
    const run = fc.record({ content: literalText, control: fc.constantFrom(...controlTexts) });
    const shape = fc.record({
      sizes: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 }),
      sendsControl: fc.boolean(),
      isChat: fc.boolean(),
    });
    const { ids } = await make();
    fc.assert(
      fc.property(fc.array(run, { maxLength: 6 }), shape, (runs, { sizes, sendsControl, isChat }) => {
        const all = runs.flatMap(({ content, control }) => [
          ...Array.from({ length: content.length }, (_, at) => ({
            id: content.charCodeAt(at),
            text: content.charAt(at),
          })),
          { id: idOf(control), text: sendsControl ? control : '' },
        ]);
        const answer = new IdAnswer(ids, cwmControlText);
        let read = '';
        for (let at = 0, turn = 0; at < all.length; turn++) {
          const piece = all.slice(at, (at += sizes[turn % sizes.length] ?? 1));
          const content = piece.map(({ id, text }) => ({ id, token: text, logprob: 0 }));
          const legacy = { tokens: piece.map(({ text }) => text), token_logprobs: piece.map(() => 0) };
          const chunk = readAnswerChunk({
            choices: [
              {
                text: piece.map(({ text }) => text).join(''),
                finish_reason: at >= all.length ? 'stop' : null,
                logprobs: isChat ? { content } : legacy,
                ...(isChat ? {} : { token_ids: piece.map(({ id }) => id) }),
              },
            ],
          });
          if (!chunk) throw new Error('The chunk is read.');
          const { text, tokens } = answer.read(chunk);
          read += text;
          expect(tokens.length).toBe(piece.length);
        }
        expect(read).toBe(runs.map(({ content, control }) => breakControlText(content) + control).join(''));
      }),
    );
  });
});

describe('what llama.cpp does not tell', () => {
  it('is asked for: all tokens but the last of a character', async () => {
    const asked: string[] = [];
    const ids = await TokenIds.of(
      cwmControlText,
      (text) => {
        asked.push(text);
        return Promise.resolve(tokenize(text));
      },
      signal,
    );
    if (!ids) throw new Error('The tokenizer has the control tokens.');
    const [call = '', line = ''] = [controlTexts[4], controlTexts[5]];
    const answer = new IdAnswer(ids, cwmControlText);
    const piece = (token: string, id: number) =>
      readAnswerChunk({ choices: [{ text: token, logprobs: { content: [{ id, token, logprob: -1 }] } }] });
    const pieces = [
      piece('a', 97),
      // The token before this one is not told.
      piece('é', 169),
      piece('b', 98),
      piece(call, idOf(call)),
      piece('plain', 7),
      piece(line, idOf(line)),
    ];
    for (const read of pieces) if (read) answer.read(read);
    asked.length = 0;
    await ids.prepare([`aéb${call}plain${line}`], signal);
    expect(asked).toEqual(['aéb']);
    expect(ids.encode('plain')).toEqual([7]);
  });
});

describe('a server that takes ids', () => {
  let server: FakeServer | null = null;
  afterEach(() => server?.stop());

  const literal = 'a = "<|frame_sep|>"\n';
  const head = `<|trace_context_start|>${breakControlText(literal)}<|frame_sep|>`;
  const history = (added: string, before: PromptHistory | null): PromptHistory => ({
    text: (before?.text ?? '') + added,
    before,
    added,
  });
  const prompt = (at: PromptHistory): Prompt => ({ kind: 'text', text: at.text, history: at, stop: [] });

  /** Answers with a frame whose value holds control text, in tokens of the model's own choice. */
  const answerIds = [idOf('<|return_sep|>'), idOf('<|arg_sep|>'), 777, idOf('<|frame_sep|>')];
  const answerText = '<|return_sep|><|arg_sep|>"<|line_sep|>"<|frame_sep|>';

  function answer({ url, body }: Received, response: ServerResponse): void {
    if (url === '/v1/models') {
      sendJson(response, 200, { data: [{ id: 'm', owned_by: 'vllm', max_model_len: 5_000 }] });
    } else if (url === '/tokenize') sendJson(response, 200, { tokens: tokenize(body['prompt'] as string) });
    else if (url !== '/v1/completions') sendJson(response, 404, {});
    else if (body['stream'] !== true) {
      sendJson(response, 200, {
        choices: [{ text: '<|line_sep|>', token_ids: [idOf('<|line_sep|>')], finish_reason: 'length' }],
      });
    } else {
      const choice = { text: answerText, token_ids: answerIds, finish_reason: 'stop' };
      sendStream(response, `data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
    }
  }

  it('is sent the program’s own text as text, the model’s text by its own ids, and what is new only once', async () => {
    server = await FakeServer.start(answer);
    const source = client(server.baseUrl, { profile: 'auto', control: cwmControlText });
    const first = history(head, null);
    const chunks = await collect(source, prompt(first));
    const read = chunks.map((chunk) => (chunk.kind === 'text' ? chunk.text : '')).join('');
    expect(read).toBe(`<|return_sep|><|arg_sep|>${breakControlText('"<|line_sep|>"')}<|frame_sep|>`);

    const second = history('<|line_sep|>{}<|action_sep|>b\n<|frame_sep|>', history(read, first));
    await collect(source, prompt(second));
    const bodies = server.received.filter(({ body }) => body['stream'] === true).map(({ body }) => body);
    expect(bodies[0]).toMatchObject({ return_token_ids: true, add_special_tokens: false });
    const [one, two] = bodies.map(({ prompt: ids }) => ids as number[]);
    expect(shown(one ?? [])).toBe(`⟦<|trace_context_start|>⟧${literal}⟦<|frame_sep|>⟧`);
    expect(two?.slice(0, one?.length)).toEqual(one);
    expect(two?.slice(one?.length, (one?.length ?? 0) + answerIds.length)).toEqual(answerIds);
    const tokenized = server.received
      .filter(({ url }) => url === '/tokenize')
      .map(({ body }) => body['prompt']);
    expect(tokenized.at(-1)).toBe('b\n');
    expect(source.usage).toMatchObject({
      requests: 2,
      promptTokens: (one?.length ?? 0) + (two?.length ?? 0),
    });
  });

  it('is asked for no more tokens than fit', async () => {
    server = await FakeServer.start(answer);
    const source = client(server.baseUrl, { profile: 'auto', control: cwmControlText });
    await source.ready(signal);
    const chunks = source.complete(prompt(history(head, null)), { maxTokens: 100_000, signal });
    for await (const chunk of chunks) if (chunk.kind === 'end') break;
    expect(server.received.at(-1)?.body['max_tokens']).toBeLessThan(5_000);
  });
});
