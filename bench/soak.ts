import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { seededRandom } from '../adapter/evaluation/statistics';
import { NeuralDebugSession } from '../adapter/dap/session';

/*
 * Long sessions over DAP: steps over, into, out and back, each followed by what an editor asks at a stop. What must
 * not grow is the time of a step and what a state takes; what must be gone at the end are processes, timers and
 * connections.
 *
 *   npm run soak -- [--steps 100000] [--server-steps 2000]
 */

const { values: options } = parseArgs({
  options: {
    steps: { type: 'string', default: '100000' },
    'server-steps': { type: 'string', default: '2000' },
  },
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Goes on for ever: calls, a list that is cut short, an object, an exception that is caught. */
const source = `class Counter:
    def __init__(self):
        self.seen = 0

    def count(self, item):
        self.seen = self.seen + 1
        return item * self.seen


def half(n):
    if n % 5 == 0:
        raise ValueError(n)
    return n // 2


def turn(counter, i):
    items = [n * i for n in range(3)]
    total = 0
    for item in items:
        total = total + counter.count(item)
    try:
        total = half(total)
    except ValueError as error:
        total = -1
    return total


def main():
    counter = Counter()
    last = []
    i = 0
    while True:
        last.append(turn(counter, i))
        last = last[-8:]
        i = i + 1
`;

/** A client that keeps nothing of the conversation. */
class Editor {
  readonly #session: NeuralDebugSession;
  readonly #responses = new Map<number, (response: DebugProtocol.Response) => void>();
  readonly #events = new Map<string, (body: unknown) => void>();
  #sequence = 1;

  constructor(key: string | null) {
    this.#session = new NeuralDebugSession({ keyFor: () => Promise.resolve(key) });
    this.#session.onDidSendMessage((message) => {
      const sent = message as DebugProtocol.Response | DebugProtocol.Event;
      if ('request_seq' in sent) {
        this.#responses.get(sent.request_seq)?.(sent);
        this.#responses.delete(sent.request_seq);
      } else {
        this.#events.get(sent.event)?.(sent.body);
      }
    });
  }

  async ask<Body>(command: string, args: object = {}): Promise<Body> {
    const seq = this.#sequence++;
    const response = new Promise<DebugProtocol.Response>((resolve) => this.#responses.set(seq, resolve));
    const request: DebugProtocol.Request = { seq, type: 'request', command, arguments: args };
    this.#session.handleMessage(request);
    const answer = await response;
    if (!answer.success) throw new Error(`${command}: ${answer.message ?? ''}`);
    return answer.body as Body;
  }

  event(name: string): Promise<unknown> {
    return new Promise((resolve) => this.#events.set(name, resolve));
  }

  /** A request that moves, and the stop that it leads to. */
  async move(command: string): Promise<void> {
    const stopped = this.event('stopped');
    await this.ask(command, { threadId: 1 });
    const { description } = (await stopped) as DebugProtocol.StoppedEvent['body'];
    if (description?.includes('failed') === true) throw new Error(`${command}: ${description}`);
  }
}

interface Sample {
  readonly states: number;
  readonly bytes: number;
}

/** Plays one session, and tells what it took. */
async function soak(
  name: string,
  launch: object,
  steps: number,
  { key = null, recordTo }: { key?: string | null; recordTo?: string } = {},
): Promise<void> {
  collectGarbage();
  const before = process.getActiveResourcesInfo().sort().join();
  const editor = new Editor(key);
  const initialized = editor.event('initialized');
  await editor.ask('initialize', { linesStartAt1: true, columnsStartAt1: true });
  await editor.ask('launch', { stopOnEntry: true, ...launch });
  await initialized;
  const entered = editor.event('stopped');
  await editor.ask('configurationDone');
  await entered;

  const random = seededRandom(1);
  const tenth = Math.max(1, Math.floor(steps / 10));
  const times: number[] = [];
  const samples: Sample[] = [];
  /** The processor's milliseconds a step, for each tenth: what other programs do at the time is not in it. */
  const busy: number[] = [];
  let used = process.cpuUsage();
  const look = async (): Promise<number> => {
    const { stackFrames } = await editor.ask<DebugProtocol.StackTraceResponse['body']>('stackTrace', {
      threadId: 1,
    });
    const [top] = stackFrames;
    const { scopes } = await editor.ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: top?.id });
    for (const { variablesReference } of scopes) await editor.ask('variables', { variablesReference });
    return stackFrames.length;
  };
  let newest = 0;
  let depth = await look();
  for (let step = 0; step < steps; step++) {
    const draw = random();
    // Out of the loop that never ends no step leads.
    const command =
      draw < 0.35 ? 'next' : draw < 0.75 ? 'stepIn' : draw < 0.85 && depth > 1 ? 'stepOut' : 'stepBack';
    const begin = performance.now();
    await editor.move(command);
    depth = await look();
    times.push(performance.now() - begin);
    if (step % 500 === 0) await editor.ask('evaluate', { expression: '1 + 1', context: 'watch' });
    if ((step + 1) % tenth === 0) {
      const { user, system } = process.cpuUsage(used);
      busy.push((user + system) / 1_000 / tenth);
      newest = (await newestState(editor)) + 1;
      collectGarbage();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      samples.push({ states: newest, bytes: heapUsed + arrayBuffers });
      used = process.cpuUsage();
    }
  }
  if (recordTo !== undefined) await editor.ask('neuralDebug/recording', { path: recordTo });
  const ended = editor.event('terminated');
  await editor.ask('disconnect');
  await ended;
  // What has been told to end needs a moment to do so.
  let after = '';
  for (let waited = 0; waited < 100; waited++) {
    after = process.getActiveResourcesInfo().sort().join();
    if (after === before) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }

  const medians = Array.from({ length: 10 }, (_, part) =>
    median(times.slice(part * tenth, (part + 1) * tenth)),
  );
  const [first, last] = [samples[0], samples.at(-1)];
  const bytes = first && last ? (last.bytes - first.bytes) / (last.states - first.states) : NaN;
  console.log(`${name}: ${steps} steps, ${newest} states`);
  console.log(`  bytes a state: ${bytes.toFixed(0)}`);
  console.log(`  milliseconds a step, median of each tenth: ${medians.map(shown).join(' ')}`);
  console.log(`  processor time of a step, milliseconds: ${busy.map(shown).join(' ')}`);
  console.log(`  last tenth over first: median ${ratio(medians)}, processor time ${ratio(busy)}`);
  console.log(`  left at the end: ${after === before ? 'nothing' : `${after} (before: ${before})`}`);
  if (after !== before) process.exitCode = 1;
}

