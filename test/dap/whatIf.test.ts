import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { parseFaults } from '../../adapter/modelServer/faults';
import { startModelServer } from '../../adapter/modelServer/server';
import { DapClient } from '../support/dapClient';

let folder = '';
let program = '';
let client: DapClient;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-what-if-'));
  program = join(folder, 'rates.py');
  writeFileSync(
    program,
    [
      'def total(items, rate):',
      '    result = 0',
      '    for item in items:',
      '        result += item',
      '    if rate:',
      '        result += rate',
      '    return result',
      '',
      '',
      'def main(items):',
      '    prices = {"a": items, "b": 2}',
      '    return total(items, prices["b"])',
      '',
    ].join('\n'),
  );
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});
afterEach(() => client.end());

async function open(args: object = {}, invalidated = true): Promise<void> {
  client = new DapClient();
  await client.ask('initialize', {
    adapterID: 'neural-debug',
    linesStartAt1: true,
    columnsStartAt1: true,
    supportsInvalidatedEvent: invalidated,
  });
  await client.ask('launch', { program, entry: 'main([1, 2])', stopOnEntry: true, ...args });
  await client.event('initialized');
}

async function expectTranscript(name: string): Promise<void> {
  const text = client.transcript([
    [folder, 'FOLDER'],
    [/Python \d+\.\d+\.\d+/g, 'Python 3'],
    [/http:\/\/[\d.]+:\d+/g, 'http://SERVER'],
    [/"(seconds|promptTokens|completionTokens)": [\d.]+/g, '"$1": N'],
  ]);
  await expect(text).toMatchFileSnapshot(`golden/${name}.txt`);
}

async function reference(): Promise<number> {
  const [frame] = await client.stack();
  const { scopes } = await client.ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: frame?.id });
  return scopes[0]?.variablesReference ?? 0;
}

it('sets variables and items inside them, and what follows is another branch', async () => {
  await open({ world: 'reference' });
  await client.start(program);
  await client.move('next');
  const prices = await reference();
  await client.ask('setVariable', { variablesReference: prices, name: 'items', value: '[10, 20] * 2' });
  await client.event('invalidated');
  const variables = await client.ask<DebugProtocol.VariablesResponse['body']>('variables', {
    variablesReference: await reference(),
  });
  const row = variables.variables.find(({ name }) => name === 'prices');
  await client.ask('variables', { variablesReference: row?.variablesReference });
  await client.ask('setVariable', {
    variablesReference: row?.variablesReference,
    name: "'b'",
    value: 'len(items) + 1',
  });
  await client.event('invalidated');
  const [top] = await client.stack();
  await client.ask('setExpression', { expression: 'prices["a"][0]', value: '7', frameId: top?.id });
  await client.event('invalidated');
  await client.request('setExpression', { expression: 'nothing', value: '7', frameId: top?.id });
  await client.request('setVariable', {
    variablesReference: await reference(),
    name: 'items',
    value: 'object()',
  });
  expect(await client.locals()).toMatchObject({
    items: '[10, 20, 10, 20]',
    prices: "{'a': [7, 2], 'b': 5}",
  });
  await client.move('next');
  await client.ask('neuralDebug/branches');
  await client.ask('neuralDebug/switchBranch', { branch: 1 });
  await client.event('stopped');
  expect(await client.locals()).toMatchObject({ items: '[1, 2]', prices: "{'a': [1, 2], 'b': 2}" });
  const end = await client.move('next');
  expect(end.description).toContain('returned 5');
  await client.request('neuralDebug/switchBranch', { branch: 9 });
  await expectTranscript('setVariable');
});

it('lets execution go on at another line, and refuses lines where it cannot', async () => {
  await open({ world: 'reference' });
  await client.start(program, [5]);
  await client.move('continue');
  const source = { path: program };
  await client.ask('gotoTargets', { source, line: 7 });
  await client.request('gotoTargets', { source, line: 11 });
  await client.ask('goto', { threadId: 1, targetId: 7 });
  await client.event('stopped');
  const { description } = await client.move('next');
  expect(description).toContain('returned 3');
  await expectTranscript('goto');
});

it('goes back to the beginning of any frame, and sets nothing in the callers', async () => {
  await open({ world: 'reference' }, false);
  await client.start(program, [7]);
  await client.move('continue');
  const [inner, outer] = await client.stack();
  await client.request('setExpression', { expression: 'items', value: '[]', frameId: outer?.id });
  await client.ask('restartFrame', { frameId: inner?.id });
  await client.event('stopped');
  expect((await client.stack())[0]?.line).toBe(2);
  await client.ask('setExpression', { expression: 'rate', value: '0' });
  await client.event('stopped');
  const [again] = await client.stack();
  await client.move('continue');
  const callers = (await client.stack()).filter(({ name }) => name === 'main');
  await client.ask('restartFrame', { frameId: callers[0]?.id });
  await client.event('stopped');
  expect((await client.stack())[0]).toMatchObject({ line: 11, name: 'main' });
  expect(again?.line).toBe(2);
  await expectTranscript('restartFrame');
});

