import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Finish, type GeneratedToken, Generation } from '../../adapter/modelServer/generation';
import { tokenize } from '../../adapter/modelServer/tokens';

function tokensOf(text: string): GeneratedToken[] {
  return tokenize(text).map((token) => ({ ...token, logprob: 0 }));
}

interface Limits {
  readonly stop?: readonly string[];
  readonly stopIds?: readonly number[];
  readonly showsEnd?: boolean;
}

function generation(maxTokens: number, { stop = [], stopIds = [], showsEnd = false }: Limits = {}) {
  return new Generation({ maxTokens, stop, stopIds: new Set(stopIds), showsEnd });
}

/** Generates the texts and gives all tokens. */
function generate(texts: readonly string[], maxTokens: number, limits: Limits = {}) {
  const generating = generation(maxTokens, limits);
  const tokens: GeneratedToken[] = [];
  const all = (finish: Finish) => ({
    tokens: tokens.map(({ text }) => text),
    ids: tokens.map(({ id }) => id),
    text: tokens.map(({ text }) => text).join(''),
    finish,
  });
  for (const text of texts) {
    const { tokens: more, finish } = generating.write(tokensOf(text));
    tokens.push(...more);
    if (finish) return all(finish);
  }
  const { tokens: more, finish } = generating.end();
  tokens.push(...more);
  return all(finish);
}

describe('a generation', () => {
  it('ends with the text, which is a token of its own', () => {
    expect(generate(['abcd'], 3)).toMatchObject({
      tokens: ['ab', 'cd'],
      finish: { reason: 'stop', stop: null, tokens: 3 } satisfies Finish,
    });
    expect(generate(['abcd'], 3, { showsEnd: true })).toMatchObject({
      tokens: ['ab', 'cd', ''],
      ids: [tokenize('ab')[0]?.id, tokenize('cd')[0]?.id, 128001],
    });
  });

  it('ends at the number of tokens', () => {
    expect(generate(['abcd'], 2).finish).toEqual({ reason: 'length', stop: null, tokens: 2 });
    expect(generate(['abcd', 'efgh'], 3).text).toBe('abcdef');
    expect(generate(['abcd'], 0)).toMatchObject({ text: '', finish: { reason: 'length', tokens: 0 } });
  });

  it('ends before a stop string, and counts its tokens', () => {
    const { text, finish } = generate(['abcdefgh'], 100, { stop: ['de'] });
    expect(text).toBe('abc');
    expect(finish).toEqual({ reason: 'stop', stop: 'de', tokens: 3 });
    expect(generate(['abcdefgh'], 100, { stop: ['de'], showsEnd: true }).tokens).toEqual(['ab', 'c', '']);
  });

  it('ends before a stop token', () => {
    const stopIds = [128100];
    const written = ['ab<|frame_sep|>cd', 'ef'];
    expect(generate(written, 100, { stopIds })).toMatchObject({
      tokens: ['ab'],
      finish: { reason: 'stop', stop: 128100, tokens: 2 },
    });
    expect(generate(written, 100, { stopIds, showsEnd: true })).toMatchObject({
      text: 'ab',
      ids: [tokenize('ab')[0]?.id, 128100],
    });
    // What comes first ends it: the number of tokens, or a stop string.
    expect(generate(written, 1, { stopIds }).finish).toEqual({ reason: 'length', stop: null, tokens: 1 });
    expect(generate(written, 100, { stopIds, stop: ['b'] }).finish.stop).toBe('b');
    expect(generate(written, 100, { stopIds: [1], stop: ['ef'] }).text).toBe('ab<|frame_sep|>cd');
  });

  it('finds a stop string that begins in one text and ends in another', () => {
    expect(generate(['abcd', 'efgh'], 100, { stop: ['de'] })).toMatchObject({
      text: 'abc',
      finish: { stop: 'de', tokens: 3 },
    });
  });

  it('ends at the stop string that is complete first', () => {
    expect(generate(['abcdefgh'], 100, { stop: ['bcdefg', 'de', 'x'] })).toMatchObject({
      text: 'abc',
      finish: { stop: 'de' },
    });
  });

  it('does not end at a stop string that the number of tokens cuts', () => {
    expect(generate(['abcdefgh'], 2, { stop: ['de'] })).toMatchObject({
      text: 'abcd',
      finish: { reason: 'length' },
    });
  });

  it('gives out what turned out to be no stop string', () => {
    const generating = generation(100, { stop: ['<end>'] });
    const write = (text: string) => generating.write(tokensOf(text)).tokens.map((token) => token.text);
    expect(write('ab<e')).toEqual(['ab']);
    expect(write('cd')).toEqual(['<', 'e', 'cd']);
    expect(write('xx<')).toEqual(['xx']);
    expect(generating.end().tokens.map((token) => token.text)).toEqual(['<']);
  });

  it('is the text up to the first stop string, however it is cut', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 8 });
    const stop = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(letters), stop, (texts, stopString) => {
        const at = texts.join('').indexOf(stopString);
        const { text, finish } = generate(texts, 1e6, { stop: [stopString] });
        expect(text).toBe(at < 0 ? texts.join('') : texts.join('').slice(0, at));
        expect(finish.stop).toBe(at < 0 ? null : stopString);
      }),
    );
  });
});
