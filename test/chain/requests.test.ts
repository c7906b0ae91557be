import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startModelServer } from '../../adapter/modelServer/server';
import { DapClient } from '../support/dapClient';
import { play } from '../support/sessions';

let folder = '';
let program = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-requests-'));
  program = join(folder, 'loop.py');
  writeFileSync(
    program,
    'def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n',
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it('a continue through a loop of 1,000 turns is one request', async () => {
  const server = await startModelServer({ port: 0 });
  try {
    const stops = await play(
      {
        program,
        entry: 'f(1000)',
        world: 'server',
        server: { baseUrl: server.url, model: 'neural-debug-reference-cwm', profile: 'generic' },
      },
      { breakpoints: [5], requests: ['continue'] },
      server.token,
    );
    expect(stops.at(-1)).toMatchObject({ reason: 'breakpoint', line: 5, locals: { total: '499500' } });
    // One for the way to the beginning, one for the loop.
    expect(server.requests()).toBe(2);
  } finally {
    await server.close();
  }
});

it('a request stops where its budget of states is used up, and the next one goes on from there', async () => {
  const server = await startModelServer({ port: 0 });
  try {
    const stops = await play(
      { program, entry: 'f(100)', server: { baseUrl: server.url }, budget: { states: 50 } },
      { requests: ['continue', 'continue', 'continue', 'continue', 'continue'] },
      server.token,
    );
    expect(stops.map(({ reason }) => reason)).toContain('budget');
    expect(stops.at(-1)).toMatchObject({ reason: 'end', argument: '4950' });
  } finally {
    await server.close();
  }
});

describe('a server that is slow', () => {
  let server: Server;
  let answers: ServerResponse[] = [];
  let closed = 0;
  let client: DapClient;
  const frame = (locals: object, line: string, kind = 'line') =>
    `<|${kind}_sep|>${JSON.stringify(locals)}<|action_sep|>${line}\n<|frame_sep|>`;
  const beginning =
    frame({}, '    return f(3)') +
    frame({ n: '3' }, 'def f(n):', 'call') +
    frame({ n: '..' }, '    total = 0');

  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.flushHeaders();
        response.on('close', () => closed++);
        answers.push(response);
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  afterEach(async () => {
    await client.end();
    answers = [];
    closed = 0;
  });

  const say = (text: string) =>
    answers
      .at(-1)
      ?.write(`data: ${JSON.stringify({ choices: [{ index: 0, text, finish_reason: null }] })}\n\n`);
  const asked = async (count: number) => {
    while (answers.length < count) await new Promise((soon) => setTimeout(soon, 5));
  };
  const ended = async (count: number) => {
    while (closed < count) await new Promise((soon) => setTimeout(soon, 5));
  };

  async function start(): Promise<void> {
    const { port } = server.address() as AddressInfo;
    client = new DapClient();
    await client.ask('initialize', { supportsProgressReporting: true });
    await client.ask('launch', {
      program,
      entry: 'f(3)',
      stopOnEntry: true,
      server: { baseUrl: `http://127.0.0.1:${port}/v1`, model: 'slow', profile: 'generic' },
    });
    await client.event('initialized');
    await client.ask('configurationDone');
    await asked(1);
    say(beginning);
    await client.event('stopped');
  }

  it('is paused at the newest known state, and its request ends', async () => {
    await start();
    await client.ask('continue', { threadId: 1 });
    await asked(2);
    expect(await client.request('next', { threadId: 1 })).toMatchObject({ success: false });
    say(frame({ n: '..', total: '0' }, '    for i in range(n):'));
    // The state has arrived once the progress tells of it.
    const progress = await client.event('progressStart');
    while (!client.transcript().includes('"1 state"')) {
      await new Promise((soon) => setTimeout(soon, 20));
    }
    expect(progress.body).toMatchObject({ cancellable: true });
    await client.ask('pause', { threadId: 1 });
    const paused = await client.event('stopped');
    expect(paused.body).toMatchObject({ reason: 'pause' });
    expect((await client.stack())[0]).toMatchObject({ line: 3 });
    await client.event('progressEnd');
    await ended(2);
  });

  it('is cancelled by its progress', async () => {
    await start();
    await client.ask('stepIn', { threadId: 1 });
    let progress = await client.event('progressStart');
    // On a slow machine the start showed one too.
    if (client.transcript().includes('event progressEnd')) progress = await client.event('progressStart');
    await client.ask('cancel', { progressId: (progress.body as { progressId: string }).progressId });
    expect((await client.event('stopped')).body).toMatchObject({ reason: 'pause' });
    await client.event('progressEnd');
    expect((await client.stack())[0]).toMatchObject({ line: 2 });
  });

  it('does not hold up a disconnect', async () => {
    await start();
    await client.ask('continue', { threadId: 1 });
    await asked(2);
    expect(await client.request('disconnect')).toMatchObject({ success: true });
    await client.event('terminated');
    await ended(2);
  });

  it('that cuts its answer off keeps what it said, and can be asked again', async () => {
    await start();
    await client.ask('continue', { threadId: 1 });
    await asked(2);
    say(frame({ n: '..', total: '0' }, '    for i in range(n):') + '<|line_sep|>{"n": "..", "to');
    await new Promise((soon) => setTimeout(soon, 50));
    answers.at(-1)?.destroy();
    const failed = await client.event('stopped');
    expect(failed.body).toMatchObject({ description: 'Prediction failed' });
    expect((await client.stack())[0]).toMatchObject({ line: 2 });
    await client.ask('next', { threadId: 1 });
    await client.event('stopped');
    expect((await client.stack())[0]).toMatchObject({ line: 3 });
    // What was recorded before the failure was not asked for again.
    expect(answers).toHaveLength(2);
  });

  it('that takes longer than the budget stops there, and goes on when it is continued', async () => {
    const { port } = server.address() as AddressInfo;
    client = new DapClient();
    await client.ask('initialize', {});
    await client.ask('launch', {
      program,
      entry: 'f(3)',
      budget: { seconds: 3 },
      server: { baseUrl: `http://127.0.0.1:${port}/v1`, model: 'slow', profile: 'generic' },
    });
    await client.event('initialized');
    await client.ask('configurationDone');
    await asked(1);
    say(beginning);
    await client.event('stopped').then(({ body }) => {
      expect(body).toMatchObject({ reason: 'pause' });
      expect(JSON.stringify(body)).toContain('budget');
    });
  });
});
