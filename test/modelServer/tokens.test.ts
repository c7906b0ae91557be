import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPromptIds, tokensToWrite } from '../../adapter/modelServer/promptIds';
import { decode, tokenize, tokenText } from '../../adapter/modelServer/tokens';

const texts = (text: string) => tokenize(text).map((token) => token.text);
const ids = (text: string) => tokenize(text).map(({ id }) => id);

const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('<|', '|>', '<|frame_sep|>', '😀', '": "..", "', '        return ', '\n'),
    ),
  )
  .map((parts) => parts.join(''));

describe('tokens', () => {
  it('are control tokens, pieces, pairs and bytes', () => {
    expect(texts('<|line_sep|>{"n": "..", "s": "3"}<|action_sep|>    return né\n')).toEqual([
      ...['<|line_sep|>', '{"', 'n', '": "..", "', 's', '": "', '3', '"}'],
      ...['<|action_sep|>', '    ', 'return ', 'n', '', 'é', '\n'],
    ]);
  });

  it("have CWM's ids where they are control tokens", () => {
    const control =
      '<|begin_of_text|><|end_of_text|><|frame_sep|><|action_sep|><|return_sep|><|call_sep|><|line_sep|>' +
      '<|exception_sep|><|arg_sep|><|trace_context_start|>';
    expect(ids(control)).toEqual([
      128000, 128001, 128100, 128101, 128102, 128103, 128104, 128105, 128106, 128107,
    ]);
  });

  it('have fixed ids', () => {
    expect(ids('\n')).toEqual([10]);
    expect(ids('é')).toEqual([0xc3, 0xa9]);
    expect(ids('ab')).toEqual([256 + 95 * 65 + 66]);
    expect(ids('": "..", "')).toEqual([9281]);
    expect(tokenText(9281)).toBe('": "..", "');
    expect(tokenText(0xc3)).toBe('\ufffd');
    expect(tokenText(127_000)).toBeNull();
    expect(decode([127_000])).toBeNull();
  });

  it('are together the text, and so are their ids', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(texts(text).join('')).toBe(text);
        expect(
          decode(ids(text))
            ?.map((part) => part.text)
            .join(''),
        ).toBe(text);
      }),
    );
  });

  it('of which the ids are cut apart anywhere are still the text', () => {
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        expect(
          decode([...ids(one), ...ids(other)])
            ?.map((part) => part.text)
            .join(''),
        ).toBe(one + other);
      }),
    );
  });

  it('are about as many as of a real tokenizer', () => {
    const frame =
      '<|line_sep|>{"n": "..", "total": "..", "i": "3"}<|action_sep|>        total = total + i\n<|frame_sep|>';
    expect(ids(frame).length).toBeGreaterThan(15);
    expect(ids(frame).length).toBeLessThan(35);
  });
});

describe('a prompt of ids', () => {
  const pieces = [...ids('x = "<|'), ...ids('frame_sep|>"')];

  it('has control tokens only where their ids are', () => {
    const { text } = readPromptIds([128107, ...pieces, 128100]);
    expect(text).toBe('<|trace_context_start|>x = "<|frame_sep\u200b|>"<|frame_sep|>');
  });

  it('is answered with such text as it is', () => {
    const text = 'x = "<|frame_sep\u200b|>"<|frame_sep|>';
    const tokens = tokensToWrite(text, true);
    expect(tokens.map((token) => token.text).join('')).toBe('x = "<|frame_sep|>"<|frame_sep|>');
    expect(tokens.filter(({ id }) => id === 128100)).toHaveLength(1);
    expect(readPromptIds(tokens.map(({ id }) => id)).text).toBe(text);
    expect(
      tokensToWrite(text, false)
        .map((token) => token.text)
        .join(''),
    ).toBe(text);
  });

  it('is refused with an id that is not of the vocabulary', () => {
    expect(() => readPromptIds([1, 100_000])).toThrow('not of the vocabulary');
  });
});
