import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withoutEcho } from '../../adapter/completion/echo';
import { withoutSecret } from '../../adapter/completion/serverFaults';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';
import { LogTracker } from '../../src/debug/tracker';
import { neuralDebug } from '../support/cli';
import { DapClient } from '../support/dapClient';
import { FaultyProxy } from '../support/faultyProxy';

/** The server's key, and a text that stands in the program only. */
const secret = 'sk-Nowhere_but.in-headers';
const source = `def count(n):
    note = "a purple walrus sleeps"
    return n + len(note)
`;
const ofProgram = /purple|walrus/;

let folder = '';
let program = '';
let model: ModelServer;
let proxy: FaultyProxy;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-secrets-'));
  program = join(folder, 'count.py');
  writeFileSync(program, source);
  model = await startModelServer({ port: 0, token: secret });
});

afterAll(async () => {
  await model.close();
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  proxy = await FaultyProxy.start(model.url);
});

afterEach(async () => {
  await proxy.stop();
});

function launchArguments(baseUrl: string): object {
  return { program, entry: 'count(2)', stopOnEntry: true, server: { baseUrl } };
}

/** A session in which steps succeed and fail, with the refusals of a server that repeats what it was sent. */
async function playSession(client: DapClient): Promise<void> {
  await client.launch(launchArguments(proxy.baseUrl));
  await client.ask('configurationDone');
  await client.event('stopped');
  for (const fault of ['401', '500', 'context length', 'page', 'redirect'] as const) {
    proxy.fail(fault);
    await client.ask('next', { threadId: 1 });
    await client.event('stopped');
    await proxy.mend();
  }
  await client.move('next');
  await client.end();
}

/** A program's whole output, and the input that makes it. */
async function outputOf(args: readonly string[], env: NodeJS.ProcessEnv, input: string) {
  const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
  const child = spawn(process.execPath, [cli, ...args], { env: { ...process.env, ...env } });
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (part) => (texts.stdout += String(part)));
  child.stderr.on('data', (part) => (texts.stderr += String(part)));
  child.stdin.end(input);
  await new Promise((resolve) => child.once('close', resolve));
  return texts;
}

describe('the logs', () => {
  it('of the extension hold nothing of program and key at the default level, and no key at any', async () => {
    const lines: { level: string; text: string }[] = [];
    const at = (level: string) => (text: unknown) => {
      lines.push({ level, text: String(text) });
    };
    const log = {
      trace: at('trace'),
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
    };
    const tracker = new LogTracker(log as never).createDebugAdapterTracker({ name: 'count' } as never);
    const client = new DapClient({ keyFor: () => Promise.resolve(secret) });
    tracker.onWillStartSession?.();
    await playSession(client);
    for (const message of client.messages) {
      if (message.type === 'request') tracker.onWillReceiveMessage?.(message);
      else tracker.onDidSendMessage?.(message);
    }
    tracker.onWillStopSession?.();
    const shown = lines.filter(({ level }) => !['trace', 'debug'].includes(level)).map(({ text }) => text);
    expect(shown).toHaveLength(2);
    expect(shown.join('\n')).not.toMatch(ofProgram);
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.map(({ text }) => text).join('\n')).not.toContain(secret);
  });

  it('of the debug adapter are empty', async () => {
    proxy.fail('401', { path: /completions/, after: 2 });
    const messages = [
      ['initialize', { adapterID: 'neural-debug' }],
      ['launch', launchArguments(proxy.baseUrl)],
      ['configurationDone', {}],
      ['next', { threadId: 1 }],
    ].map(([command, args], index) =>
      JSON.stringify({ seq: index + 1, type: 'request', command, arguments: args }),
    );
    const input = messages
      .map((text) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
      .join('');
    const env = { NEURAL_DEBUG_API_KEY: secret, NEURAL_DEBUG_BASE_URL: proxy.baseUrl };
    const { stdout, stderr } = await outputOf(['dap'], env, input);
    expect(stdout).toContain('"command":"initialize"');
    expect(stdout).not.toContain(secret);
    expect(stderr).toBe('');
  });

  it('of the command line tell errors without them', async () => {
    const env = { NEURAL_DEBUG_API_KEY: secret };
    for (const fault of ['403', '500'] as const) {
      proxy.fail(fault);
      const args = ['run', program, '--entry', 'count(2)', '--base-url', proxy.baseUrl, '--commands', 'n; n'];
      const { code, stdout, stderr } = await neuralDebug(args, '', env);
      expect(code).toBe(1);
      expect(stdout + stderr).toContain(proxy.baseUrl);
      expect(stdout + stderr).not.toMatch(ofProgram);
      expect(stdout + stderr).not.toContain(secret);
      await proxy.mend();
    }
  });
});

describe('where the key goes', () => {
  it('is only the origin that it was given for', async () => {
    const other = await FaultyProxy.start(model.url);
    try {
      const given = new URL(other.baseUrl).origin;
      const client = new DapClient({ keyFor: (origin) => Promise.resolve(origin === given ? secret : null) });
      await client.launch(launchArguments(proxy.baseUrl));
      expect(proxy.seen).toEqual([]);
      await client.ask('configurationDone');
      await client.event('terminated');
      await client.end();
      expect(other.seen).toEqual([]);
      expect(proxy.seen.length).toBeGreaterThan(0);
      expect(proxy.seen.map(({ headers }) => headers.authorization ?? null)).not.toContain(
        `Bearer ${secret}`,
      );
    } finally {
      await other.stop();
    }
  });

  it('is not where a redirect leads, in the probe and later', async () => {
    for (const after of [0, 1, 2, 3, 4, 5]) {
      proxy.fail('redirect', { after });
      const client = new DapClient({ keyFor: () => Promise.resolve(secret) });
      await client.launch(launchArguments(proxy.baseUrl));
      await client.ask('configurationDone');
      await Promise.race([client.event('stopped'), client.event('terminated')]);
      await client.end();
      await proxy.mend();
    }
    expect(proxy.strayed).toEqual([]);
    expect(new Set(proxy.seen.map(({ path }) => path)).size).toBeGreaterThan(2);
  });
});

describe('what a server repeats', () => {
  it.each(['sk-a"b\\c', 'sk-a+b/c=', 'SK-Key'])('is shown without the key %s', (key) => {
    const spelled = [
      key,
      JSON.stringify(key),
      encodeURIComponent(key),
      `https://${key.toLowerCase()}.example`,
    ];
    for (const text of spelled) {
      expect(withoutSecret(`wrong: ${text}!`, key)).toMatch(/^wrong: .*….*!$/);
      expect(withoutSecret(`wrong: ${text}!`, key)).not.toContain(text.replaceAll('"', '') || key);
    }
  });

  it('is shown without the program, as it stands, in JSON and as ids', () => {
    const told = withoutEcho(`bad request: ${source}`, source);
    expect(told).toMatch(/^bad request: …/);
    expect(told).not.toMatch(ofProgram);
    const inJson = withoutEcho(`bad request: ${JSON.stringify({ prompt: source })}`, source);
    expect(inJson).toContain('bad request: {"prompt":"…');
    expect(inJson).not.toMatch(ofProgram);
    expect(withoutEcho(`${source.slice(0, 41)}…`, source)).not.toMatch(ofProgram);
    expect(withoutEcho('input: [128000, 12, 3, 4, 5, 6, 7, 8, 9, 10]', source)).toBe('input: […]');
  });

  it('is shown as it is where it repeats nothing', () => {
    const said = "This model's maximum context length is 2000 tokens, of which count(n) takes 3";
    expect(withoutEcho(said, source)).toBe(said);
  });
});
