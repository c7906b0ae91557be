import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hideSecret } from '../../adapter/completion/serverFaults';
import { FakeServer, type Received } from '../completion/fakeServer';
import { neuralDebug, startNeuralDebug } from '../support/cli';

/** The server's key, and a text that stands in the program only. */
const secret = 'sk-Nowhere_but.in-headers';
const source = `def count(n):
    note = "a purple walrus sleeps"
    return n + len(note)


count(2)
`;
const ofProgram = /purple|walrus/;

let folder = '';
let program = '';
let server: FakeServer | null = null;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-commands-'));
  program = join(folder, 'count.py');
  writeFileSync(program, source);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

afterEach(async () => {
  await server?.stop();
  server = null;
});

type Answer = (request: Received, response: ServerResponse) => void;

function echo({ headers, body }: Received): string {
  return `headers were ${headers.authorization ?? ''}; body was ${JSON.stringify(body).slice(0, 300)}`;
}

function refusing(status: number): Answer {
  return (request, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `No: ${echo(request)}`, code: status } }));
  };
}

function streaming(...chunks: ((said: string, isChat: boolean) => object)[]): Answer {
  return (request, response) => {
    const isChat = request.url.includes('chat');
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const chunk of chunks) {
      response.write(`data: ${JSON.stringify(chunk(request.headers.authorization ?? '', isChat))}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  };
}

function piece(text: string, isChat: boolean, reason: string | null = null): object {
  const said = isChat ? { delta: { content: text } } : { text };
  return { choices: [{ index: 0, finish_reason: reason, ...said }] };
}

/** Answers that repeat what was sent: as refusals, as errors in a stream, and as the model's own words. */
const answers: Readonly<Record<string, Answer>> = {
  '401': refusing(401),
  '402': refusing(402),
  '404': refusing(404),
  '422': refusing(422),
  '500': refusing(500),
  'an error in the stream': (request, response) => {
    streaming(() => ({ error: { message: `Failed: ${echo(request)}`, code: 500 } }))(request, response);
  },
  'an answer that is none': streaming((said, isChat) =>
    piece(`You sent ${said}<|frame_sep|>${'and more '.repeat(200)}`, isChat, 'stop'),
  ),
  'an answer that is cut': streaming((said, isChat) => piece(`{"states": ["${said}`, isChat, 'length')),
};

/** The commands that talk to a server, with what they are given beside it. */
const commands: Readonly<Record<string, (output: string) => string[]>> = {
  'run cwm': () => ['run', program, '--format', 'cwm', '--commands', 'n; n'],
  'run chat': () => ['run', program, '--format', 'chat', '--commands', 'n; .ask n + 1; n'],
  probe: () => ['probe'],
  guess: () => ['guess', program, '--function', 'count', '--output', '25', '--format', 'chat'],
  eval: (output) => ['eval', 'next-state', program, '--limit', '3', '-o', output],
};

/** What the language server prints up to its answer to `shutdown`, which has the id 4; then it is told to end. */
async function languageServer(input: string, env: NodeJS.ProcessEnv) {
  const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
  const child = spawn(process.execPath, [cli, 'lsp', '--stdio'], { env: { ...process.env, ...env } });
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (part) => {
    texts.stdout += String(part);
    if (texts.stdout.includes('"id":4')) child.stdin.end();
  });
  child.stderr.on('data', (part) => (texts.stderr += String(part)));
  child.stdin.write(input);
  await new Promise((resolve) => child.once('close', resolve));
  return texts;
}

describe('what commands print and write', () => {
  it.each(Object.entries(answers))(
    'has neither key nor program where the server repeats them in: %s',
    { timeout: 120_000 },
    async (name, answer) => {
      server = await FakeServer.start((request, response) => {
        if (!request.url.endsWith('/models')) {
          answer(request, response);
          return;
        }
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ object: 'list', data: [{ id: `m-${secret}`, owned_by: 'x' }] }));
      });
      const { baseUrl, received } = server;
      const env = { NEURAL_DEBUG_API_KEY: secret };
      const output = join(folder, `${name.replaceAll(' ', '-')}.jsonl`);
      // All commands meet refusals in one place.
      const some = name.startsWith('4') && name !== '401' ? ['run cwm', 'probe'] : Object.keys(commands);
      for (const [command, args] of Object.entries(commands).filter(([each]) => some.includes(each))) {
        const before = received.length;
        const { stdout, stderr } = await neuralDebug([...args(output), '--base-url', baseUrl], '', env);
        expect([command, received.length > before]).toEqual([command, true]);
        expect(received.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
        const printed = `${command}:\n${stdout}${stderr}`;
        expect(printed).not.toContain(secret);
        // Not the first half of it either, where what was said is cut.
        expect(printed).not.toContain(secret.slice(0, 12));
        expect(printed).not.toMatch(ofProgram);
      }
      for (const file of readdirSync(folder).filter((each) => each.includes('.jsonl'))) {
        expect(readFileSync(join(folder, file), 'utf8')).not.toContain(secret.slice(0, 12));
      }
    },
  );

  it('has no key where the command needs none, and the program only where it is asked for', async () => {
    const env = { NEURAL_DEBUG_API_KEY: secret };
    const recording = join(folder, 'count.trace.jsonl');
    const traced = await neuralDebug(['trace', program, '-o', recording], '', env);
    expect(traced.code).toBe(0);
    expect(traced.stdout + traced.stderr).not.toMatch(ofProgram);
    expect(traced.stdout + traced.stderr + readFileSync(recording, 'utf8')).not.toContain(secret);
    const message = (method: string, params: object, id?: number) => {
      const text = JSON.stringify({ jsonrpc: '2.0', method, params, ...(id === undefined ? {} : { id }) });
      return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
    };
    const document = { uri: 'file:///count.cwm', languageId: 'cwm', version: 1, text: `<|x|>${source}` };
    const input = [
      message('initialize', { processId: null, rootUri: null, capabilities: {} }, 1),
      message('initialized', {}),
      message('textDocument/didOpen', { textDocument: document }),
      message('nobody/knows', { text: source }, 2),
      message('textDocument/hover', { textDocument: document, position: { line: 900, character: 0 } }, 3),
      message('shutdown', {}, 4),
    ].join('');
    const served = await languageServer(input, env);
    expect(served.stdout).toContain('"id":4');
    expect(served.stdout + served.stderr).not.toContain(secret);
    expect(served.stderr).not.toMatch(ofProgram);
  });

  it('of a server of ours has nothing of what it is sent', async () => {
    const running = startNeuralDebug(['serve'], { NEURAL_DEBUG_API_KEY: secret });
    const lines: string[] = [];
    try {
      const url = await running.line();
      const token = await running.line();
      running.process.stdout?.on('data', (part) => lines.push(String(part)));
      const ask = (key: string, prompt: string) =>
        fetch(`${url}/completions`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ model: 'neural-debug-reference-cwm', prompt, max_tokens: 500 }),
        });
      const head = `<|begin_of_text|><|trace_context_start|>${source}\ndef main():  # << START_OF_TRACE\n    return count(2)\n`;
      const statuses = [];
      for (const [key, prompt] of [
        [secret, source],
        [token, source],
        [token, `${head}<|frame_sep|>`],
        [token, `${head}<|frame_sep|><|call_sep|>{"walrus": "1"}<|action_sep|>purple\n<|frame_sep|>`],
      ] as const) {
        const answer = await ask(key, prompt);
        statuses.push(answer.status);
        expect(await answer.text()).not.toContain(secret);
      }
      expect(statuses).toEqual([401, 400, 200, 422]);
    } finally {
      await running.stop();
    }
    expect(lines.join('')).not.toContain(secret);
    expect(lines.join('')).not.toMatch(ofProgram);
  });
});

it.each(['sk-Nowhere_but.in-headers', 'key+with/signs==='])(
  'a key is hidden wherever what quotes it is cut: %s',
  (key) => {
    for (let length = 8; length <= key.length; length++) {
      expect(hideSecret(`Bearer ${key.slice(0, length)}`, key)).toBe('Bearer …');
      expect(hideSecret(`Bearer ${key.slice(0, length)}" and`, key)).toBe('Bearer …" and');
    }
    expect(hideSecret('short', 'short')).toBe('…');
  },
);
