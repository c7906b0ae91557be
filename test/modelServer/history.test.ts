import { describe, expect, it } from 'vitest';
import { differs, HistoryCheck } from '../../adapter/modelServer/history';
import type { Refusal } from '../../adapter/modelServer/refusal';
import { MemoryFrames, writeFrames } from './memoryFrames';

const run = writeFrames([
  ['call', 'def main():', {}],
  ['line', '    total = 0', {}],
  ['line', '    total += f(2)', { total: '0' }],
  ['call', 'def f(n):', { n: '2' }],
  ['line', '    m = n', { n: '2' }],
  ['line', '    return m + n', { n: '2', m: '2' }],
  ['return', '    return m + n', '4'],
  ['line', '    g()', { total: '4' }],
  ['call', 'def g():', {}],
  ['line', '    raise KeyError(3)', {}],
  ['exception', '    raise KeyError(3)', 'KeyError(3)'],
  ['return', '    raise KeyError(3)', 'None'],
  ['exception', '    g()', 'KeyError(3)'],
  ['return', '    g()', 'None'],
]);
const texts = run.map(({ text }) => text);
const start = { next: 0, length: 0, frames: 0 };
const { signal } = new AbortController();

function check(history: string) {
  return new HistoryCheck(history, { frames: new MemoryFrames(run), lines: [], edits: [] });
}

/** What follows a history: the run's next frame, or what is left of it. */
async function after(history: string): Promise<string> {
  const checked = check(history);
  const { end, different } = await checked.follow(start, signal);
  if (different) throw differs(different);
  return checked.rest(end, run[end.next] ?? null);
}

async function refusal(history: string): Promise<Refusal> {
  const refused: unknown = await after(history).then(
    (text) => expect.unreachable(`accepted, and continued with ${text}`),
    (thrown: unknown) => thrown,
  );
  expect(refused).toMatchObject({ status: 422, code: 'history_differs', param: 'prompt' });
  return refused as Refusal;
}

/** The frame with `..` written out and JSON without spaces. */
function compact(text: string): string {
  return text.replaceAll('": "', '":"').replaceAll('", "', '","');
}

describe('a history', () => {
  it('that is a beginning of the run is followed wherever it ends', async () => {
    for (let count = 0; count < texts.length; count++) {
      expect(await after(texts.slice(0, count).join(''))).toBe(texts[count]);
    }
  });

  it('that breaks off within a frame is continued from there', async () => {
    for (const [index, text] of texts.entries()) {
      for (let cut = 1; cut < text.length; cut++) {
        expect(await after(texts.slice(0, index).join('') + text.slice(0, cut))).toBe(text.slice(cut));
      }
    }
  });

  it('may be spaced otherwise', async () => {
    const spaced = texts.map(compact);
    expect(await after(spaced.slice(0, 6).join(''))).toBe(texts[6]);
    expect(await after(`${spaced.slice(0, 5).join('')}<|line_sep|>{"n":"..","m"`)).toBe(
      ': "2"}<|action_sep|>    return m + n\n<|frame_sep|>',
    );
    expect(
      await after(`${spaced.slice(0, 5).join('')}<|line_sep|>{"n":"..","m":"2"}<|action_sep|>    re`),
    ).toBe('turn m + n\n<|frame_sep|>');
  });

  it('may write values in full, or as unchanged where they are', async () => {
    const full = '<|line_sep|>{"m": "2", "n": "2"}<|action_sep|>    return m + n\n<|frame_sep|>';
    expect(await after([...texts.slice(0, 5), full].join(''))).toBe(texts[6]);
    const past = '<|line_sep|>{"total": ".."}<|action_sep|>    g()\n<|frame_sep|>';
    const { error } = await refusal([...texts.slice(0, 7), past].join(''));
    expect(error.message).toContain('Frame 8');
    expect(error.message).toContain('The prompt has "total" = "0". The program has "total" = "4".');
  });

  it('may leave values open that nothing before tells', async () => {
    const seed = '<|call_sep|>{"n": ".."}<|action_sep|>def f(n):\n<|frame_sep|>';
    expect(await after([...texts.slice(0, 3), seed].join(''))).toBe(texts[4]);
  });

  it('may carry the marker on its first line', async () => {
    const marked = '<|call_sep|>{}<|action_sep|>def main():  # << START_OF_TRACE\n<|frame_sep|>';
    expect(await after(marked)).toBe(texts[1]);
  });

  it('may show exceptions by type or message, and leave out the return after them', async () => {
    const raised =
      '<|exception_sep|><|action_sep|>    raise KeyError(3)\n<|arg_sep|>"KeyError: 3"<|frame_sep|>';
    expect(await after([...texts.slice(0, 10), raised].join(''))).toBe(texts[11]);
    expect(await after([...texts.slice(0, 11), texts[12]].join(''))).toBe(texts[13]);
  });

  it.each([
    ['another line', 2, '    total = 0', '    total = 1', 'at "total = 1"'],
    ['another value', 5, '"n": "2"', '"n": "3"', '"n" = "3". The program has "n" = "2"'],
    ['a local too many', 5, '"n": ".."', '"n": "..", "z": "1"', 'The program has no local "z"'],
    ['a local too few', 3, '{"total": "0"}', '{}', 'The prompt has no local "total"'],
    ['another event', 7, '<|return_sep|>', '<|exception_sep|>', 'an exception frame'],
    ['another return value', 7, '"4"', '"5"', 'the return of "5". The program has the return of "4"'],
    ['broken locals', 3, '{"total"', '{"total', 'not a JSON object'],
    ['no frame', 3, '<|line_sep|>', 'Sure! ', 'no frame'],
  ])('with %s is refused', async (_, frame, from, to, message) => {
    const changed = texts.map((text, index) =>
      index === frame - 1 || index === frame - 2 ? text.replace(from, to) : text,
    );
    const at = changed.findIndex((text, index) => text !== texts[index]) + 1;
    const { error } = await refusal(changed.join(''));
    expect(error.message).toContain(`Frame ${at} of the history`);
    expect(error.message).toContain(message);
  });

  it('with a forced return is refused where the run goes on', async () => {
    const { error } = await refusal(`${texts.slice(0, 4).join('')}<|return_sep|>`);
    expect(error.message).toContain('Frame 5');
    expect(error.message).toContain('The prompt has a return frame without a line.');
    expect(error.message).toContain('The program has a line frame at "m = n".');
    expect(await after(`${texts.slice(0, 6).join('')}<|return_sep|>`)).toBe(texts[6]?.slice(14));
  });

  it('that goes on after the end is refused', async () => {
    const { error } = await refusal(texts.join('') + (texts[1] ?? ''));
    expect(error.message).toContain(`Frame ${texts.length + 1}`);
    expect(error.message).toContain('The program has ended.');
    await refusal(`${texts.join('')}<|line_sep|>`);
  });

  it('is followed on from what is known of it', async () => {
    const known = { next: 4, length: texts.slice(0, 4).join('').length, frames: 4 };
    const history = texts.slice(0, 7).join('');
    expect((await check(history).follow(known, signal)).end).toEqual({
      next: 7,
      length: history.length,
      frames: 7,
    });
  });
});
