import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { CompletionChunk } from '../../adapter/completion/completion';
import { profileNames, type ServerProfile } from '../../adapter/completion/profile';
import { CatalogueError } from '../../adapter/errors';
import {
  chatPrompt,
  client,
  collect,
  FakeServer,
  type Received,
  recorded,
  sendJson,
  sendStream,
  textPrompt,
} from './fakeServer';

const servers: FakeServer[] = [];

async function start(handler: (request: Received, response: ServerResponse) => void): Promise<FakeServer> {
  const server = await FakeServer.start(handler);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** The text, the tokens as `[text, logprob]`, and the end of an answer. */
function summary(chunks: readonly CompletionChunk[]) {
  const texts = chunks.filter((chunk) => chunk.kind === 'text');
  const last = chunks.at(-1);
  expect(chunks.filter((chunk) => chunk.kind === 'end')).toHaveLength(1);
  if (last?.kind !== 'end') throw new Error('The last chunk is not the end.');
  return {
    text: texts.map(({ text }) => text).join(''),
    tokens: texts.flatMap(({ tokens }) =>
      tokens.map(({ text, logprob }) => [text, logprob === null ? null : logprob + 0] as const),
    ),
    reason: last.reason,
    stopString: last.stopString,
    usage: last.usage,
  };
}

async function fault(promise: Promise<unknown>): Promise<CatalogueError> {
  const thrown: unknown = await promise.then(
    () => new Error('nothing was thrown'),
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof CatalogueError)) throw thrown;
  expect(thrown.message).toMatch(/\.$/);
  expect(thrown.wayOut).toMatch(/[.?]$/);
  return thrown;
}

const event = (json: unknown) => `data: ${JSON.stringify(json)}\n\n`;
const textEvent = (text: string, finish: string | null = null) =>
  event({ choices: [{ index: 0, text, finish_reason: finish }] });

