import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';
import { DapClient } from '../support/dapClient';

const recording = fileURLToPath(new URL('recordings/recursion.jsonl', import.meta.url));
const path = '/project/31-recursion-step-over.py';

let client = new DapClient();
afterEach(async () => {
  await client.end();
});

describe('a request that comes', () => {
  it.each(['next', 'stackTrace', 'configurationDone', 'setBreakpoints', 'launch', 'pause', 'restart'])(
    'before the session was initialized (%s) is refused',
    async (command) => {
      client = new DapClient();
      expect(await client.request(command, { source: { path } })).toMatchObject({ success: false });
      expect(await client.request('initialize', {})).toMatchObject({ success: true });
    },
  );

  it('twice is refused, and the session goes on', async () => {
    client = new DapClient();
    await client.launch({ world: 'recording', recording, stopOnEntry: true });
    expect(await client.request('initialize', {})).toMatchObject({ success: false });
    expect(await client.request('launch', { world: 'recording', recording })).toMatchObject({
      success: false,
    });
    await client.start(path);
    expect(await client.request('configurationDone')).toMatchObject({ success: false });
    expect((await client.move('next')).reason).toBe('step');
  });

  it('after the end is refused', async () => {
    client = new DapClient();
    await client.launch({ world: 'recording', recording, stopAtEnd: false });
    await client.ask('configurationDone');
    await client.event('terminated');
    for (const command of ['next', 'stackTrace', 'evaluate', 'launch', 'restart', 'stepBack']) {
      expect(await client.request(command, { threadId: 1, expression: '1' }), command).toMatchObject({
        success: false,
      });
    }
    expect(await client.request('disconnect')).toMatchObject({ success: true });
  });

  it('to restart before the first stop begins anew', async () => {
    client = new DapClient();
    await client.launch({ world: 'recording', recording, stopOnEntry: true });
    const begun = client.ask('configurationDone');
    const again = client.ask('restart');
    await Promise.all([begun, again]);
    await client.event('stopped');
    expect((await client.move('next')).reason).toBe('step');
    expect(client.messages.filter((message) => 'event' in message && message.event === 'terminated')).toEqual(
      [],
    );
  });

  it('to end during the launch is the end', async () => {
    client = new DapClient();
    await client.ask('initialize', {});
    const launched = client.request('launch', { world: 'recording', recording });
    const ended = client.request('terminate');
    expect(await ended).toMatchObject({ success: true });
    expect(await launched).toMatchObject({ success: false });
    expect(
      client.messages.filter((message) => 'event' in message && message.event === 'initialized'),
    ).toEqual([]);
  });

  it('to step before a step was answered is refused, and the first one goes on', async () => {
    client = new DapClient();
    await client.launch({ world: 'recording', recording, stopOnEntry: true });
    await client.start(path);
    const [first, second] = [client.request('next'), client.request('next')];
    expect([(await first).success, (await second).success]).toEqual([true, false]);
    expect((await client.event('stopped')).body).toMatchObject({ reason: 'step' });
  });

  it('to pause what has not begun yet stops there', async () => {
    client = new DapClient();
    await client.launch({ world: 'recording', recording });
    const begun = [client.request('configurationDone'), client.request('pause')];
    expect((await Promise.all(begun)).map(({ success }) => success)).toEqual([true, true]);
    expect((await client.event('stopped')).body).toMatchObject({ reason: 'entry' });
    const line = (await client.stack())[0]?.line;
    const gone = [client.request('continue'), client.request('pause')];
    expect((await Promise.all(gone)).map(({ success }) => success)).toEqual([true, true]);
    expect((await client.event('stopped')).body).toMatchObject({ reason: 'pause' });
    expect((await client.stack())[0]?.line).toBe(line);
    // A pause is for what it was meant for.
    expect((await client.move('next')).reason).toBe('step');
  });

  it('with a frame, thread or variable of an earlier stop is refused', async () => {
    client = new DapClient();
    await client.launch({ world: 'recording', recording });
    await client.start(path, [5]);
    const [inner] = await client.stack();
    await client.move('next');
    expect(await client.request('scopes', { frameId: inner?.id })).toMatchObject({ success: false });
    expect(await client.request('variables', { variablesReference: 1 })).toMatchObject({ success: false });
    expect(await client.request('stackTrace', { threadId: 9 })).toMatchObject({ success: false });
  });

  it('with arguments of another shape is refused, naming the argument', async () => {
    client = new DapClient();
    await client.launch({ world: 'recording', recording, stopOnEntry: true });
    await client.start(path);
    for (const [command, args, named] of [
      ['setBreakpoints', { source: 3 }, 'source'],
      ['stackTrace', { threadId: 'x' }, 'threadId'],
      ['evaluate', {}, 'expression'],
      ['variables', { variablesReference: {} }, 'variablesReference'],
    ] as const) {
      const response = await client.request(command, args);
      expect(response).toMatchObject({ success: false });
      expect(response.message).toContain(named);
    }
    expect(await client.request('noSuchRequest')).toMatchObject({ success: false });
    expect(await client.request('constructor')).toMatchObject({ success: false });
  });
});

