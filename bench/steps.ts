import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfiguration } from '../adapter/debugger/configuration';
import { openDebugger } from '../adapter/debugger/open';

/*
 * The adapter's own time for a step over, from the request to the stop, with more and more states behind it: the
 * server's own time is taken out. It should not grow with the record. On a machine that others use too, the
 * processor's time tells more than the clock: it counts what the adapter's process did, with the sending of the
 * prompt, and not how long it waited for its turn.
 */

const turns = 4_500;
const source = `def f(n):
    total = 0
    for i in range(n):
        total = total + i
    return total
`;

/** The answers of a perfect model: one frame for each step over. */
function answers(): string[] {
  const frame = (locals: object, line: string) =>
    `<|line_sep|>${JSON.stringify(locals)}<|action_sep|>${line}\n<|frame_sep|>`;
  const frames = [
    `${frame({}, `    return f(${turns})`)}<|call_sep|>{"n": "${turns}"}<|action_sep|>def f(n):\n<|frame_sep|>` +
      frame({ n: '..' }, '    total = 0'),
    frame({ n: '..', total: '0' }, '    for i in range(n):'),
  ];
  for (let i = 0, total = 0; i < turns; i++) {
    frames.push(frame({ n: '..', total: '..', i: `${i}` }, '        total = total + i'));
    total += i;
    frames.push(frame({ n: '..', total: `${total}`, i: '..' }, '    for i in range(n):'));
  }
  return frames;
}

function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

const folder = mkdtempSync(join(tmpdir(), 'neural-debug-bench-'));
try {
  const frames = answers();
  writeFileSync(join(folder, 'frames.json'), JSON.stringify(frames));
  writeFileSync(join(folder, 'program.py'), source);
  const server = fork(new URL('./replayServer.ts', import.meta.url), [join(folder, 'frames.json')], {
    execArgv: process.execArgv,
  });
  const messages: ((message: { port?: number; busy?: number }) => void)[] = [];
  server.on('message', (message) => messages.shift()?.(message as { port?: number; busy?: number }));
  const message = () => new Promise<{ port?: number; busy?: number }>((resolve) => messages.push(resolve));

  const { port } = await message();
  const { debugger: session, evaluator } = await openDebugger(
    parseConfiguration({
      program: join(folder, 'program.py'),
      entry: `f(${turns})`,
      server: { baseUrl: `http://127.0.0.1:${port}/v1`, model: 'replay', profile: 'generic' },
    }),
    () => Promise.resolve(null),
  );
  const times: number[] = [];
  const processorTimes: number[] = [];
  const timed = async (work: () => Promise<unknown>): Promise<void> => {
    const busy = message();
    const used = process.cpuUsage();
    const begin = performance.now();
    await work();
    const took = performance.now() - begin;
    const { user, system } = process.cpuUsage(used);
    processorTimes.push((user + system) / 1000);
    times.push(took - ((await busy).busy ?? 0));
  };
  await timed(() => session.start(true));
  while (times.length < frames.length - 2) await timed(() => session.forward('next'));

  const window = 1_000;
  console.log('The adapter’s own time for a step over (milliseconds): by the clock, server time taken out;');
  console.log('in brackets that of the processor.');
  const medians = [0, 4_000, 7_900].map((from) => {
    const [clock, processor] = [times, processorTimes].map((all) => all.slice(from + 1, from + window));
    const shown = (share: number) =>
      `${percentile(clock ?? [], share).toFixed(2)} (${percentile(processor ?? [], share).toFixed(2)})`;
    console.log(
      `  with ${String(from).padStart(5)} states behind it: median ${shown(0.5)}, p95 ${shown(0.95)}`,
    );
    return percentile(processor ?? [], 0.5);
  });
  const [first = 1, last = 0] = [medians[0], medians.at(-1)];
  console.log(`  median of the processor’s time, last window over first: ${(last / first).toFixed(2)}`);
  server.kill();
  await session.close();
  await evaluator.close();
} finally {
  rmSync(folder, { recursive: true });
}