describe('answers as servers write them', () => {
  const replies = {
    'vllm-completions': {
      text: '<|line_sep|>{"s": "\'é😀\'"}<|action_sep|>',
      tokens: [
        ['<|line_sep|>', -0.0123],
        ['{"', -0.001],
        ['s', -0.002],
        ['": "', 0],
        ["'é", -0.5],
        ["😀'", -0.25],
        ['"}', -0.1],
        ['<|action_sep|>', -0.2],
      ],
      reason: 'stop',
      stopString: '<|frame_sep|>',
      usage: { promptTokens: 812, completionTokens: 8, cachedTokens: 800 },
    },
    'llamacpp-completions': {
      text: 'a = 1',
      tokens: [
        ['a', -0.7],
        ['', -0.01],
        [' =', -0.1],
        [' 1', -0.2],
      ],
      reason: 'length',
      stopString: null,
      usage: { promptTokens: 9, completionTokens: 4, cachedTokens: 7 },
    },
    // From the real server: of a character that two tokens make, only the last one is told.
    'llamacpp-special-completions': {
      text: 'é<|frame_sep|><|line_sep|>{}<|action_sep|>\tx=1\n<|frame_sep|>',
      tokens: [
        ['é', -0.10535378754138947],
        ['<|frame_sep|>', -0.10535378754138947],
        ['<|line_sep|>', -0.510826051235199],
        ['{', -0.051291488111019135],
        ['}', -0.22314509749412537],
        ['<|action_sep|>', -0.3566685616970062],
        ['\t', -0.16251356899738312],
        ['x', -0.6931469440460205],
        ['=', -0.0833926722407341],
        ['1', -0.2876741290092468],
        ['\n', -0.10535378754138947],
        ['<|frame_sep|>', -0.12784428894519806],
      ],
      reason: 'length',
      stopString: null,
      usage: { promptTokens: 2, completionTokens: 13, cachedTokens: 1 },
    },
    // From the real server, which complains of its own end-of-text after the answer.
    'llamacpp-special-chat': {
      text: '{"a":""}',
      tokens: [
        ['{', -7.700004577636719],
        ['"', -1.897121548652649],
        ['a', -6.833641529083252],
        ['"', -1.2039670944213867],
        [':', -2.9957265853881836],
        ['"', -1.2039670944213867],
        ['"', -1.2039670944213867],
        ['}', -1.609432339668274],
      ],
      reason: 'stop',
      stopString: null,
      usage: null,
    },
    'vllm-chat': {
      text: '{"states": []}',
      tokens: [
        ['{"', -0.01],
        ['states', 0],
        ['"', -0.3],
        [': []}', -1.5],
      ],
      reason: 'stop',
      stopString: null,
      usage: { promptTokens: 40, completionTokens: 6, cachedTokens: null },
    },
    'llamacpp-chat': {
      text: '{ }',
      tokens: [
        ['{', 0],
        [' }', -0.4],
      ],
      reason: 'stop',
      stopString: null,
      usage: { promptTokens: 31, completionTokens: 2, cachedTokens: null },
    },
    'lmstudio-chat': { text: '{"ended": true}', tokens: [], reason: 'stop', stopString: null, usage: null },
    'ollama-chat': {
      text: '[1, 2]',
      tokens: [],
      reason: 'stop',
      stopString: null,
      usage: { promptTokens: 26, completionTokens: 5, cachedTokens: null },
    },
    'openai-chat': {
      text: 'Hello',
      tokens: [
        ['Hel', -0.05],
        ['lo', -9999],
      ],
      reason: 'length',
      stopString: null,
      usage: { promptTokens: 11, completionTokens: 2, cachedTokens: 0 },
    },
    'router-chat': { text: 'yes', tokens: [], reason: 'stop', stopString: null, usage: null },
  };

  for (const [name, expected] of Object.entries(replies)) {
    const prompt = name.endsWith('chat') ? chatPrompt : textPrompt;
    it(`reads ${name}`, async () => {
      const server = await start((_, response) => {
        sendStream(response, recorded(name));
      });
      expect(summary(await collect(client(server.baseUrl), prompt))).toEqual(expected);
    });

    it(`reads ${name} with the line ends of another platform`, async () => {
      const server = await start((_, response) => {
        sendStream(response, recorded(name).toString().replaceAll('\n', '\r\n'));
      });
      expect(summary(await collect(client(server.baseUrl), prompt))).toEqual(expected);
    });
  }

  it('gives the same chunks wherever the network splits the bytes', async () => {
    let cuts: readonly number[] = [];
    const body = recorded('vllm-completions');
    const server = await start((_, response) => {
      sendStream(response, body, cuts);
    });
    const source = client(server.baseUrl);
    const whole = await collect(source, textPrompt);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(body.length), { maxLength: 40 }), async (points) => {
        cuts = points;
        expect(await collect(source, textPrompt)).toEqual(whole);
      }),
      { numRuns: 40 },
    );
    cuts = Array.from(body, (_, index) => index);
    expect(await collect(source, textPrompt)).toEqual(whole);
  });

  it('takes one JSON object where a server does not stream', async () => {
    const server = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      response.end(
        JSON.stringify({ choices: [{ message: { content: 'whole\n' }, finish_reason: 'stop' }] }, null, 2),
      );
    });
    expect(summary(await collect(client(server.baseUrl), chatPrompt)).text).toBe('whole\n');
  });

  it('ends an answer without text by a text piece and an end', async () => {
    const server = await start((_, response) => {
      sendStream(response, textEvent('', 'stop'));
    });
    expect((await collect(client(server.baseUrl), textPrompt)).map(({ kind }) => kind)).toEqual([
      'text',
      'end',
    ]);
  });

  it('takes an answer as ended after its finish reason, though the connection breaks', async () => {
    const server = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(textEvent('a') + textEvent('', 'stop'), () => setTimeout(() => response.destroy(), 20));
    });
    expect(summary(await collect(client(server.baseUrl), textPrompt))).toMatchObject({
      text: 'a',
      reason: 'stop',
    });
  });
});

