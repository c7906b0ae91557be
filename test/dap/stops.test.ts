import { fileURLToPath } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, expect, it } from 'vitest';
import { DapClient } from '../support/dapClient';

const folder = fileURLToPath(new URL('recordings', import.meta.url));
const path = '/project/stops.py';
const source = { path };

let client: DapClient;

afterEach(async () => {
  await client.end();
});

/** Launches the recording up to where breakpoints can be set. */
async function open(args: object = {}): Promise<void> {
  client = new DapClient();
  await client.launch({ world: 'recording', recording: `${folder}/stops.jsonl`, ...args });
}

/** Ends the configuration and waits for the first stop. */
async function configured(): Promise<void> {
  await client.ask('configurationDone');
  await client.event('stopped');
}

/** The whole conversation must be as it was written down; `-u` writes it anew. */
async function expectTranscript(name: string): Promise<void> {
  const text = client.transcript([[folder, 'RECORDINGS']]);
  await expect(text).toMatchFileSnapshot(`golden/${name}.txt`);
}

it('counts hits, and says what is wrong with a hit count', async () => {
  await open();
  await client.ask('setBreakpoints', {
    source,
    breakpoints: [
      { line: 14, hitCondition: '%2' },
      { line: 20, condition: 'amount > 1', hitCondition: '>=1' },
      { line: 21, hitCondition: 'often' },
    ],
  });
  await configured();
  for (let count = 0; count < 4; count++) await client.move('continue');
  await client.move('reverseContinue');
  await client.move('reverseContinue');
  // A breakpoint that is set again keeps its id.
  await client.ask('setBreakpoints', { source, breakpoints: [{ line: 21 }, { line: 20 }] });
  await client.move('continue');
  await expectTranscript('hitConditions');
});

it('logs without stopping', async () => {
  await open();
  await client.ask('setBreakpoints', {
    source,
    breakpoints: [
      { line: 20, logMessage: 'amount {amount}, twice {amount * 2}, {{not}} {unknown}' },
      { line: 14, condition: 'x == 4', logMessage: 'x is {x}' },
    ],
  });
  await client.ask('configurationDone');
  await client.event('stopped');
  await expectTranscript('logPoints');
});

it('stops where functions are called', async () => {
  await open();
  await client.ask('setFunctionBreakpoints', {
    breakpoints: [
      { name: 'Account.add', condition: 'amount > 0' },
      { name: 'double', hitCondition: '3' },
      { name: 'missing' },
      { name: 'run', hitCondition: '?' },
    ],
  });
  await configured();
  await client.move('continue');
  await client.move('continue');
  await client.move('reverseContinue');
  await expectTranscript('functionBreakpoints');
});

it('stops where a variable, or an item of one, has changed', async () => {
  await open();
  await client.ask('setBreakpoints', { source, breakpoints: [{ line: 20 }] });
  await configured();
  await client.ask('setBreakpoints', { source, breakpoints: [] });
  const [frame] = await client.stack();
  const { scopes } = await client.ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: frame?.id });
  const locals = scopes[0]?.variablesReference;
  const { variables } = await client.ask<DebugProtocol.VariablesResponse['body']>('variables', {
    variablesReference: locals,
  });
  const account = variables.find(({ name }) => name === 'account')?.variablesReference;
  const info = async (args: object) =>
    client.ask<DebugProtocol.DataBreakpointInfoResponse['body']>('dataBreakpointInfo', args);
  await client.ask('variables', { variablesReference: account });
  const item = await info({ variablesReference: account, name: "'total'" });
  const amount = await info({ variablesReference: locals, name: 'amount' });
  const byName = await info({ frameId: frame?.id, name: 'amount' });
  expect(byName.dataId).toBe(amount.dataId);
  await info({ frameId: frame?.id, name: 'nothing' });
  await info({ frameId: frame?.id, name: 'amount + 1' });
  await client.ask('setDataBreakpoints', {
    breakpoints: [
      { dataId: item.dataId, accessType: 'write', condition: 'account["total"] > 4' },
      { dataId: amount.dataId, accessType: 'write', hitCondition: '>1' },
      { dataId: amount.dataId, accessType: 'read' },
      { dataId: 'made up' },
    ],
  });
  for (let count = 0; count < 4; count++) await client.move('continue');
  for (let count = 0; count < 4; count++) await client.move('reverseContinue');
  await expectTranscript('dataBreakpoints');
});

it('stops at exceptions of some types, and at doubtful predictions', async () => {
  await open();
  await client.ask('setExceptionBreakpoints', {
    filters: ['doubt'],
    filterOptions: [{ filterId: 'raised', condition: 'KeyError, ValueError' }],
  });
  await configured();
  await client.ask('exceptionInfo', { threadId: 1 });
  await client.move('continue');
  await client.move('continue');
  await client.ask('exceptionInfo', { threadId: 1 });
  await client.ask('setExceptionBreakpoints', {
    filters: [],
    filterOptions: [
      { filterId: 'doubt', condition: '0.8' },
      { filterId: 'raised', condition: '1 + 1' },
      { filterId: 'doubt', condition: 'always' },
      { filterId: 'other' },
    ],
  });
  await client.ask('setExceptionBreakpoints', {
    filters: [],
    filterOptions: [
      { filterId: 'doubt', condition: '0.8' },
      { filterId: 'uncaught', condition: 'ValueError' },
    ],
  });
  for (let count = 0; count < 4; count++) await client.move('reverseContinue');
  await expectTranscript('exceptionFilters');
});

it('steps into one of several calls of a line', async () => {
  await open();
  await client.ask('setBreakpoints', { source, breakpoints: [{ line: 20 }] });
  await configured();
  const targets = async () => {
    const [frame, outer] = await client.stack();
    await client.ask('stepInTargets', { frameId: outer?.id });
    return client.ask<DebugProtocol.StepInTargetsResponse['body']>('stepInTargets', { frameId: frame?.id });
  };
  for (const number of [0, 1]) {
    const { targets: found } = await targets();
    await client.ask('stepIn', { threadId: 1, targetId: found[number]?.id });
    await client.event('stopped');
    await client.locals();
    await client.move('continue');
  }
  await client.request('stepIn', { threadId: 1, targetId: 99 });
  await expectTranscript('stepInTargets');
});

it('completes what is typed into the debug console', async () => {
  await open();
  await client.ask('setBreakpoints', { source, breakpoints: [{ line: 20 }] });
  await configured();
  const [frame] = await client.stack();
  for (const text of [
    'am',
    'x + account.ke',
    'account[',
    'amounts[',
    'amounts[0].re',
    '.wh',
    'le',
    'nothing.a',
    'amount ',
  ]) {
    await client.ask('completions', { frameId: frame?.id, text, column: text.length + 1 });
  }
  await expectTranscript('completions');
});

it('obeys the commands of the debug console', async () => {
  await open();
  await client.ask('setBreakpoints', { source, breakpoints: [{ line: 14 }] });
  await configured();
  const [frame, caller] = await client.stack();
  const type = (expression: string, frameId = frame?.id) =>
    client.request('evaluate', { expression, frameId, context: 'repl' });
  await type('.help');
  await type('.help ll');
  await type('.where', caller?.id);
  await type('.args');
  await type('.locals', caller?.id);
  await type('.l');
  await type('.ll', caller?.id);
  await type('.pp [amount] * 30', caller?.id);
  await type('.whatis {1, x}');
  await type('.whatis y');
  await type('.sure', caller?.id);
  await type('.where now');
  await type('.pp');
  await type('.fly');
  await type('.5 + x');
  await expectTranscript('console');
});
