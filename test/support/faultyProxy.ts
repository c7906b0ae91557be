import { execFileSync } from 'node:child_process';
import { constants } from 'node:crypto';
import dns from 'node:dns';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A request that came to the proxy. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a fault does to a request that it is made for. */
interface Fault {
  /** The number of the error that people are to meet. */
  readonly code: number;
  /** What its message has to say. */
  readonly cause: RegExp;
  /** Whether no connection can be made at all. */
  readonly connection?: 'refused' | 'dns' | 'tls';
  /** Answers in the server's place. */
  readonly answer?: (request: SeenRequest, response: ServerResponse, elsewhere: string) => void;
  /** What becomes of an answer that has begun. */
  readonly after?: 'cut' | 'stall';
}

/**
 * An error as bad servers write it: they repeat what they were sent, the key and the program with it.
 */
function saying(status: number, said: string, headers: Readonly<Record<string, string>> = {}) {
  return ({ headers: sent, body }: SeenRequest, response: ServerResponse): void => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    const message = `${said}; headers were ${sent.authorization ?? ''}; body was ${body.slice(0, 400)}`;
    response.end(JSON.stringify({ error: { message, code: status } }));
  };
}

function sending(status: number, type: string, text: string) {
  return (_: SeenRequest, response: ServerResponse): void => {
    response.writeHead(status, { 'Content-Type': type });
    response.end(text);
  };
}

const page = '<!doctype html><html><title>Gateway</title><p>Please sign in.</p></html>';

