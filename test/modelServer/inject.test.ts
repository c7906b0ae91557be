import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';

const model = 'neural-debug-reference-cwm';

let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer({ port: 0, onDivergence: 'inject' });
});

afterAll(async () => {
  await server.close();
});

const source = `def scale(xs, k):
    total = 0
    for x in xs:
        total += k * x
    if total > 10:
        return "big"
    return total

def main():  # << START_OF_TRACE
    return scale([1, 2], 3)
`;

const head = `<|begin_of_text|><|trace_context_start|>${source}<|frame_sep|>`;

async function complete(prompt: string, maxTokens = 100_000) {
  const client = new OpenAI({ baseURL: server.url, apiKey: server.token, maxRetries: 0 });
  return client.completions.create({ model, prompt, max_tokens: maxTokens });
}

/** The frames that follow some frames. */
async function after(...frames: readonly string[]): Promise<string[]> {
  const { choices } = await complete(head + frames.join(''));
  return (choices[0]?.text ?? '').match(/.*?<\|frame_sep\|>/gs) ?? [];
}

async function refusal(...frames: readonly string[]): Promise<string> {
  return after(...frames).then(
    (more) => expect.unreachable(`continued with ${more.join('')}`),
    (thrown: unknown) => {
      expect(thrown).toMatchObject({ status: 422, code: 'history_differs', param: 'prompt' });
      return (thrown as Error).message;
    },
  );
}

/** A frame with locals changed in its text. */
function changed(frame: string | undefined, ...replacements: readonly (readonly [string, string])[]): string {
  return replacements.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  }, frame ?? '');
}

const line = (locals: string, text: string) =>
  `<|line_sep|>${locals}<|action_sep|>    ${text}\n<|frame_sep|>`;

describe('a history that the program is made to follow', () => {
  it('is continued by the program with the local set', async () => {
    const frames = await after();
    const edited = changed(frames[6], ['"total": "3"', '"total": "40"']);
    expect(frames[6]).toBe(line('{"xs": "..", "k": "..", "total": "3", "x": ".."}', 'for x in xs:'));
    const rest = await after(...frames.slice(0, 6), edited);
    expect(rest).toEqual([
      line('{"xs": "..", "k": "..", "total": "..", "x": "2"}', '    total += k * x'),
      line('{"xs": "..", "k": "..", "total": "46", "x": ".."}', 'for x in xs:'),
      line('{"xs": "..", "k": "..", "total": "..", "x": ".."}', 'if total > 10:'),
      line('{"xs": "..", "k": "..", "total": "..", "x": ".."}', '    return "big"'),
      `<|return_sep|><|action_sep|>        return "big"\n<|arg_sep|>"'big'"<|frame_sep|>`,
      `<|return_sep|><|action_sep|>    return scale([1, 2], 3)\n<|arg_sep|>"'big'"<|frame_sep|>`,
    ]);
    // The prompt may grow along the changed course, or leave it.
    expect(await after(...frames.slice(0, 6), edited, ...rest.slice(0, 3))).toEqual(rest.slice(3));
    expect(await after(...frames.slice(0, 9))).toEqual(frames.slice(9));
  });

  it('may be changed at several frames, and at more than one local', async () => {
    const frames = await after();
    const first = changed(frames[3], ['"xs": ".."', '"xs": "(5,)"'], ['"k": ".."', '"k": "[7]"']);
    const second = await after(...frames.slice(0, 3), first);
    expect(second[1]).toBe(line('{"xs": "..", "k": "..", "total": "..", "x": "5"}', '    total += k * x'));
    const again = changed(second[1], ['"k": ".."', '"k": "2"'], ['"total": ".."', '"total": "1"']);
    const rest = await after(...frames.slice(0, 3), first, ...second.slice(0, 1), again);
    expect(rest.at(-1)).toContain('"\'big\'"');
    expect(rest[0]).toBe(line('{"xs": "..", "k": "..", "total": "11", "x": ".."}', 'for x in xs:'));
  });

  it('may set the arguments of a call, and locals that are not bound yet', async () => {
    const frames = await after();
    const call = changed(frames[2], ['"k": "3"', '"k": "100"']);
    expect((await after(...frames.slice(0, 2), call)).at(-1)).toContain('"\'big\'"');
    const early = changed(frames[3], ['"k": ".."', '"k": "..", "x": "None"']);
    expect((await after(...frames.slice(0, 3), early))[0]).toBe(
      line('{"xs": "..", "k": "..", "x": "..", "total": "0"}', 'for x in xs:'),
    );
  });

  it('may go on from another line', async () => {
    const frames = await after();
    const jump = changed(frames[5], ['        total += k * x\n', '    return total\n']);
    expect((await after(...frames.slice(0, 5), jump))[0]).toBe(
      `<|return_sep|><|action_sep|>    return total\n<|arg_sep|>"0"<|frame_sep|>`,
    );
  });

  it('may spell the value otherwise', async () => {
    const frames = await after();
    const edited = changed(frames[5], ['"x": "1"', '"x": "{2,  1, 0x3}"'], ['"k": ".."', '"k": "{1}"']);
    const rest = await after(...frames.slice(0, 5), edited);
    expect(rest[0]).toContain('<|exception_sep|>');
    expect(await after(...frames.slice(0, 5), edited, ...rest.slice(0, 1))).toEqual(rest.slice(1));
  });

  it('is not followed where that cannot be, and the error says why', async () => {
    const frames = await after();
    const before = frames.slice(0, 5);
    const message = await refusal(...before, changed(frames[5], ['"x": "1"', '"x": "<object>"']));
    expect(message).toContain(
      'Frame 6 of the history is not what the program does. The prompt has "x" = "<object>"',
    );
    expect(message).toContain('x would be <object>, which is no Python literal');
    expect(await refusal(...before, changed(frames[5], ['"x": "1"', '"y": "1"']))).toContain(
      'a local, here "x", cannot be taken away',
    );
    expect(await refusal(...before, changed(frames[5], ['"x": "1"', '"x": "..", "y": "1"']))).toContain(
      'y is no variable of scale',
    );
    expect(
      await refusal(...frames.slice(0, 3), changed(frames[3], ['total = 0', '    total += k * x'])),
    ).toContain("Python says: can't jump into the body of a for loop");
    expect(await refusal(...before, changed(frames[5], ['total += k * x', 'print(1)']))).toContain(
      'the source has no such line',
    );
    expect(
      await refusal(...before, '<|return_sep|><|action_sep|>    return total\n<|arg_sep|>"0"<|frame_sep|>'),
    ).toContain('what a program does next cannot be set');
    const last = changed(frames.at(-1), ['"9"', '"8"']);
    expect(await refusal(...frames.slice(0, -1), last)).toContain('what a frame returns cannot be set');
  });
});
