import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { DebugClient } from '@vscode/debugadapter-testsupport';
import { afterEach, describe, expect, it } from 'vitest';
import { type Running, startNeuralDebug } from '../support/cli';

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const program = fileURLToPath(new URL('../cases/31-recursion-step-over.py', import.meta.url));
const recording = fileURLToPath(new URL('recordings/recursion.jsonl', import.meta.url));

let server: Running | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});

/** A whole session, as another editor would have it. The adapter ends with it: there is nothing left to stop. */
async function debug(started: DebugClient, more: object = {}): Promise<void> {
  await Promise.all([
    started.configurationSequence(),
    started.launch({ program, world: 'reference', stopOnEntry: true, ...more }),
    started.assertStoppedLocation('entry', { line: 11 }),
  ]);
  await started.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 3 }] });
  await Promise.all([
    started.continueRequest({ threadId: 1 }),
    started.assertStoppedLocation('breakpoint', { path: program, line: 3 }),
  ]);
  await Promise.all([
    started.stepBackRequest({ threadId: 1 }),
    started.assertStoppedLocation('step', { line: 2 }),
  ]);
  await Promise.all([started.disconnectRequest(), started.waitForEvent('terminated')]);
}

/** What the adapter answers to `initialize` from a process of its own, which may be another user's. */
async function answerTo(port: number, host: string, uid?: number): Promise<string> {
  const body = JSON.stringify({ seq: 1, type: 'request', command: 'initialize', arguments: {} });
  const code = `
    const socket = require('node:net').connect(${port}, '${host}', () => {
      socket.write(${JSON.stringify(`Content-Length: ${body.length}\r\n\r\n${body}`)});
    });
    socket.on('data', (data) => { process.stdout.write(data); socket.end(); });
    socket.on('error', () => undefined);`;
  const child = spawn(process.execPath, ['-e', code], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let answer = '';
  child.stdout.on('data', (data) => (answer += String(data)));
  await new Promise((resolve) => child.once('close', resolve));
  return answer;
}

describe('neural-debug dap', () => {
  it('serves a session on standard input and output', async () => {
    const client = new DebugClient(cli, 'dap', 'neural-debug', undefined, true);
    await client.start();
    await debug(client);
  });

  it('ends after the session, although its input stays open', async () => {
    const adapter = startNeuralDebug(['dap']);
    const ended = new Promise((resolve) => adapter.process.once('exit', resolve));
    const body = JSON.stringify({ seq: 1, type: 'request', command: 'disconnect' });
    adapter.process.stdin?.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
    expect(await ended).toBe(0);
  });

  it.each([[[]], [['--port', '0']]])('lets a client disconnect after the end (%j)', async (where) => {
    const isOnPort = where.length > 0;
    const client = new DebugClient(cli, 'dap', 'neural-debug', undefined, true);
    if (isOnPort) {
      server = startNeuralDebug(['dap', ...where]);
      await client.start(Number((await server.line()).split(':')[1]));
    } else await client.start();
    await Promise.all([
      client.configurationSequence(),
      client.launch({ program, world: 'reference', stopOnEntry: true }),
      client.waitForEvent('stopped'),
    ]);
    await Promise.all([client.terminateRequest(), client.waitForEvent('terminated')]);
    await client.disconnectRequest();
  });

  it('serves one session after the other on a port', async () => {
    server = startNeuralDebug(['dap', '--port', '0']);
    const port = Number((await server.line()).split(':')[1]);
    for (let round = 0; round < 2; round++) {
      const connected = new DebugClient(cli, 'dap', 'neural-debug');
      await connected.start(port);
      await debug(connected);
    }
  });

  it('does not speak to web pages', async () => {
    server = startNeuralDebug(['dap', '--port', '0']);
    const port = Number((await server.line()).split(':')[1]);
    const body = JSON.stringify({ seq: 1, type: 'request', command: 'initialize', arguments: {} });
    const answer = await new Promise<string>((resolve) => {
      let received = '';
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      });
      socket.on('data', (data) => (received += String(data)));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        resolve(received);
      });
    });
    expect(answer).toBe('');
  });

  it('starts a session on a port only with the token, where there is one', async () => {
    server = startNeuralDebug(['dap', '--port', '0', '--token']);
    const port = Number((await server.line()).split(':')[1]);
    const token = await server.line();
    const connected = new DebugClient(cli, 'dap', 'neural-debug');
    await connected.start(port);
    await connected.initializeRequest();
    for (const wrong of [{}, { token: '' }, { token: 7 }, { token: `${token}x` }]) {
      await expect(
        connected.launchRequest({ program, world: 'reference', ...wrong } as object),
      ).rejects.toThrow('only for those who know its token');
    }
    await connected.stop();
    const knowing = new DebugClient(cli, 'dap', 'neural-debug');
    await knowing.start(port);
    await debug(knowing, { token });
  });

  it('takes the token of its environment, and does not print it', async () => {
    server = startNeuralDebug(['dap', '--port', '0'], { NEURAL_DEBUG_DAP_TOKEN: 'a secret' });
    const port = Number((await server.line()).split(':')[1]);
    const connected = new DebugClient(cli, 'dap', 'neural-debug');
    await connected.start(port);
    await debug(connected, { token: 'a secret' });
    const ended = new Promise((resolve) => server?.process.once('exit', resolve));
    server.process.kill();
    await ended;
    await expect(server.line()).rejects.toThrow('ended early');
  });

  const asRoot = process.platform === 'linux' && process.getuid?.() === 0;
  // Only root can be somebody else for a while.
  it.skipIf(!asRoot)('answers processes of its own user only', async () => {
    server = startNeuralDebug(['dap', '--port', '0']);
    const port = Number((await server.line()).split(':')[1]);
    expect(await answerTo(port, '127.0.0.1')).toContain('"command":"initialize","success":true');
    expect(await answerTo(port, '127.0.0.1', 65_534)).toBe('');
    // A client that speaks IPv6 gets to the same address.
    expect(await answerTo(port, '::ffff:127.0.0.1')).toContain('"success":true');
    expect(await answerTo(port, '::ffff:127.0.0.1', 65_534)).toBe('');
  });

  it('lives when what it reads is no message', async () => {
    server = startNeuralDebug(['dap']);
    const send = (text: string) =>
      server?.process.stdin?.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    send('{not json');
    send('null');
    send('[]');
    send(JSON.stringify({ seq: 1, type: 'request', command: 'initialize', arguments: {} }));
    send(
      JSON.stringify({
        seq: 2,
        type: 'request',
        command: 'launch',
        arguments: { world: 'recording', recording },
      }),
    );
    let answers = '';
    while (!answers.includes('"initialized"')) {
      answers += await new Promise<string>((resolve) =>
        server?.process.stdout?.once('data', (data) => {
          resolve(String(data));
        }),
      );
    }
    expect(answers).toContain('"command":"launch","success":true');
  });
});
