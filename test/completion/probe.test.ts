import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { OpenAiServerOptions } from '../../adapter/completion/openaiServer';
import { describeFacts } from '../../adapter/completion/probe';
import { CatalogueError } from '../../adapter/errors';
import { cwmControlText } from '../../adapter/format/cwm/controlText';
import {
  chatPrompt,
  client,
  collect,
  FakeServer,
  type Received,
  sendJson,
  sendStream,
  textPrompt,
} from './fakeServer';

const servers: FakeServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

type Routes = Readonly<Record<string, (request: Received) => unknown>>;

/** A server that knows some routes; the others are not found. */
async function serve(routes: Routes, headers: Record<string, string> = {}): Promise<FakeServer> {
  const server = await FakeServer.start((request: Received, response: ServerResponse) => {
    const answer = routes[request.url];
    if (!answer) sendJson(response, 404, { error: { message: 'Not Found' } }, headers);
    else sendJson(response, 200, answer(request), headers);
  });
  servers.push(server);
  return server;
}

async function probed(server: FakeServer, options: Partial<OpenAiServerOptions> = {}) {
  const source = client(server.baseUrl, {
    profile: 'auto',
    model: null,
    control: cwmControlText,
    ...options,
  });
  await source.ready(new AbortController().signal);
  const { facts } = source;
  if (!facts) throw new Error('The server was not reached.');
  return { source, facts, words: describeFacts(facts, options.control !== null) };
}

async function refused(promise: Promise<unknown>): Promise<CatalogueError> {
  const thrown: unknown = await promise.then(
    () => new Error('nothing was thrown'),
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof CatalogueError)) throw thrown;
  return thrown;
}

/** Answers to a completion of one token. */
const oneToken = (text: string, more: object = {}) => ({
  object: 'text_completion',
  choices: [
    {
      index: 0,
      text,
      finish_reason: 'length',
      logprobs: { tokens: [text], token_logprobs: [-0.1], top_logprobs: [{}], text_offset: [0] },
      ...more,
    },
  ],
  usage: { prompt_tokens: 30, completion_tokens: 1, total_tokens: 31 },
});

/** A tokenizer with one id a character, and the control tokens from 128000 on. */
function tokenize(text: string): number[] {
  const ids: number[] = [];
  for (let at = 0; at < text.length;) {
    const control = cwmControlText.tokens.findIndex((token) => text.startsWith(token, at));
    ids.push(control < 0 ? text.charCodeAt(at) : 128_000 + control);
    at += control < 0 ? 1 : (cwmControlText.tokens[control]?.length ?? 1);
  }
  return ids;
}

const vllmModels = () => ({
  object: 'list',
  data: [{ id: 'facebook/cwm', object: 'model', owned_by: 'vllm', max_model_len: 131_072 }],
});

const vllm: Routes = {
  '/v1/models': vllmModels,
  '/version': () => ({ version: '0.12.0' }),
  '/tokenize': ({ body }) => {
    const tokens = tokenize(body['prompt'] as string);
    return { count: tokens.length, max_model_len: 131_072, tokens };
  },
  '/v1/completions': ({ body }) =>
    oneToken('<|line_sep|>', body['return_token_ids'] === true ? { token_ids: [128_006] } : {}),
};

const llamaCpp = (text: string): Routes => ({
  '/v1/models': () => ({
    object: 'list',
    data: [{ id: 'cwm.gguf', object: 'model', owned_by: 'llamacpp', meta: { n_ctx_train: 131_072 } }],
  }),
  '/props': () => ({ default_generation_settings: { n_ctx: 4_096 }, build_info: 'b6500-abc' }),
  '/tokenize': ({ body }) => ({ tokens: tokenize(body['content'] as string) }),
  '/v1/completions': () => ({
    choices: [
      {
        text,
        index: 0,
        logprobs: { content: [{ id: 128_006, token: text, bytes: [], logprob: -0.1, top_logprobs: [] }] },
        finish_reason: 'length',
      },
    ],
    usage: { prompt_tokens: 30, completion_tokens: 1, total_tokens: 31 },
  }),
});