/** The newest state that is recorded. */
async function newestState(editor: Editor): Promise<number> {
  const { states } = await editor.ask<{ states: number }>('neuralDebug/recording', {
    path: join(folder, 'now'),
  });
  return states - 1;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

function shown(number: number): string {
  return number.toFixed(2);
}

function ratio(numbers: readonly number[]): string {
  return ((numbers.at(-1) ?? NaN) / (numbers[0] ?? NaN)).toFixed(2);
}

const folder = mkdtempSync(join(tmpdir(), 'neural-debug-soak-'));
try {
  const program = join(folder, 'program.py');
  writeFileSync(program, source);
  const recording = join(folder, 'long.jsonl');
  const steps = Number(options.steps);
  const own = { program, entry: 'main()' };
  await soak('a real run', { ...own, world: 'reference' }, steps, { recordTo: recording });
  await soak('its recording', { world: 'recording', recording }, steps);

  const server = fork(new URL('./soakServer.ts', import.meta.url), { execArgv: process.execArgv });
  const { url, token } = await new Promise<{ url: string; token: string }>((resolve) => {
    server.once('message', (message) => {
      resolve(message as { url: string; token: string });
    });
  });
  try {
    const model = { baseUrl: url, format: 'cwm', context: 16_384 };
    await soak('our model server', { ...own, server: model }, Number(options['server-steps']), {
      key: token,
    });
  } finally {
    server.kill();
  }
} finally {
  rmSync(folder, { recursive: true });
}