/** What can go wrong with a server, by name. */
export const faults = {
  refused: { code: 303, cause: /connection was refused/, connection: 'refused' },
  dns: { code: 304, cause: /was not found/, connection: 'dns' },
  tls: { code: 305, cause: /No secure connection/, connection: 'tls' },
  '401': { code: 308, cause: /not authorized \(401\)/, answer: saying(401, 'Incorrect API key') },
  '403': { code: 308, cause: /not authorized \(403\)/, answer: saying(403, 'Not for you') },
  'model unknown': { code: 309, cause: /has no model/, answer: saying(404, 'The model does not exist') },
  '413': { code: 311, cause: /too long/, answer: saying(413, 'Entity too large') },
  'context length': {
    code: 311,
    cause: /too long/,
    answer: saying(400, "This model's maximum context length is 2000 tokens"),
  },
  '429': {
    code: 312,
    cause: /no more requests/,
    answer: saying(429, 'Slow down', { 'Retry-After': '7' }),
  },
  '500': { code: 313, cause: /failed \(500\)/, answer: saying(500, 'CUDA out of memory') },
  '503': { code: 313, cause: /failed \(503\)/, answer: saying(503, 'Loading model') },
  'page 502': { code: 313, cause: /failed \(502\)/, answer: sending(502, 'text/html', page) },
  page: { code: 315, cause: /web page/, answer: sending(200, 'text/html', page) },
  empty: { code: 316, cause: /empty answer/, answer: sending(200, 'text/event-stream', '') },
  cut: { code: 317, cause: /broke off/, after: 'cut' },
  stall: { code: 318, cause: /stopped sending/, after: 'stall' },
  silent: { code: 319, cause: /did not begin to answer/, answer: () => undefined },
  'other JSON': {
    code: 320,
    cause: /does not answer as the OpenAI API does/,
    answer: sending(200, 'application/json', '{"result":{"output":["line 3"]},"took":12}'),
  },
  redirect: {
    code: 307,
    cause: /redirects to/,
    answer: (_, response, elsewhere) => {
      response.writeHead(307, { Location: `${elsewhere}/v1/completions` });
      response.end();
    },
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as FaultName[];

export function faultOf(name: FaultName): Fault {
  return faults[name];
}

/** Which requests fail: from one on, those of a path. */
export interface Breakage {
  readonly path?: RegExp;
  /** How many requests of the path are let through before. */
  readonly after?: number;
  /** How many lines of an answer come before it is cut or stalls. */
  readonly lines?: number;
}

/** Stands between a client and a server, and lets requests fail as it is told. */
export class FaultyProxy {
  readonly seen: SeenRequest[] = [];
  /** What came to the place that redirects lead to: nothing should. */
  readonly strayed: SeenRequest[] = [];
  #breaking: (Required<Breakage> & { readonly fault: Fault }) | null = null;
  readonly #server: Server;
  readonly #elsewhere: Server;
  readonly #sockets = new Set<Socket>();
  readonly #lookup = dns.lookup;
  #port = 0;

  private constructor(
    private readonly origin: string,
    private readonly certificate: { readonly key: string; readonly cert: string } | null,
  ) {
    const pass: RequestListener = (request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const seen = { method, path: url, headers, body: Buffer.concat(parts).toString() };
        this.seen.push(seen);
        void this.#pass(seen, response).catch(() => response.destroy());
      });
    };
    // A session that is resumed is not checked again, so there are none.
    const unresumed = { maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const;
    this.#server = certificate ? createTlsServer({ ...certificate, ...unresumed }, pass) : createServer(pass);
    // Also those that have not agreed on their encryption yet.
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('tlsClientError', () => undefined);
    this.#elsewhere = createServer((request, response) => {
      this.strayed.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: '',
      });
      response.end('{}');
    });
  }

  /** @param url the base URL of the server behind */
  static async start(url: string, certificate: FaultyProxy['certificate'] = null): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(new URL(url).origin, certificate);
    await listening(proxy.#server, 0);
    await listening(proxy.#elsewhere, 0);
    proxy.#port = (proxy.#server.address() as AddressInfo).port;
    proxy.#trust();
    return proxy;
  }

  /** By name, so that the name can fail to be found. */
  get baseUrl(): string {
    return `${this.certificate ? 'https' : 'http'}://localhost:${this.#port}/v1`;
  }

  /** The prompts that were sent to be continued, as their bodies hold them. */
  get completions(): SeenRequest[] {
    return this.seen.filter(({ path }) => path.endsWith('/completions'));
  }

  /** Lets requests fail from now on. */
  fail(name: FaultName, { path = /./, after = 0, lines = 1 }: Breakage = {}): void {
    this.#breaking = { fault: faultOf(name), path, after, lines };
    if (after === 0) this.#disconnect();
  }

  /** Lets the server be as it was. */
  async mend(): Promise<void> {
    const { connection } = this.#breaking?.fault ?? {};
    this.#breaking = null;
    dns.lookup = this.#lookup;
    this.#trust();
    this.#dropConnections();
    if (connection === 'refused' && !this.#server.listening) await listening(this.#server, this.#port);
  }

  async stop(): Promise<void> {
    await this.mend();
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    this.#elsewhere.closeAllConnections();
    this.#dropConnections();
    await Promise.all(
      [this.#server, this.#elsewhere].map((server) => new Promise((resolve) => server.close(resolve))),
    );
  }

  #trust(): void {
    if (this.certificate) process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  }

  #dropConnections(except: Socket | null = null): void {
    for (const socket of this.#sockets) if (socket.remotePort !== except?.remotePort) socket.destroy();
  }

  /** Makes connections impossible and ends those that there are, where that is the fault. */
  #disconnect(): void {
    if (!this.#breaking?.fault.connection) return;
    this.#part();
    this.#dropConnections();
  }

  /** Makes further connections impossible. */
  #part(): void {
    const { connection } = this.#breaking?.fault ?? {};
    if (connection === 'refused') this.#server.close();
    if (connection === 'tls') delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    if (connection === 'dns') {
      const notFound = (_host: string, _options: object, done: (error: Error) => void) => {
        process.nextTick(done, Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));
      };
      dns.lookup = notFound as typeof dns.lookup;
    }
  }

  async #pass(request: SeenRequest, response: ServerResponse): Promise<void> {
    const breaking = this.#breaking;
    const isMeant = breaking?.path.test(request.path) ?? false;
    const isBroken = isMeant && breaking?.after === 0;
    if (breaking && isMeant && !isBroken) this.#breaking = { ...breaking, after: breaking.after - 1 };
    if (breaking && isBroken && breaking.fault.answer) {
      const { port } = this.#elsewhere.address() as AddressInfo;
      breaking.fault.answer(request, response, `http://127.0.0.1:${port}`);
      return;
    }
    const left = new AbortController();
    response.on('close', () => {
      left.abort();
    });
    const answer = await fetch(this.origin + request.path, {
      method: request.method,
      headers: Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, value]) =>
          typeof value === 'string' && !['host', 'connection', 'content-length'].includes(name)
            ? [[name, value]]
            : [],
        ),
      ),
      body: request.method === 'POST' ? request.body : null,
      signal: left.signal,
    });
    const type = answer.headers.get('content-type') ?? '';
    const isLast = breaking?.fault.connection !== undefined && isMeant && this.#breaking?.after === 0;
    response.writeHead(answer.status, { 'Content-Type': type, ...(isLast ? { Connection: 'close' } : {}) });
    if (breaking && isBroken && breaking.fault.after) {
      const text = await answer.text();
      const lines = text.split('\n\n').slice(0, breaking.lines);
      response.write(type.includes('json') ? text.slice(0, text.length / 2) : `${lines.join('\n\n')}\n\n`);
      if (breaking.fault.after === 'cut') setTimeout(() => response.destroy(), 10);
      return;
    }
    for await (const part of answer.body ?? []) response.write(part);
    if (isLast && this.#breaking) {
      this.#part();
      this.#dropConnections(response.socket);
    }
    response.end(() => {
      if (isLast && this.#breaking) this.#dropConnections();
    });
  }
}

async function listening(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** A certificate that nobody vouches for; null where this computer has no openssl to make it with. */
export function makeCertificate(): { readonly key: string; readonly cert: string } | null {
  const folder = mkdtempSync(join(tmpdir(), 'neural-debug-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    const kind = ['-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
    const files = ['-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=localhost'];
    execFileSync('openssl', ['req', ...kind, ...files], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } catch {
    return null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
