import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startModelServer } from '../../adapter/modelServer/server';
import { DapClient } from '../support/dapClient';
import { FaultyProxy } from '../support/faultyProxy';

const recordings = fileURLToPath(new URL('recordings', import.meta.url));
let folder = '';
let program = '';
let client: DapClient;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-looking-'));
  program = join(folder, 'table.py');
  writeFileSync(
    program,
    [
      'LIMIT = 3',
      'TABLE = {}',
      'TABLE.update((n, n * n) for n in range(LIMIT))',
      '',
      '',
      'def look(n):',
      '    found = TABLE[n]',
      '    return found + LIMIT',
      '',
      '',
      'def main(n):',
      '    found = look(n)',
      '    return found',
      '',
    ].join('\n'),
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});
afterEach(() => client.end());

/** The whole conversation must be as it was written down; `-u` writes it anew. */
async function expectTranscript(name: string): Promise<void> {
  const text = client.transcript([
    [recordings, 'RECORDINGS'],
    [folder, 'FOLDER'],
    [/Python \d+\.\d+\.\d+/g, 'Python 3'],
    [/http:\/\/(localhost|[\d.]+):\d+/g, 'http://SERVER'],
    [/"seconds": [\d.]+/g, '"seconds": 0'],
  ]);
  await expect(text).toMatchFileSnapshot(`golden/${name}.txt`);
}

async function rows(variablesReference: number, page: object = {}): Promise<DebugProtocol.Variable[]> {
  const body = await client.ask<DebugProtocol.VariablesResponse['body']>('variables', {
    variablesReference,
    ...page,
  });
  return body.variables;
}

async function scopes(frameId: number | undefined): Promise<DebugProtocol.Scope[]> {
  const body = await client.ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId });
  return body.scopes;
}

