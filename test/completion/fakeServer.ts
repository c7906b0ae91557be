import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { OpenAiServer, type OpenAiServerOptions } from '../../adapter/completion/openaiServer';
import type { CompletionChunk, Prompt } from '../../adapter/completion/completion';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

type Handler = (request: Received, response: ServerResponse) => void;

/** An HTTP server in the test's process that answers as it is told. */
export class FakeServer {
  readonly received: Received[] = [];
  /** Resolves when a client leaves before its answer has ended. */
  readonly left: Promise<void>;
  readonly #server;
  readonly #sockets = new Set<Socket>();

  private constructor(handler: Handler) {
    let left: () => void;
    this.left = new Promise((resolve) => (left = resolve));
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const text = Buffer.concat(parts).toString();
        const received = {
          method: request.method ?? '',
          url: request.url ?? '',
          headers: request.headers,
          body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
        };
        this.received.push(received);
        response.on('close', () => {
          if (!response.writableEnded) left();
        });
        handler(received, response);
      });
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(handler: Handler): Promise<FakeServer> {
    const fake = new FakeServer(handler);
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function recorded(name: string): Buffer {
  return readFileSync(new URL(`./recorded/${name}.txt`, import.meta.url));
}

/** Answers with an event stream, in pieces that end at the given bytes. */
export function sendStream(
  response: ServerResponse,
  body: Buffer | string,
  cuts: readonly number[] = [],
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const bytes = Buffer.from(body);
  const ends = [...cuts.filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b), bytes.length];
  let at = 0;
  const next = () => {
    const end = ends.shift();
    if (end === undefined) {
      response.end();
      return;
    }
    response.write(bytes.subarray(at, end), () => setImmediate(next));
    at = end;
  };
  next();
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function client(baseUrl: string, options: Partial<OpenAiServerOptions> = {}): OpenAiServer {
  return new OpenAiServer({
    baseUrl,
    apiKey: null,
    model: 'm',
    temperature: null,
    topP: null,
    profile: 'generic',
    mode: 'auto',
    context: null,
    constrain: false,
    control: null,
    timeouts: { firstByte: 20_000, stall: 20_000 },
    extraBody: {},
    ...options,
  });
}

export async function collect(
  source: OpenAiServer,
  prompt: Prompt,
  signal: AbortSignal = new AbortController().signal,
): Promise<CompletionChunk[]> {
  const chunks: CompletionChunk[] = [];
  for await (const chunk of source.complete(prompt, { maxTokens: 100, signal })) chunks.push(chunk);
  return chunks;
}

export const textPrompt: Prompt = { kind: 'text', text: 'a = ', stop: ['<|frame_sep|>'] };
export const chatPrompt: Prompt = {
  kind: 'chat',
  messages: [{ role: 'user', content: 'next?' }],
  schema: {
    name: 'states',
    schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
  },
};
