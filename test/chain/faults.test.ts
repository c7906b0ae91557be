import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../adapter/debugger/configuration';
import { openReference } from '../../adapter/debugger/open';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';
import type { State } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { ChatModel } from '../support/chatModel';
import { DapClient } from '../support/dapClient';
import { type FaultName, faultNames, faultOf, FaultyProxy, makeCertificate } from '../support/faultyProxy';

/** Whether every fault is made at every point, instead of a part of both. */
const isFull = process.env['NEURAL_DEBUG_FULL'] === '1';

const source = `def add(total, i):
    # this text is nobody else's: pelican
    total += i
    return total


def f(n):
    total = 0
    for i in range(n):
        total = add(total, i)
    return total
`;

/** How prompts go, or the other format. */
const modes = ['text', 'ids', 'chat'] as const;
type Mode = (typeof modes)[number];

const certificate = makeCertificate();
const secret = 'sk-Fa17s_0nly-in.headers';

let folder = '';
let program = '';
let model: ModelServer;
let chat: ChatModel;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-faults-'));
  program = join(folder, 'sum.py');
  writeFileSync(program, source);
  model = await startModelServer({ port: 0, token: secret, onDivergence: 'inject' });
  const entry = 'f(9)';
  const states: State[] = [];
  const world = await openReference(parseConfiguration({}), { path: program, source, entry, args: [] });
  const trajectory = new Trajectory({ path: program, source, entry, args: [] });
  const { signal } = new AbortController();
  const action = { name: 'step_into' } as const;
  for await (const steps of world.predict({ trajectory, from: -1, action, wanted: 'many', signal })) {
    for (const step of steps) if (step.kind === 'state') states.push(step.state);
  }
  await world.close();
  chat = await ChatModel.start(states);
});

afterAll(async () => {
  await model.close();
  await chat.stop();
  rmSync(folder, { recursive: true });
});

let proxy: FaultyProxy;

async function startProxy(fault: FaultName | null, mode: Mode): Promise<void> {
  proxy = await FaultyProxy.start(
    mode === 'chat' ? chat.url : model.url,
    fault === 'tls' ? certificate : null,
  );
}

afterEach(async () => {
  await proxy.stop();
});

function configuration(mode: Mode, more: object = {}, server: object = {}): object {
  return {
    program,
    entry: 'f(9)',
    stopOnEntry: true,
    world: 'server',
    server: {
      baseUrl: proxy.baseUrl,
      ...(mode === 'chat'
        ? { format: 'chat', model: 'chat' }
        : { mode, model: 'neural-debug-reference-cwm' }),
      timeouts: { firstByte: 1, stall: 0.6 },
      ...server,
    },
    ...more,
  };
}

/** An error as it has to be: it names the server and the cause, has a way out, and repeats nothing secret. */
function expectError(text: string, fault: FaultName): void {
  expect(text).toMatch(faultOf(fault).cause);
  expect(text).toContain(proxy.baseUrl);
  expect(text).toMatch(/[.?)] [A-Z][^]+[.?]$|vllm serve/);
  expect(text).not.toContain('fault of Neural Debug');
  expectNothingTold(text);
}

function expectNothingTold(text: string): void {
  expect(text).not.toContain(secret);
  expect(text).not.toContain('pelican');
}

/** A session over the protocol, in which a request is failed. */
class Session {
  readonly client = new DapClient({
    keyFor: (origin) => Promise.resolve(origin === new URL(proxy.baseUrl).origin ? secret : null),
  });

  constructor(private readonly fault: FaultName) {}

  async launch(args: object): Promise<void> {
    await this.client.ask('initialize', { supportsProgressReporting: true });
    await this.client.ask('launch', args);
    await this.client.event('initialized');
  }

  async begin(lines: readonly number[] = []): Promise<void> {
    const breakpoints = lines.map((line) => ({ line }));
    await this.client.ask('setBreakpoints', { source: { path: program }, breakpoints });
    await this.client.ask('configurationDone');
  }

  /** Where the session stands, as a person sees it. */
  async place(): Promise<unknown> {
    const stack = await this.client.stack();
    return [stack.map(({ name, line }) => [name, line]), await this.client.locals()];
  }

