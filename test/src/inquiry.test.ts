import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';
import {
  checked,
  inWords,
  localServers,
  modelsOf,
  refusesKey,
  suitability,
  withVersion,
} from '../../src/servers/inquiry';
import { FakeServer, sendJson, sendStream } from '../completion/fakeServer';

const never = new AbortController().signal;
const thrownBy = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing was thrown',
    (thrown: unknown) => thrown,
  );

/** The stand-in for a CWM, which wants its token. */
let cwm: ModelServer;
let fakes: FakeServer[] = [];
beforeAll(async () => {
  cwm = await startModelServer({ port: 0 });
});
afterAll(() => cwm.close());
afterEach(async () => {
  await Promise.all(fakes.map((fake) => fake.stop()));
  fakes = [];
});

async function fake(handler: Parameters<typeof FakeServer.start>[0]): Promise<FakeServer> {
  const server = await FakeServer.start(handler);
  fakes.push(server);
  return server;
}

/** A server whose model answers questions, and has no other route. */
function chatServer(models: readonly string[] = ['talker']): Promise<FakeServer> {
  return fake(({ url }, response) => {
    if (url === '/v1/models') {
      sendJson(response, 200, { object: 'list', data: models.map((id) => ({ id, object: 'model' })) });
    } else if (url === '/v1/chat/completions') {
      const delta = { role: 'assistant', content: 'yes' };
      const chunk = { choices: [{ index: 0, delta, finish_reason: 'stop' }] };
      sendStream(response, `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    } else sendJson(response, 404, { error: { message: 'no such route' } });
  });
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

describe('the models of a server', () => {
  it('are those that it lists', async () => {
    const { baseUrl } = await chatServer(['talker', 'thinker']);
    expect(await modelsOf(baseUrl, null, never)).toEqual(['talker', 'thinker']);
    expect(await modelsOf(cwm.url, cwm.token, never)).toEqual(['neural-debug-reference-cwm']);
  });

  it('are asked for with the key, and a missing one is told apart', async () => {
    const missing = await thrownBy(modelsOf(cwm.url, null, never));
    expect(missing).toMatchObject({ code: 308 });
    expect(refusesKey(missing)).toBe(true);
    // No request can carry it.
    expect(refusesKey(await thrownBy(modelsOf(cwm.url, 'two\nlines', never)))).toBe(true);
    const gone = await thrownBy(modelsOf(`http://127.0.0.1:${await closedPort()}/v1`, null, never));
    expect(gone).toMatchObject({ code: 303 });
    expect(refusesKey(gone)).toBe(false);
  });

  it('may be none, which is an error with a way out', async () => {
    const { baseUrl } = await chatServer([]);
    expect(await thrownBy(modelsOf(baseUrl, null, never))).toMatchObject({ code: 323 });
  });

  it('are no longer waited for once nobody wants them', async () => {
    const silent = await fake(() => undefined);
    const waiting = new AbortController();
    const models = thrownBy(modelsOf(silent.baseUrl, null, waiting.signal));
    await expect.poll(() => silent.received.length).toBe(1);
    waiting.abort();
    expect(await models).not.toBe('nothing was thrown');
    await silent.left;
  });
});

describe('how a server can be asked', () => {
  it('recommends traces to a model that continues them', async () => {
    const server = { baseUrl: cwm.url, model: 'neural-debug-reference-cwm' };
    const [first, second] = await suitability(server, cwm.token, never);
    expect(first).toMatchObject({ fits: true, format: 'cwm', report: { knowsFormat: true } });
    const words = first ? inWords(first).join(' ') : '';
    expect(words).toContain('neural-debug-reference-cwm');
    expect(words).toContain('continues execution traces');
    // It has no route for questions.
    expect(second).toMatchObject({ fits: false, format: 'chat', why: { code: 310 } });
    expect(second && inWords(second)).toHaveLength(1);
  });

  it('recommends questions to a model that only answers those', async () => {
    const { baseUrl, received } = await chatServer();
    const [first, second] = await suitability({ baseUrl, model: 'talker' }, 'a-key', never);
    expect(first).toMatchObject({ fits: true, format: 'chat' });
    const words = first ? inWords(first).join(' ') : '';
    expect(words).toContain('talker');
    expect(words).toContain('JSON schema');
    expect(second).toMatchObject({ fits: false, format: 'cwm' });
    expect(new Set(received.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer a-key']));
  });

  it('is an error where it cannot be asked at all', async () => {
    const baseUrl = `http://127.0.0.1:${await closedPort()}/v1`;
    expect(await thrownBy(suitability({ baseUrl, model: 'm' }, null, never))).toMatchObject({ code: 303 });
    const page = await fake((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Sign in');
    });
    expect(await thrownBy(suitability({ baseUrl: page.baseUrl, model: 'm' }, null, never))).toMatchObject({
      code: 315,
    });
  });

  it('is checked for the format that is set', async () => {
    const server = { baseUrl: cwm.url, model: 'neural-debug-reference-cwm' };
    expect(await checked(server, cwm.token, never)).toMatchObject({ fits: true, format: 'cwm' });
    const chat = { ...server, format: 'chat' } as const;
    expect(await thrownBy(checked(chat, cwm.token, never))).toMatchObject({ code: 310 });
    const other = { ...server, model: 'another' };
    expect(await thrownBy(checked(other, cwm.token, never))).toMatchObject({ code: 309 });
    expect(await thrownBy(checked(server, 'another-key', never))).toMatchObject({ code: 308 });
  });
});

describe('the servers of this computer', () => {
  it('are those that answer, with their models where they tell them without a key', async () => {
    const talker = await chatServer();
    const other = await fake((_, response) => {
      response.end('this is no model server');
    });
    const portOf = ({ origin }: { origin: string }) => Number(new URL(origin).port);
    const cwmPort = portOf(new URL(cwm.url));
    const ports = [await closedPort(), cwmPort, portOf(other), portOf(talker)];
    expect(await localServers(never, ports)).toEqual([
      { baseUrl: `http://127.0.0.1:${cwmPort}/v1`, models: [] },
      { baseUrl: talker.baseUrl, models: ['talker'] },
    ]);
  });
});

describe('an address without a version', () => {
  it('is offered with one', () => {
    expect(withVersion('http://127.0.0.1:8000')).toBe('http://127.0.0.1:8000/v1');
    expect(withVersion('http://127.0.0.1:8000/api/')).toBe('http://127.0.0.1:8000/api/v1');
    expect(withVersion('https://api.example/v1/')).toBeNull();
    expect(withVersion('https://api.example/openai/v12')).toBeNull();
  });
});