describe('an editor that looks', () => {
  it('gets frames and values page by page, and all that the model sees', async () => {
    client = new DapClient();
    await client.launch({ world: 'recording', recording: `${recordings}/sure.jsonl` });
    await client.start('/project/sure.py', [2]);
    const page = (startFrame: number, levels: number) =>
      client.ask<DebugProtocol.StackTraceResponse['body']>('stackTrace', { threadId: 1, startFrame, levels });
    const first = await page(0, 1);
    const next = await page(1, 1);
    const rest = await page(2, 0);
    expect(await page(3, 20)).toEqual({ totalFrames: 3, stackFrames: [] });
    expect([first, next, rest].map(({ totalFrames }) => totalFrames)).toEqual([3, 3, 3]);
    const [outer] = await scopes(next.stackFrames[0]?.id);
    const reference = outer?.variablesReference ?? 0;
    const [list] = await rows(reference, { filter: 'named', start: 0, count: 1 });
    await rows(reference, { filter: 'indexed' });
    const items = list?.variablesReference ?? 0;
    expect(await rows(items, { filter: 'indexed', start: 100, count: 2 })).toHaveLength(2);
    expect(await rows(items, { filter: 'named' })).toEqual([]);
    // The last page ends with what is missing.
    const last = await rows(items, { filter: 'indexed', start: 126, count: 100 });
    expect(last.map(({ value }) => value)).toEqual(['126', '127', '99872 more, cut off']);
    await client.ask('loadedSources');
    await expectTranscript('paging');
  });

  it('is told what was returned, and that the callers are as they were', async () => {
    client = new DapClient();
    await client.launch({ program, entry: 'main(2)', stopOnEntry: true, world: 'reference' });
    await client.start(program, [8]);
    await client.move('continue');
    const [, outer] = await client.stack();
    const [before] = await scopes(outer?.id);
    const [n] = await rows(before?.variablesReference ?? 0);
    expect(n?.presentationHint?.attributes).toEqual(['readOnly']);
    // What says so is refused.
    const refused = await client.request('setVariable', {
      variablesReference: before?.variablesReference,
      name: 'n',
      value: '0',
    });
    expect(refused.success).toBe(false);
    await client.move('next');
    const [frame] = await client.stack();
    const [locals, returned] = await scopes(frame?.id);
    expect(returned?.presentationHint).toBe('returnValue');
    const now = await rows(locals?.variablesReference ?? 0);
    expect(now.map(({ presentationHint }) => presentationHint)).toEqual([undefined, undefined]);
    await rows(returned?.variablesReference ?? 0);
    await expectTranscript('past');
  });

  it('is shown where what a person changed begins, in the stack', async () => {
    client = new DapClient();
    await client.launch({ program, entry: 'main(2)', stopOnEntry: true, world: 'reference' });
    await client.start(program, [8]);
    await client.move('continue');
    const plain = await client.stack();
    expect(plain.map(({ name }) => name)).toEqual(['look', 'main']);
    await client.ask('setExpression', { expression: 'found', value: '40', frameId: plain[0]?.id });
    await client.event('stopped');
    const labelled = await client.stack();
    expect(labelled.map(({ name, presentationHint }) => [name, presentationHint])).toEqual([
      ['look', undefined],
      ['↑ what if found = 40', 'label'],
      ['main', undefined],
    ]);
    await client.ask('stackTrace', { threadId: 1, startFrame: 1, levels: 1 });
    expect((await client.request('scopes', { frameId: labelled[1]?.id })).success).toBe(false);
    await client.move('stepOut');
    // All that is left follows from it.
    expect((await client.stack()).map(({ name }) => name)).toEqual(['main']);
    await expectTranscript('labels');
  });

  it('asks the model for a value that nothing tells, once it is clicked, and not before', async () => {
    const server = await startModelServer({ port: 0 });
    try {
      client = new DapClient({ keyFor: () => Promise.resolve(server.token) });
      const asked = { baseUrl: server.url, format: 'cwm' };
      await client.launch({ program, entry: 'main(2)', stopOnEntry: true, server: asked });
      await client.start(program, [7]);
      await client.move('continue');
      const [frame] = await client.stack();
      const [, globals] = await scopes(frame?.id);
      const names = await rows(globals?.variablesReference ?? 0);
      const table = names.find(({ name }) => name === 'TABLE');
      expect(table).toMatchObject({ presentationHint: { lazy: true } });
      const [value, ...more] = await rows(table?.variablesReference ?? 0);
      expect(more).toEqual([]);
      expect(value).toMatchObject({ name: '', value: '{0: 0, 1: 1, 2: 4}' });
      await rows(value?.variablesReference ?? 0);
      expect((await client.move('next')).reason).toBe('step');
      await expectTranscript('lazy');
    } finally {
      await server.close();
    }
  });

  it('can give up a question to the model, and ask it again', async () => {
    const server = await startModelServer({ port: 0 });
    const proxy = await FaultyProxy.start(server.url);
    try {
      client = new DapClient({ keyFor: () => Promise.resolve(server.token) });
      const asked = { baseUrl: proxy.baseUrl, format: 'cwm', profile: 'generic' };
      await client.launch({ program, entry: 'main(2)', stopOnEntry: true, server: asked });
      await client.start(program, [7]);
      await client.move('continue');
      const [frame] = await client.stack();
      const [, globals] = await scopes(frame?.id);
      const names = await rows(globals?.variablesReference ?? 0);
      const { variablesReference } = names.find(({ name }) => name === 'TABLE') ?? {};
      const questions = [
        ['variables', { variablesReference }],
        ['evaluate', { expression: '.ask TABLE[2]', frameId: frame?.id, context: 'repl' }],
      ] as const;
      for (const [command, args] of questions) {
        proxy.fail('silent');
        const before = proxy.seen.length;
        const answer = client.request(command, args);
        const requestId = client.messages.at(-1)?.seq;
        await expect.poll(() => proxy.seen.length).toBeGreaterThan(before);
        // A number that is not, or no longer, under way is no error.
        await client.ask('cancel', { requestId: 1 });
        await client.ask('cancel', { requestId });
        expect(await answer).toMatchObject({ success: false, message: 'cancelled' });
        await proxy.mend();
        expect(await client.request(command, args)).toMatchObject({ success: true });
      }
      await expectTranscript('cancel');
    } finally {
      await client.end();
      await proxy.stop();
      await server.close();
    }
  });
});
