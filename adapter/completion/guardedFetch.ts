import { errors } from '../errors';
import { promptOf, withoutEcho } from './echo';
import { exchange, type HttpAnswer, type HttpBody } from './httpExchange';
import type { ServerAddress } from './serverAddress';
import {
  connectionError,
  isClosedConnection,
  isPage,
  retryAfterText,
  serverMessage,
  ServerRefusal,
  withoutSecret,
} from './serverFaults';

/** How long a server may be silent, in milliseconds. */
export interface Timeouts {
  /** From the request, with the connection, to the first byte of the answer. */
  readonly firstByte: number;
  /** Between two pieces of an answer. */
  readonly stall: number;
}

export interface Guard {
  readonly server: ServerAddress;
  readonly apiKey: string | null;
  readonly timeouts: Timeouts;
  /** Whether answers to POST requests are wanted as a whole too, not as event streams. */
  readonly wholeAnswers?: boolean;
}

/** The longest line of a stream, in bytes: one chunk with its log-probabilities is a small part of it. */
const maxLine = 1 << 20;
/** The longest stream, in bytes. */
const maxStream = 1 << 28;
/** The longest answer that is read as a whole, in bytes. */
const maxWhole = 1 << 24;

/**
 * A `fetch` for one server. It sends the key to the server's origin only and no header but the necessary
 * ones, follows no redirect, ends answers that stay away, stall or do not end, and throws a
 * `ServerRefusal` for a status that is no success and a `CatalogueError` for every other fault. Answers to
 * POST requests come as event streams, also from servers that answer with one JSON object.
 */
export function guardedFetch({ server, apiKey, timeouts, wholeAnswers = false }: Guard) {
  return async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== server.origin) {
      throw errors.internal(new Error('a request left the origin that it was meant for'));
    }
    const streams = init.method === 'POST' && !wholeAnswers;
    const headers: Record<string, string> = { Accept: streams ? 'text/event-stream' : 'application/json' };
    if (init.method === 'POST') headers['Content-Type'] = 'application/json';
    if (apiKey !== null) headers['Authorization'] = `Bearer ${apiKey}`;

    const { method = 'GET', body = null } = init;
    const isPlain = body === null || typeof body === 'string' || body instanceof Uint8Array;
    if (!isPlain) throw errors.internal(new Error('a request has a body of another kind'));
    const watch = new Watch(server, timeouts, init.signal ?? null);
    try {
      const received = await watch.first(() => exchange({ url, method, headers, body }, watch.signal));
      return await answer(received, streams, watch, server, apiKey, body);
    } catch (thrown) {
      watch.end();
      throw thrown;
    }
  };
}