it.each([
  [{}, /program|predict/],
  [{ program: 3, world: 'reference' }, /"program"/],
  [{ program: '/nowhere/x.py', world: 'reference' }, /\/nowhere\/x\.py/],
  [{ program: path, world: 'magic' }, /"world"/],
  [{ program: path, server: { baseUrl: 'nonsense' } }, /"server\.baseUrl"/],
  [{ program: path, server: { baseUrl: 'http://127.0.0.1:1/v1', formt: 'cwm' } }, /"server\.formt"/],
  [{ program: path, world: 'reference', budget: { states: -1 } }, /"budget\.states"/],
  [{ program: path, world: 'reference', args: 'a b' }, /"args"/],
  [{ world: 'recording', recording: fileURLToPath(import.meta.url) }, /line 1/],
])('a launch with %j says what is wrong, and can be tried again', async (args, message) => {
  client = new DapClient();
  await client.ask('initialize', {});
  const response = await client.request('launch', args);
  expect(response).toMatchObject({ success: false });
  expect(response.message).toMatch(message);
  await client.ask('launch', { world: 'recording', recording });
});

/*
 * Random sequences of requests. Some hundreds by default; all ten thousand with NEURAL_DEBUG_FULL=1.
 */
describe('whatever the order of requests', () => {
  const isFull = process.env['NEURAL_DEBUG_FULL'] === '1';

  let server: ModelServer;
  let folder = '';
  let program = '';
  beforeAll(async () => {
    server = await startModelServer({ port: 0, onDivergence: 'inject' });
    folder = mkdtempSync(join(tmpdir(), 'neural-debug-order-'));
    program = join(folder, 'down.py');
    writeFileSync(
      program,
      'def down(n):\n    print(n)\n    if n > 0:\n        down(n - 1)\n    return [n]\n',
    );
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  /** Plays a sequence against a world, or with no launch at all. */
  async function play(world: WorldName, requests: readonly Asked[]): Promise<void> {
    client = new DapClient({ keyFor: () => Promise.resolve(server.token) });
    const own = { program, entry: 'down(3)', stopOnEntry: true };
    const launch = {
      recording: { world: 'recording', recording, stopOnEntry: true },
      server: { ...own, server: { baseUrl: server.url, format: 'cwm', mode: 'text' } },
      reference: { ...own, world: 'reference' },
      none: null,
    }[world];
    const shown = world === 'recording' || world === 'none' ? path : program;
    if (launch) {
      await client.launch(launch);
      await client.start(shown, [4]);
    }
    const responses: Promise<unknown>[] = [];
    for (const { command, args, waits } of requests) {
      const given = args === null ? undefined : typeof args === 'object' ? args : fullArguments(args, shown);
      const response = answered(client.request(command, given), command);
      if (waits) await response;
      responses.push(response);
    }
    await Promise.all(responses);
    // A thread that was told to go on stops somewhere, or the session ends.
    const threadEvent = () =>
      client.messages
        .map((message) => ('event' in message ? message.event : ''))
        .findLast((event) => /^(continued|stopped|terminated)$/.test(event));
    await expect.poll(threadEvent, { timeout: 10_000 }).not.toBe('continued');
    expect((await answered(client.request('disconnect'), 'disconnect')).success).toBe(true);
    client.session.dispose();
    const { messages } = client;
    const asked = messages.filter((message) => message.type === 'request').map(({ seq }) => seq);
    const given = messages.filter((message) => 'request_seq' in message);
    expect(given.map(({ request_seq }) => request_seq).sort((a, b) => a - b)).toEqual(asked);
    const ends = messages.filter((message) => 'event' in message && message.event === 'terminated');
    expect(ends.length).toBeLessThanOrEqual(1);
    // The end is the last thing that a client hears of.
    const [end] = ends;
    const after = end ? messages.slice(messages.indexOf(end) + 1) : [];
    expect(after.filter(({ type }) => type === 'event')).toEqual([]);
    // What failed failed for a reason that is in the catalogue, and not by a fault of ours.
    for (const { command, success, body } of given) {
      const { error } = (body ?? {}) as Partial<DebugProtocol.ErrorResponse['body']>;
      if (!success) expect(error?.id, `${command}: ${error?.format ?? ''}`).toBeGreaterThan(100);
    }
    for (const message of messages) {
      if ('event' in message) expect(JSON.stringify(message.body ?? '')).not.toContain('Neural Debug failed');
    }
  }

  it.each([
    ['recording', isFull ? 8_000 : 200],
    ['none', isFull ? 1_000 : 40],
    ['server', isFull ? 800 : 20],
    ['reference', isFull ? 200 : 5],
  ] as const)(
    'in a session with the world %s (%i sequences), each is answered once and the session can be ended',
    { timeout: isFull ? 3_600_000 : 120_000 },
    async (world, numRuns) => {
      await fc.assert(
        fc.asyncProperty(fc.array(request, { maxLength: 30 }), (requests) => play(world, requests)),
        { numRuns, endOnFailure: true },
      );
      // Nothing that a session started outlives it; what the server keeps runs is its own.
      if (world !== 'server') await expect.poll(childProcesses, { timeout: 15_000 }).toBe(0);
    },
  );
});

type WorldName = 'recording' | 'none' | 'server' | 'reference';

/** A request of a sequence: its arguments are all that a request may want, of a number's choice, or given ones. */
interface Asked {
  readonly command: string;
  readonly args: number | object | null;
  readonly waits: boolean;
}

const moves = [
  'next',
  'stepIn',
  'stepOut',
  'continue',
  'stepBack',
  'reverseContinue',
  'pause',
  'restart',
  'goto',
  'restartFrame',
  'neuralDebug/goToState',
  'neuralDebug/switchBranch',
  'neuralDebug/runBackTo',
];
const changes = ['setVariable', 'setExpression', 'neuralDebug/sampleAgain', 'neuralDebug/alternatives'];
const looks = [
  'threads',
  'stackTrace',
  'scopes',
  'variables',
  'evaluate',
  'completions',
  'exceptionInfo',
  'loadedSources',
  'stepInTargets',
  'gotoTargets',
  'dataBreakpointInfo',
  'neuralDebug/about',
  'neuralDebug/branches',
  'neuralDebug/compare',
  'neuralDebug/inlineValues',
  'neuralDebug/origin',
  'neuralDebug/recording',
  'neuralDebug/stateTree',
  'neuralDebug/treeNode',
  'neuralDebug/value',
  'neuralDebug/wholeState',
];
const settings = [
  'initialize',
  'launch',
  'setBreakpoints',
  'setFunctionBreakpoints',
  'setDataBreakpoints',
  'setExceptionBreakpoints',
  'breakpointLocations',
  'configurationDone',
  'cancel',
];
const odd = fc.constantFrom<(object | null)[]>(
  null,
  {},
  { threadId: 'x' },
  { source: null },
  { frameId: -1 },
);

const request: fc.Arbitrary<Asked> = fc.record({
  command: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...moves) },
    { weight: 3, arbitrary: fc.constantFrom(...changes) },
    { weight: 8, arbitrary: fc.constantFrom(...looks) },
    { weight: 5, arbitrary: fc.constantFrom(...settings) },
    { weight: 1, arbitrary: fc.constantFrom('terminate', 'disconnect', 'nonsense') },
  ),
  args: fc.oneof({ weight: 4, arbitrary: fc.nat(30) }, { weight: 1, arbitrary: odd }),
  waits: fc.boolean(),
});

