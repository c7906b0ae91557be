import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DebugClient } from '@vscode/debugadapter-testsupport';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { describe, expect, it } from 'vitest';
import type { ForwardRequest as Forward } from '../../adapter/debugger/stepping';
import { play } from '../support/sessions';

/*
 * Sessions beside debugpy: the same program, the same requests, the same stops, but for the differences that are
 * listed with their reasons. Opt-in: set NEURAL_DEBUG_DEBUGPY to a python that has debugpy, such as /usr/bin/python3
 * after installing Debian's python3-debugpy.
 */

const python = process.env['NEURAL_DEBUG_DEBUGPY'];
const folder = fileURLToPath(new URL('../cases/', import.meta.url));

/** A stop of either debugger: where, or the end. */
type Place = string;

async function playDebugpy(program: string, breakpoints: readonly number[], requests: readonly Forward[]) {
  const adapter = execFileSync(python ?? '', ['-c', 'import debugpy; print(debugpy.__file__)'], {
    encoding: 'utf8',
  });
  const client = new DebugClient(python ?? '', join(dirname(adapter.trim()), 'adapter'), 'debugpy');
  await client.start();
  const places: Place[] = [];
  try {
    const ended = client.waitForEvent('terminated', 20_000).then(() => 'end' as const);
    const stopped = async () => Promise.race([client.waitForEvent('stopped', 20_000), ended]);
    const see = async (event: DebugProtocol.Event | 'end'): Promise<number | null> => {
      if (event === 'end') {
        places.push('end');
        return null;
      }
      const { threadId } = (event as DebugProtocol.StoppedEvent).body;
      const { body } = await client.stackTraceRequest({ threadId: threadId ?? 1 });
      places.push(`${body.stackFrames[0]?.name}:${body.stackFrames[0]?.line}`);
      return threadId ?? 1;
    };
    await client.initializeRequest({ adapterID: 'debugpy', pathFormat: 'path', linesStartAt1: true });
    const first = stopped();
    const launched = client.launchRequest({
      program,
      console: 'internalConsole',
      justMyCode: true,
    } as object);
    await client.waitForEvent('initialized', 20_000);
    await client.setBreakpointsRequest({
      source: { path: program },
      breakpoints: breakpoints.map((line) => ({ line })),
    });
    await client.setExceptionBreakpointsRequest({ filters: [] });
    await client.configurationDoneRequest();
    await launched;
    let threadId = await see(await first);
    for (const request of requests) {
      if (threadId === null) break;
      const next = stopped();
      if (request === 'next') await client.nextRequest({ threadId });
      else if (request === 'stepIn') await client.stepInRequest({ threadId });
      else if (request === 'stepOut') await client.stepOutRequest({ threadId });
      else await client.continueRequest({ threadId });
      threadId = await see(await next);
    }
  } finally {
    await client.stop();
  }
  return places;
}

async function playOurs(program: string, breakpoints: readonly number[], requests: readonly Forward[]) {
  const stops = await play({ program, world: 'reference' }, { breakpoints, requests, stopOnEntry: false });
  return stops.map(({ reason, event, function: name, line }) => {
    return reason === 'end' || event === 'return' ? 'end' : `${name}:${line}`;
  });
}

interface Session {
  readonly name: string;
  readonly breakpoints: readonly number[];
  readonly requests: readonly Forward[];
  /** Where ours stops instead, and why. */
  readonly differs?: { readonly ours: readonly Place[]; readonly reason: string };
}

const afterTheCall =
  'Leaving a function, debugpy stops on the line of the call once more; ours goes on to the line that follows, ' +
  'and shows what was returned.';

const sessions: Session[] = [
  { name: '01-genexpr-next', breakpoints: [5], requests: ['next', 'next'] },
  { name: '06-with-exit-line', breakpoints: [10], requests: ['next', 'next'] },
  { name: '08-finally-return', breakpoints: [3], requests: ['next', 'next', 'next'] },
  { name: '09-del-and-except-name', breakpoints: [6], requests: ['next', 'next', 'next', 'next'] },
  { name: '11-condition-error', breakpoints: [4], requests: ['continue', 'next', 'next', 'continue'] },
  { name: '12-breakable-lines', breakpoints: [12], requests: ['next', 'next', 'next'] },
  { name: '14-decorator-order', breakpoints: [16], requests: ['stepIn', 'stepIn', 'stepIn'] },
  { name: '15-lambda-one-line', breakpoints: [2], requests: ['next', 'next'] },
  { name: '21-last-line-effect', breakpoints: [3], requests: ['next', 'next', 'next', 'next'] },
  { name: '22-closure-nonlocal', breakpoints: [10], requests: ['stepIn', 'next', 'next', 'next'] },
  {
    name: '22-closure-nonlocal',
    breakpoints: [8],
    requests: ['stepOut', 'next', 'continue'],
    differs: { ours: ['bump:8', 'counter:11', 'counter:12', 'bump:8'], reason: afterTheCall },
  },
  { name: '31-recursion-step-over', breakpoints: [8], requests: ['stepIn', 'next', 'next', 'next'] },
  {
    name: '31-recursion-step-over',
    breakpoints: [3],
    requests: ['stepOut', 'stepOut', 'stepOut', 'stepOut'],
    differs: { ours: ['fact:3', 'fact:5', 'fact:5', 'fact:5', 'run:9'], reason: afterTheCall },
  },
  { name: '31-recursion-step-over', breakpoints: [4], requests: ['continue', 'continue', 'next'] },
  {
    name: '36-loop-else-finally',
    breakpoints: [4],
    requests: ['next', 'next', 'next', 'next', 'next', 'next'],
  },
  {
    name: '37-same-line-statements',
    breakpoints: [2],
    requests: ['next', 'next', 'next', 'next', 'next', 'next'],
  },
  { name: '39-exception-group', breakpoints: [4], requests: ['next', 'next', 'next'] },
  { name: '41-implicit-dunder-calls', breakpoints: [16], requests: ['next', 'next', 'next'] },
  { name: '44-float-and-order', breakpoints: [3], requests: ['next', 'next', 'continue'] },
];

describe('beside debugpy', () => {
  it.skipIf(python)('skipped: NEURAL_DEBUG_DEBUGPY names no python with debugpy', () => undefined);
  it.skipIf(!python).each(sessions)('$name from $breakpoints by $requests', async (session) => {
    const { name, breakpoints, requests, differs } = session;
    const program = join(folder, `${name}.py`);
    const theirs = await playDebugpy(program, breakpoints, requests);
    const ours = await playOurs(program, breakpoints, requests);
    expect(ours).toEqual(differs?.ours ?? theirs);
    // A difference that is gone need not be listed any longer.
    if (differs) expect(theirs, differs.reason).not.toEqual(differs.ours);
  });
});
