import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseFaults } from '../../adapter/modelServer/faults';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';
import { DapClient } from '../support/dapClient';
import { FaultyProxy } from '../support/faultyProxy';

const source = `def add(rows):
    total = 0
    for row in rows:
        total += row
    return total


result = add([3, 4, 5])
print(result)
`;

let folder = '';
let program = '';
let server: ModelServer;
let proxy: FaultyProxy;
let client: DapClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-health-'));
  program = join(folder, 'add.py');
  writeFileSync(program, source);
  server = await startModelServer({ port: 0 });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  proxy = await FaultyProxy.start(server.url);
});
afterEach(async () => {
  await client.end();
  await proxy.stop();
});

const launched = () => ({
  program,
  stopOnEntry: true,
  server: { baseUrl: proxy.baseUrl, profile: 'generic' },
});

async function launch(keys: { key: string } = { key: server.token }, showsFailures = true): Promise<void> {
  client = new DapClient({ keyFor: () => Promise.resolve(keys.key), showsFailures });
  await client.launch(launched());
}

const health = async () => (await client.event('neuralDebug/health')).body as { state: string };
const about = () =>
  client.ask<{ health: { state: string }; name: string; state: number }>('neuralDebug/about');
const outputs = () =>
  client.messages
    .filter(
      (message): message is DebugProtocol.OutputEvent => 'event' in message && message.event === 'output',
    )
    .map(({ body }) => body);

describe('how what answers does', () => {
  it('is told when it fails in the middle, and when it is there again', async () => {
    await launch();
    await client.start(program);
    expect((await about()).health).toEqual({ state: 'answers' });
    await client.move('next');
    proxy.fail('refused');
    expect(await client.move('next')).toMatchObject({
      description: 'Prediction failed',
      text: expect.stringMatching(/connection was refused/) as string,
    });
    const failed = { state: 'failed', code: 303, during: 'step', wayOut: expect.any(String) as string };
    expect(await health()).toMatchObject(failed);
    // The past says nothing about it.
    await client.move('stepBack');
    await client.move('next');
    expect((await about()).health).toMatchObject(failed);
    expect((await client.stack())[0]).toMatchObject({ line: 9 });
    await proxy.mend();
    await client.move('next');
    expect(await health()).toEqual({ state: 'answers' });
  });

  it('is told once by the one who shows it, and else as important', async () => {
    await launch();
    await client.start(program);
    proxy.fail('401');
    await client.move('next');
    expect(await health()).toMatchObject({ code: 308 });
    expect(outputs().filter(({ category }) => category === 'important')).toEqual([]);
    expect(outputs().at(-1)).toMatchObject({
      category: 'stderr',
      output: expect.stringMatching(/401/) as string,
    });
    await client.end();
    await proxy.mend();
    await launch({ key: server.token }, false);
    await client.start(program);
    proxy.fail('401');
    await client.move('next');
    expect(outputs().at(-1)).toMatchObject({ category: 'important' });
  });

  it('is told when nothing comes for long, and what was known before once that is given up', async () => {
    await launch();
    await client.start(program);
    proxy.fail('silent');
    await client.ask('next', { threadId: 1 });
    expect(await health()).toEqual({ state: 'slow' });
    await client.ask('pause', { threadId: 1 });
    expect((await client.event('stopped')).body).toMatchObject({ reason: 'pause' });
    expect(await health()).toEqual({ state: 'answers' });
  }, 20_000);

  it('stays told where someone stops waiting for what has failed by then', async () => {
    await launch();
    await client.start(program);
    proxy.fail('refused');
    await client.move('next');
    await client.ask('pause', { threadId: 1 });
    await proxy.mend();
    expect((await client.move('next')).reason).toBe('step');
    const stops = client.messages.flatMap((message) =>
      'event' in message && message.event === 'stopped' ? [(message as DebugProtocol.StoppedEvent).body] : [],
    );
    expect(stops.map(({ reason, description }) => description ?? reason)).toEqual([
      'Predicted: beginning, 100% sure',
      'Prediction failed',
      'Predicted: step, 100% sure',
    ]);
  });

  it('is told when a session ends with it', async () => {
    await launch();
    proxy.fail('page');
    await client.ask('configurationDone');
    expect(await health()).toMatchObject({ state: 'failed', code: 315, during: 'start' });
    await client.event('terminated');
  });
});

