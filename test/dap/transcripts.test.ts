import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { DapClient } from '../support/dapClient';

/** Launches a recording, whose values are the same on every machine. */
async function open(name: string, args: object = {}): Promise<DapClient> {
  client = new DapClient();
  await client.launch({ world: 'recording', recording: recording(name), ...args });
  return client;
}

function recording(name: string): string {
  return fileURLToPath(new URL(`recordings/${name}.jsonl`, import.meta.url));
}

let client: DapClient;

/** The whole conversation must be as it was written down; `-u` writes it anew. */
async function expectTranscript(name: string): Promise<void> {
  const folder = fileURLToPath(new URL('recordings', import.meta.url));
  await expect(client.transcript([[folder, 'RECORDINGS']])).toMatchFileSnapshot(`golden/${name}.txt`);
}

afterEach(async () => {
  await client.end();
});

/** The editor asks all this after each stop. */
async function look(threadId = 1): Promise<void> {
  const { stackFrames } = await client.ask<DebugProtocol.StackTraceResponse['body']>('stackTrace', {
    threadId,
  });
  for (const { id } of stackFrames) {
    const { scopes } = await client.ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: id });
    for (const { variablesReference } of scopes) await client.ask('variables', { variablesReference });
  }
}

describe('a conversation with an editor', () => {
  it('steps over, into and out of a recursion, and back', async () => {
    await open('recursion');
    await client.start('/project/31-recursion-step-over.py', [4]);
    await client.ask('threads');
    await look();
    await client.move('next');
    await client.move('stepOut');
    await look();
    await client.move('stepBack');
    await look();
    await client.move('reverseContinue');
    await client.move('stepIn');
    await client.move('reverseContinue');
    await client.move('reverseContinue');
    await expectTranscript('recursion');
  });

  it('stops at exceptions where they are raised, once', async () => {
    await open('handled');
    await client.start('/project/39-exception-group.py', [], ['raised', 'uncaught']);
    await client.ask('exceptionInfo', { threadId: 1 });
    await look();
    await client.move('continue');
    await client.move('continue');
    await client.move('continue');
    await expectTranscript('raised');
  });

  it('goes to the raise of an exception that ended the program', async () => {
    await open('uncaught');
    await client.start('/project/uncaught.py');
    await client.ask('exceptionInfo', { threadId: 1 });
    await look();
    await client.move('stepBack');
    await client.move('continue');
    await client.move('continue');
    await client.ask('continue', { threadId: 1 });
    await client.event('terminated');
    await expectTranscript('uncaught');
  });

  it('shows the stacks of several threads', async () => {
    await open('threads');
    await client.start('/project/32-threads.py', [6]);
    await client.ask('threads');
    await look(1);
    await look(2);
    await client.ask('next', { threadId: 2 });
    await client.event('stopped');
    await expectTranscript('threads');
  });

  it('comes out of a generator that is closed early', async () => {
    await open('generator', { stopOnEntry: true });
    await client.start('/project/01-genexpr-next.py', []);
    for (const command of ['stepIn', 'stepIn', 'next', 'next', 'next']) await client.move(command);
    await look();
    await expectTranscript('generator');
  });

  it('tells where breakpoints really sit', async () => {
    await open('breakable', { stopOnEntry: true });
    const path = '/project/12-breakable-lines.py';
    const lines = Array.from({ length: 21 }, (_, index) => ({ line: index + 1 }));
    await client.ask('setBreakpoints', { source: { path }, breakpoints: lines });
    await client.ask('setBreakpoints', { source: { path: '/project/other.py' }, breakpoints: [{ line: 1 }] });
    await client.ask('breakpointLocations', { source: { path }, line: 1, endLine: 20 });
    await expectTranscript('breakpoints');
  });

  it('evaluates what is known, and says what is not', async () => {
    await open('uncaught');
    await client.start('/project/uncaught.py', [2], []);
    const [inner, outer] = await client.stack();
    for (const context of ['hover', 'watch', 'repl', 'clipboard', 'variables']) {
      await client.request('evaluate', { expression: 'items', frameId: inner?.id, context });
      await client.request('evaluate', { expression: 'table["rows"][1]', frameId: outer?.id, context });
      await client.request('evaluate', { expression: 'nothing', frameId: inner?.id, context });
    }
    await client.request('evaluate', { expression: 'sum(items) * 2', frameId: inner?.id, context: 'watch' });
    await client.request('evaluate', { expression: 'items[7]', frameId: inner?.id, context: 'watch' });
    await client.request('evaluate', {
      expression: '__import__("os")',
      frameId: inner?.id,
      context: 'watch',
    });
    await expectTranscript('evaluate');
  });
});
