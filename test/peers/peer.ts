import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { OpenAiServer, type OpenAiServerOptions } from '../../adapter/completion/openaiServer';
import type { CompletionChunk, Prompt } from '../../adapter/completion/completion';
import { CatalogueError } from '../../adapter/errors';
import { cwmControlText } from '../../adapter/format/cwm/controlText';

/** A real server that was started for tests. */
export interface Peer {
  readonly origin: string;
  readonly baseUrl: string;
  stop(): Promise<void>;
}

/** How much of a server's output is kept for the message when it does not start, in characters. */
const keptOutput = 4_000;

/**
 * Starts a server and waits until it lists its models.
 *
 * @param command how it is started, as in a shell, where the port and the other arguments are added; or the address
 *   of a server that has been started with the tiny model, which is left running
 * @param seconds how long it may take
 */
export async function startPeer(
  command: string,
  args: (port: number) => readonly string[],
  seconds: number,
): Promise<Peer> {
  if (/^https?:/.test(command)) {
    const { origin } = new URL(command);
    return { origin, baseUrl: `${origin}/v1`, stop: () => Promise.resolve() };
  }
  const port = await freePort();
  const child = spawn('/bin/sh', ['-c', `exec ${command} "$@"`, 'sh', ...args(port)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that its workers end with it.
    detached: true,
  });
  let output = '';
  const keep = (data: Buffer) => (output = (output + data.toString()).slice(-keptOutput));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const peer: Peer = {
    origin: `http://127.0.0.1:${port}`,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    stop: () => stop(child),
  };
  const end = Date.now() + seconds * 1_000;
  while (child.exitCode === null && Date.now() < end) {
    const listed = await fetch(`${peer.baseUrl}/models`).catch(() => null);
    if (listed?.ok) return peer;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await stop(child);
  throw new Error(`The server did not start: ${output}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  process.kill(-child.pid, 'SIGTERM');
  const late = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), 10_000);
  await ended;
  clearTimeout(late);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A client as the adapter makes it. */
export function clientOf({ baseUrl }: Peer, options: Partial<OpenAiServerOptions> = {}): OpenAiServer {
  return new OpenAiServer({
    baseUrl,
    apiKey: null,
    model: null,
    temperature: 0,
    topP: null,
    profile: 'auto',
    mode: 'auto',
    context: null,
    constrain: false,
    control: cwmControlText,
    timeouts: { firstByte: 60_000, stall: 60_000 },
    extraBody: {},
    ...options,
  });
}

/** An answer in one piece, and how many pieces it came in. */
export async function answerOf(source: OpenAiServer, prompt: Prompt, maxTokens: number) {
  const chunks: CompletionChunk[] = [];
  const { signal } = new AbortController();
  for await (const chunk of source.complete(prompt, { maxTokens, signal })) chunks.push(chunk);
  const texts = chunks.filter((chunk) => chunk.kind === 'text');
  const end = chunks.find((chunk) => chunk.kind === 'end');
  if (!end) throw new Error('The answer has no end.');
  return {
    text: texts.map(({ text }) => text).join(''),
    tokens: texts.flatMap(({ tokens }) => tokens),
    pieces: texts.length,
    reason: end.reason,
    stopString: end.stopString,
    usage: end.usage,
  };
}

/** The catalogue's error that a promise ends with. */
export async function faultOf(promise: Promise<unknown>): Promise<CatalogueError> {
  const thrown: unknown = await promise.then(
    () => new Error('nothing was thrown'),
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof CatalogueError)) throw thrown;
  return thrown;
}
