import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { ChatMessage, Prompt, Token } from '../../adapter/completion/completion';
import { describeFacts } from '../../adapter/completion/probe';
import { describeUsage } from '../../adapter/completion/usage';
import { cwmControlText } from '../../adapter/format/cwm/controlText';
import { strictJsonSchema } from '../../adapter/format/chat/jsonSchema';
import { breakControlText, controlTokens } from '../../adapter/format/cwm/tokens';
import { play } from '../support/sessions';
import { answerOf, clientOf, faultOf, type Peer } from './peer';
import { contextTokens, frame, frameTokens, probability } from './tinyModel';

/** What differs between servers. */
export interface PeerKind {
  /** How the server is named to people. */
  readonly product: RegExp;
  /** The server, once it has started. */
  readonly peer: () => Peer;
  /** Whether the server writes at this moment, and how many tokens it has written in all. */
  readonly activity: () => Promise<{ readonly isWriting: boolean; readonly written: number }>;
  /** Whether the server tells which stop string fired. */
  readonly tellsStop: boolean;
}

const { frameEnd, line, action, contextStart, endOfText } = controlTokens;

const textPrompt = (text: string, more: object = {}): Prompt => ({ kind: 'text', text, stop: [], ...more });
const example = cwmControlText.example;

/** How many tokens a text has: control tokens, and the bytes of what the model is to see for the rest. */
function countTokens(text: string): number {
  const control = /<\|\w+\|>/g;
  const rest = cwmControlText.unescape(text.replace(control, ''));
  return (text.match(control) ?? []).length + Buffer.byteLength(rest);
}

/** Tokens after a frame's end, with the model's own probabilities. */
function expectHabits(tokens: readonly Token[]): void {
  expect(tokens.map(({ text }) => text)).toEqual(tokens.map((_, at) => frameTokens[at % frameTokens.length]));
  for (const [at, { text, logprob }] of tokens.entries()) {
    expect(logprob).toBeCloseTo(Math.log(probability(tokens[at - 1]?.text ?? frameEnd, text)), 3);
  }
}

/** Real servers may be slow, on a computer without an accelerator above all. */
const slow = { timeout: 300_000 };

