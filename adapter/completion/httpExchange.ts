import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/*
 * Requests by Node's own HTTP client. `fetch` would copy each prompt twice and pass it through two streams, which is
 * most of what a step costs once prompts are hundreds of kilobytes long.
 */

export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes or text, sent with their length; null for none. */
  readonly body: Uint8Array | string | null;
}

/** The body of an answer, piece by piece. */
export interface HttpBody {
  /**
   * The next piece, or null at the end.
   *
   * @throws what the connection ended with, where the answer was not whole then
   */
  next(): Promise<Uint8Array | null>;
  /** Reads no further. The connection is kept for another request where all has come, and closed otherwise. */
  leave(): void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: HttpBody;
}

/**
 * Sends a request; redirects are answers like others. Connections are kept for later requests for some seconds. A
 * kept one that the server closed before it answered is no fault, as servers end idle connections whenever they like:
 * the request is sent again (as RFC 9112, section 9.3.1, has it) until a new connection has failed.
 *
 * @param signal ends the request, and the reading of its answer; what is thrown is then the signal's reason
 * @throws the error of the connection
 */
export function exchange(
  { url, method, headers, body }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const start = url.protocol === 'https:' ? requestHttps : requestHttp;
    const length = body === null ? {} : { 'Content-Length': `${Buffer.byteLength(body)}` };
    const send = () => {
      const sent = start(url, { method, headers: { ...headers, ...length } });
      let answer: MessageBody | null = null;
      const abort = () => {
        reject(asError(signal.reason));
        // Without an error, which nobody might hear any more.
        if (answer) answer.leave();
        else sent.destroy();
      };
      signal.addEventListener('abort', abort, { once: true });
      sent.once('close', () => {
        signal.removeEventListener('abort', abort);
      });
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // Once the answer has begun, whoever reads it learns of errors.
        if (answer || signal.aborted) return;
        if (sent.reusedSocket && closedCodes.has(error.code)) send();
        else reject(error);
      });
      sent.once('response', (message: IncomingMessage) => {
        answer = new MessageBody(message, signal);
        resolve({ status: message.statusCode ?? 0, headers: message.headers, body: answer });
      });
      sent.end(body ?? undefined);
    };
    send();
  });
}

/** How the system says that the other side has closed a connection. */
const closedCodes: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

class MessageBody implements HttpBody {
  readonly #pieces: AsyncIterator<Buffer>;

  constructor(
    private readonly message: IncomingMessage,
    private readonly signal: AbortSignal,
  ) {
    this.#pieces = message[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async next(): Promise<Uint8Array | null> {
    const piece = await this.#pieces.next();
    this.signal.throwIfAborted();
    return piece.done === true ? null : piece.value;
  }

  leave(): void {
    if (this.message.complete) void this.#readOn();
    else this.message.destroy();
  }

  /** Until all that has come is read, the connection is not free. */
  async #readOn(): Promise<void> {
    for (let isOver = false; !isOver;) {
      const piece = await this.#pieces.next().catch(() => null);
      isOver = piece?.done ?? true;
    }
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('The request was ended.');
}