  /** Sends a request that fails while it is predicted: the session stays where it was. */
  async fails(command: string, args: object = { threadId: 1 }): Promise<void> {
    const before = await this.place();
    await this.client.ask(command, args);
    await this.hasFailed();
    expect(await this.place()).toEqual(before);
  }

  async hasFailed(): Promise<void> {
    const { body } = (await this.client.event('stopped')) as DebugProtocol.StoppedEvent;
    expect(body).toMatchObject({ reason: 'pause', description: 'Prediction failed' });
    expectError(body.text ?? '', this.fault);
    expectError(this.told().at(-1) ?? '', this.fault);
  }

  /** The important messages so far. */
  told(): string[] {
    return this.client.messages.flatMap((message) => {
      if (message.type !== 'event' || !('event' in message) || message.event !== 'output') return [];
      const { category, output } = message.body as { category: string; output: string };
      return category === 'important' ? [output.trimEnd()] : [];
    });
  }

  async moves(command: string): Promise<void> {
    const stop = await this.client.move(command);
    expect(stop).not.toMatchObject({ description: 'Prediction failed' });
  }

  /** Ends the session, in which every request was answered and every progress has ended. */
  async end(): Promise<void> {
    await this.client.end();
    const { messages } = this.client;
    const requests = messages.filter(({ type }) => type === 'request');
    const responses = messages.filter(({ type }) => type === 'response');
    expect(responses).toHaveLength(requests.length);
    const progress = (name: string) =>
      messages.flatMap((message) =>
        'event' in message && message.event === name
          ? [(message.body as { progressId: string }).progressId]
          : [],
      );
    expect(progress('progressEnd')).toEqual(progress('progressStart'));
    expectNothingTold(JSON.stringify(messages));
    expect(proxy.strayed).toEqual([]);
  }
}

/** What a person does when a fault is met, and what they find. */
const points = {
  'at the probe': async (fault: FaultName, mode: Mode) => {
    const session = new Session(fault);
    await session.launch(configuration(mode));
    // Nothing was sent yet, and nothing is before the configuration is done.
    expect(proxy.seen).toEqual([]);
    // Only what names a model can miss it.
    proxy.fail(fault, fault === 'model unknown' ? { path: /completions|tokenize/ } : {});
    await session.begin();
    await session.client.event('terminated');
    expectError(session.told().at(-1) ?? '', fault);
    await session.end();
    await proxy.mend();
    const again = new Session(fault);
    await again.launch(configuration(mode));
    await again.begin();
    expect((await again.client.event('stopped')).body).toMatchObject({ reason: 'entry' });
    await again.end();
  },

  'at the start': async (fault: FaultName, mode: Mode) => {
    const session = new Session(fault);
    await session.launch(configuration(mode, { stopOnEntry: false }));
    // The beginning is reached, and what is beyond it is not.
    proxy.fail(fault, { path: /completions/, after: mode === 'chat' ? 1 : 2 });
    await session.begin([10]);
    await session.hasFailed();
    expect((await session.client.stack())[0]).toMatchObject({ name: 'f', line: 8 });
    await proxy.mend();
    await session.moves('continue');
    expect((await session.client.stack())[0]).toMatchObject({ name: 'f', line: 10 });
    await session.end();
  },

  'during a step': async (fault: FaultName, mode: Mode) => {
    const session = new Session(fault);
    await session.launch(configuration(mode));
    await session.begin();
    await session.client.event('stopped');
    proxy.fail(fault);
    await session.fails('next');
    await session.fails('stepIn');
    await proxy.mend();
    await session.moves('next');
    expect(await session.place()).toMatchObject([[['f', 9]], { n: '9', total: '0' }]);
    await session.end();
  },
} satisfies Readonly<Record<string, (fault: FaultName, mode: Mode) => Promise<void>>>;

const all = faultNames.flatMap((fault, row) =>
  Object.keys(points).flatMap((point, column) =>
    modes.map((mode, number) => ({
      fault,
      point: point as keyof typeof points,
      mode,
      isChosen: (row + column) % 3 === 0 && (row + number) % 3 === 0,
    })),
  ),
);

describe('a server that fails', () => {
  for (const { fault, point, mode, isChosen } of all) {
    if (!isFull && !isChosen) continue;
    it.skipIf(fault === 'tls' && !certificate)(`${fault} ${point}, ${mode}`, async () => {
      await startProxy(fault, mode);
      await points[point](fault, mode);
    });
  }
});