describe('what is sent', () => {
  async function sent(prompt = textPrompt, options: Parameters<typeof client>[1] = {}): Promise<Received> {
    const server = await start((_, response) => {
      sendStream(response, textEvent('x', 'stop'));
    });
    await collect(client(server.baseUrl, options), prompt);
    const request = server.received.at(-1);
    if (!request) throw new Error('nothing was sent');
    return request;
  }

  it('asks for a text', async () => {
    const { url, body } = await sent(textPrompt, { temperature: 0.2, topP: 0.95 });
    expect(url).toBe('/v1/completions');
    expect(body).toEqual({
      model: 'm',
      prompt: 'a = ',
      stop: ['<|frame_sep|>'],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 100,
      logprobs: 1,
      temperature: 0.2,
      top_p: 0.95,
    });
  });

  it('asks for a chat with a schema', async () => {
    const { url, body } = await sent(chatPrompt);
    expect(url).toBe('/v1/chat/completions');
    expect(body).toMatchObject({
      model: 'm',
      messages: [{ role: 'user', content: 'next?' }],
      max_tokens: 100,
      logprobs: true,
      response_format: { type: 'json_schema', json_schema: { name: 'states', strict: true } },
    });
    expect(body).not.toHaveProperty('temperature');
  });

  it('keeps special tokens in the text of vLLM', async () => {
    expect((await sent(textPrompt, { profile: 'vllm' })).body).toMatchObject({
      skip_special_tokens: false,
      spaces_between_special_tokens: false,
      add_special_tokens: false,
    });
  });

  it('tells our own server what a prompt leaves out, and no other', async () => {
    const others = [[2, '<|line_sep|>{}<|action_sep|>x<|frame_sep|>']] as const;
    const prompt = { ...textPrompt, droppedFrames: { count: 3, digest: 'ab', others } };
    const isTold = async (profile: ServerProfile) =>
      Object.keys((await sent(prompt, { profile })).body).some((name) => name.startsWith('dropped'));
    expect((await sent(prompt, { profile: 'neural-debug' })).body).toMatchObject({
      dropped_frames: 3,
      dropped_digest: 'ab',
      dropped_others: others,
    });
    // fgserve is refused.
    for (const profile of profileNames.filter((each) => each !== 'fgserve')) {
      expect([profile, await isTold(profile)]).toEqual([profile, false]);
    }
  });

  it('adds the fields it is given, but none that change what is asked', async () => {
    const extraBody = {
      seed: 3,
      chat_template_kwargs: { enable_thinking: false },
      stream: false,
      messages: [],
    };
    expect((await sent(chatPrompt, { extraBody })).body).toMatchObject({
      seed: 3,
      chat_template_kwargs: { enable_thinking: false },
      stream: true,
      messages: [{ content: 'next?' }],
    });
  });

  it('sends the newer token limit to hosted servers', async () => {
    const { body } = await sent(chatPrompt, { profile: 'hosted' });
    expect(body).toMatchObject({ max_completion_tokens: 100 });
    expect(body).not.toHaveProperty('max_tokens');
  });

  it('sends the key, and without one no authorization, whatever the environment holds', async () => {
    expect((await sent(textPrompt, { apiKey: 'sk-1 ' })).headers.authorization).toBe('Bearer sk-1');
    const before = process.env['OPENAI_ADMIN_KEY'];
    const headers = process.env['OPENAI_CUSTOM_HEADERS'];
    process.env['OPENAI_ADMIN_KEY'] = 'sk-admin';
    process.env['OPENAI_CUSTOM_HEADERS'] = 'x-secret: 1';
    try {
      const request = await sent();
      expect(request.headers.authorization).toBeUndefined();
      expect(request.headers).not.toHaveProperty('x-secret');
    } finally {
      if (before === undefined) delete process.env['OPENAI_ADMIN_KEY'];
      else process.env['OPENAI_ADMIN_KEY'] = before;
      if (headers === undefined) delete process.env['OPENAI_CUSTOM_HEADERS'];
      else process.env['OPENAI_CUSTOM_HEADERS'] = headers;
    }
  });

  it('looks the model up once, past those for embeddings', async () => {
    const server = await start((request, response) => {
      if (request.method === 'GET') {
        sendJson(response, 200, { object: 'list', data: [{ id: 'text-embedding-x' }, { id: 'coder' }] });
      } else sendStream(response, textEvent('x', 'stop'));
    });
    const source = client(server.baseUrl, { model: null });
    await collect(source, textPrompt);
    await collect(source, textPrompt);
    expect(server.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v1/models',
      'POST /v1/completions',
      'POST /v1/completions',
    ]);
    expect(server.received[1]?.body['model']).toBe('coder');
    expect(source.name).toBe(`coder at ${server.baseUrl}`);
  });
});

