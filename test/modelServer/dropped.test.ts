import { createHash } from 'node:crypto';
import fc from 'fast-check';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { parseFaults } from '../../adapter/modelServer/faults';
import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from '../../adapter/modelServer/server';

/** What main sets is not seen while `inner` runs, and matters after it, some of it late. */
const source = `def inner(n):
    seen = 0
    for i in range(n):
        seen += i
    return seen

def main():  # << START_OF_TRACE
    k = 1
    m = 0
    s = inner(12)
    s += m
    t = inner(3)
    return s + t if k < 5 else k
`;
const head = `<|begin_of_text|><|trace_context_start|>${source}<|frame_sep|>`;
const model = 'neural-debug-reference-cwm';

const servers: ModelServer[] = [];

async function start(options: Partial<ModelServerOptions> = {}): Promise<ModelServer> {
  const server = await startModelServer({ port: 0, onDivergence: 'inject', ...options });
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A frame of a history, and whether the model wrote it. */
interface Frame {
  readonly text: string;
  readonly isModels: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

async function framesAfter(to: ModelServer, prompt: string, fields: Fields = {}, tokens = 100_000) {
  const client = new OpenAI({ baseURL: to.url, apiKey: to.token, maxRetries: 0 });
  const { choices } = await client.completions.create({ model, prompt, max_tokens: tokens, ...fields });
  const texts = (choices[0]?.text ?? '').match(/.*?<\|frame_sep\|>/gs) ?? [];
  return texts.map((text): Frame => ({ text, isModels: true }));
}

/** What is asked for the frames after a whole history. */
function whole(to: ModelServer, history: readonly Frame[]): Promise<Frame[]> {
  return framesAfter(to, head + history.map(({ text }) => text).join(''));
}

/** A value of a local that is set in one of the frames before `inner` is called. */
interface Edit {
  readonly at: 2 | 3;
  readonly name: 'k' | 'm';
  readonly value: number;
}

/** The history that a person makes who sets values one after the other, and goes on to the end. */
async function edited(to: ModelServer, edits: readonly Edit[]): Promise<Frame[]> {
  let history = await whole(to, []);
  for (const { at, name, value } of [...edits].sort((a, b) => a.at - b.at)) {
    const before = history.slice(0, at);
    const frame = history[at];
    if (!frame?.text.includes(`"${name}"`)) continue;
    const text = frame.text.replace(new RegExp(`"${name}": "[^"]*"`), `"${name}": "${value}"`);
    const version: Frame = { text, isModels: false };
    history = [...before, version, ...(await whole(to, [...before, version]))];
  }
  return history;
}

/** The frames of a history without those from 1 to `last`: what stands before `inner`'s loop is never seen. */
const firstSeen = 6;

function windowOf(history: readonly Frame[], length: number): string {
  const kept = history.slice(firstSeen, length).map(({ text }) => text);
  // The first line frame of the scope that is left refers to no frame before.
  const [first = '', ...more] = kept;
  const given = history.slice(0, firstSeen).flatMap(({ text }) => /"n": "\d+"/.exec(text) ?? []);
  return head + [history[0]?.text, first.replace('"n": ".."', given.at(-1) ?? ''), ...more].join('');
}

function said(history: readonly Frame[]): Fields {
  const dropped = history.slice(1, firstSeen);
  const digest = createHash('sha256');
  for (const { text, isModels } of dropped) if (isModels) digest.update(text);
  const others = dropped.flatMap(({ text, isModels }, at) => (isModels ? [] : [[at + 1, text]]));
  return { dropped_frames: dropped.length, dropped_digest: digest.digest('hex'), dropped_others: others };
}

const edit = fc.record<Edit>({
  at: fc.constantFrom(2, 3),
  name: fc.constantFrom('k', 'm'),
  value: fc.constantFrom(0, 1, 2, 7, 9),
});

describe('a prompt that leaves out changes', () => {
  it('is gone on with on the run that it says, also by a server that never saw the changes', async () => {
    const isWhereItWas = async ([edits, others, length]: readonly [Edit[], Edit[], number]) => {
      const to = await start();
      const history = await edited(to, edits);
      // Another way is asked for last, and has the same frames from there on that are sent.
      const other = await edited(to, others);
      for (const way of [history, other, history]) {
        const rest = way.slice(length);
        expect(await framesAfter(to, windowOf(way, length), said(way))).toEqual(rest);
      }
      const fresh = await start();
      expect(await framesAfter(fresh, windowOf(history, length), said(history))).toEqual(
        history.slice(length),
      );
      await Promise.all(servers.splice(0).map((server) => server.close()));
    };
    const lengths = fc.integer({ min: 7, max: 30 });
    const ways = fc.tuple(
      fc.array(edit, { maxLength: 3 }),
      fc.array(edit, { minLength: 1, maxLength: 3 }),
      lengths,
    );
    await fc.assert(fc.asyncProperty(ways, isWhereItWas), { numRuns: 8 });
  });

  it('and says nothing of them is gone on with as far as all runs agree, and never on a wrong one', async () => {
    const to = await start();
    const edits: Edit[] = [
      { at: 2, name: 'k', value: 7 },
      { at: 3, name: 'k', value: 9 },
      { at: 3, name: 'm', value: 2 },
    ];
    const ways = [await whole(to, [])];
    for (const each of edits) ways.push(await edited(to, [each]));
    const fields = { dropped_frames: firstSeen - 1 };
    for (const way of ways) {
      for (const length of [7, 15, 30]) {
        const prompt = windowOf(way, length);
        await expect(framesAfter(to, prompt, fields)).rejects.toMatchObject({
          status: 422,
          code: 'history_undecided',
          message: expect.stringContaining('which go on differently') as string,
        });
        // They are the same up to where one of them has another sum.
        const client = new OpenAI({ baseURL: to.url, apiKey: to.token, maxRetries: 0 });
        const stream = await client.completions.create({
          model,
          prompt,
          max_tokens: 10_000,
          stream: true,
          ...fields,
        });
        let text = '';
        const read = async () => {
          for await (const { choices } of stream) text += choices[0]?.text ?? '';
        };
        await expect(read()).rejects.toThrow('go on differently');
        const same = way.findIndex(({ text }) => text.includes('    t = inner(3)'));
        const agreed = way.slice(length, same).map((frame) => frame.text);
        expect(text).toBe(agreed.join(''));
      }
    }
  });

  it('after frames that the server itself wrote wrong is gone on with from what it wrote', async () => {
    const to = await start({ faults: parseFaults('wrong-value=0.25', 3) });
    const wrote = await whole(to, []);
    const right = await whole(await start(), []);
    expect(wrote.slice(1, firstSeen)).not.toEqual(right.slice(1, firstSeen));
    for (const length of [8, 20]) {
      const rest = await framesAfter(to, windowOf(wrote, length), said(wrote));
      expect(rest).toEqual(wrote.slice(length));
    }
    // Another server knows nothing of it.
    await expect(framesAfter(await start(), windowOf(wrote, 8), said(wrote))).rejects.toMatchObject({
      status: 422,
      code: 'history_unknown',
    });
  });

  it.each([
    ['in a digest', { dropped_digest: 'x' }],
    ['in frames', { dropped_others: [[0, 'x']] }],
  ])('is refused where it is no such request %s', async (_, fields) => {
    const to = await start();
    await expect(framesAfter(to, head, { dropped_frames: 3, ...fields })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  });

  it('is refused where a frame that it says is left out cannot be', async () => {
    const to = await start();
    const history = await whole(to, []);
    const fields = {
      ...said(history),
      dropped_others: [[3, '<|line_sep|>{}<|action_sep|>x\n<|frame_sep|>']],
    };
    await expect(framesAfter(to, windowOf(history, 8), fields)).rejects.toMatchObject({
      status: 422,
      code: 'history_differs',
    });
  });
});
