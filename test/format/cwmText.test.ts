import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { AnswerText } from '../../adapter/format/cwm/answerText';
import { splitFrame } from '../../adapter/format/cwm/frames';
import { jsonObject, jsonString, readJsonObject, readJsonString } from '../../adapter/format/cwm/json';
import { exactKey } from '../../adapter/format/cwm/lineTexts';
import { readLocals, resolveLocals } from '../../adapter/format/cwm/locals';
import { parsePrompt } from '../../adapter/format/cwm/prompt';
import {
  breakControlText,
  controlTokens,
  holdsControlText,
  mendControlText,
  withoutMarker,
} from '../../adapter/format/cwm/tokens';
import { TokenSpans } from '../../adapter/format/cwm/tokenSpans';
import { exceptionRepr, plainRepr } from '../../adapter/format/cwm/values';
import { FrameWriter, writeFrame } from '../../adapter/format/cwm/writer';
import type { Locals } from '../../adapter/trajectory/state';

function locals(values: Record<string, string | null>): Locals {
  return new Map(Object.entries(values).map(([name, repr]) => [name, { repr, confidence: null }]));
}

const anyText = fc.string({ unit: 'binary', maxLength: 40 });
const controlText = fc
  .array(fc.constantFrom('<|', '|>', 'frame_sep', '\u200b', '<|frame_sep|>', 'x', ' '), { maxLength: 12 })
  .map((parts) => parts.join(''));

describe('control tokens in text', () => {
  it('are broken so that none is left, and mended to what they were', () => {
    fc.assert(
      fc.property(controlText, (text) => {
        const broken = breakControlText(text);
        expect(holdsControlText(broken)).toBe(false);
        expect(mendControlText(broken)).toBe(text);
      }),
    );
  });

  it('leaves text without them alone', () => {
    expect(breakControlText('a <| b |> c')).toBe('a <| b |> c');
    expect(breakControlText('<|eot_id|>')).toBe('<|eot_id\u200b|>');
  });
});

describe('the marker', () => {
  it.each(['C = ', 'TRACE', 'x = START_OF_', 'return TRACE'])(
    'is removed whole, not its letters: %j',
    (line) => {
      expect(withoutMarker(`${line}  # << START_OF_TRACE`)).toBe(line);
      expect(exactKey(`${line}\n`)).toBe(line);
      expect(exactKey(`${line}  # << START_OF_TRACE\n`)).toBe(line);
    },
  );
});

describe('JSON as Python writes it', () => {
  it('is what json.dumps writes', () => {
    const values = { n: '3', s: "'ab'", é: "'\u007f\u2028😀\\ud83d'", q: '"a\\\\\n\t\f\b\r"' };
    const python = execFileSync(
      'python3',
      ['-c', 'import json,sys; print(json.dumps(json.load(sys.stdin)), end="")'],
      {
        input: JSON.stringify(values),
        encoding: 'utf8',
      },
    );
    expect(jsonObject(Object.entries(values))).toBe(python);
  });

  it('comes back as it was, lone surrogates too', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(readJsonString(jsonString(text))?.text).toBe(text);
      }),
    );
    expect(readJsonString(jsonString('\ud83d'))?.text).toBe('\ud83d');
  });

  it('is read with any spacing, and with values that are no strings', () => {
    const read = readJsonObject(' {"a":"1" ,"b" : 2,  "c":None,"d":"x\ty"} ');
    expect(Array.from(read ?? [], ([name, { text }]) => [name, text])).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['c', 'None'],
      ['d', 'x\ty'],
    ]);
  });

  it('tells where a value stands', () => {
    const text = '{"a": "1", "b": "22"}';
    const b = readJsonObject(text)?.get('b');
    expect(text.slice(b?.start, b?.end)).toBe('"22"');
  });

  it.each(['', '{', '{"a"}', '{"a": "1"', '{"a": "1"} x', '{"a": "1",}', '["a"]', '{"a": "\\q"}', '{a: 1}'])(
    'is not read where it is broken: %j',
    (text) => {
      expect(readJsonObject(text)).toBeNull();
    },
  );

  it('is not read from a string that does not end', () => {
    expect(readJsonString('"abc')).toBeNull();
    expect(readJsonString('"abc" and more')).toBeNull();
    expect(readJsonString(' 24 ')?.text).toBe('24');
  });
});