describe('what a server is', () => {
  it('knows vLLM, its version, its context, and that it takes ids', async () => {
    const { facts, words, source } = await probed(await serve(vllm));
    expect(facts).toMatchObject({ profile: 'vllm', model: 'facebook/cwm', notes: [] });
    expect(words).toBe('vLLM 0.12.0, ids mode, context 131072 tokens, log-probabilities');
    expect(source.name).toContain(`facebook/cwm at ${servers[0]?.baseUrl ?? ''} (${words})`);
    expect(source.traits).toMatchObject({ contextTokens: 131_072, separatesControl: true });
  });

  it('sends text to a vLLM that does not tell ids', async () => {
    const old = { ...vllm, '/v1/completions': () => oneToken('<|line_sep|>') };
    expect((await probed(await serve(old))).words).toContain('text mode');
    expect((await refused(probed(await serve(old), { mode: 'ids' }))).code).toBe(328);
  });

  it('sends text where that is chosen', async () => {
    const server = await serve(vllm);
    expect((await probed(server, { mode: 'text' })).words).toContain('text mode');
    expect(server.received.map(({ url }) => url)).not.toContain('/tokenize');
    expect(server.received.at(-1)?.body).toMatchObject({ skip_special_tokens: false, max_tokens: 1 });
  });

  it('knows llama.cpp by its models, and by its header', async () => {
    expect((await probed(await serve(llamaCpp('')))).words).toBe(
      'llama.cpp b6500-abc, ids mode, context 4096 tokens, log-probabilities',
    );
    const nameless = {
      ...llamaCpp('<|line_sep|>'),
      '/v1/models': () => ({ data: [{ id: 'm', object: 'model' }] }),
    };
    const { facts } = await probed(await serve(nameless, { server: 'llama.cpp' }), { mode: 'text' });
    expect(facts.profile).toBe('llama.cpp');
  });

  it('sends llama.cpp no second begin-of-text, where the server adds one', async () => {
    for (const adds of [true, false]) {
      const routes: Routes = {
        ...llamaCpp('<|line_sep|>'),
        '/tokenize': ({ body }) => {
          const added = adds && body['add_special'] === true ? [128_000] : [];
          return { tokens: [...added, ...tokenize(body['content'] as string)] };
        },
      };
      const server = await serve(routes);
      const { source, facts } = await probed(server, { mode: 'text' });
      expect(facts.addsBegin).toBe(adds);
      const text = '<|begin_of_text|><|trace_context_start|>a';
      await collect(source, { kind: 'text', text, stop: [] });
      expect(server.received.at(-1)?.body['prompt']).toBe(adds ? '<|trace_context_start|>a' : text);
    }
  });

  it('asks llama.cpp for no more alternatives in a chat than it needs', async () => {
    const server = await serve({
      ...llamaCpp(''),
      '/v1/chat/completions': () => ({ choices: [{ message: { content: '{}' }, finish_reason: 'stop' }] }),
    });
    const { source } = await probed(server, { control: null });
    await collect(source, chatPrompt);
    expect(server.received.at(-1)?.body).toMatchObject({ logprobs: true, top_logprobs: 1 });
  });

  it('knows LM Studio', async () => {
    const server = await serve({
      '/v1/models': () => ({ data: [{ id: 'qwen', object: 'model', owned_by: 'organization_owner' }] }),
      '/api/v0/models': () => ({
        data: [
          {
            id: 'qwen',
            type: 'llm',
            state: 'loaded',
            max_context_length: 32_768,
            loaded_context_length: 8_192,
          },
        ],
      }),
    });
    const { words } = await probed(server, { control: null });
    expect(words).toBe('LM Studio, context 8192 tokens');
  });

  it('knows Ollama, for chats only', async () => {
    const ollama: Routes = {
      '/v1/models': () => ({ data: [{ id: 'qwen2.5-coder', object: 'model', owned_by: 'library' }] }),
      '/api/version': () => ({ version: '0.13.1' }),
    };
    expect((await probed(await serve(ollama), { control: null })).words).toBe('Ollama 0.13.1');
    const { code, message, wayOut } = await refused(probed(await serve(ollama)));
    expect({ code, message, wayOut }).toMatchObject({
      code: 326,
      message: expect.stringContaining('chat template') as string,
      wayOut: expect.stringContaining('chat') as string,
    });
  });

  it('refuses fgserve with the reason, and asks it nothing', async () => {
    const server = await serve({});
    expect((await refused(probed(server, { profile: 'fgserve' }))).code).toBe(327);
    expect(server.received).toEqual([]);
  });

  it('asks a server whose kind is known for the rest only', async () => {
    const server = await serve(vllm);
    const { facts } = await probed(server, { profile: 'lm-studio' });
    expect(facts.profile).toBe('lm-studio');
    expect(server.received.map(({ url }) => url)).not.toContain('/version');
  });

  it('asks a generic server nothing', async () => {
    const server = await serve(vllm);
    await probed(server, { profile: 'generic' });
    expect(server.received).toEqual([]);
  });

  it('takes what it does not know for generic, and says so', async () => {
    const { facts } = await probed(await serve({ '/v1/completions': () => oneToken('<|line_sep|>') }), {
      model: 'm',
    });
    expect(facts.profile).toBe('generic');
    expect(facts.notes.join(' ')).toContain('not recognized');
  });

  it('goes on as with a generic server where the probe fails', async () => {
    const server = await FakeServer.start(({ url }, response) => {
      if (url === '/v1/completions') {
        sendStream(response, 'data: {"choices":[{"text":"a","finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
      } else sendJson(response, 500, { error: { message: 'out of memory' } });
    });
    servers.push(server);
    const source = client(server.baseUrl, { profile: 'auto', control: cwmControlText });
    expect((await collect(source, textPrompt))[0]).toMatchObject({ text: 'a' });
    expect(source.facts).toMatchObject({ profile: 'generic' });
    expect(source.notes.join(' ')).toContain('out of memory');
  });

  it('asks again once a server that was away is there', async () => {
    const server = await serve(vllm);
    const { baseUrl } = server;
    await server.stop();
    const source = client(baseUrl, { profile: 'auto', control: cwmControlText });
    expect((await refused(collect(source, textPrompt))).code).toBe(303);
    expect(source.facts).toBeNull();
  });
});

describe('control tokens that a server loses', () => {
  it('are one error that names the switch', async () => {
    const { code, wayOut } = await refused(probed(await serve(llamaCpp('')), { mode: 'text' }));
    expect(code).toBe(325);
    expect(wayOut).toContain('--special');
    const generic = { '/v1/completions': () => oneToken('') };
    const error = await refused(probed(await serve(generic), { model: 'm' }));
    expect(error.code).toBe(325);
    expect(error.wayOut).toContain('skip_special_tokens');
    expect(error.wayOut).toContain('add_special_tokens');
  });

  it('are not lost where the model ends its answer at once', async () => {
    const ending = { '/v1/completions': () => oneToken('', { finish_reason: 'stop' }) };
    await probed(await serve(ending), { model: 'm' });
  });

  it('are told apart from a model that does not have them', async () => {
    const other = {
      ...vllm,
      '/tokenize': ({ body }: Received) => ({
        tokens: Array.from(body['prompt'] as string, (character) => character.charCodeAt(0)),
      }),
      '/v1/completions': () => oneToken('def'),
    };
    const { facts } = await probed(await serve(other));
    expect(facts.ids).toBeNull();
    expect(facts.notes.join(' ')).toContain('does not have the format’s control tokens');
    expect(facts.notes.join(' ')).toContain('may not know the format');
  });
});