/** Ends one request when the server is silent for too long, or the caller wants its end. */
class Watch {
  readonly #ending = new AbortController();
  readonly #stop = () => {
    this.#ending.abort(this.caller?.reason);
  };
  #timer: NodeJS.Timeout;
  #begun = false;

  constructor(
    private readonly server: ServerAddress,
    private readonly timeouts: Timeouts,
    private readonly caller: AbortSignal | null,
  ) {
    if (caller?.aborted) this.#stop();
    caller?.addEventListener('abort', this.#stop, { once: true });
    this.#timer = setTimeout(() => {
      this.#ending.abort(errors.serverSilent(server.baseUrl, timeouts.firstByte / 1000));
    }, timeouts.firstByte);
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * The response to the request. It is sent a second time where the connection turns out to be closed:
   * servers close those that were idle for some seconds, as between two steps of a person.
   */
  async first(send: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    try {
      return await send().catch((thrown: unknown) => {
        if (this.#ending.signal.aborted || !isClosedConnection(thrown)) throw thrown;
        return send();
      });
    } catch (thrown) {
      throw this.#ending.signal.aborted ? this.#ending.signal.reason : connectionError(this.server, thrown);
    }
  }

  /** The next piece of an answer's body, or null at its end. */
  async next(body: HttpBody): Promise<Uint8Array | null> {
    if (this.#begun) {
      this.#timer = setTimeout(() => {
        this.#ending.abort(errors.serverStalled(this.server.baseUrl, this.timeouts.stall / 1000));
      }, this.timeouts.stall);
    }
    try {
      const piece = await body.next();
      if (!piece) this.end();
      return piece;
    } catch {
      this.end();
      throw this.#ending.signal.aborted ? this.#ending.signal.reason : errors.serverCut(this.server.baseUrl);
    } finally {
      // The first piece ends the wait for it; whoever reads slowly is not the server's fault.
      this.#begun = true;
      clearTimeout(this.#timer);
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.caller?.removeEventListener('abort', this.#stop);
  }
}

async function answer(
  { status, headers, body }: HttpAnswer,
  streams: boolean,
  watch: Watch,
  server: ServerAddress,
  apiKey: string | null,
  sent: Uint8Array | string | null,
): Promise<Response> {
  const isSuccess = status >= 200 && status < 300;
  const contentType = headers['content-type']?.toLowerCase() ?? '';
  if (status >= 300 && status < 400) {
    body.leave();
    throw errors.serverRedirects(server.baseUrl, redirectTarget(headers.location, server, apiKey));
  }
  if (isSuccess && streams && !/json|html/.test(contentType)) {
    return new Response(wholeLines(body, watch, server), {
      headers: { 'content-type': 'text/event-stream' },
    });
  }
  const text = await wholeText(body, watch, server);
  watch.end();
  if (!isSuccess) {
    throw new ServerRefusal(
      status,
      withoutEcho(serverMessage(text, apiKey), promptOf(sent)),
      isPage(contentType, text),
      retryAfterText(headers['retry-after'] ?? null),
    );
  }
  if (text.trim() === '') throw errors.serverSendsNothing(server.baseUrl);
  if (isPage(contentType, text)) throw errors.serverSendsPage(server.baseUrl, status);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw errors.serverSendsOther(server.baseUrl, 'what came is not JSON');
  }
  const line = JSON.stringify(json);
  return streams
    ? new Response(`data: ${line}\n\ndata: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
    : new Response(line, { headers: { 'content-type': 'application/json', ...product(headers['server']) } });
}

/** The header in which some servers tell what they are. */
function product(server: string | string[] | undefined): Record<string, string> {
  return typeof server === 'string' ? { server } : {};
}

/** Where a redirect leads, without credentials, path and query. */
function redirectTarget(location = '', { baseUrl }: ServerAddress, apiKey: string | null): string {
  try {
    const target = new URL(location, baseUrl);
    return withoutSecret(target.origin, apiKey);
  } catch {
    return 'another place';
  }
}

async function wholeText(body: HttpBody, watch: Watch, server: ServerAddress): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let part = await watch.next(body); part; part = await watch.next(body)) {
    size += part.length;
    if (size > maxWhole) {
      body.leave();
      throw errors.serverSendsTooMuch(server.baseUrl, `${maxWhole / (1 << 20)} MiB at once`);
    }
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * A body that comes in pieces of whole lines, so that however small the network's pieces are, each line is
 * put together once.
 */
function wholeLines(body: HttpBody, watch: Watch, server: ServerAddress): ReadableStream<Uint8Array> {
  let line: Uint8Array[] = [];
  let lineSize = 0;
  let size = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const part = await watch.next(body);
          if (!part) {
            if (line.length > 0) controller.enqueue(Buffer.concat(line));
            controller.close();
            return;
          }
          const end = Math.max(part.lastIndexOf(lineFeed), part.lastIndexOf(carriageReturn)) + 1;
          size += part.length;
          lineSize = end > 0 ? part.length - end : lineSize + part.length;
          if (size > maxStream || lineSize > maxLine) {
            watch.end();
            body.leave();
            throw errors.serverSendsTooMuch(
              server.baseUrl,
              size > maxStream ? `${maxStream / (1 << 20)} MiB` : `${maxLine / (1 << 20)} MiB in one line`,
            );
          }
          if (end === 0) {
            line.push(part);
            continue;
          }
          controller.enqueue(Buffer.concat([...line, part.subarray(0, end)]));
          line = end < part.length ? [part.subarray(end)] : [];
          return;
        }
      },
      cancel() {
        watch.end();
        body.leave();
      },
    },
    { highWaterMark: 0 },
  );
}
