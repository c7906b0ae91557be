import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { Faults, parseFaults } from '../../adapter/modelServer/faults';
import {
  type ModelServer,
  startModelServer,
  type ModelServerOptions,
} from '../../adapter/modelServer/server';
import { otherLiteral } from '../../adapter/modelServer/wrongFrames';

const model = 'neural-debug-reference-cwm';
const source = `def main():  # << START_OF_TRACE
    total = 0
    for i in range(60):
        total += i * 3
    return total
`;
const head = `<|begin_of_text|><|trace_context_start|>${source}<|frame_sep|>`;

let server: ModelServer | null = null;

async function start(faults: string, more: Partial<ModelServerOptions> = {}, seed = 1): Promise<ModelServer> {
  server = await startModelServer({ port: 0, faults: parseFaults(faults, seed), ...more });
  return server;
}

afterEach(async () => {
  await server?.close();
  server = null;
});

function ask(
  to: ModelServer,
  prompt: string,
  fields: Partial<OpenAI.CompletionCreateParamsNonStreaming> = {},
) {
  const client = new OpenAI({ baseURL: to.url, apiKey: to.token, maxRetries: 0 });
  return client.completions.create({ model, prompt, max_tokens: 100_000, ...fields });
}

function framesOf(text: string): string[] {
  return text.match(/.*?<\|frame_sep\|>/gs) ?? [];
}

async function framesAfter(to: ModelServer, ...frames: readonly string[]): Promise<string[]> {
  return framesOf((await ask(to, head + frames.join(''))).choices[0]?.text ?? '');
}

describe('drawn faults', () => {
  const places = Array.from({ length: 20_000 }, (_, frame) => ({ program: 'p', frame }));

  it.each([0.01, 0.1, 0.5])('are as many as their rate %d says, and told as likely as they are', (rate) => {
    const faults = new Faults(parseFaults(`wrong-value=${rate}`, 7));
    const draws = places.map((place) => faults.draw('wrong-value', place));
    const share = (some: readonly { isWrong: boolean }[]) =>
      some.filter(({ isWrong }) => isWrong).length / some.length;
    expect(Math.abs(share(draws) - rate)).toBeLessThan(4 * Math.sqrt((rate * (1 - rate)) / places.length));
    // What is told to be right with p is right with p.
    for (const [low, high] of [
      [0, 0.5],
      [0.5, 0.9],
      [0.9, 1.01],
    ] as const) {
      const some = draws.filter(({ logprob }) => Math.exp(logprob) >= low && Math.exp(logprob) < high);
      const told = some.reduce((sum, { logprob }) => sum + 1 - Math.exp(logprob), 0) / some.length;
      expect(Math.abs(share(some) - told)).toBeLessThan(4 * Math.sqrt((told * (1 - told)) / some.length));
    }
  });

  it('are the same for the same seed, and others for another', () => {
    const drawn = (seed: number) => {
      const faults = new Faults(parseFaults('wrong-line=0.3', seed));
      return places.slice(0, 200).map((place) => faults.draw('wrong-line', place).isWrong);
    };
    expect(drawn(3)).toEqual(drawn(3));
    expect(drawn(3)).not.toEqual(drawn(4));
  });

  it.each(['wrong', 'wrong-value=2', 'cut@1.5', 'never=0.1'])('cannot be %s', (text) => {
    expect(() => parseFaults(text, 0)).toThrow('The faults cannot be read');
  });

  it.each([
    ['3', '4'],
    ['-3', '-4'],
    ["'ab'", "'abx'"],
    ['True', 'False'],
    ['1.5', '2.0'],
    ['[]', '[0]'],
    ['{1, 2}', '{3, 2}'],
  ])('make another literal of %s', (repr, other) => {
    expect(otherLiteral(repr, 0)).toBe(other);
  });

  it.each(['None', '<object>', 'x', "'a'... +3 more"])('make none of %s', (repr) => {
    expect(otherLiteral(repr, 0)).toBeNull();
  });
});