/** Arguments with all that any request may want. */
function fullArguments(number: number, source: string): object {
  const choose = <T>(...items: readonly T[]): T | undefined => items[number % items.length];
  const breakpoint = {
    line: number % 7,
    name: choose('down', 'f', 'no_such_function'),
    dataId: JSON.stringify([number % 4, choose('down', 'factorial'), 'n']),
    ...choose<object>(
      {},
      { condition: 'n > 1' },
      { condition: '(' },
      { hitCondition: '2' },
      { hitCondition: 'often' },
      { logMessage: 'n is {n}' },
    ),
  };
  return {
    threadId: 1,
    frameId: number,
    variablesReference: number,
    name: choose('n', 'n', "'a'", 'no_such_name', '[0]'),
    value: choose('1', 'n + 1', '[n]', 'object()', '((', '"a"'),
    expression: choose('n', 'n + 1', '1 / 0', 'no_such_name', '[n][0]'),
    context: choose('watch', 'hover', 'repl', 'clipboard', 'variables'),
    text: choose('n', 'n.', 'len(', ''),
    column: 1 + (number % 5),
    line: number % 8,
    targetId: number % 8,
    branch: 1 + (number % 3),
    count: 1 + (number % 3),
    state: number,
    source: { path: source },
    breakpoints: [breakpoint],
    filters: choose(['raised'], ['uncaught'], ['doubt'], ['no_such_filter']),
    world: 'recording',
    recording,
    progressId: `prediction-${number}`,
  };
}

/** A response, or an error where none comes. */
async function answered(
  response: Promise<DebugProtocol.Response>,
  command: string,
): Promise<DebugProtocol.Response> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${command} was not answered:\n${client.transcript()}`));
    }, 60_000);
  });
  return Promise.race([response, late]).finally(() => {
    clearTimeout(timer);
  });
}

/** How many processes this one has started that have not ended. */
function childProcesses(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'ProcessWrap').length;
}