describe('what servers refuse', () => {
  /** A server that refuses by the request's body, else answers. */
  async function refusing(refusal: (body: Record<string, unknown>) => [number, string] | null) {
    return start(({ body }, response) => {
      const refused = refusal(body);
      if (refused) sendJson(response, refused[0], { error: { message: refused[1] } });
      else sendStream(response, event({ choices: [{ delta: { content: 'ok' }, finish_reason: 'stop' }] }));
    });
  }
  const formats = (server: FakeServer) =>
    server.received.map(
      ({ body }) => (body['response_format'] as { type: string } | undefined)?.type ?? 'none',
    );

  it('falls back to any JSON, then to no format, and remembers it', async () => {
    const server = await refusing((body) => ('response_format' in body ? [400, 'Bad request'] : null));
    const source = client(server.baseUrl);
    expect(summary(await collect(source, chatPrompt)).text).toBe('ok');
    expect(formats(server)).toEqual(['json_schema', 'json_object', 'none']);
    await collect(source, chatPrompt);
    expect(formats(server)).toEqual(['json_schema', 'json_object', 'none', 'none']);
  });

  it('leaves out what each refusal names', async () => {
    const server = await refusing((body) => {
      if ('max_tokens' in body)
        return [400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."];
      if ('logprobs' in body) return [422, 'logprobs are not supported with this model'];
      if ('temperature' in body) return [400, "'temperature' does not support 0.2 with this model"];
      if ('stream_options' in body) return [400, 'Unrecognized request argument: stream_options'];
      return null;
    });
    const source = client(server.baseUrl, { temperature: 0.2 });
    expect(summary(await collect(source, chatPrompt)).text).toBe('ok');
    expect(server.received).toHaveLength(5);
    expect(server.received.at(-1)?.body).toMatchObject({
      max_completion_tokens: 100,
      response_format: { type: 'json_schema' },
    });
  });

  it('does not ask for ever, and remembers nothing that did not help', async () => {
    const server = await refusing(() => [
      400,
      'response_format max_tokens logprobs temperature stream_options',
    ]);
    const source = client(server.baseUrl);
    expect((await fault(collect(source, chatPrompt))).code).toBe(314);
    const tries = server.received.length;
    expect(tries).toBeLessThan(8);
    await fault(collect(source, chatPrompt));
    expect(server.received).toHaveLength(2 * tries);
  });

  it('asks for fewer tokens where the answer has no room, and remembers it', async () => {
    const server = await refusing(({ max_tokens: limit }) =>
      Number(limit) > 2_000
        ? [400, "'max_tokens' is too large: the maximum context length is 4096 tokens"]
        : null,
    );
    const source = client(server.baseUrl);
    const { signal } = new AbortController();
    for (let turn = 0; turn < 2; turn++) {
      for await (const chunk of source.complete(chatPrompt, { maxTokens: 100_000, signal })) {
        expect(chunk.kind).toMatch(/text|end/);
      }
    }
    expect(server.received.map(({ body }) => body['max_tokens'])).toEqual([
      100_000, 25_000, 6_250, 1_562, 1_562,
    ]);
  });

  it('asks once where the prompt is too long', async () => {
    const server = await refusing(() => [
      400,
      "This model's maximum context length is 4096 tokens, but the prompt has 5000",
    ]);
    expect((await fault(collect(client(server.baseUrl), chatPrompt))).code).toBe(311);
    expect(server.received).toHaveLength(1);
  });
});

describe('faults', () => {
  const answering =
    (status: number, body: unknown, headers = {}) =>
    (_: Received, response: ServerResponse) => {
      if (typeof body === 'string') {
        response.writeHead(status, { 'content-type': 'text/plain', ...headers });
        response.end(body);
      } else sendJson(response, status, body, headers);
    };
  const streaming = (body: string) => (_: Received, response: ServerResponse) => {
    sendStream(response, body);
  };
  const page = '<!DOCTYPE html><html><body>Sign in to the timeout portal</body></html>';
  const html = { 'content-type': 'text/html' };

  const cases: [string, number, RegExp, (request: Received, response: ServerResponse) => void][] = [
    ['401', 308, /wrong key/, answering(401, { error: { message: 'wrong key', code: 'invalid_api_key' } })],
    ['403', 308, /not authorized/, answering(403, '')],
    ['an unknown model', 309, /"m"/, answering(404, { error: { message: 'The model `m` does not exist.' } })],
    ['an unknown model, as vLLM said it', 309, /"m"/, answering(404, { object: 'error', message: 'The model `m` does not exist.', code: 404 })],
    ['an unknown route of a server of models', 310, /POST \/completions/, answering(404, { error: { message: 'The model server has no such address. It answers GET /v1/models.' } })],
    ['an unknown route', 310, /POST \/completions/, answering(404, { detail: 'Not Found' })],
    ['an unknown route as text', 310, /404 page not found/, answering(404, '404 page not found\n')],
    ['an unknown route as a page', 310, /completions\.$/, answering(404, page, html)],
    ['an unknown route with 200', 321, /Unexpected endpoint/, answering(200, { error: 'Unexpected endpoint or method. (POST /completions)' })],
    ['413', 311, /too long/, answering(413, 'Request Entity Too Large')],
    ['too long a prompt', 311, /4096/, answering(400, { error: { code: 400, message: 'the request exceeds the available context size (4096 tokens), try increasing it', type: 'exceed_context_size_error' } })],
    ['429', 312, /slow down/, answering(429, { error: { message: 'slow down' } }, { 'retry-after': '17' })],
    ['500', 313, /out of memory/, answering(500, { error: { message: 'CUDA out of memory' } })],
    ['503 while loading', 313, /Loading model/, answering(503, { error: { code: 503, message: 'Loading model' } })],
    ['504 as a page that speaks of time-outs', 313, /\(504\)\.$/, answering(504, '<html><head><title>504 Gateway Time-out</title></head></html>', html)],
    ['504 as text that speaks of time-outs', 313, /timed out/, answering(504, 'upstream request timed out')],
    ['another refusal', 314, /teapot/, answering(418, { detail: [{ msg: 'teapot' }] })],
    ['a page instead of the API', 315, /web page/, answering(200, page, html)],
    ['a page with a refusal', 315, /400/, answering(400, page, html)],
    ['an empty body', 316, /empty/, answering(200, '', { 'content-type': 'application/json' })],
    ['an empty stream', 316, /empty/, streaming('')],
    ['a stream without chunks', 316, /empty/, streaming(': ping\n\ndata: [DONE]\n\n')],
    ['a stream cut between events', 317, /broke off/, streaming(textEvent('a'))],
    ['another shape of JSON', 320, /another shape/, answering(200, { hello: 'world' })],
    ['another shape in a stream', 320, /another shape/, streaming(event({ choices: 'none' }))],
    ['a number in a stream', 320, /another shape/, streaming(event(7))],
    ['broken JSON in a stream', 320, /not JSON/, streaming('data: {"choices": [\n\n')],
    ['broken JSON', 320, /not JSON/, answering(200, '{', { 'content-type': 'application/json' })],
    ['an error in a stream', 321, /worker died/, streaming(textEvent('a') + event({ error: { message: 'worker died', code: 500 } }))],
    ['an error in a stream, as vLLM said it', 321, /worker died/, streaming(event({ object: 'error', message: 'worker died' }))],
    ['a filter', 324, /content_filter/, streaming(textEvent('a', 'content_filter'))],
  ]; // prettier-ignore

  for (const [name, code, message, handler] of cases) {
    it(`names ${name}`, async () => {
      const server = await start(handler);
      const error = await fault(collect(client(server.baseUrl), textPrompt));
      expect(error.message).toMatch(message);
      expect(error.message).toContain(server.baseUrl);
      expect(error.code).toBe(code);
    });
  }

  it('tells how long a server wants one to wait', async () => {
    const server = await start(answering(429, {}, { 'retry-after': '17' }));
    expect((await fault(collect(client(server.baseUrl), textPrompt))).wayOut).toContain('17 s');
  });

  it('names a refused connection', async () => {
    const server = await FakeServer.start(() => undefined);
    const { baseUrl } = server;
    await server.stop();
    const error = await fault(collect(client(baseUrl), textPrompt));
    expect(error.code).toBe(303);
    expect(error.message).toContain(baseUrl);
  });

  it('names a host that is not found', async () => {
    const error = await fault(collect(client('http://no-such-host.invalid:8000/v1'), textPrompt));
    expect(error.code).toBe(304);
    expect(error.message).toContain('no-such-host.invalid');
  });

  it('names a server that does not speak TLS', async () => {
    const server = await start(() => undefined);
    const error = await fault(collect(client(server.baseUrl.replace('http:', 'https:')), textPrompt));
    expect(error.code).toBe(305);
    expect(error.wayOut).toContain('http://');
  });

  it('names what is no HTTP at all', async () => {
    const tcp = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('SSH-2.0-OpenSSH_9.2\r\n');
    });
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as AddressInfo;
    const error = await fault(collect(client(`http://127.0.0.1:${port}/v1`), textPrompt));
    tcp.close();
    expect([306, 320]).toContain(error.code);
  });

  it('names a connection that breaks in the middle, after what came', async () => {
    const server = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(textEvent('kept'), () => setTimeout(() => response.destroy(), 20));
    });
    const chunks: CompletionChunk[] = [];
    const error = await fault(
      (async () => {
        const { signal } = new AbortController();
        for await (const chunk of client(server.baseUrl).complete(textPrompt, { maxTokens: 9, signal })) {
          chunks.push(chunk);
        }
      })(),
    );
    expect(error.code).toBe(317);
    expect(chunks).toEqual([{ kind: 'text', text: 'kept', tokens: [] }]);
  });

  it('names a server that stays silent', async () => {
    const server = await start(() => undefined);
    const source = client(server.baseUrl, { timeouts: { firstByte: 100, stall: 20_000 } });
    expect((await fault(collect(source, textPrompt))).code).toBe(319);
  });

  it('names a server that sends headers and stays silent then', async () => {
    const server = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
    });
    const source = client(server.baseUrl, { timeouts: { firstByte: 100, stall: 20_000 } });
    expect((await fault(collect(source, textPrompt))).code).toBe(319);
  });

  it('names a stream that stalls', async () => {
    const server = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(textEvent('a'));
    });
    const source = client(server.baseUrl, { timeouts: { firstByte: 20_000, stall: 100 } });
    const error = await fault(collect(source, textPrompt));
    expect(error.code).toBe(318);
    await server.left;
  });

  it('does not take a slow reader for a stalled server', async () => {
    const server = await start((_, response) => {
      sendStream(response, textEvent('a') + textEvent('b') + textEvent('c', 'stop'), [30, 90]);
    });
    const source = client(server.baseUrl, { timeouts: { firstByte: 20_000, stall: 300 } });
    let text = '';
    const { signal } = new AbortController();
    for await (const chunk of source.complete(textPrompt, { maxTokens: 9, signal })) {
      if (chunk.kind === 'text') text += chunk.text;
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    expect(text).toBe('abc');
  });

  it('refuses redirects and does not send the key on', async () => {
    const thief = await start((_, response) => {
      sendStream(response, textEvent('x', 'stop'));
    });
    const server = await start((_, response) => {
      response.writeHead(307, { location: `${thief.origin}/v1/completions?key=1` });
      response.end();
    });
    const error = await fault(collect(client(server.baseUrl, { apiKey: 'sk-secret' }), textPrompt));
    expect(error.code).toBe(307);
    expect(error.message).toContain(thief.origin);
    expect(error.message).not.toContain('key=1');
    expect(thief.received).toEqual([]);
  });

  it('ends a line without end', async () => {
    const server = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const garbage = 'x'.repeat(1 << 16);
      const more = () => {
        if (!response.destroyed) response.write(garbage, more);
      };
      more();
    });
    expect((await fault(collect(client(server.baseUrl), textPrompt))).code).toBe(322);
    await server.left;
  });

  it('ends an answer that ignores its token limit', async () => {
    const server = await start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = textEvent('blah '.repeat(200));
      const more = () => {
        if (!response.destroyed) response.write(chunk, more);
      };
      more();
    });
    expect((await fault(collect(client(server.baseUrl), textPrompt))).code).toBe(322);
    await server.left;
  });

  it('keeps the key out of its errors', async () => {
    const server = await start(answering(401, { error: { message: 'sk-secret is no key\u202e\u001b[31m' } }));
    const error = await fault(collect(client(server.baseUrl, { apiKey: 'sk-secret' }), textPrompt));
    expect(error.message).toContain('is no key');
    expect(JSON.stringify([error.message, error.wayOut, error.stack, error.cause ?? null])).not.toMatch(
      /sk-secret|\\u202e|\\u001b/,
    );
    expect(() => client(server.baseUrl, { apiKey: 'sk-sec\nret' })).toThrow(CatalogueError);
    expect(() => client(server.baseUrl, { apiKey: 'sk-sec\nret' })).not.toThrow(/ret/);
  });

  it('refuses addresses that hold credentials or are none, without showing them', () => {
    for (const url of [
      'http://me:geheim@host/v1',
      'geheim',
      'file:///geheim',
      'http://host/v1?key=geheim',
      'http://h/#geheim',
    ]) {
      const attempt = () => client(url);
      expect(attempt, url).toThrow(CatalogueError);
      expect(attempt, url).not.toThrow(/geheim/);
    }
  });
});

