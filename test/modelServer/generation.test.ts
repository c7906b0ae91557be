import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Generation, type Finish } from '../../adapter/modelServer/generation';
import { tokenize } from '../../adapter/modelServer/tokens';

/** Generates the texts and gives all tokens, and how many had been given out after each text. */
function generate(texts: readonly string[], maxTokens: number, stop: readonly string[] = []) {
  const generation = new Generation(maxTokens, stop);
  const tokens: string[] = [];
  for (const text of texts) {
    const { tokens: more, finish } = generation.write(text);
    tokens.push(...more);
    if (finish) return { tokens, text: tokens.join(''), finish };
  }
  const { tokens: more, finish } = generation.end();
  tokens.push(...more);
  return { tokens, text: tokens.join(''), finish };
}

describe('tokens', () => {
  it('are control tokens as a whole and pieces of four units of all other text', () => {
    expect(tokenize('<|line_sep|>{"n": "3"}<|action_sep|>\n')).toEqual([
      '<|line_sep|>',
      '{"n"',
      ': "3',
      '"}',
      '<|action_sep|>',
      '\n',
    ]);
  });

  it('keep surrogate pairs together', () => {
    expect(tokenize('abc😀d')).toEqual(['abc😀', 'd']);
  });

  it('are together the text', () => {
    const text = fc.array(fc.oneof(fc.string(), fc.constantFrom('<|', '|>', '<|frame_sep|>', '😀')));
    fc.assert(
      fc.property(text, (parts) => {
        expect(tokenize(parts.join('')).join('')).toBe(parts.join(''));
      }),
    );
  });
});

describe('a generation', () => {
  it('ends with the text, which is a token of its own', () => {
    expect(generate(['abcdef'], 3)).toEqual({
      tokens: ['abcd', 'ef'],
      text: 'abcdef',
      finish: { reason: 'stop', stopString: null, tokens: 3 } satisfies Finish,
    });
  });

  it('ends at the number of tokens', () => {
    expect(generate(['abcdef'], 2).finish).toEqual({ reason: 'length', stopString: null, tokens: 2 });
    expect(generate(['abcdefgh', 'ijkl'], 2).text).toBe('abcdefgh');
    expect(generate(['abcdef'], 0)).toMatchObject({ text: '', finish: { reason: 'length', tokens: 0 } });
  });

  it('ends before a stop string, and counts its tokens', () => {
    const { text, finish } = generate(['abcdefghijkl'], 100, ['fg']);
    expect(text).toBe('abcde');
    expect(finish).toEqual({ reason: 'stop', stopString: 'fg', tokens: 2 });
  });

  it('finds a stop string that begins in one text and ends in another', () => {
    expect(generate(['abcd', 'efgh'], 100, ['de'])).toMatchObject({
      text: 'abc',
      finish: { stopString: 'de', tokens: 2 },
    });
  });

  it('ends at the stop string that is complete first', () => {
    expect(generate(['abcdefgh'], 100, ['bcdefg', 'de', 'x'])).toMatchObject({
      text: 'abc',
      finish: { stopString: 'de' },
    });
  });

  it('does not end at a stop string that the number of tokens cuts', () => {
    expect(generate(['abcdefgh'], 1, ['de'])).toMatchObject({ text: 'abcd', finish: { reason: 'length' } });
  });

  it('gives out what turned out to be no stop string', () => {
    const generation = new Generation(100, ['<end>']);
    expect(generation.write('ab<e').tokens).toEqual([]);
    expect(generation.write('cd').tokens).toEqual(['ab<e', 'cd']);
    expect(generation.write('xx<').tokens).toEqual([]);
    expect(generation.end().tokens).toEqual(['xx<']);
  });

  it('is the text up to the first stop string, however it is cut', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    const stop = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(letters), stop, (texts, stopString) => {
        const at = texts.join('').indexOf(stopString);
        const { text, finish } = generate(texts, 1e6, [stopString]);
        expect(text).toBe(at < 0 ? texts.join('') : texts.join('').slice(0, at));
        expect(finish.stopString).toBe(at < 0 ? null : stopString);
      }),
    );
  });
});