/** The tests that every real server has to pass with the tiny model. */
export function testPeer({ product, peer, activity, tellsStop }: PeerKind): void {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'neural-debug-peer-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const { signal } = new AbortController();

  it('is recognized', slow, async () => {
    const source = clientOf(peer());
    await source.ready(signal);
    const { facts } = source;
    if (!facts) throw new Error('The server was not reached.');
    expect(facts.notes).toEqual([]);
    const words = describeFacts(facts, true);
    expect(words).toMatch(product);
    expect(words).toMatch(new RegExp(`, ids mode, context ${contextTokens} tokens, log-probabilities$`));
    expect(await source.listModels(signal)).toEqual([facts.model]);
    const asText = clientOf(peer(), { mode: 'text' });
    await asText.ready(signal);
    expect(asText.name).toContain('text mode');
  });

  for (const mode of ['ids', 'text'] as const) {
    it(`streams what the model writes, with its probabilities (${mode})`, slow, async () => {
      const answer = await answerOf(clientOf(peer(), { mode }), textPrompt(example), 30);
      expect(answer).toMatchObject({ text: frame.repeat(3), reason: 'length' });
      expect(answer.pieces).toBeGreaterThan(3);
      expect(answer.tokens).toHaveLength(30);
      expectHabits(answer.tokens);
      // One begin-of-text, not two.
      expect(answer.usage).toMatchObject({ promptTokens: countTokens(example), completionTokens: 30 });
    });

    it(`goes on from its own answer, and tells what it reused (${mode})`, slow, async () => {
      const source = clientOf(peer(), { mode });
      const long = example + frame.repeat(60);
      const first = await answerOf(source, textPrompt(long), 20);
      const whole = long + first.text;
      const history = { text: whole, before: { text: long, before: null, added: long }, added: first.text };
      const second = await answerOf(source, textPrompt(whole, { history }), 10);
      expect(second.text).toBe(frame);
      expect(second.usage?.promptTokens).toBe(countTokens(whole));
      expect(second.usage?.cachedTokens).toBeGreaterThan(countTokens(long) / 2);
      expect(describeUsage(source.usage)).toMatch(/[1-9]\d?% of \d+ prompt tokens were reused/);
    });

    it(`ends where the text ends (${mode})`, slow, async () => {
      const answer = await answerOf(clientOf(peer(), { mode }), textPrompt(`${example}~`), 30);
      expect(answer.reason).toBe('stop');
      expect(['', endOfText]).toContain(answer.text);
    });

    it(`carries characters of several tokens (${mode})`, slow, async () => {
      const source = clientOf(peer(), { mode });
      const text = example + contextStart;
      const first = await answerOf(source, textPrompt(text), 13);
      expect(first.text).toBe(`é${frameEnd}${frame}`);
      const second = await answerOf(source, textPrompt(text + first.text), 10);
      expect(second.text).toBe(frame);
      expect(second.usage?.promptTokens).toBe(countTokens(text + first.text));
    });
  }

  it('does not take text of the program for control tokens', slow, async () => {
    const program = breakControlText(`s = "${frameEnd}<|reserved_special_token_7|>"\n`);
    const prompt = example.replace(frameEnd, program + frameEnd);
    const asIds = await answerOf(clientOf(peer(), { mode: 'ids' }), textPrompt(prompt), 1);
    expect(asIds.usage?.promptTokens).toBe(countTokens(prompt));
    // As text, what was broken up is sent as it is, with the character that breaks it.
    const asText = await answerOf(clientOf(peer(), { mode: 'text' }), textPrompt(prompt), 1);
    expect(asText.usage?.promptTokens).toBe(countTokens(prompt) + 2 * Buffer.byteLength('\u200b'));
  });

  it('stops at stop strings, control tokens among them', slow, async () => {
    const source = clientOf(peer(), { mode: 'text' });
    for (const [stop, before] of [
      ['=1', `${line}{}${action}\tx`],
      [frameEnd, `${line}{}${action}\tx=1\n`],
    ] as const) {
      const answer = await answerOf(source, textPrompt(example, { stop: ['never', stop] }), 60);
      expect(answer).toMatchObject({ text: before, reason: 'stop', stopString: tellsStop ? stop : null });
    }
  });

  it('says that a prompt does not fit', slow, async () => {
    const fault = await faultOf(
      answerOf(clientOf(peer()), textPrompt(example + frame.repeat(contextTokens / 10)), 10),
    );
    expect(fault.code).toBe(311);
    expect(fault.message).toContain(String(contextTokens));
  });

  it('answers up to the end of its context', slow, async () => {
    const prompt = example + frame.repeat(390);
    const answer = await answerOf(clientOf(peer()), textPrompt(prompt), 1_000);
    expect(answer.reason).toBe('length');
    expect(answer.tokens.length).toBeGreaterThan(60);
    expect(countTokens(prompt) + answer.tokens.length).toBeLessThanOrEqual(contextTokens);
  });

  it('stops writing when its answer is left', slow, async () => {
    const before = (await activity()).written;
    const source = clientOf(peer());
    const most = 3_500;
    for await (const chunk of source.complete(textPrompt(example), { maxTokens: most, signal })) {
      if (chunk.kind === 'text' && chunk.text !== '') break;
    }
    let now = await activity();
    for (let tries = 0; now.isWriting && tries < 200; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      now = await activity();
    }
    expect(now.isWriting).toBe(false);
    expect(now.written - before).toBeLessThan(most);
    expect((await answerOf(source, textPrompt(example), 10)).text).toBe(frame);
  });

  it('holds an answer to where control can go', slow, async () => {
    const beginnings = [[{ oneOf: [line] }, { json: 'object' }, { oneOf: [action] }, { oneOf: ['\ty=2\n'] }]];
    const prompt = textPrompt(example, { constraint: () => ({ beginnings }) });
    for (const mode of ['ids', 'text'] as const) {
      const source = clientOf(peer(), { constrain: true, mode });
      expect((await answerOf(source, prompt, 20)).text).toBe(`${line}{}${action}\ty=2\n${frameEnd}${frame}`);
    }
  });

  it('holds a chat to a JSON schema', slow, async () => {
    const shape = z.strictObject({
      states: z.array(z.strictObject({ event: z.enum(['call', 'line']), line: z.int(), value: z.string() })),
      ended: z.boolean(),
    });
    const messages: ChatMessage[] = [{ role: 'user', content: 'Which states follow?' }];
    const prompt: Prompt = {
      kind: 'chat',
      messages,
      schema: { name: 'states', schema: strictJsonSchema(shape) },
    };
    const answer = await answerOf(clientOf(peer(), { control: null }), prompt, 500);
    expect(answer.reason).toBe('stop');
    expect(shape.safeParse(JSON.parse(answer.text)).error).toBeUndefined();
    expect(answer.tokens.length).toBeGreaterThan(5);
    expect(answer.tokens.every(({ logprob }) => (logprob ?? 1) <= 0)).toBe(true);
  });

  it('debugs a program', slow, async () => {
    const program = join(folder, 'program.py');
    await writeFile(program, 'def main():\n\tx=1\n\ty=2\n\tx=2\n');
    for (const mode of ['ids', 'text']) {
      const server = { baseUrl: peer().baseUrl, format: 'cwm', constrain: true, mode };
      const stops = await play(
        { program, entry: 'main()', server },
        { requests: ['next', 'next', 'stepBack'] },
      );
      expect(stops.map(({ event, line: at }) => `${event} ${at}`)).toEqual([
        'line 2',
        'line 3',
        'line 4',
        'line 3',
      ]);
    }
  });
}