describe('the list of models', () => {
  const { signal } = new AbortController();

  it('gives names in the order of the server', async () => {
    const server = await start((_, response) => {
      sendJson(response, 200, { object: 'list', data: [{ id: 'b' }, { id: 'a', owned_by: 'x' }] });
    });
    expect(await client(`${server.baseUrl}/`).listModels(signal)).toEqual(['b', 'a']);
    expect(server.received[0]?.url).toBe('/v1/models');
  });

  it.each([
    ['an empty list where a model is needed', 323, { data: [] }],
    ['another shape', 320, { models: ['a'] }],
  ])('names %s', async (_, code, body) => {
    const server = await start((__, response) => {
      sendJson(response, 200, body);
    });
    expect((await fault(collect(client(server.baseUrl, { model: null }), textPrompt))).code).toBe(code);
  });
});

describe('connections', () => {
  it('asks again on a new one where the server closed an idle one', async () => {
    let connections = 0;
    const closing = createTcpServer((socket) => {
      connections++;
      let requests = 0;
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        if (!data.toString().startsWith('GET')) return;
        if (++requests > 1) {
          socket.destroy();
          return;
        }
        const body = '{"data":[{"id":"a"}]}';
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
      });
    });
    await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve));
    const source = client(`http://127.0.0.1:${(closing.address() as AddressInfo).port}/v1`);
    const { signal } = new AbortController();
    for (let turn = 0; turn < 3; turn++) expect(await source.listModels(signal)).toEqual(['a']);
    expect(connections).toBeGreaterThan(1);
    closing.close();
  });

  it('gives up where the server closes every one', async () => {
    const server = await start((_, response) => {
      response.destroy();
    });
    const error = await fault(collect(client(server.baseUrl), textPrompt));
    expect(error.code).toBe(306);
    expect(error.message).toContain('closed the connection');
    expect(server.received).toHaveLength(2);
  });
});

