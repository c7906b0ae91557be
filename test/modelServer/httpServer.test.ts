import { request as httpRequest } from 'node:http';
import OpenAI from 'openai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { listen, type ModelServer } from '../../adapter/modelServer/httpServer';
import { MemoryModel } from './memoryModel';

const frames = [
  '<|call_sep|>{}<|action_sep|>def main():\n<|frame_sep|>',
  '<|line_sep|>{"word": "\'straße 😀\'"}<|action_sep|>    x = 1\n<|frame_sep|>',
  '<|return_sep|><|action_sep|>    return x\n<|arg_sep|>"1"<|frame_sep|>',
];

let server: ModelServer | null = null;

async function start(model = new MemoryModel(() => frames), maxBodyBytes = 100_000): Promise<ModelServer> {
  server = await listen(model, { port: 0, maxBodyBytes });
  return server;
}

afterEach(async () => {
  await server?.close();
  server = null;
});

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** Sends a request with headers that fetch does not let through; `undefined` leaves a header out. */
function send(to: ModelServer, { method = 'POST', path = '/v1/completions', headers = {}, body }: Sent) {
  const all: Record<string, string | undefined> = {
    Authorization: `Bearer ${to.token}`,
    'Content-Type': 'application/json',
    Connection: 'close',
    ...headers,
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new Promise<{ status: number; headers: Record<string, unknown>; text: string }>(
    (resolve, reject) => {
      const { hostname, port } = new URL(to.url);
      const sent = httpRequest({ hostname, port, method, path, headers: given }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    },
  );
}

function complete(to: ModelServer, fields: object, headers: Sent['headers'] = {}) {
  return send(to, { headers, body: JSON.stringify({ model: 'memory', prompt: 'p', ...fields }) });
}

function errorOf(text: string) {
  return (
    JSON.parse(text) as { error: { message: string; type: string; param: string | null; code: string } }
  ).error;
}

describe('the server', () => {
  it('lists its model', async () => {
    const to = await start();
    const { status, text } = await send(to, { method: 'GET', path: '/v1/models' });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ object: 'list', data: [{ id: 'memory', object: 'model' }] });
    const one = await send(to, { method: 'GET', path: '/v1/models/memory' });
    expect(JSON.parse(one.text)).toMatchObject({ id: 'memory' });
  });

  it('completes a prompt at once', async () => {
    const to = await start();
    const { status, text } = await complete(to, { prompt: 'abcdefgh', max_tokens: 1000 });
    expect(status).toBe(200);
    const body = JSON.parse(text) as { usage: { completion_tokens: number; total_tokens: number } };
    expect(body).toMatchObject({
      object: 'text_completion',
      model: 'memory',
      choices: [
        { index: 0, text: frames.join(''), logprobs: null, finish_reason: 'stop', stop_reason: null },
      ],
      usage: { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 0 } },
    });
    expect(body.usage.total_tokens).toBe(5 + body.usage.completion_tokens);
  });

  it('stops at stop strings and says which', async () => {
    const to = await start();
    const { text } = await complete(to, { max_tokens: 1000, stop: ['nothing', '<|return_sep|>'] });
    expect(JSON.parse(text)).toMatchObject({
      choices: [{ text: frames.slice(0, 2).join(''), finish_reason: 'stop', stop_reason: '<|return_sep|>' }],
    });
    const one = await complete(to, { max_tokens: 1000, stop: '<|frame_sep|>' });
    expect(JSON.parse(one.text)).toMatchObject({
      choices: [{ text: '<|call_sep|>{}<|action_sep|>def main():\n', stop_reason: '<|frame_sep|>' }],
    });
  });

  it('stops at max_tokens, which is 16 where none is given', async () => {
    const to = await start();
    const { text } = await complete(to, { max_tokens: 3 });
    expect(JSON.parse(text)).toMatchObject({
      choices: [{ text: '<|call_sep|>{}<|action_sep|>', finish_reason: 'length' }],
      usage: { completion_tokens: 3 },
    });
    const { text: standard } = await complete(to, {});
    expect(JSON.parse(standard)).toMatchObject({ usage: { completion_tokens: 16 } });
  });

  it('gives the legacy log-probabilities of a model that is sure', async () => {
    const to = await start(new MemoryModel(() => ['<|line_sep|>{"a": "😀b"}']));
    const { text } = await complete(to, { max_tokens: 100, logprobs: 1 });
    const body = JSON.parse(text) as { choices: { logprobs: Record<string, unknown> }[] };
    const tokens = ['<|line_sep|>', '{"', 'a', '": "', '', '', '', '😀', 'b', '"}'];
    expect(body.choices[0]?.logprobs).toEqual({
      tokens,
      token_logprobs: tokens.map(() => 0),
      top_logprobs: tokens.map((token) => ({ [token]: 0 })),
      text_offset: [0, 12, 14, 15, 19, 19, 19, 19, 20, 21],
    });
  });

  it('streams events of a few tokens, usage and the end mark', async () => {
    const to = await start();
    const { headers, text } = await complete(to, {
      max_tokens: 1000,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(headers['content-type']).toContain('text/event-stream');
    expect(headers['access-control-allow-origin']).toBeUndefined();
    const events = text.split('\n\n').filter((event) => event !== '');
    expect(events.pop()).toBe('data: [DONE]');
    const chunks = events.map((event) => {
      expect(event.startsWith('data: ')).toBe(true);
      return JSON.parse(event.slice(6)) as {
        choices: { text: string; finish_reason: string | null }[];
        usage?: { completion_tokens: number };
      };
    });
    expect(chunks.pop()).toMatchObject({ choices: [], usage: { prompt_tokens: 2 } });
    expect(chunks.length).toBeGreaterThan(4);
    expect(chunks.map((chunk) => chunk.choices[0]?.text).join('')).toBe(frames.join(''));
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter(Boolean)).toEqual(['stop']);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  it('tells the model what it wrote', async () => {
    const model = new MemoryModel(() => frames);
    const to = await start(model);
    await complete(to, { max_tokens: 3 });
    await complete(to, { max_tokens: 1000, stream: true });
    expect(model.written).toEqual(['<|call_sep|>{}<|action_sep|>', frames.join('')]);
  });

  it('ignores what has no meaning here', async () => {
    const to = await start();
    const { status } = await complete(to, {
      temperature: 0.6,
      top_p: 0.95,
      seed: 3,
      n: 1,
      skip_special_tokens: false,
      add_special_tokens: false,
      cache_prompt: true,
    });
    expect(status).toBe(200);
  });

  it.each([
    ['another model', { model: 'gpt' }, 404, 'model', 'model_not_found'],
    ['several answers', { n: 2 }, 400, 'n', 'unsupported'],
    ['an echo', { echo: true }, 400, 'echo', 'unsupported'],
    ['ids of no token', { prompt: [128000, 100000] }, 400, 'prompt', 'invalid_token_ids'],
    ['several prompts of ids', { prompt: [[1], [2]] }, 400, 'prompt', 'unsupported'],
    ['several prompts', { prompt: ['a', 'b'] }, 400, 'prompt', 'unsupported'],
    ['no prompt', { prompt: undefined }, 400, 'prompt', 'invalid_request'],
    ['a limit that is no number', { max_tokens: 'many' }, 400, 'max_tokens', 'invalid_request'],
  ])('refuses %s', async (_, fields, status, param, code) => {
    const answer = await complete(await start(), fields);
    expect(answer.status).toBe(status);
    expect(errorOf(answer.text)).toMatchObject({ type: 'invalid_request_error', param, code });
  });

  it.each([
    ['a wrong token', { headers: { Authorization: 'Bearer guess' } }, 401],
    ['no token', { headers: { Authorization: undefined } }, 401],
    ['another host', { headers: { Host: 'evil.example:80' } }, 403],
    ['a foreign origin', { headers: { Origin: 'https://evil.example' } }, 403],
    ['an opaque origin', { headers: { Origin: 'null' } }, 403],
    ['a preflight', { method: 'OPTIONS', headers: { Origin: 'https://evil.example' } }, 403],
    ['a page that sends no origin', { method: 'GET', headers: { 'Sec-Fetch-Site': 'cross-site' } }, 403],
    ['a form', { headers: { 'Content-Type': 'text/plain' }, body: '{}' }, 415],
    ['no content type', { headers: { 'Content-Type': undefined }, body: '{}' }, 415],
    ['a compressed body', { headers: { 'Content-Encoding': 'gzip' }, body: '{}' }, 415],
    ['bad JSON', { body: '{"model":' }, 400],
    ['a body that is no object', { body: '[]' }, 400],
    ['another address', { path: '/v1/chat/completions', body: '{}' }, 404],
    ['another method', { method: 'GET' }, 405],
    ['a body that is too long', { body: JSON.stringify({ prompt: 'x'.repeat(200_000) }) }, 413],
    [
      'a body that is too long and does not say so',
      { headers: { 'Transfer-Encoding': 'chunked' }, body: 'x'.repeat(200_000) },
      413,
    ],
  ] satisfies [string, Sent, number][])('refuses %s', async (_, sent, status) => {
    const to = await start();
    const answer = await send(to, sent);
    expect(answer.status).toBe(status);
    expect(errorOf(answer.text).message).not.toBe('');
    expect(answer.text).not.toContain(to.token);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('listens on loopback only', async () => {
    const anywhere = { port: 0, host: '0.0.0.0' as '127.0.0.1', maxBodyBytes: 1 };
    await expect(listen(new MemoryModel(() => []), anywhere)).rejects.toMatchObject({ code: 801 });
    const to = await start();
    expect(to.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(to.token.length).toBeGreaterThan(40);
  });

  it('says that a port is taken', async () => {
    const port = Number(new URL((await start()).url).port);
    const again = listen(new MemoryModel(() => []), { port, maxBodyBytes: 1 });
    await expect(again).rejects.toMatchObject({ code: 802 });
  });

  it('counts the requests that it let in', async () => {
    const to = await start();
    await complete(to, {});
    await complete(to, {}, { Authorization: 'Bearer guess' });
    expect(to.requests()).toBe(1);
  });

  it('ends the work for a client that went away, and the model when it closes', async () => {
    async function* endless() {
      for (let i = 0; ; i++) {
        yield frames[1] ?? '';
        if (i > 3) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
    const model = new MemoryModel(endless);
    const to = await start(model);
    const client = new AbortController();
    const response = await fetch(`${to.url}/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${to.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'memory', prompt: 'p', max_tokens: 1e9, stream: true }),
      signal: client.signal,
    });
    await response.body?.getReader().read();
    expect(model.signals[0]?.aborted).toBe(false);
    client.abort();
    await vi.waitFor(() => {
      expect(model.signals[0]?.aborted).toBe(true);
    });
    await to.close();
    server = null;
    expect(model.closed).toBe(true);
  });

  it('ends a stream that fails with an error event', async () => {
    const failing = new MemoryModel(function* () {
      yield frames[0] ?? '';
      throw new Error('broken');
    });
    const { status, text } = await complete(await start(failing), { max_tokens: 100, stream: true });
    expect(status).toBe(200);
    const events = text.trim().split('\n\n');
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(errorOf((events.at(-2) ?? '').slice(6))).toMatchObject({ type: 'server_error' });
  });
});

describe('the openai client', () => {
  async function client() {
    const to = await start();
    return new OpenAI({ baseURL: to.url, apiKey: to.token, maxRetries: 0 });
  }

  it('lists and completes', async () => {
    const openai = await client();
    const ids = [];
    for await (const model of openai.models.list()) ids.push(model.id);
    expect(ids).toEqual(['memory']);
    const answer = await openai.completions.create({ model: 'memory', prompt: 'p', max_tokens: 1000 });
    expect(answer.choices[0]?.text).toBe(frames.join(''));
  });

  it('reads a stream with usage', async () => {
    const openai = await client();
    const stream = await openai.completions.create({
      model: 'memory',
      prompt: 'p',
      max_tokens: 1000,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let tokens = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.text ?? '';
      tokens = chunk.usage?.completion_tokens ?? tokens;
    }
    expect(text).toBe(frames.join(''));
    expect(tokens).toBeGreaterThan(20);
  });

  it('understands the errors', async () => {
    const openai = await client();
    const asked = openai.completions.create({ model: 'other', prompt: 'p' });
    await expect(asked).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });
});
