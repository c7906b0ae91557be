import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
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

it('whatever the order of requests, each is answered once and the adapter lives', async () => {
  const moves = ['next', 'stepIn', 'stepOut', 'continue', 'stepBack', 'reverseContinue', 'pause', 'restart'];
  const looks = [
    'threads',
    'stackTrace',
    'scopes',
    'variables',
    'evaluate',
    'exceptionInfo',
    'loadedSources',
  ];
  const setUp = [
    'initialize',
    'launch',
    'setBreakpoints',
    'setExceptionBreakpoints',
    'configurationDone',
    'cancel',
  ];
  const request = fc.record({
    command: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...moves) },
      { weight: 3, arbitrary: fc.constantFrom(...looks) },
      { weight: 3, arbitrary: fc.constantFrom(...setUp) },
      { weight: 1, arbitrary: fc.constantFrom('terminate', 'disconnect', 'nonsense') },
    ),
    // Either all that a request may want, or something else.
    args: fc.oneof(
      { weight: 4, arbitrary: fc.nat(30).map((number) => fullArguments(number)) },
      { weight: 1, arbitrary: fc.constantFrom(undefined, {}, { threadId: 'x' }, { source: null }) },
    ),
    waits: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(request, { maxLength: 30 }), async (isStarted, requests) => {
      client = new DapClient();
      if (isStarted) {
        await client.launch({ world: 'recording', recording, stopOnEntry: true });
        await client.start(path, [4]);
      }
      const responses = [];
      for (const { command, args, waits } of requests) {
        const response = client.request(command, args);
        if (waits) await response;
        responses.push(response);
      }
      await Promise.all(responses);
      const answered = client.messages.filter(({ type }) => type === 'response').length;
      const asked = client.messages.filter(({ type }) => type === 'request').length;
      expect(answered).toBe(asked);
      expect((await client.request('disconnect')).success).toBe(true);
      client.session.dispose();
    }),
    { numRuns: 100 },
  );
});

function fullArguments(number: number): object {
  return {
    threadId: 1,
    frameId: number,
    variablesReference: number,
    expression: 'n',
    source: { path },
    breakpoints: [{ line: number }],
    filters: ['raised'],
    world: 'recording',
    recording,
    progressId: `prediction-${number}`,
  };
}
