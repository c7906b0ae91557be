import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server as SocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRunPyodide, pyodideHost, spawnPyodide } from '../../adapter/sandbox/pyodide';

/** Pyodide takes seconds to start, more on a busy machine. */
const patience = 180_000;

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'escapes-')));
const outside = realpathSync(mkdtempSync(join(tmpdir(), 'outside-')));

let web: Server;
let local: SocketServer;
let connections = 0;

beforeAll(async () => {
  web = createServer((_, response) => response.end('reached'));
  local = createSocketServer((socket) => socket.destroy());
  for (const server of [web, local]) server.on('connection', () => connections++);
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => local.listen(join(outside, 'socket'), resolve));
  writeFileSync(join(outside, 'secret.txt'), 'top secret');
  writeFileSync(join(outside, 'module.mjs'), 'export default 1;');
});

afterAll(() => {
  web.close();
  local.close();
  for (const each of [folder, outside]) rmSync(each, { recursive: true });
});

/** The sandbox's own host, in which other JavaScript takes the place of the part that runs Python's script. */
function hostWith(code: string): string {
  const own = readFileSync(pyodideHost(), 'utf8');
  const end = own.indexOf('const text = python.stringToNewUTF8(source);');
  expect(end).toBeGreaterThan(0);
  const path = join(folder, 'host.mjs');
  writeFileSync(path, own.slice(0, end) + code);
  return path;
}

describe.skipIf(!canRunPyodide())('JavaScript that wants out of the sandbox', { timeout: patience }, () => {
  it('gets no file, no network, no process and nothing of its parent', async () => {
    const script = join(outside, 'script.py');
    writeFileSync(script, '');
    const before = readdirSync(outside).sort();
    const { port } = web.address() as AddressInfo;
    const target = {
      folder: outside,
      secret: join(outside, 'secret.txt'),
      module: join(outside, 'module.mjs'),
      written: join(outside, 'written'),
      socket: join(outside, 'socket'),
      port,
      url: `http://127.0.0.1:${port}/`,
    };
    const host = hostWith(readFileSync(join(import.meta.dirname, 'escapes.mjs'), 'utf8'));
    const child = spawnPyodide(
      {
        script,
        options: [],
        folder: null,
        environment: {},
        memory: 512,
        processorTime: 120,
        errors: 'pipe',
      },
      host,
    );
    child.stdin?.end(JSON.stringify(target));
    const [said, errors] = await Promise.all([
      text(child.stdio[3] as Readable),
      text(child.stderr as Readable),
    ]);
    expect(errors).toBe('');
    const outcomes = Object.entries(JSON.parse(said) as Record<string, string>);
    expect(outcomes.length).toBeGreaterThan(70);
    expect(outcomes.filter(([, outcome]) => !outcome.startsWith('KEPT IN'))).toEqual([]);
    expect(connections).toBe(0);
    expect(readdirSync(outside).sort()).toEqual(before);
    expect(readFileSync(target.secret, 'utf8')).toBe('top secret');
  });
});
