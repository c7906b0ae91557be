import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CodeLens, Position } from 'vscode-languageserver/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleCallsResult } from '../../adapter/lsp/protocol';
import { neuralDebug } from '../support/cli';
import { LspClient } from './client';

const gcdFile = fileURLToPath(new URL('../../examples/gcd.py', import.meta.url));
const gcd = readFileSync(gcdFile, 'utf8');

let folder: string;
/** A recording of a real run of the example. */
let recorded: string;
const clients: LspClient[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-lsp-'));
  const { stdout, stderr, code } = await neuralDebug(['trace', gcdFile, '-o', '-']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('Recorded')]);
  recorded = stdout;
});

afterAll(async () => {
  for (const client of clients) {
    await client.stop();
    expect(client.errors).toBe('');
  }
  rmSync(folder, { recursive: true });
});

let made = 0;

/** A folder with a copy of the example, and a server that has it open. */
async function openExample(text = gcd, options: object = {}) {
  const own = join(folder, `case${++made}`);
  mkdirSync(own);
  const path = join(own, 'gcd.py');
  copyFileSync(gcdFile, path);
  const client = await LspClient.start(own, options);
  clients.push(client);
  const uri = pathToFileURL(path).href;
  await client.open(uri, 'python', text);
  return { client, uri, own, path, lines: text.split('\n') };
}

/** The recording as one of another file. */
const recordingOf = (path: string) => recorded.replaceAll(JSON.stringify(gcdFile), JSON.stringify(path));

const hints = async (client: LspClient, uri: string) => {
  const range = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
  const found = await client.request<{ position: Position; label: string }[] | null>(
    'inlayHint',
    uri,
    undefined,
    { range },
  );
  return (found ?? []).map(({ position, label }) => `${position.line + 1}: ${label}`);
};