describe('values', () => {
  it.each([
    ['<function f at 0x7f3a>', '<function f>'],
    ["<module 'os' from '/usr/lib/python3.11/os.py'>", "<module 'os'>"],
    ["<module 'sys' (built-in)>", "<module 'sys' (built-in)>"],
    ["['see <a at 0x12>', <b at 0x12>]", "['see <a at 0x12>', <b>]"],
    ['<bound method A.f of <__main__.A object at 0xAB>>', '<bound method A.f of <__main__.A object>>'],
  ])('leave addresses and files out: %s', (repr, plain) => {
    expect(plainRepr(repr)).toBe(plain);
  });

  it.each([
    ['ValueError', 'ValueError()'],
    ["<class 'ValueError'>", 'ValueError()'],
    ["ValueError('a: b')", "ValueError('a: b')"],
    ['ValueError: it\'s "bad"', `ValueError('it\\'s "bad"')`],
    ["ValueError: it's bad", `ValueError("it's bad")`],
    ["KeyError: 'k'", "KeyError('k')"],
    ['json.decoder.JSONDecodeError: Expecting', "JSONDecodeError('Expecting')"],
    ['SystemExit: SystemExit(0)', 'SystemExit(0)'],
    ["(<class 'ValueError'>, ValueError('x'), <traceback object>)", "ValueError('x')"],
    ['ValueError: ', 'ValueError()'],
  ])('show exceptions as their reprs: %s', (shown, repr) => {
    expect(exceptionRepr(shown)).toBe(repr);
  });
});

describe('the writer', () => {
  const { call, line, action, argument, frameEnd } = controlTokens;

  it('writes frames as the format is described', () => {
    const writer = new FrameWriter();
    const content = { argument: null, locals: null, line: 'def f(n):\n' };
    expect(writer.write({ ...content, event: 'call', locals: locals({ n: '3', s: "'ab'" }) })).toBe(
      `${call}{"n": "3", "s": "'ab'"}${action}def f(n):\n${frameEnd}`,
    );
    expect(
      writer.write({
        ...content,
        event: 'line',
        locals: locals({ n: '3', s: "'b'", k: '[]' }),
        line: '    n\n',
      }),
    ).toBe(`${line}{"n": "..", "s": "'b'", "k": "[]"}${action}    n\n${frameEnd}`);
    expect(writer.write({ ...content, event: 'return', line: '    n\n', argument: "'é'" })).toBe(
      `<|return_sep|>${action}    n\n${argument}"'\\u00e9'"${frameEnd}`,
    );
    expect(writer.write({ ...content, event: 'exception', line: '    n\n', argument: "KeyError('k')" })).toBe(
      `<|exception_sep|>${action}    n\n${argument}"KeyError('k')"${frameEnd}`,
    );
  });

  it('takes unchanged values from the same scope, past calls, returns and frames left by exceptions', () => {
    const writer = new FrameWriter();
    const at = (event: 'call' | 'line' | 'return', x: string, unwinds = 0) =>
      writer.write({ event, locals: locals({ x }), line: '\n', argument: 'None' }, unwinds);
    at('call', '1');
    at('call', '2');
    expect(at('line', '2')).toContain('"x": ".."');
    at('return', '2');
    expect(at('line', '1')).toContain('"x": ".."');
    at('call', '3');
    expect(at('line', '1', 1)).toContain('"x": ".."');
    expect(at('line', '4')).toContain('"x": "4"');
  });

  it('breaks control tokens in values', () => {
    const text = writeFrame(
      { event: 'line', locals: locals({ s: "'<|frame_sep|>'" }), line: 's\n', argument: null },
      null,
    );
    expect(text.indexOf(frameEnd)).toBe(text.length - frameEnd.length);
    const written = readLocals(splitFrame(text).locals.text, () => null);
    expect(resolveLocals(written ?? new Map(), null).get('s')?.repr).toBe("'<|frame_sep|>'");
  });

  it('says of unknown values only that they are not known', () => {
    const text = writeFrame(
      { event: 'call', locals: locals({ x: null }), line: 'f\n', argument: null },
      null,
    );
    const written = readLocals(splitFrame(text).locals.text, () => null);
    expect(resolveLocals(written ?? new Map(), null)).toEqual(locals({ x: null }));
  });
});

describe('locals', () => {
  const none = () => null;

  it('resolve unchanged values, no surer than they were', () => {
    const before: Locals = new Map([['a', { repr: '1', confidence: 0.5 }]]);
    const written = readLocals('{"a": "..", "b": "..", "c": "2"}', () => 0.9);
    expect([...resolveLocals(written ?? new Map(), before)]).toEqual([
      ['a', { repr: '1', confidence: 0.5 }],
      ['b', { repr: null, confidence: 0.9 }],
      ['c', { repr: '2', confidence: 0.9 }],
    ]);
  });

  it('have the names of variables: other keys are not shown as such', () => {
    expect(readLocals('{"n": "1", "a b": "2"}', none)).toBeNull();
    expect(readLocals('{"": "2"}', none)).toBeNull();
    expect([...(readLocals('{".0": "x", "ñ_1": "2", "__proto__": "3"}', none)?.keys() ?? [])]).toEqual([
      '.0',
      'ñ_1',
      '__proto__',
    ]);
  });
});