it('starts at a given state', async () => {
  await open({
    world: 'reference',
    entry: undefined,
    startAt: { line: 5, locals: { items: '[]', rate: '3', result: '10' } },
  });
  await client.start(program);
  expect(await client.locals()).toMatchObject({ items: '[]', rate: '3', result: '10' });
  const stop = await client.move('stepOut');
  expect(stop.description).toContain('returned 13');
  await expectTranscript('startAt');
});

it('samples again, over HTTP', async () => {
  const server = await startModelServer({ port: 0 });
  try {
    client = new DapClient({ keyFor: () => Promise.resolve(server.token) });
    await client.launch({
      program,
      entry: 'main([1, 2])',
      stopOnEntry: true,
      server: { baseUrl: server.url },
    });
    await client.start(program);
    const samples = await client.ask('neuralDebug/sampleAgain', { count: 3 });
    expect(samples).toMatchObject({
      drawn: 3,
      groups: [{ count: 3, share: 1, event: 'line', function: 'main', line: 12 }],
    });
    expect(await client.ask('neuralDebug/branches')).toMatchObject({ branches: [{ branch: 1 }] });
    expect((await client.request('neuralDebug/sampleAgain', { count: 5_000 })).success).toBe(false);
  } finally {
    await server.close();
  }
});

