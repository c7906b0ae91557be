import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { asCatalogueError, errors } from '../errors';
import { checkAccess, type LoopbackHost, newToken, requireLoopback } from './access';
import { readJsonBody } from './body';
import { type BrokenAnswer, drawAnswerFault } from './answerFaults';
import { CompletionAnswer, type PromptUsage } from './completionAnswer';
import { type CompletionRequest, readCompletionRequest } from './completionRequest';
import type { FaultKind, Faults, MadeFault } from './faults';
import { type Finish, type GeneratedToken, Generation } from './generation';
import type { Continuation, Model, WrittenText } from './model';
import { readPromptIds, tokensToWrite } from './promptIds';
import { Refusal } from './refusal';
import { answerDetokenize, answerTokenize } from './tokenizeRequest';
import { countTokens, endOfTextId, isControl } from './tokens';

export interface ListenOptions {
  /** 0: any free port. */
  readonly port: number;
  readonly host?: LoopbackHost;
  /** What clients have to send as their API key; a random one where none is given. */
  readonly token?: string;
  /** The longest request body in bytes. */
  readonly maxBodyBytes: number;
  /** The most tokens that a prompt and its answer may have together; null or none for no limit. */
  readonly context?: number | null;
  /** Whether control tokens add nothing to the text of answers, where a request does not say, as with vLLM. */
  readonly skipsControl?: boolean;
  /** What goes wrong with answers, for tests. */
  readonly faults?: Faults | null;
}

/** A server that listens. */
export interface ModelServer {
  /** The base URL for clients: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  readonly token: string;
  /** How many requests were let in so far. */
  requests(): number;
  /** The faults that were made so far, and in how many frames or answers each kind could have been made. */
  faults(): FaultReport;
  /** Stops listening, ends all answers and all runs. */
  close(): Promise<void>;
}

/** What went wrong on purpose. */
export interface FaultReport {
  readonly made: readonly MadeFault[];
  readonly possible: Readonly<Partial<Record<FaultKind, number>>>;
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
 * Serves a model as an OpenAI-compatible server does: `GET /v1/models` and `POST /v1/completions`,
 * and as vLLM does it at its root `POST /tokenize` and `POST /detokenize`.
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
        await route(model, request, response, options);
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
    faults: () => reportOf(options.faults ?? null),
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
  { maxBodyBytes, context = null, skipsControl = false, faults = null }: ListenOptions,
): Promise<void> {
  const path = (request.url ?? '').split('?')[0];
  const readBody = () => {
    requireMethod(request, 'POST');
    return readJsonBody(request, maxBodyBytes);
  };
  if (path === '/v1/models') {
    requireMethod(request, 'GET');
    sendJson(response, 200, { object: 'list', data: [modelBody(model.id, context)] });
  } else if (path === `/v1/models/${model.id}`) {
    requireMethod(request, 'GET');
    sendJson(response, 200, modelBody(model.id, context));
  } else if (path === '/v1/completions') {
    const asked = readCompletionRequest(await readBody(), model.id, skipsControl);
    await complete(model, asked, context, faults, response);
  } else if (path === '/faults') {
    requireMethod(request, 'GET');
    sendJson(response, 200, reportOf(faults));
  } else if (path === '/tokenize') {
    sendJson(response, 200, answerTokenize(await readBody(), model.id, context));
  } else if (path === '/detokenize') {
    sendJson(response, 200, answerDetokenize(await readBody(), model.id));
  } else {
    throw new Refusal(404, 'not_found', errors.requestRoute('such address'));
  }
}

function requireMethod(request: IncomingMessage, method: string): void {
  if (request.method === method) return;
  const error = errors.requestRoute(`${request.method ?? 'such'} at this address`);
  throw new Refusal(405, 'method_not_allowed', error, null, { Allow: method });
}

function modelBody(id: string, context: number | null): object {
  return { id, object: 'model', created: 0, owned_by: 'neural-debug', max_model_len: context };
}

/** Answers a completion; a client that goes away ends the work for it. */
async function complete(
  model: Model,
  asked: CompletionRequest,
  context: number | null,
  faults: Faults | null,
  response: ServerResponse,
): Promise<void> {
  const left = new AbortController();
  response.once('close', () => {
    left.abort();
  });
  const { text, ids } = asked.prompt;
  if (context !== null) requireRoom(ids ?? countTokens(text), asked.maxTokens, context);
  const continuation = await model.continue({ ...asked, text }, left.signal);
  const usage = usageOf(continuation, ids);
  const broken = faults && drawAnswerFault(faults, continuation.place, response);
  if (broken === 'answered') return;
  const answer = new CompletionAnswer(model.id, asked);
  if (asked.stream) await stream(continuation, asked, usage, answer, broken, response, left.signal);
  else if (broken) await breakOff(broken.kind, response, left.signal);
  else await sendWhole(continuation, asked, usage, answer, response);
}

