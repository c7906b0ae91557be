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

type Server = Awaited<ReturnType<typeof startModelServer>>;
/** Takes a history only where it is what the program does. */
let strict: Server;
/** Follows what was changed in a history. */
let following: Server;
let folder = '';
let programs: readonly (readonly EvaluatedProgram[])[] = [];
beforeAll(async () => {
  strict = await startModelServer({ port: 0 });
  following = await startModelServer({ port: 0, onDivergence: 'inject' });
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
  await strict.close();
  await following.close();
  rmSync(folder, { recursive: true });
});

/** What a session shows after a command, as far as the format carries it. */
interface Seen {
  readonly command: string;
  readonly message: string;
  /** Why it stopped, and what was told about that. */
  readonly stop: string;
  /** What log points wrote on the way. */
  readonly logged: readonly string[];
  readonly stack: readonly string[];
  readonly locals: Readonly<Record<string, string>>;
}

interface Played {
  readonly seen: readonly Seen[];
  readonly isScript: boolean;
  /** Whether a budget ended it: what it had come to then depends on how its states arrived. */
  readonly isCut: boolean;
  /** How many commands can be compared: those before one for whose outcome the format lacks something. */
  readonly comparable: number;
}

type Body<Response extends DebugProtocol.Response> = Response['body'];

const ordinary = [
  'next',
  'next',
  'next',
  'stepIn',
  'stepIn',
  'stepIn',
  'stepOut',
  'continue',
  'continue',
  'stepBack',
  'reverseContinue',
  'breakpoints',
  'functions',
  'data',
  'evaluate',
  'restartFrame',
];
/** Commands that make the program another one. */
const changing = ['setExpression', 'setExpression', 'goto', 'neuralDebug/switchBranch'];

/** What a stop says, without whether it is real and how sure it is, which makes long ones be cut elsewhere. */
function told(description: string): string {
  return description
    .replace(/^(Predicted|Real run): /, '')
    .replace(/, (?:path )?[<>]?\d+%(?: sure)?/g, '')
    .replace(/\. Doubtful: .*$/, '')
    .slice(0, 400);
}

/** What log points wrote after a message. */
function loggedSince(client: DapClient, from: number): string[] {
  return client.messages.slice(from).flatMap((message) => {
    if (message.type !== 'event') return [];
    const { event, body } = message as DebugProtocol.OutputEvent;
    return event === 'output' && body.line !== undefined
      ? [`${body.line}: ${body.output.replace(/^predicted: /, '')}`]
      : [];
  });
}

/**
 * Plays the session of a seed.
 *
 * @param changes whether it also changes values and jumps
 */
