import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';
import { DapClient } from '../support/dapClient';

let folder = '';
let program = '';
let server: ModelServer;
let client: DapClient;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-introduction-'));
  program = join(folder, 'prints.py');
  writeFileSync(program, 'print("one")\nprint("two")\nprint("three")\n');
  server = await startModelServer({ port: 0 });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});
afterEach(() => client.end());

async function debug(args: object): Promise<void> {
  client = new DapClient({ keyFor: () => Promise.resolve(server.token) });
  await client.launch({ program, ...args });
}

const byModel = (more: object = {}) => ({ server: { baseUrl: server.url, format: 'cwm', ...more } });

/** All that was written into the debug console, in order. */
function console(): string[] {
  return client.messages.flatMap((message) =>
    message.type === 'event' && 'event' in message && message.event === 'output'
      ? [(message as DebugProtocol.OutputEvent).body.output]
      : [],
  );
}

const introductions = () => console().filter((text) => /^(Predicting|Running|Showing) with/.test(text));

describe('what answers', () => {
  it.each([
    ['the model that the server chooses', {}],
    ['a model that is named', { model: 'neural-debug-reference-cwm' }],
    ['a server that is asked nothing about itself', { profile: 'generic' }],
  ])('is told once, before all that is printed, for %s', async (_what, more) => {
    await debug(byModel(more));
    await client.start(program, [3]);
    await client.move('continue');
    expect(introductions()).toHaveLength(1);
    expect(console()[0]).toMatch(/^Predicting with .* at http/);
    expect(console().join('')).toContain('predicted output: one\npredicted output: two\n');
    expect(console()[0]).not.toMatch('profile' in more ? /$^/ : /the first model/);
  });

  it('is told once, with its version, for a real run', async () => {
    await debug({ world: 'reference' });
    await client.start(program, [3]);
    expect(introductions()).toEqual([expect.stringMatching(/^Running with Python 3\./)]);
    expect(console()[0]).toBe(introductions()[0]);
  });

  it('is told once where nothing answers, before the reason', async () => {
    await debug({ server: { baseUrl: 'http://127.0.0.1:9/v1', format: 'cwm' } });
    await client.ask('configurationDone');
    await client.event('terminated');
    expect(introductions()).toEqual(['Predicting with the first model at http://127.0.0.1:9/v1.\n']);
    expect(console()[0]).toBe(introductions()[0]);
    expect(console()[1]).toMatch(/127\.0\.0\.1:9/);
  });

  it('is told before the end of a session that begins and ends at once', async () => {
    await debug({ ...byModel(), stopAtEnd: false });
    await client.ask('configurationDone');
    await client.event('terminated');
    const kinds = client.messages.flatMap((message) =>
      message.type === 'event' && 'event' in message ? [message.event] : [],
    );
    expect(introductions()).toHaveLength(1);
    expect(kinds.slice(kinds.indexOf('terminated'))).not.toContain('output');
  });
});