/** Ends an answer where it is: by ending the connection, or by leaving the client to wait. */
async function breakOff(
  kind: BrokenAnswer['kind'],
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  if (kind === 'cut') response.destroy();
  else if (!signal.aborted) await once(signal, 'abort');
}

function reportOf(faults: Faults | null): FaultReport {
  return { made: faults?.made ?? [], possible: Object.fromEntries(faults?.possible ?? []) };
}

/** Counts by the ids that were sent, which another tokenizer may have cut otherwise. */
function usageOf({ promptTokens, cachedTokens }: Continuation, ids: number | null): PromptUsage {
  if (ids === null) return { promptTokens, cachedTokens };
  return {
    promptTokens: ids,
    cachedTokens: cachedTokens === promptTokens ? ids : Math.min(cachedTokens, ids),
  };
}

/** @throws Refusal in vLLM's words where a prompt and its answer do not fit into the context */
function requireRoom(promptTokens: number, maxTokens: number, context: number): void {
  if (promptTokens >= context) {
    throw new Refusal(400, 'context_length_exceeded', errors.promptTooLong(context, promptTokens), 'prompt');
  }
  if (promptTokens + maxTokens > context) {
    const error = errors.answerTooLong(context, promptTokens, maxTokens);
    throw new Refusal(400, 'context_length_exceeded', error, 'max_tokens');
  }
}

/** What is generated for a request, batch by batch; the last batch has the finish. */
async function* generate(
  continuation: Continuation,
  asked: CompletionRequest,
): AsyncGenerator<{ readonly tokens: readonly GeneratedToken[]; readonly finish: Finish | null }> {
  const generation = new Generation({ ...asked, showsEnd: asked.tokenIds });
  for await (const pieces of continuation.text) {
    const tokens: GeneratedToken[] = [];
    for (const piece of pieces) {
      const generated = generation.write(tokensOf(piece, asked));
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

function tokensOf(
  { text, odds }: WrittenText,
  { prompt, skipsControl }: CompletionRequest,
): readonly GeneratedToken[] {
  let start = 0;
  let next = 0;
  return tokensToWrite(text, prompt.ids !== null).map((token) => {
    start += token.text.length;
    let logprob = 0;
    for (let at = odds[next]; at && at.at < start; at = odds[++next]) logprob += at.logprob;
    return { id: token.id, text: skipsControl && isControl(token.id) ? '' : token.text, logprob };
  });
}

/** What was written as prompts hold it: with the control tokens that were left out of the text. */
function asWritten(tokens: readonly GeneratedToken[], { prompt, skipsControl }: CompletionRequest): string {
  if (prompt.ids === null && !skipsControl) return tokens.map(({ text }) => text).join('');
  return readPromptIds(tokens.map(({ id }) => id).filter((id) => id !== endOfTextId)).text;
}

async function sendWhole(
  continuation: Continuation,
  asked: CompletionRequest,
  usage: PromptUsage,
  answer: CompletionAnswer,
  response: ServerResponse,
): Promise<void> {
  const all: GeneratedToken[] = [];
  for await (const { tokens, finish } of generate(continuation, asked)) {
    for (const token of tokens) all.push(token);
    if (!finish) continue;
    continuation.remember(asWritten(all, asked));
    sendJson(response, 200, answer.whole(all, finish, usage));
  }
}

async function stream(
  continuation: Continuation,
  asked: CompletionRequest,
  usage: PromptUsage,
  answer: CompletionAnswer,
  broken: BrokenAnswer | null,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  let eventLength = eventTokens.first;
  let written = '';
  let left = broken?.after ?? Infinity;
  for await (const { tokens, finish } of generate(continuation, asked)) {
    if (!response.headersSent) {
      response.writeHead(200, { ...fixedHeaders, 'Content-Type': 'text/event-stream; charset=utf-8' });
    }
    const events: string[] = [];
    if (broken && tokens.length >= left) {
      response.write(event(answer.piece(tokens.slice(0, left), null)));
      await setImmediate();
      await breakOff(broken.kind, response, signal);
      return;
    }
    left -= tokens.length;
    let at = 0;
    do {
      const piece = tokens.slice(at, at + eventLength);
      at += piece.length;
      events.push(event(answer.piece(piece, at >= tokens.length ? finish : null)));
      eventLength = Math.min(eventLength + 1, eventTokens.most);
    } while (at < tokens.length);
    if (finish && asked.includeUsage) events.push(event(answer.usage(finish, usage)));
    written += asWritten(tokens, asked);
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