async function play(
  seed: number,
  { program }: EvaluatedProgram,
  launch: object,
  token: string | null,
  changes: boolean,
): Promise<Played> {
  const random = seededRandom(seed);
  const choose = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const path = join(folder, `${seed}.py`);
  writeFileSync(path, program.source);
  const lines = program.source.split('\n').length;
  const functions = [...program.source.matchAll(/^ *def (\w+)/gm)].map(([, name = '']) => name);
  const client = new DapClient({ keyFor: () => Promise.resolve(token) });
  const seen: Seen[] = [];
  let names: readonly string[] = [];
  let comparable = Infinity;
  const now = { isOver: false, isCut: false };

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
        const { reason, description = '', hitBreakpointIds = [] } = body;
        now.isCut = description.includes('budget');
        return `${reason} (${told(description)}) ${hitBreakpointIds.join()}`.trim();
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`No stop came:\n${client.transcript()}`);
  };
  const look = async (command: string, message: string, stop: string, from: number): Promise<void> => {
    const stack = now.isOver ? [] : await client.stack().catch(() => []);
    const top = stack[0];
    const locals: Record<string, string> = {};
    const event = top && (await eventOf(top));
    // Returns and exceptions carry no locals.
    const hasLocals = event === 'line' || event === 'call';
    if (!hasLocals && stop.startsWith('data breakpoint')) comparable = Math.min(comparable, seen.length);
    if (top && hasLocals) {
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
    seen.push({
      command,
      message,
      stop,
      logged: loggedSince(client, from),
      stack: stack.map(({ name, line }) => `${name}:${line}`),
      locals,
    });
  };
  const eventOf = async ({ id }: DebugProtocol.StackFrame): Promise<string> => {
    const { node } = await client.ask<{ node: { event: string } }>('neuralDebug/treeNode', { state: id - 1 });
    return node.event;
  };
  const move = async (command: string, args: object = { threadId: 1 }): Promise<void> => {
    const from = client.messages.length;
    const response = await client.request(command, args);
    const stop = response.success ? await stopAfter(from) : 'refused';
    const shown = `${command} ${command.startsWith('set') ? JSON.stringify(args) : ''}`.trim();
    await look(shown, response.message ?? '', stop, from);
  };
  /** An answer that moves nothing. */
  const tell = (command: string, message: string): void => {
    seen.push({ command, message, stop: '', logged: [], stack: [], locals: {} });
  };
  /** What was set, and whether it can be where it was asked. */
  const tellSet = (command: string, { body }: DebugProtocol.Response): void => {
    const { breakpoints = [] } = (body ?? {}) as Partial<Body<DebugProtocol.SetBreakpointsResponse>>;
    tell(command, breakpoints.map(({ line, verified }) => `${line ?? 0}${verified ? '' : '?'}`).join());
  };

  const hasEnded = (): boolean => now.isOver || now.isCut;
  /** Whether a place can be changed the format and Python decide for reasons of their own. */
  const leaveWhereRefused = (): void => {
    const last = seen.at(-1);
    if (last?.stop === 'refused' || last?.message === 'refused')
      comparable = Math.min(comparable, seen.length - 1);
  };

  try {
    await client.launch({ program: path, entry: program.entry, stopOnEntry: true, ...launch });
    const from = client.messages.length;
    await client.ask('setExceptionBreakpoints', {
      filters: random() < 0.3 ? ['raised', 'uncaught'] : ['uncaught'],
    });
    await client.ask('configurationDone');
    await look('start', '', await stopAfter(from), from);
    for (let done = 0; done < commands; done++) {
      if (hasEnded()) break;
      const what = choose(changes ? [...ordinary, ...changing] : ordinary);
      const name = seenName(names, random());
      if (what === 'breakpoints') {
        const breakpoints = Array.from({ length: 3 }, () => ({
          line: 1 + Math.floor(random() * lines),
          ...(random() < 0.6
            ? choose([
                { condition: choose(['True', 'len(str(1)) == 2', '1 / 0', 'no_such_name > 1']) },
                { condition: `${name} == ${name}`, hitCondition: '2' },
                { hitCondition: choose(['2', '>=3', '%2', 'often']) },
                { logMessage: `{len("ab")} and {${name}} {{}}` },
                { logMessage: 'here', condition: `bool(${name})` },
              ])
            : {}),
        }));
        tellSet(what, await client.request('setBreakpoints', { source: { path }, breakpoints }));
      } else if (what === 'functions') {
        const breakpoints = [
          { name: choose(functions) ?? 'no_such_function', ...choose([{}, { hitCondition: '2' }]) },
        ];
        tellSet(what, await client.request('setFunctionBreakpoints', { breakpoints }));
      } else if (what === 'data') {
        const frame = (await client.stack().catch(() => []))[0];
        const info = await client.request('dataBreakpointInfo', { frameId: frame?.id, name });
        const { dataId, description = '' } = (info.body ?? {}) as Partial<
          Body<DebugProtocol.DataBreakpointInfoResponse>
        >;
        tell(`data ${name}`, info.message ?? description);
        const breakpoints = typeof dataId === 'string' ? [{ dataId }] : [];
        tellSet(what, await client.request('setDataBreakpoints', { breakpoints }));
      } else if (what === 'evaluate') {
        const frame = (await client.stack().catch(() => []))[0];
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
        tell(`evaluate ${expression}`, response.message ?? result);
      } else if (what === 'restartFrame') {
        const stack = await client.stack().catch(() => []);
        const frame = stack[Math.floor(random() * stack.length)];
        await move(what, { frameId: frame?.id ?? -1 });
      } else if (what === 'setExpression') {
        await move(what, {
          expression: name,
          value: choose(['0', '1', '7', '[3, 1]', "'ab'", 'None', '()']),
        });
        leaveWhereRefused();
      } else if (what === 'goto') {
        const line = 1 + Math.floor(random() * lines);
        const answer = await client.request('gotoTargets', { source: { path }, line });
        const { targets = [] } = (answer.body ?? {}) as Partial<Body<DebugProtocol.GotoTargetsResponse>>;
        tell(
          `gotoTargets ${line}`,
          answer.success ? targets.map((target) => target.label).join() : 'refused',
        );
        const [target] = targets;
        if (target) await move(what, { threadId: 1, targetId: target.id });
        leaveWhereRefused();
      } else if (what === 'neuralDebug/switchBranch') {
        await move(what, { branch: 1 + Math.floor(random() * 2) });
      } else if (what) {
        await move(what);
      }
    }
    const { isCut } = now;
    return { seen: isCut ? seen.slice(0, -1) : seen, isScript: program.entry === null, isCut, comparable };
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
    // A history with changes in it is taken by the server that follows them; the other one finds every fault of ours.
    const changes = seed % 3 === 0;
    const server = changes ? following : strict;
    const budget = changes ? { budget: { states: 2_000 } } : {};
    const real = await play(seed, program, { world: 'reference', ...budget }, null, changes);
    const before = server.requests();
    const launch = { server: { baseUrl: server.url, format: 'cwm', mode }, ...budget };
    const predicted = await play(seed, program, launch, server.token, changes);
    expect(server.requests()).toBeGreaterThan(before);
    // Of a script's own names the format carries some only.
    const seen = real.seen.map((one, index) => {
      const carried = predicted.seen[index]?.locals ?? {};
      const isModule = one.stack.length === 1 && real.isScript;
      const locals = Object.entries(one.locals).filter(([name]) => !isModule || name in carried);
      return { ...one, locals: Object.fromEntries(locals) };
    });
    const both = Math.min(
      real.isCut || predicted.isCut ? Math.min(seen.length, predicted.seen.length) : Infinity,
      real.comparable,
      predicted.comparable,
    );
    expect(predicted.seen.slice(0, both), `${program.id} ${program.program.entry ?? ''}`).toEqual(
      seen.slice(0, both),
    );
    expect(predicted.seen.length + Number(predicted.isCut)).toBeGreaterThan(0);
  });
});
