import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfiguration } from '../adapter/debugger/configuration';
import { openDebugger } from '../adapter/debugger/open';

/*
 * The adapter's own time for a step over, from the request to the stop, with more and more states behind it: the
 * server's own time is taken out. It should not grow with the record.
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
  const timed = async (work: () => Promise<unknown>): Promise<void> => {
    const busy = message();
    const begin = performance.now();
    await work();
    const took = performance.now() - begin;
    times.push(took - ((await busy).busy ?? 0));
  };
  await timed(() => session.start(true));
  while (times.length < frames.length - 2) await timed(() => session.forward('next'));

  const window = 1_000;
  const rows = [0, 4_000, 7_900].map((from) => {
    const part = times.slice(from + 1, from + window);
    return { states: from, p50: percentile(part, 0.5), p95: percentile(part, 0.95) };
  });
  console.log('The adapter’s own time for a step over, server time taken out (milliseconds):');
  for (const { states, p50, p95 } of rows) {
    console.log(
      `  with ${String(states).padStart(5)} states behind it: median ${p50.toFixed(2)}, p95 ${p95.toFixed(2)}`,
    );
  }
  console.log(
    `  median, last window over first: ${((rows.at(-1)?.p50 ?? 0) / (rows[0]?.p50 ?? 1)).toFixed(2)}`,
  );
  server.kill();
  await session.close();
  await evaluator.close();
} finally {
  rmSync(folder, { recursive: true });
}
