import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { asCatalogueError, errors } from '../errors';
import { checkAccess, type LoopbackHost, newToken, requireLoopback } from './access';
import { readJsonBody } from './body';
import { CompletionAnswer } from './completionAnswer';
import { type CompletionRequest, readCompletionRequest } from './completionRequest';
import { type Finish, Generation } from './generation';
import type { Continuation, Model } from './model';
import { Refusal } from './refusal';

export interface ListenOptions {
  /** 0: any free port. */
  readonly port: number;
  readonly host?: LoopbackHost;
  /** What clients have to send as their API key; a random one where none is given. */
  readonly token?: string;
  /** The longest request body in bytes. */
  readonly maxBodyBytes: number;
}

/** A server that listens. */
export interface ModelServer {
  /** The base URL for clients: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  readonly token: string;
  /** How many requests were let in so far. */
  requests(): number;
  /** Stops listening, ends all answers and all runs. */
  close(): Promise<void>;
}

/** How many connections are held at once, and how long a request may take to arrive, in milliseconds. */
const maxConnections = 64;
const headersTimeout = 10_000;
const requestTimeout = 60_000;
/** How long an answer may stand still, because the client does not read or the program makes no frame. */
const idleTimeout = 300_000;

/** Tokens in the first event of a stream, and in the events of a stream that has long been flowing. */
const eventTokens = { first: 4, most: 32 };

/**
 * Serves a model as an OpenAI-compatible server does: `GET /v1/models` and `POST /v1/completions`.
 *
 * @throws CatalogueError when it cannot listen there
 */
export async function listen(model: Model, options: ListenOptions): Promise<ModelServer> {
  const host = options.host ?? '127.0.0.1';
  requireLoopback(host);
  const token = options.token ?? newToken();
  let requests = 0;
  const server: Server = createServer(
    { headersTimeout, requestTimeout, maxHeaderSize: 16 * 1024, keepAliveTimeout: 30_000 },
    (request, response) => {
      void answerSafely(response, async () => {
        checkAccess(request, (server.address() as AddressInfo).port, token);
        requests++;
        await route(model, request, response, options.maxBodyBytes);
      });
    },
  );
  server.maxConnections = maxConnections;
  server.setTimeout(idleTimeout);
  try {
    server.listen(options.port, host);
    await once(server, 'listening');
  } catch (thrown) {
    throw errors.serverPort(options.port, thrown);
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/v1`,
    token,
    requests: () => requests,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await Promise.all([closed, model.close()]);
    },
  };
}

async function route(
  model: Model,
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
): Promise<void> {
  const path = (request.url ?? '').split('?')[0];
  if (path === '/v1/models') {
    requireMethod(request, 'GET');
    sendJson(response, 200, { object: 'list', data: [modelBody(model.id)] });
  } else if (path === `/v1/models/${model.id}`) {
    requireMethod(request, 'GET');
    sendJson(response, 200, modelBody(model.id));
  } else if (path === '/v1/completions') {
    requireMethod(request, 'POST');
    const body = await readJsonBody(request, maxBodyBytes);
    const asked = readCompletionRequest(body, model.id);
    await complete(model, asked, response);
  } else {
    throw new Refusal(404, 'not_found', errors.requestRoute('such address'));
  }
}

function requireMethod(request: IncomingMessage, method: string): void {
  if (request.method === method) return;
  const error = errors.requestRoute(`${request.method ?? 'such'} at this address`);
  throw new Refusal(405, 'method_not_allowed', error, null, { Allow: method });
}

function modelBody(id: string): object {
  return { id, object: 'model', created: 0, owned_by: 'neural-debug' };
}

/** Answers a completion; a client that goes away ends the work for it. */
async function complete(model: Model, asked: CompletionRequest, response: ServerResponse): Promise<void> {
  const left = new AbortController();
  response.once('close', () => {
    left.abort();
  });
  const continuation = await model.continue(asked.prompt, left.signal);
  const answer = new CompletionAnswer(model.id, asked.logprobs);
  if (asked.stream) await stream(continuation, asked, answer, response, left.signal);
  else await sendWhole(continuation, asked, answer, response);
}

/** What is generated for a request, batch by batch; the last batch has the finish. */
async function* generate(
  continuation: Continuation,
  { maxTokens, stop }: CompletionRequest,
): AsyncGenerator<{ readonly tokens: readonly string[]; readonly finish: Finish | null }> {
  const generation = new Generation(maxTokens, stop);
  for await (const pieces of continuation.text) {
    const tokens: string[] = [];
    for (const piece of pieces) {
      const generated = generation.write(piece);
      for (const token of generated.tokens) tokens.push(token);
      if (generated.finish) {
        yield { tokens, finish: generated.finish };
        return;
      }
    }
    if (tokens.length > 0) yield { tokens, finish: null };
    // Frames that are already known come without waiting: let other requests have their turn.
    await setImmediate();
  }
  yield generation.end();
}

async function sendWhole(
  continuation: Continuation,
  asked: CompletionRequest,
  answer: CompletionAnswer,
  response: ServerResponse,
): Promise<void> {
  const all: string[] = [];
  for await (const { tokens, finish } of generate(continuation, asked)) {
    for (const token of tokens) all.push(token);
    if (!finish) continue;
    continuation.remember(all.join(''));
    sendJson(response, 200, answer.whole(all, finish, continuation));
  }
}

async function stream(
  continuation: Continuation,
  asked: CompletionRequest,
  answer: CompletionAnswer,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  let eventLength = eventTokens.first;
  let written = '';
  for await (const { tokens, finish } of generate(continuation, asked)) {
    if (!response.headersSent) {
      response.writeHead(200, { ...fixedHeaders, 'Content-Type': 'text/event-stream; charset=utf-8' });
    }
    const events: string[] = [];
    let at = 0;
    do {
      const piece = tokens.slice(at, at + eventLength);
      at += piece.length;
      events.push(event(answer.piece(piece, at >= tokens.length ? finish : null)));
      eventLength = Math.min(eventLength + 1, eventTokens.most);
    } while (at < tokens.length);
    if (finish && asked.includeUsage) events.push(event(answer.usage(finish, continuation)));
    written += tokens.join('');
    if (!response.write(events.join(''))) await once(response, 'drain', { signal });
  }
  continuation.remember(written);
  response.end('data: [DONE]\n\n');
}

function event(json: string): string {
  return `data: ${json}\n\n`;
}

const fixedHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

function sendJson(
  response: ServerResponse,
  status: number,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...fixedHeaders, ...headers, 'Content-Type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/**
 * Runs what answers a request and turns what it throws into an answer in OpenAI's shape: the response itself,
 * or within a stream that has begun an event with the error, as vLLM does it.
 */
async function answerSafely(response: ServerResponse, answer: () => Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (thrown) {
    if (response.destroyed) return;
    const refusal =
      thrown instanceof Refusal ? thrown : new Refusal(500, 'internal_error', asCatalogueError(thrown));
    if (response.headersSent) response.end(`${event(JSON.stringify(refusal.body))}data: [DONE]\n\n`);
    else sendJson(response, refusal.status, refusal.body, refusal.headers);
  }
}