describe('answers', () => {
  function framesOf(pieces: readonly string[]): string[] {
    const answer = new AnswerText();
    return pieces.flatMap((text) =>
      Array.from(answer.add({ kind: 'text', text, tokens: [] }), (frame) => frame.text),
    );
  }

  it('give the same frames however they are cut into pieces', () => {
    const frames = [
      '<|line_sep|>{}<|action_sep|>a\n<|frame_sep|>',
      '<|frame_sep|>',
      '<|call_sep|>{}<|frame_sep|>',
    ];
    fc.assert(
      fc.property(fc.array(fc.nat(80), { maxLength: 20 }), (cuts) => {
        const text = `${frames.join('')}<|end_of_text|><|line_sep|><|frame_sep|>`;
        const ends = [...new Set(cuts)].sort((a, b) => a - b);
        const pieces = [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end));
        expect(framesOf(pieces)).toEqual(frames);
      }),
    );
  });

  it('without control tokens are refused before they are long', () => {
    expect(() => framesOf(['{"n": "3"}    return n\n'.repeat(30)])).toThrow(/control tokens/);
  });

  it('without the end of a frame are refused at some length', () => {
    expect(() => framesOf(['<|line_sep|>{"a": "', 'a'.repeat(1 << 20)])).toThrow(/without ending a frame/);
  });
});

describe('token spans', () => {
  it('tell the least probability of the tokens in a span', () => {
    const spans = new TokenSpans();
    spans.add('abcd', [
      { text: 'ab', logprob: Math.log(0.9) },
      { text: 'cd', logprob: Math.log(0.5) },
    ]);
    spans.add('ef', [{ text: 'ef', logprob: null }]);
    expect(spans.leastProbability(0, 2)).toBeCloseTo(0.9);
    expect(spans.leastProbability(1, 3)).toBeCloseTo(0.5);
    expect(spans.leastProbability(4, 6)).toBeNull();
    expect(spans.dropBefore(4)).toBe(2);
    expect(spans.leastProbability(0, 4)).toBeNull();
  });

  it('count for the whole piece where tokens end within characters', () => {
    const spans = new TokenSpans();
    spans.add('é!', [
      { text: '', logprob: -1 },
      { text: '', logprob: -2 },
      { text: '!', logprob: -0.5 },
    ]);
    expect(spans.leastProbability(0, 1)).toBeCloseTo(Math.exp(-2));
  });
});

describe('parsePrompt', () => {
  const context =
    'def f(s):\n    return s\ndef main():  # << START_OF_TRACE\n    return f("<|frame_sep\u200b|>")\n';
  const begin = `<|begin_of_text|><|trace_context_start|>${context}<|frame_sep|>`;
  const seed = '<|call_sep|>{}<|action_sep|>def main():\n<|frame_sep|>';

  it('gives the source as Python, its entry, and the frames with their values', () => {
    const parsed = parsePrompt(
      `${begin}${seed}<|line_sep|>{}<|action_sep|>    return f("<|frame_sep\u200b|>")\n<|frame_sep|>` +
        `<|call_sep|>{"s": "'x'"}<|action_sep|>def f(s):\n<|frame_sep|>` +
        `<|line_sep|>{"s":".."}<|action_sep|>    return s\n<|frame_sep|>` +
        `<|return_sep|><|action_sep|>    return s\n<|arg_sep|>"'x'"<|frame_sep|>`,
    );
    expect(parsed.source).toContain('return f("<|frame_sep|>")');
    expect(parsed.entry).toEqual({ name: 'main', line: 3 });
    expect(parsed.lines).toHaveLength(4);
    expect(parsed.frames.map(({ event, line, argument }) => [event, line, argument])).toEqual([
      ['call', 'def main():', null],
      ['line', '    return f("<|frame_sep\u200b|>")', null],
      ['call', 'def f(s):', null],
      ['line', '    return s', null],
      ['return', '    return s', "'x'"],
    ]);
    expect(parsed.frames[3]?.locals?.get('s')?.repr).toBe("'x'");
  });

  it.each([
    ['hello', 'does not begin with'],
    ['<|trace_context_start|>x', 'no <|frame_sep|>'],
    ['<|trace_context_start|>x\n<|frame_sep|>', 'START_OF_TRACE'],
    [`${begin}<|call_sep|>{}`, 'its last frame'],
    [`${begin}${seed}x<|frame_sep|>`, 'frame 2 does not begin'],
    [`${begin}<|call_sep|>{}<|frame_sep|>`, 'frame 1 has no <|action_sep|>'],
    [`${begin}<|call_sep|>{"a}<|action_sep|>x\n<|frame_sep|>`, 'frame 1 has locals'],
    [`${begin}<|return_sep|><|action_sep|>x\n<|frame_sep|>`, 'frame 1 has no value'],
  ])('names what is malformed: %j', (prompt, message) => {
    expect(() => parsePrompt(prompt)).toThrow(message);
  });
});
