// The project's own model server, which answers like a model from a real run, and a server that only counts.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { root } from './setup.mjs';

/** Starts `neural-debug serve` and waits for its two lines: URL and token. */
export async function startModelServer() {
  const process_ = spawn(
    process.execPath,
    [
      join(root, 'dist/cli.cjs'),
      ...'serve --world reference --format cwm --port 0 --on-divergence inject'.split(' '),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let complaint = '';
  process_.stderr.on('data', (piece) => (complaint += piece));
  const lines = createInterface({ input: process_.stdout })[Symbol.asyncIterator]();
  const baseUrl = (await lines.next()).value;
  const token = (await lines.next()).value;
  if (!baseUrl || !token) throw new Error(`The model server did not start:\n${complaint}`);
  return {
    baseUrl,
    token,
    async stop() {
      const ended = new Promise((done) => process_.once('exit', done));
      process_.kill('SIGTERM');
      await ended;
    },
  };
}

/** A server that answers nothing but 404, and keeps what it was sent. */
export async function startCountingServer() {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url, authorization: request.headers.authorization ?? null });
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not here"}}');
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    baseUrl: `${origin}/v1`,
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
