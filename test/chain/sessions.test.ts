import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EvaluatedProgram, readPrograms } from '../../adapter/evaluation/programs';
import { seededRandom } from '../../adapter/evaluation/statistics';
import { startModelServer } from '../../adapter/modelServer/server';
import { DapClient } from '../support/dapClient';

/*
 * Scripted sessions over DAP: the same commands against our server, through HTTP, and against a real run. A sample
 * of them by default; NEURAL_DEBUG_SESSIONS=N plays N of them in every mode (200 is the full set).
 */

const wanted = Number(process.env['NEURAL_DEBUG_SESSIONS'] ?? '0');
const count = wanted > 0 ? wanted : 8;
const modes = ['text', 'ids'] as const;
/** How many commands a session has after its first stop. */
const commands = 10;

const cases = fileURLToPath(new URL('../cases/', import.meta.url));
const data = fileURLToPath(new URL('../../../shared/data/', import.meta.url));
/** Several threads are no part of the format. */
const leftOut = new Set(['32-threads.py']);

let server: Awaited<ReturnType<typeof startModelServer>>;
let folder = '';
let programs: readonly (readonly EvaluatedProgram[])[] = [];
beforeAll(async () => {
  server = await startModelServer({ port: 0 });
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-sessions-'));
  const scripts = readdirSync(cases).filter((name) => name.endsWith('.py') && !leftOut.has(name));
  const sets = ['quixbugs', 'thealgorithms']
    .map((name) => join(data, name))
    .filter((path) => existsSync(path));
  programs = await Promise.all([
    readPrograms(scripts.map((name) => join(cases, name))),
    ...sets.map((path) => readPrograms([path])),
  ]);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** What a session shows after a command, as far as the format carries it. */
interface Seen {
  readonly command: string;
  readonly message: string;
  readonly stop: string;
  readonly stack: readonly string[];
  readonly locals: Readonly<Record<string, string>>;
}

interface Played {
  readonly seen: readonly Seen[];
  readonly isScript: boolean;
  /** Whether a budget ended it: what it had come to then depends on how its states arrived. */
  readonly isCut: boolean;
}

type Body<Response extends DebugProtocol.Response> = Response['body'];

/** Plays the session of a seed. */
async function play(
  seed: number,
  { program }: EvaluatedProgram,
  launch: object,
  token: string | null,
): Promise<Played> {
  const random = seededRandom(seed);
  const choose = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const path = join(folder, `${seed}.py`);
  writeFileSync(path, program.source);
  const lines = program.source.split('\n').length;
  const client = new DapClient({ keyFor: () => Promise.resolve(token) });
  const seen: Seen[] = [];
  let names: readonly string[] = [];
  const now = { isOver: false, isCut: false, hasLocals: false };

  const stopAfter = async (from: number): Promise<string> => {
    for (let waited = 0; waited < 30_000; waited += 5) {
      for (const message of client.messages.slice(from)) {
        if (message.type !== 'event') continue;
        const { event, body } = message as DebugProtocol.StoppedEvent;
        if (event === 'terminated') {
          now.isOver = true;
          return 'terminated';
        }
        if (event !== 'stopped') continue;
        const { reason, description = '' } = body;
        now.isCut = description.includes('budget');
        // Returns, exceptions and ends carry no locals.
        now.hasLocals = reason !== 'exception' && reason !== 'pause' && !description.includes('returned');
        return reason;
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`No stop came:\n${client.transcript()}`);
  };
  const look = async (command: string, message: string, stop: string): Promise<void> => {
    const stack = now.isOver ? [] : await client.stack().catch(() => []);
    const top = stack[0];
    const locals: Record<string, string> = {};
    if (top && now.hasLocals) {
      const { scopes } = await client.ask<Body<DebugProtocol.ScopesResponse>>('scopes', { frameId: top.id });
      const { variables } = await client.ask<Body<DebugProtocol.VariablesResponse>>('variables', {
        variablesReference: scopes[0]?.variablesReference,
      });
      for (const { name, value, presentationHint } of variables) {
        if (presentationHint?.kind !== 'virtual') locals[name] = value;
      }
    }
    // Of a script's own names the format carries some only.
    names = program.entry === null ? [] : Object.keys(locals);
    seen.push({ command, message, stop, stack: stack.map(({ name, line }) => `${name}:${line}`), locals });
  };
  const move = async (command: string): Promise<void> => {
    const from = client.messages.length;
    const response = await client.request(command, { threadId: 1 });
    await look(command, response.message ?? '', response.success ? await stopAfter(from) : 'refused');
  };

  const hasEnded = (): boolean => now.isOver || now.isCut;

  try {
    await client.launch({ program: path, entry: program.entry, stopOnEntry: true, ...launch });
    const from = client.messages.length;
    await client.ask('setExceptionBreakpoints', {
      filters: random() < 0.3 ? ['raised', 'uncaught'] : ['uncaught'],
    });
    await client.ask('configurationDone');
    await look('start', '', await stopAfter(from));
    for (let done = 0; done < commands; done++) {
      if (hasEnded()) break;
      const what = choose([
        'next',
        'next',
        'stepIn',
        'stepIn',
        'stepOut',
        'continue',
        'stepBack',
        'reverseContinue',
        'breakpoints',
        'evaluate',
      ]);
      if (what === 'breakpoints') {
        const breakpoints = Array.from({ length: 3 }, () => ({
          line: 1 + Math.floor(random() * lines),
          ...(random() < 0.4
            ? { condition: choose(['True', 'len(str(1)) == 2', '1 / 0', 'no_such_name > 1']) }
            : {}),
        }));
        const response = await client.request('setBreakpoints', { source: { path }, breakpoints });
        const { breakpoints: set = [] } = (response.body ?? {}) as Partial<
          Body<DebugProtocol.SetBreakpointsResponse>
        >;
        seen.push({
          command: what,
          message: set.map(({ line, verified }) => `${line ?? 0}${verified ? '' : '?'}`).join(),
          stop: '',
          stack: [],
          locals: {},
        });
      } else if (what === 'evaluate') {
        const frame = (await client.stack().catch(() => []))[0];
        const name = seenName(names, random());
        const expression = choose([
          name,
          `[${name}, ${name}]`,
          `${name} == ${name}`,
          `type(${name})`,
          'sum(range(4))',
          '1 / 0',
        ]);
        const response = await client.request('evaluate', {
          expression,
          frameId: frame?.id,
          context: 'watch',
        });
        const { result = '' } = (response.body ?? {}) as Partial<Body<DebugProtocol.EvaluateResponse>>;
        seen.push({
          command: `evaluate ${expression}`,
          message: response.message ?? result,
          stop: '',
          stack: [],
          locals: {},
        });
      } else if (what) {
        await move(what);
      }
    }
    const { isCut } = now;
    return { seen: isCut ? seen.slice(0, -1) : seen, isScript: program.entry === null, isCut };
  } finally {
    await client.end();
  }
}

/** A name that both worlds know: chosen by its place among all that are carried. */
function seenName(names: readonly string[], share: number): string {
  const carried = names.filter((name) => /^[a-z]\w*$/.test(name)).sort();
  return carried[Math.floor(share * carried.length)] ?? 'None';
}

describe.each(modes)('scripted sessions over DAP in %s mode, as in a real run', (mode) => {
  it.skipIf(existsSync(data))(
    'without QuixBugs and TheAlgorithms: ../shared/data is not there',
    () => undefined,
  );
  // Each mode plays its own half of a sample, and all of a full set.
  const seeds = Array.from({ length: count }, (_, index) => index + 1).filter(
    (seed) => wanted > 0 || seed % 2 === modes.indexOf(mode),
  );
  it.each(seeds)('session %i', { timeout: 120_000 }, async (seed) => {
    const set = programs[seed % programs.length] ?? [];
    const program = set[Math.floor(seededRandom(seed + 1_000)() * set.length)];
    if (!program) throw new Error('There is no program.');
    const real = await play(seed, program, { world: 'reference' }, null);
    const before = server.requests();
    const launch = { server: { baseUrl: server.url, format: 'cwm', mode } };
    const predicted = await play(seed, program, launch, server.token);
    expect(server.requests()).toBeGreaterThan(before);
    // Of a script's own names the format carries some only.
    const seen = real.seen.map((one, index) => {
      const carried = predicted.seen[index]?.locals ?? {};
      const isModule = one.stack.length === 1 && real.isScript;
      const locals = Object.entries(one.locals).filter(([name]) => !isModule || name in carried);
      return { ...one, locals: Object.fromEntries(locals) };
    });
    const both = real.isCut || predicted.isCut ? Math.min(seen.length, predicted.seen.length) : Infinity;
    expect(predicted.seen.slice(0, both), `${program.id} ${program.program.entry ?? ''}`).toEqual(
      seen.slice(0, both),
    );
    expect(predicted.seen.length + Number(predicted.isCut)).toBeGreaterThan(0);
  });
});