describe('a server with faults', () => {
  it('errs in the frames that it reports, and nowhere else', async () => {
    const right = await framesAfter(await start(''));
    await server?.close();
    const to = await start('wrong-value=0.2,wrong-line=0.1');
    const seen = await framesAfter(to);
    // A history that is the program's own can be followed frame by frame.
    for (let frame = 0; frame < right.length; frame++) {
      const { choices } = await ask(to, head + right.slice(0, frame).join(''), { stop: '<|frame_sep|>' });
      expect(`${choices[0]?.text ?? ''}<|frame_sep|>`).toBe(seen[frame]);
    }
    const wrong = seen.flatMap((frame, index) => (frame === right[index] ? [] : [index]));
    const { made, possible } = to.faults();
    expect([...new Set(made.map(({ frame }) => frame))].sort((a, b) => a - b)).toEqual(wrong);
    expect(made.filter(({ kind }) => kind === 'wrong-value').length).toBeGreaterThan(8);
    expect(made.filter(({ kind }) => kind === 'wrong-line').length).toBeGreaterThan(2);
    // Each turn binds i and total anew.
    expect(possible).toMatchObject({ 'wrong-value': 120, 'wrong-line': right.length - 2 });
    // The right history is followed; a wrong one is not.
    const first = wrong[0] ?? 0;
    await expect(framesAfter(to, ...seen.slice(0, first + 1))).rejects.toMatchObject({ status: 422 });
  });

  it('goes on from what it wrote, where it injects', async () => {
    const to = await start('wrong-value=0.05', { onDivergence: 'inject' });
    const seen = await framesAfter(to);
    const { made } = to.faults();
    expect(made.length).toBeGreaterThan(2);
    for (const { frame } of made.slice(0, 3)) {
      expect(await framesAfter(to, ...seen.slice(0, frame + 1))).toEqual(seen.slice(frame + 1));
    }
  });

  it('tells lower probabilities where it errs', async () => {
    const to = await start('wrong-value=0.2');
    const { choices } = await ask(to, head, { logprobs: 1 });
    const logprobs = choices[0]?.logprobs?.token_logprobs ?? [];
    const unsure = logprobs.filter((logprob) => logprob < 0);
    expect(unsure).toHaveLength(120);
    const { made } = to.faults();
    const expected = unsure.reduce((sum, logprob) => sum + 1 - Math.exp(logprob), 0);
    expect(Math.abs(expected - made.length)).toBeLessThan(4 * Math.sqrt(expected));
  });

  it('draws other samples anew', async () => {
    const to = await start('wrong-value=0.3');
    const sample = async (fields: object) => (await ask(to, head, fields)).choices[0]?.text;
    const seeded = await sample({ temperature: 0.7, seed: 1 });
    expect(await sample({ temperature: 0.7, seed: 1 })).toBe(seeded);
    expect(await sample({ temperature: 0.7, seed: 2 })).not.toBe(seeded);
    expect(await sample({ temperature: 0.7 })).not.toBe(await sample({ temperature: 0.7 }));
    expect(await sample({ temperature: 0 })).toBe(await sample({}));
  });

  it.each([
    ['status-429', 429],
    ['status-500', 500],
  ])('refuses with %s once, and goes on', async (kind, status) => {
    const to = await start(`${kind}@2`);
    const frames = await framesAfter(to);
    await expect(framesAfter(to, ...frames.slice(0, 2))).rejects.toMatchObject({ status });
    expect(await framesAfter(to, ...frames.slice(0, 2))).toEqual(frames.slice(2));
    expect(to.faults().made).toEqual([{ kind, frame: 2, wrote: null, does: null }]);
  });

  it.each(['empty', 'page', 'other-json', 'cut', 'stall', 'malformed'])(
    'answers with %s once',
    async (kind) => {
      const to = await start(`${kind}@0`);
      const leave = new AbortController();
      const read = async () => {
        const response = await fetch(`${to.url}/completions`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${to.token}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ model, prompt: head, max_tokens: 10_000, stream: true }),
          signal: leave.signal,
        });
        let text = '';
        const decoder = new TextDecoder();
        for await (const chunk of response.body ?? []) {
          text += decoder.decode(chunk as Uint8Array);
          if (kind === 'stall') leave.abort();
        }
        return text;
      };
      const broken = await read().catch((thrown: unknown) => String(thrown));
      expect(broken).not.toContain('[DONE]'.repeat(kind === 'malformed' ? 2 : 1));
      expect(to.faults().made).toMatchObject([{ kind, frame: 0 }]);
      const frames = await framesAfter(to);
      expect(frames[0]).toBe('<|call_sep|>{}<|action_sep|>def main():\n<|frame_sep|>');
      expect(frames.at(-1)).toContain('"5310"');
    },
  );
});

describe('a prompt that leaves frames out', () => {
  it('is followed from the first frame that it has', async () => {
    const to = await start('', { onDivergence: 'inject' });
    const frames = await framesAfter(to);
    const full = '<|line_sep|>{"total": "9", "i": "2"}<|action_sep|>    for i in range(60):\n<|frame_sep|>';
    expect(frames[8]).toBe(full.replace('"2"', '".."'));
    const windowed = (dropped: number, ...shown: readonly string[]) =>
      ask(to, head + [frames[0], ...shown].join(''), {
        dropped_frames: dropped,
      } as Partial<OpenAI.CompletionCreateParamsNonStreaming>);
    const answer = await windowed(7, full, frames[9] ?? '');
    expect(framesOf(answer.choices[0]?.text ?? '')).toEqual(frames.slice(10));
    const again = await windowed(7, full, ...frames.slice(9, 12));
    expect(framesOf(again.choices[0]?.text ?? '')).toEqual(frames.slice(12));
    expect(again.usage?.prompt_tokens_details?.cached_tokens).toBe(again.usage?.prompt_tokens);
    // What was changed before may be in what is left out.
    const edited = full.replace('"9"', '"1009"');
    const changed = await framesAfter(to, ...frames.slice(0, 8), edited);
    const later = changed[1]?.replace('"i": ".."', '"i": "3"') ?? '';
    const after = await windowed(9, later);
    expect(framesOf(after.choices[0]?.text ?? '')).toEqual(changed.slice(2));
    await expect(
      windowed(6, '<|return_sep|><|action_sep|>x\n<|arg_sep|>"1"<|frame_sep|>'),
    ).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('Frame 8 of the history') as string,
    });
  });
});
