import { fileURLToPath } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, describe, expect, it } from 'vitest';
import { DapClient } from '../support/dapClient';

let client: DapClient;
afterEach(() => client.end());

const recordings = fileURLToPath(new URL('recordings', import.meta.url));

async function open(name: string, args: object = {}): Promise<void> {
  client = new DapClient();
  await client.launch({ world: 'recording', recording: `${recordings}/${name}.jsonl`, ...args });
}

/** The whole conversation must be as it was written down; `-u` writes it anew. */
async function expectTranscript(name: string): Promise<void> {
  await expect(client.transcript([[recordings, 'RECORDINGS']])).toMatchFileSnapshot(`golden/${name}.txt`);
}

async function rows(variablesReference: number, page: object = {}): Promise<DebugProtocol.Variable[]> {
  const body = await client.ask<DebugProtocol.VariablesResponse['body']>('variables', {
    variablesReference,
    ...page,
  });
  return body.variables;
}

/** The rows of all scopes of a frame. */
async function look(frame = 0): Promise<DebugProtocol.Variable[]> {
  const at = (await client.stack())[frame];
  const { scopes } = await client.ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: at?.id });
  const all: DebugProtocol.Variable[] = [];
  for (const { variablesReference } of scopes) all.push(...(await rows(variablesReference)));
  return all;
}

describe('how sure a prediction is', () => {
  it('is told at the stop, in the frames and by the values', async () => {
    await open('sure');
    await client.start('/project/sure.py', [7]);
    const shown = await look();
    await rows(shown.find(({ name }) => name === 'confidence')?.variablesReference ?? 0);
    await client.move('stepIn');
    await client.stack();
    await client.move('stepOut');
    await look();
    await expectTranscript('sure');
  });
});

describe('a value', () => {
  it('is opened whole, and tells what was cut off', async () => {
    await open('sure');
    await client.start('/project/sure.py', [7]);
    const [frame] = await client.stack();
    const shown = await look();
    const list = shown.find(({ name }) => name === 'rows');
    const text = shown.find(({ name }) => name === 'text');
    await rows(list?.variablesReference ?? 0, { filter: 'indexed', start: 126, count: 100 });
    await rows(text?.variablesReference ?? 0);
    await client.ask('neuralDebug/value', { variablesReference: list?.variablesReference, name: '3' });
    await client.ask('neuralDebug/value', { expression: 'text', frameId: frame?.id });
    await client.ask('neuralDebug/value', { expression: '{"total": total, "rows": [total] * 40}' });
    await client.ask('evaluate', { expression: 'note', frameId: frame?.id, context: 'clipboard' });
    await client.request('neuralDebug/value', { variablesReference: 99 });
    await client.request('neuralDebug/value', {});
    await client.request('neuralDebug/value', { expression: 'nothing' });
    await expectTranscript('wholeValue');
  });
});

describe('an object', () => {
  it('is opened with what its attributes must be, and expressions see them', async () => {
    await open('objects');
    await client.ask('setBreakpoints', {
      source: { path: '/project/objects.py' },
      breakpoints: [{ line: 22, condition: 'self.size == LIMIT - 1 and self.top.next is not None' }],
    });
    await client.ask('setExceptionBreakpoints', { filters: [] });
    await client.ask('configurationDone');
    await client.event('stopped');
    const [frame, outer] = await client.stack();
    const shown = await look();
    const self = await rows(shown.find(({ name }) => name === 'self')?.variablesReference ?? 0);
    const top = await rows(self.find(({ name }) => name === 'top')?.variablesReference ?? 0);
    await rows(top.find(({ name }) => name === 'next')?.variablesReference ?? 0);
    for (const expression of ['self.pushed[0]', 'self.top.next.value', 'self.size + LIMIT', 'self.nothing']) {
      await client.request('evaluate', { expression, frameId: frame?.id, context: 'watch' });
    }
    await client.request('evaluate', { expression: 'self.top.value', frameId: frame?.id, context: 'hover' });
    await client.request('evaluate', { expression: 'stack.size', frameId: outer?.id, context: 'watch' });
    await client.ask('neuralDebug/value', { expression: 'stack.top', frameId: outer?.id });
    await client.move('stepBack');
    const before = await look();
    await rows(before.find(({ name }) => name === 'self')?.variablesReference ?? 0);
    await expectTranscript('objects');
  });
});