it('tells what else could stand there, with shares, over HTTP', async () => {
  const server = await startModelServer({
    port: 0,
    faults: parseFaults('wrong-value=0.5', 3),
    onDivergence: 'inject',
  });
  try {
    client = new DapClient({ keyFor: () => Promise.resolve(server.token) });
    await client.ask('initialize', { adapterID: 'neural-debug', supportsInvalidatedEvent: true });
    await client.ask('launch', {
      program,
      entry: 'main([1, 2])',
      stopOnEntry: true,
      server: { baseUrl: server.url, format: 'cwm' },
    });
    await client.event('initialized');
    await client.start(program);
    await client.move('next');
    const [frame] = await client.stack();
    const { scopes } = await client.ask<DebugProtocol.ScopesResponse['body']>('scopes', {
      frameId: frame?.id,
    });
    const said = await client.ask<{ alternatives: { value: string; share: number; isShown: boolean }[] }>(
      'neuralDebug/alternatives',
      { variablesReference: scopes[0]?.variablesReference, name: 'prices', count: 8 },
    );
    const values = said.alternatives.map(({ value }) => value);
    expect(values.length).toBeGreaterThan(1);
    expect(new Set(values).size).toBe(values.length);
    expect(said.alternatives.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    expect(said.alternatives.filter(({ isShown }) => isShown)).toHaveLength(1);
    const { variables } = await client.ask<DebugProtocol.VariablesResponse['body']>('variables', {
      variablesReference: scopes[0]?.variablesReference,
    });
    const ofItem = await client.ask<{ name: string; alternatives: { value: string }[] }>(
      'neuralDebug/alternatives',
      {
        variablesReference: variables.find(({ name }) => name === 'prices')?.variablesReference,
        name: "'a'",
        count: 8,
      },
    );
    expect(ofItem.name).toBe("prices['a']");
    const shownItem = ofItem.alternatives.map(({ value }) => value);
    expect(new Set(shownItem).size).toBe(shownItem.length);
    expect(shownItem.length).toBeGreaterThan(1);
    // Each is one of the item, and none of the whole, or says that it is not there.
    expect(shownItem.filter((value) => !/^(\[|no prices\['a'\]: )/.test(value))).toEqual([]);
    const whole = await client.ask<object>('neuralDebug/origin', { name: 'prices' });
    expect(await client.ask('neuralDebug/origin', { name: ofItem.name })).toEqual({
      ...whole,
      name: "prices['a']",
      value: expect.stringMatching(/^\[/) as string,
    });
    await client.ask('evaluate', {
      expression: '.alternatives prices["a"] 3',
      frameId: frame?.id,
      context: 'repl',
    });
    expect((await client.request('neuralDebug/alternatives', { name: 'x' })).message).toContain('not known');
    await expectTranscript('alternatives');
  } finally {
    await server.close();
  }
});

it('shows a doubtful value that can be set without control sequences, so that it can be edited as it stands', async () => {
  const server = await startModelServer({
    port: 0,
    faults: parseFaults('wrong-value=0.5', 3),
    onDivergence: 'inject',
  });
  try {
    client = new DapClient({ keyFor: () => Promise.resolve(server.token) });
    await client.launch(
      {
        program,
        entry: 'main([1, 2])',
        stopOnEntry: true,
        server: { baseUrl: server.url, format: 'cwm' },
      },
      { supportsANSIStyling: true },
    );
    await client.start(program);
    let shown: [string, string] | undefined;
    for (let step = 0; step < 12 && !shown; step++) {
      await client.move('stepIn');
      shown = Object.entries(await client.locals()).find(
        ([name, value]) => name !== 'confidence' && /sure/.test(value),
      );
    }
    const [name = '', value = ''] = shown ?? [];
    expect(value).toMatch(/^[\w[{'(-].* {2}# \d+% sure$/);
    const [frame] = await client.stack();
    const { scopes } = await client.ask<DebugProtocol.ScopesResponse['body']>('scopes', {
      frameId: frame?.id,
    });
    const set = await client.ask<{ value: string }>('setVariable', {
      variablesReference: scopes[0]?.variablesReference,
      name,
      value: value.replace(/^/, '[').replace('  #', ']  #'),
    });
    expect(set.value).toBe(`[${value.replace(/ {2}#.*/, '')}]`);
    // Now it is what a person said, and in no doubt.
    expect((await client.locals())[name]).toBe(set.value);
  } finally {
    await server.close();
  }
});

it('a recording cannot be edited, and says why', async () => {
  client = new DapClient();
  const recording = new URL('recordings/uncaught.jsonl', import.meta.url).pathname;
  await client.launch({ world: 'recording', recording, stopOnEntry: true });
  await client.start('/project/uncaught.py');
  expect(client.messages.some((message) => 'event' in message && message.event === 'capabilities')).toBe(
    false,
  );
  const refused = await client.request('setExpression', { expression: 'table', value: '1' });
  expect(refused.message).toContain('A recording holds what was recorded');
  expect((await client.request('neuralDebug/sampleAgain', { count: 2 })).message).toContain(
    'no other samples',
  );
});

it('obeys the commands of the debug console that change something', async () => {
  await open({ world: 'reference' });
  await client.start(program, [5]);
  const type = async (expression: string) => {
    const [frame] = await client.stack();
    const { result } = await client.ask<DebugProtocol.EvaluateResponse['body']>('evaluate', {
      expression,
      frameId: frame?.id,
      context: 'repl',
    });
    return result;
  };
  await client.move('continue');
  expect(await type('.set result = result * 10')).toContain('result = 30');
  await client.event('invalidated');
  expect(await type('result + 1')).toBe('31');
  expect(await type('.jump 3')).toContain('at line 3 of total');
  await client.event('stopped');
  expect(await type('.branches')).toContain('> 3  what if result = 30, going on at line 3');
  await type('.branch 1');
  await client.event('stopped');
  expect(await type('result')).toBe('3');
  expect(await type('.restart-frame')).toBe('at line 2 of total');
  await client.event('stopped');
  expect((await client.stack())[0]?.line).toBe(2);
  // What cannot be obeyed is said, and leaves the session where it is.
  for (const refused of [
    '.sample',
    '.sample 0',
    '.branch 9',
    '.jump 12',
    '.set',
    '.branches now',
    '.help set',
  ])
    await type(refused);
  expect((await client.stack())[0]?.line).toBe(2);
  await expectTranscript('consoleChanges');
});

it('runs back to where a line was about to run last', async () => {
  await open({ world: 'reference' });
  await client.start(program, [7]);
  await client.move('continue');
  const request = { source: { path: program }, line: 4 };
  await client.ask('neuralDebug/runBackTo', request);
  await client.event('stopped');
  expect((await client.stack())[0]).toMatchObject({ line: 4, name: 'total' });
  expect(await client.locals()).toMatchObject({ item: '2' });
  await client.ask('neuralDebug/runBackTo', request);
  await client.event('stopped');
  expect(await client.locals()).toMatchObject({ item: '1' });
  expect((await client.request('neuralDebug/runBackTo', request)).message).toContain(
    'Line 4 did not run before this',
  );
  await expectTranscript('runBackTo');
});

it('finds lines of a text that was edited since in the launched one, and refuses those that are not in it', async () => {
  await open({ world: 'reference' });
  await client.start(program, [7]);
  await client.move('continue');
  const launched = readFileSync(program, 'utf8');
  const edited = `# A comment.\n${launched.replace('result = 0', 'result = 1')}`;
  await client.ask('neuralDebug/editorText', { text: edited });
  const back = (source: object, line: number) =>
    client.request('neuralDebug/runBackTo', { source: { path: program, ...source }, line });
  const targets = (source: object, line: number) =>
    client.ask('gotoTargets', { source: { path: program, ...source }, line });
  // The assignment was changed: it is no line of what is predicted.
  expect((await back({}, 3)).message).toContain('Line 3 did not run before this');
  expect(await targets({}, 3)).toEqual({ targets: [] });
  expect(await targets({}, 5)).toMatchObject({ targets: [{ id: 4, line: 5 }] });
  expect(await targets({ sourceReference: 1 }, 4)).toMatchObject({ targets: [{ id: 4, line: 4 }] });
  expect((await back({}, 5)).success).toBe(true);
  await client.event('stopped');
  expect((await client.stack())[0]).toMatchObject({ line: 4, name: 'total' });
  // The text as of launch is named by its reference.
  expect((await back({ sourceReference: 1 }, 2)).success).toBe(true);
  await client.event('stopped');
  expect((await client.stack())[0]).toMatchObject({ line: 2, name: 'total' });
  expect((await back({ sourceReference: 7 }, 2)).message).toContain('did not run before this');
});