describe('another server', () => {
  it('goes on from the current state, with all that was predicted before', async () => {
    await launch();
    await client.start(program, [4]);
    await client.move('continue');
    await client.move('continue');
    const stack = (await client.stack()).map(({ name, line }) => [name, line]);
    const locals = await client.locals();
    const { state } = await about();
    // The file is another one by now; what is predicted is the text as of launch.
    writeFileSync(program, `# edited\n${source}`);
    proxy.fail('refused');
    await client.move('next');
    const other = await FaultyProxy.start(server.url);
    try {
      await client.ask('neuralDebug/reconnect', { server: { baseUrl: other.baseUrl, profile: 'generic' } });
      await client.event('stopped');
      expect(other.seen).toEqual([]);
      expect(await about()).toMatchObject({
        state,
        health: { state: 'unasked' },
        name: expect.stringContaining(other.baseUrl) as string,
      });
      expect((await client.stack()).map(({ name, line }) => [name, line])).toEqual(stack);
      expect(await client.locals()).toEqual(locals);
      // Breakpoints are still there, and so is the past.
      await client.move('continue');
      expect(await client.locals()).toMatchObject({ total: '7', row: '5' });
      expect(other.completions.length).toBeGreaterThan(0);
      await client.move('reverseContinue');
      expect(await client.locals()).toEqual(locals);
      // What the program printed is told once.
      await client.move('continue');
      await client.move('continue');
      const printed = () => outputs().filter(({ output }) => output.includes('predicted output'));
      expect(printed()).toHaveLength(1);
      await client.ask('neuralDebug/reconnect', { server: { baseUrl: other.baseUrl, profile: 'generic' } });
      await client.event('stopped');
      expect(printed()).toHaveLength(1);
      // A restart, for which editors give what they launched, stays with it.
      const { seen } = proxy;
      const asked = seen.length;
      await client.ask('restart', { arguments: launched() });
      await client.event('stopped');
      expect((await about()).name).toContain(other.baseUrl);
      expect(seen.length).toBe(asked);
    } finally {
      writeFileSync(program, source);
      await client.end();
      await other.stop();
    }
  });

  it('may be the same one with another key', async () => {
    const keys = { key: 'wrong' };
    await launch(keys);
    keys.key = server.token;
    await client.ask('configurationDone');
    expect(await health()).toMatchObject({ code: 308, during: 'start' });
    await client.event('terminated');

    keys.key = server.token;
    await launch(keys);
    await client.start(program);
    proxy.fail('401');
    await client.move('next');
    await proxy.mend();
    await client.ask('neuralDebug/reconnect', { server: { baseUrl: proxy.baseUrl, profile: 'generic' } });
    await client.event('stopped');
    expect(await client.move('next')).toMatchObject({ reason: 'step' });
  });

  it('is refused where no model predicts', async () => {
    client = new DapClient();
    await client.launch({ program, stopOnEntry: true, world: 'reference' });
    await client.start(program);
    const refused = await client.request('neuralDebug/reconnect', { server: { baseUrl: server.url } });
    expect(refused).toMatchObject({ success: false, message: expect.stringMatching(/no server/) as string });
    expect(await client.move('next')).toMatchObject({ reason: 'step' });
  });
});

describe('a restart with another world', () => {
  it('shows what that one does, not what a model predicted', async () => {
    const faults = parseFaults('wrong-value=0.5', 1);
    const wrong = await startModelServer({ port: 0, faults, onDivergence: 'inject' });
    try {
      client = new DapClient({ keyFor: () => Promise.resolve(wrong.token) });
      await client.launch({ program, server: { baseUrl: wrong.url } });
      await client.start(program, [5]);
      const predicted = (await client.locals())['total'];
      await client.ask('restart', { arguments: { program, world: 'reference' } });
      await client.event('stopped');
      expect(await about()).toMatchObject({ isReal: true });
      expect((await client.locals())['total']).toBe('12');
      expect(predicted).not.toBe('12');
    } finally {
      await wrong.close();
    }
  });

  it('tells what can be done there, and that the threads before are no more', async () => {
    const threaded = join(folder, 'threaded.py');
    writeFileSync(
      threaded,
      'import threading\n\ndef work():\n    x = 1\n    return x\n\nworker = threading.Thread(target=work)\nworker.start()\nworker.join()\n',
    );
    client = new DapClient();
    await client.launch({ program: threaded, world: 'reference' });
    await client.start(threaded, [4]);
    const threads = async () => (await client.ask<{ threads: { id: number }[] }>('threads')).threads.length;
    expect(await threads()).toBe(2);
    expect((await client.event('capabilities')).body).toMatchObject({
      capabilities: { supportsSetVariable: true },
    });
    const recording = new URL('recordings/recursion.jsonl', import.meta.url).pathname;
    await client.ask('restart', { arguments: { world: 'recording', recording } });
    await client.event('stopped');
    expect(await threads()).toBe(1);
    expect((await client.event('capabilities')).body).toMatchObject({
      capabilities: { supportsSetVariable: false, supportsGotoTargetsRequest: false },
    });
    expect(
      client.messages.filter((message) => 'event' in message && message.event === 'thread'),
    ).toMatchObject([{ body: { reason: 'started' } }, { body: { reason: 'exited' } }]);
  });
});
