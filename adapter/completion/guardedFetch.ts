import { errors } from '../errors';
import { promptOf, withoutEcho } from './echo';
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

    const watch = new Watch(server, timeouts, init.signal ?? null);
    try {
      const send = () =>
        fetch(url, {
          method: init.method ?? 'GET',
          body: init.body ?? null,
          headers,
          redirect: 'manual',
          signal: watch.signal,
        });
      const response = await watch.first(send);
      return await answer(response, streams, watch, server, apiKey, init.body);
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
  async first(send: () => Promise<Response>): Promise<Response> {
    try {
      return await send().catch((thrown: unknown) => {
        if (this.#ending.signal.aborted || !isClosedConnection(thrown)) throw thrown;
        return send();
      });
    } catch (thrown) {
      throw this.#ending.signal.aborted ? this.#ending.signal.reason : connectionError(this.server, thrown);
    }
  }

  /** The next piece of the answer's body, or null at its end. */
  async next(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
    if (this.#begun) {
      this.#timer = setTimeout(() => {
        this.#ending.abort(errors.serverStalled(this.server.baseUrl, this.timeouts.stall / 1000));
      }, this.timeouts.stall);
    }
    try {
      const { value, done } = await reader.read();
      if (done) this.end();
      return done ? null : value;
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
  response: Response,
  streams: boolean,
  watch: Watch,
  server: ServerAddress,
  apiKey: string | null,
  sent: RequestInit['body'],
): Promise<Response> {
  const reader = response.body?.getReader() ?? null;
  const contentType = response.headers.get('content-type')?.toLowerCase() ?? '';
  if (response.status >= 300 && response.status < 400) {
    await reader?.cancel();
    throw errors.serverRedirects(server.baseUrl, redirectTarget(response, apiKey));
  }
  if (response.ok && streams && reader && !/json|html/.test(contentType)) {
    return new Response(wholeLines(reader, watch, server), {
      headers: { 'content-type': 'text/event-stream' },
    });
  }
  const text = reader ? await wholeText(reader, watch, server) : '';
  watch.end();
  if (!response.ok) {
    throw new ServerRefusal(
      response.status,
      withoutEcho(serverMessage(text, apiKey), promptOf(sent)),
      isPage(contentType, text),
      retryAfterText(response.headers.get('retry-after')),
    );
  }
  if (text.trim() === '') throw errors.serverSendsNothing(server.baseUrl);
  if (isPage(contentType, text)) throw errors.serverSendsPage(server.baseUrl, response.status);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw errors.serverSendsOther(server.baseUrl, 'what came is not JSON');
  }
  const line = JSON.stringify(json);
  return streams
    ? new Response(`data: ${line}\n\ndata: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } })
    : new Response(line, { headers: { 'content-type': 'application/json', ...product(response) } });
}

/** The header in which some servers tell what they are. */
function product({ headers }: Response): Record<string, string> {
  const server = headers.get('server');
  return server === null ? {} : { server };
}

/** Where a redirect leads, without credentials, path and query. */
function redirectTarget(response: Response, apiKey: string | null): string {
  try {
    const target = new URL(response.headers.get('location') ?? '', response.url);
    return withoutSecret(target.origin, apiKey);
  } catch {
    return 'another place';
  }
}

async function wholeText(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  watch: Watch,
  server: ServerAddress,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let part = await watch.next(reader); part; part = await watch.next(reader)) {
    size += part.length;
    if (size > maxWhole) {
      await reader.cancel();
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
function wholeLines(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  watch: Watch,
  server: ServerAddress,
): ReadableStream<Uint8Array> {
  let line: Uint8Array[] = [];
  let lineSize = 0;
  let size = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const part = await watch.next(reader);
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
            await reader.cancel();
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
      async cancel() {
        watch.end();
        await reader.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}