describe('the end of a request', () => {
  async function endless(): Promise<FakeServer> {
    return start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(textEvent('a'));
    });
  }

  it('leaves the server when the iteration is left', async () => {
    const server = await endless();
    const { signal } = new AbortController();
    for await (const chunk of client(server.baseUrl).complete(textPrompt, { maxTokens: 9, signal })) {
      expect(chunk.kind).toBe('text');
      break;
    }
    await server.left;
  });

  it('throws an AbortError when the signal is aborted, before and during the answer', async () => {
    const server = await endless();
    await expect(collect(client(server.baseUrl), textPrompt, AbortSignal.abort())).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(server.received).toEqual([]);
    const aborting = new AbortController();
    const answer = client(server.baseUrl).complete(textPrompt, { maxTokens: 9, signal: aborting.signal });
    expect((await answer.next()).value).toMatchObject({ text: 'a' });
    const next = answer.next();
    aborting.abort();
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
    await server.left;
  });

  it('throws an AbortError while the server has not begun', async () => {
    const aborting = new AbortController();
    const server = await start(() => {
      aborting.abort();
    });
    await expect(collect(client(server.baseUrl), textPrompt, aborting.signal)).rejects.toMatchObject({
      name: 'AbortError',
    });
    await server.left;
  });

  it('ends all requests when closed', async () => {
    const server = await endless();
    const source = client(server.baseUrl);
    const answer = source.complete(textPrompt, { maxTokens: 9, signal: new AbortController().signal });
    await answer.next();
    const next = answer.next();
    source.close();
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
    await server.left;
  });
});
