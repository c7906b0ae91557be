import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';
import { tokenize } from '../../adapter/modelServer/tokens';

const model = 'neural-debug-reference-cwm';
const context = 2_000;

let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer({ port: 0, context });
});

afterAll(async () => {
  await server.close();
});

const source = `def main():  # << START_OF_TRACE
    s = "<|frame_sep|>"
    n = len(s)
    return s * 2
`;

/** The ids of a prompt whose source has text that looks like a control token. */
function promptIds(...frames: readonly number[][]): number[] {
  const plain = source.split(/(?<=<\|)/).flatMap((part) => tokenize(part).map(({ id }) => id));
  return [128000, 128107, ...plain, 128100, ...frames.flat()];
}

interface Choice {
  readonly text: string;
  readonly finish_reason: string | null;
  readonly stop_reason: string | number | null;
  readonly token_ids?: number[];
  readonly logprobs: { readonly tokens: string[]; readonly token_logprobs: number[] } | null;
}

interface Answer {
  readonly choices: readonly Choice[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details: { readonly cached_tokens: number };
  };
}

async function post(path: string, body: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(new URL(path, server.url), {
    method: 'POST',
    headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function complete(fields: object): Promise<Answer & { readonly choice: Choice }> {
  const { status, body } = await post('/v1/completions', { model, max_tokens: 500, ...fields });
  expect(status, JSON.stringify(body)).toBe(200);
  const answer = body as Answer;
  const [choice] = answer.choices;
  if (!choice) throw new Error('There is no choice.');
  return { ...answer, choice };
}

describe('ids mode', () => {
  it('takes a prompt of ids and gives those of the answer', async () => {
    const { choice, usage } = await complete({
      prompt: promptIds(),
      return_token_ids: true,
      logprobs: 1,
      skip_special_tokens: false,
    });
    expect(choice.text.match(/<\|frame_sep\|>/g)).toHaveLength(5 + 1);
    expect(choice.token_ids?.filter((id) => id === 128100)).toHaveLength(5);
    expect(choice.token_ids?.at(-1)).toBe(128001);
    expect(choice.logprobs?.tokens).toHaveLength(choice.token_ids?.length ?? -1);
    expect(choice.logprobs?.tokens.join('')).toBe(choice.text);
    expect(choice.text).toContain('    s = "<|frame_sep|>"\n<|frame_sep|>');
    expect(usage?.prompt_tokens).toBe(promptIds().length);
    expect(usage?.completion_tokens).toBe(choice.token_ids?.length);
  });

  it('goes on from the ids of an answer, frame by frame, and knows them again', async () => {
    const { choice } = await complete({ prompt: promptIds(), return_token_ids: true });
    const all = choice.token_ids ?? [];
    let prompt = promptIds();
    const seen: number[] = [];
    for (let frame = 0; frame < 5; frame++) {
      const { choice: next, usage } = await complete({
        prompt,
        return_token_ids: true,
        stop_token_ids: [128100],
      });
      expect(next).toMatchObject({ finish_reason: 'stop', stop_reason: 128100 });
      expect(usage?.prompt_tokens_details.cached_tokens).toBe(prompt.length);
      seen.push(...(next.token_ids ?? []));
      prompt = promptIds(seen);
    }
    expect([...seen, 128001]).toEqual(all);
  });

  it('streams the same ids', async () => {
    const response = await fetch(`${server.url}/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        model,
        prompt: [promptIds()],
        max_tokens: 500,
        stream: true,
        return_token_ids: true,
      }),
    });
    const chunks = (await response.text())
      .split('\n\n')
      .filter((chunk) => chunk.startsWith('data: {'))
      .map((chunk) => JSON.parse(chunk.slice('data: '.length)) as Answer);
    const { choice } = await complete({ prompt: promptIds(), return_token_ids: true });
    expect(chunks.flatMap(({ choices }) => choices[0]?.token_ids ?? [])).toEqual(choice.token_ids);
    expect(chunks.length).toBeGreaterThan(3);
  });

  it('leaves control tokens out of the text where that is asked', async () => {
    const { choice } = await complete({
      prompt: promptIds(),
      skip_special_tokens: true,
      return_token_ids: true,
      max_tokens: 20,
      stop: ['<|frame_sep|>'],
    });
    expect(choice.text.startsWith('{}def main():\n{}')).toBe(true);
    expect(choice.token_ids?.slice(0, 2)).toEqual([128103, tokenize('{}')[0]?.id]);
    // A stop string is looked for in the text, where it then is not.
    expect(choice).toMatchObject({ finish_reason: 'length', stop_reason: null });
  });
});

describe('the tokenizer’s routes', () => {
  it('give ids, and the text of ids, as vLLM does', async () => {
    const text = 'né <|frame_sep|>';
    const tokens = tokenize(text).map(({ id }) => id);
    expect(await post('/tokenize', { model, prompt: text })).toEqual({
      status: 200,
      body: {
        count: tokens.length + 1,
        max_model_len: context,
        tokens: [128000, ...tokens],
        token_strs: null,
      },
    });
    expect(
      await post('/tokenize', { prompt: text, add_special_tokens: false, return_token_strs: true }),
    ).toMatchObject({ body: { tokens, token_strs: ['n', '', 'é', ' ', '<|frame_sep|>'] } });
    expect(await post('/detokenize', { model, tokens })).toEqual({ status: 200, body: { prompt: text } });
  });

  it('refuse what is none of their requests', async () => {
    expect(await post('/tokenize', { content: 'x' })).toMatchObject({ status: 400 });
    expect(await post('/tokenize', { model: 'other', prompt: 'x' })).toMatchObject({ status: 404 });
    expect(await post('/detokenize', { tokens: [100_000] })).toMatchObject({
      status: 400,
      body: { error: { param: 'tokens', code: 'invalid_token_ids' } },
    });
  });
});

describe('the context', () => {
  it('is told with the model', async () => {
    const response = await fetch(`${server.url}/models`, {
      headers: { Authorization: `Bearer ${server.token}` },
    });
    expect(await response.json()).toMatchObject({
      data: [{ id: model, owned_by: 'neural-debug', max_model_len: context }],
    });
  });

  it('is the most that a prompt and its answer may be', async () => {
    const tokens = promptIds().length;
    const answered = await complete({ prompt: promptIds(), max_tokens: context - tokens });
    expect(answered.choice.finish_reason).toBe('stop');
    const more = await post('/v1/completions', {
      model,
      prompt: promptIds(),
      max_tokens: context - tokens + 1,
    });
    expect(more).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error', code: 'context_length_exceeded' } },
    });
    expect(JSON.stringify(more.body)).toContain(
      `This model's maximum context length is ${context} tokens and your request has ${tokens} input tokens`,
    );
    const long = `<|trace_context_start|>${source}# ${'long '.repeat(context)}\n<|frame_sep|>`;
    const tooLong = await post('/v1/completions', { model, prompt: long });
    expect(tooLong.status).toBe(400);
    expect(JSON.stringify(tooLong.body)).toContain(
      `This model's maximum context length is ${context} tokens.`,
    );
  });
});