describe('Python files', () => {
  it('know nothing without a trajectory', async () => {
    const { client, uri, lines } = await openExample();
    const at = lines.findIndex((text) => text.includes('while a != b'));
    expect(await client.hover(uri, at, 10)).toBeNull();
    expect(await hints(client, uri)).toEqual([]);
  });

  it('show the values of a session’s trajectory', async () => {
    const { client, uri, lines, path } = await openExample();
    await client.giveTrajectory(recordingOf(path));
    const at = lines.findIndex((text) => text.includes('a, b = b - a'));
    const hover = await client.hover(uri, at, lines[at]?.indexOf('b - a') ?? 0);
    expect(hover?.replace(/Python 3[\\.\d]+/, 'Python 3')).toMatchInlineSnapshot(`
      "\`\`\`python
      b = 10
      \`\`\`

      Before line 13, the last of 2 visits (a real run\\: Python 3, which really runs the program with your rights, within limits)

      \`\`\`python
      a = 4  # then 6
      b = 10  # then 6
      \`\`\`"
    `);
    // Not reached.
    const other = lines.findIndex((text) => text.includes('a = a - b'));
    expect(await client.hover(uri, other, lines[other]?.indexOf('a - b') ?? 0)).toBeNull();
    const whileAt = lines.findIndex((text) => text.includes('while a != b'));
    expect(await client.hover(uri, whileAt, lines[whileAt]?.indexOf('while') ?? 0)).toContain('a = 6');
    const strings = lines.findIndex((text) => text.includes('greatest common divisor of two'));
    expect(await client.hover(uri, strings, 12)).toBeNull();
    expect(await hints(client, uri)).toMatchInlineSnapshot(`
      [
        "9: True ×2, False ×2",
        "10: False ×2",
        "22: True",
      ]
    `);
  });

  it('list what the variables of loops were', async () => {
    const text = `def f(pairs):
    for name, (count, _) in pairs:
        if (
            count > 1
        ):
            name = name * 2
    for n in []:
        pass
    for n in range(5):
        while n: n -= 1

f([("a", (1, 2)), ("b", (2, 3))])
`;
    const { client, uri, path } = await openExample(text);
    writeFileSync(path, text);
    const { stdout } = await neuralDebug(['trace', path, '-o', '-']);
    await client.giveTrajectoryFile(stdout);
    expect(await hints(client, uri)).toMatchInlineSnapshot(`
      [
        "2: name = 'a', 'b'; count = 1, 2; _ = 2, 3",
        "5: True ×1, False ×1",
        "9: n = 0, 1, 2, …, 4",
      ]
    `);
  });

  it('find the recording beside them, and take the newest', async () => {
    const { client, uri, own, path, lines } = await openExample();
    const at = lines.findIndex((text) => text.includes('return a'));
    const write = (name: string, text: string, seconds: number) => {
      writeFileSync(join(own, name), text);
      utimesSync(join(own, name), seconds, seconds);
    };
    // Made on another computer: the name and the text are the same.
    write('old.trace.jsonl', recordingOf('/elsewhere/gcd.py'), 1_000);
    await client.connection.sendNotification('workspace/didChangeWatchedFiles', { changes: [] });
    expect(await client.hover(uri, at, lines[at]?.indexOf('return') ?? 0)).toContain('a = 6');
    write('new.ndtrace', recordingOf(path).replaceAll('"a":"6"', '"a":"66"'), 2_000);
    write('broken.trace.jsonl', '{"recording": "neural-debug"', 3_000);
    write('other.trace.jsonl', recordingOf('/elsewhere/other.py'), 4_000);
    await client.connection.sendNotification('workspace/didChangeWatchedFiles', { changes: [] });
    expect(await client.hover(uri, at, lines[at]?.indexOf('return') ?? 0)).toContain('a = 66');
  });

  it('leave out lines that have changed since', async () => {
    const changed = `# one more line\n${gcd.replace('a = a - b', 'a = a % b')}`;
    const { client, uri, path, lines } = await openExample(changed);
    await client.giveTrajectory(recordingOf(path));
    const find = (text: string) => lines.findIndex((each) => each.includes(text));
    const at = find('a = a % b');
    expect(await client.hover(uri, at, lines[at]?.indexOf('a = a') ?? 0)).toBeNull();
    const back = find('return a');
    const hover = await client.hover(uri, back, lines[back]?.indexOf('return') ?? 0);
    expect(hover).toContain('a = 6');
    expect(hover).toContain('has changed since');
    expect((await hints(client, uri))[0]).toMatch(/^10: True ×\d+, False ×2$/);
  });

  it('keep quiet where the settings say so', async () => {
    const { client, uri, path } = await openExample(gcd, {
      functionLenses: [{ title: 'Neural Debug', command: 'neuralDebug.debugFunction' }],
    });
    await client.giveTrajectory(recordingOf(path));
    expect(await hints(client, uri)).not.toEqual([]);
    const settings = { neuralDebug: { inlayHints: { enabled: false }, codeLens: { enabled: false } } };
    await client.connection.sendNotification('workspace/didChangeConfiguration', { settings });
    expect(await hints(client, uri)).toEqual([]);
    expect(await client.request('codeLens', uri)).toBeNull();
  });

  it('have a lens for each command above every function, and none for a client without', async () => {
    const functionLenses = [
      { title: 'Neural Debug', command: 'neuralDebug.debugFunction' },
      { title: 'Guess input', command: 'neuralDebug.guessInput' },
    ];
    const { client, uri, lines } = await openExample(gcd, { functionLenses });
    const lenses = await client.request<CodeLens[]>('codeLens', uri);
    expect(
      lenses.map(({ range, command }) => [lines[range.start.line], command?.title, command?.arguments]),
    ).toEqual([
      ['def gcd(a, b):', 'Neural Debug', [uri, 'gcd']],
      ['def gcd(a, b):', 'Guess input', [uri, 'gcd']],
      ['def reduce_fraction(numerator, denominator):', 'Neural Debug', [uri, 'reduce_fraction']],
      ['def reduce_fraction(numerator, denominator):', 'Guess input', [uri, 'reduce_fraction']],
    ]);
    const plain = await openExample();
    expect(await plain.client.request<CodeLens[]>('codeLens', plain.uri)).toBeNull();
  });

  it('have lenses above functions of all kinds, each with what a call of it can be', async () => {
    const text = `import asyncio
async def fetch(n): return n
def each(n):
    def inner(): pass
    yield n
class Cart:
    def add(self, n): return n
    @property
    def total(self): return 0
class Account:
    def __init__(self, name): pass
    def change(self, n): pass
asyncio.run(fetch(2))
cart = Cart()
cart.add(7)
`;
    const { client, uri } = await openExample(text, {
      functionLenses: [
        { title: 'Neural Debug', command: 'neuralDebug.debugFunction' },
        { title: 'Guess input', command: 'neuralDebug.guessInput', onlyFunctions: true },
      ],
    });
    const lenses = await client.request<CodeLens[]>('codeLens', uri);
    expect(lenses.map(({ range, command }) => `${range.start.line + 1} ${command?.title ?? ''}`)).toEqual([
      '2 Neural Debug',
      '3 Neural Debug',
      '4 Neural Debug: called within each',
      '7 Neural Debug',
      '9 Neural Debug',
      '11 Neural Debug',
      '12 Neural Debug',
    ]);
    const ask = async (name: string) => {
      const said = await client.connection.sendRequest('neuralDebug/exampleCalls', { uri, function: name });
      const { calls, writing } = exampleCallsResult.parse(said) ?? {};
      return [...(calls ?? []).map(({ call }) => call), writing?.callee];
    };
    expect(await ask('fetch')).toEqual(['asyncio.run(fetch(2))', 'fetch']);
    expect(await ask('each')).toEqual(['each']);
    expect(await ask('Cart.add')).toEqual(['Cart().add(7)', 'Cart().add']);
    expect(await ask('Cart.total')).toEqual(['Cart().total', null]);
    expect(await ask('Account.change')).toEqual([null]);
  });

  it('tell calls of a function, from the file and the tests beside it', async () => {
    const { client, uri, own } = await openExample();
    writeFileSync(
      join(own, 'test_gcd.py'),
      'from gcd import gcd\ndef test():\n    assert gcd(35, 21) == 7\n',
    );
    mkdirSync(join(own, 'tests'));
    writeFileSync(join(own, 'tests', 'more_test.py'), 'import gcd\ngcd.gcd(1, 1); gcd.gcd(x, 1)\n');
    writeFileSync(join(own, 'other.py'), 'gcd(9, 9)\n');
    const ask = (name: string) =>
      client.connection.sendRequest('neuralDebug/exampleCalls', { uri, function: name });
    expect(await ask('gcd')).toEqual({
      signature: 'gcd(a, b)',
      writing: { before: '', after: '', callee: 'gcd' },
      calls: [
        { call: 'gcd(35, 21)', origin: 'call', file: 'test_gcd.py', line: 3 },
        { call: 'gcd(1, 1)', origin: 'call', file: 'more_test.py', line: 2 },
      ],
    });
    expect(await ask('reduce_fraction')).toMatchObject({
      calls: [{ call: 'reduce_fraction(12, 18)' }, { call: 'reduce_fraction(4, 10)' }],
    });
    expect(await ask('nothing')).toBeNull();
  });

  it('live on after messages that make no sense', async () => {
    const { client, uri } = await openExample();
    const { connection } = client;
    await connection.sendNotification('neuralDebug/trajectory', { text: 7 });
    await connection.sendNotification('neuralDebug/trajectory', { text: '{"recording": "neural-debug"}\n' });
    await expect(connection.sendRequest('neuralDebug/exampleCalls', { uri: 1 })).rejects.toThrow();
    await connection.sendRequest('neuralDebug/trajectoryFile', { path: '/no/such/file.ndtrace' });
    await client.open('untitled:Untitled-1', 'python', 'def f(): pass\n');
    expect(await client.hover('untitled:Untitled-1', 0, 5)).toBeNull();
    await client.open('file://host/share/x.py', 'python', 'x = 1\n');
    expect(await client.hover('file://host/share/x.py', 0, 0)).toBeNull();
    expect(await hints(client, uri)).toEqual([]);
  });
});
