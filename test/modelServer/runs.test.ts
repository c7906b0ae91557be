import { describe, expect, it } from 'vitest';
import { Runs } from '../../adapter/modelServer/runs';
import type { TraceFrame } from '../../adapter/modelServer/traceFrame';

/** Runs of numbers: a job of n makes one frame of n characters. */
function numberRuns(limits: { runs: number; bytes: number }) {
  const begun: number[] = [];
  const ended: number[] = [];
  async function* start(job: number, signal: AbortSignal): AsyncGenerator<readonly TraceFrame[]> {
    begun.push(job);
    signal.addEventListener('abort', () => ended.push(job));
    yield await Promise.resolve([{ text: 'x'.repeat(job), localsBefore: -1, line: 1 }]);
  }
  const runs = new Runs(start, limits);
  /** Uses a run as one request does. */
  const use = async (job: number) => {
    const request = new AbortController();
    const run = runs.hold(String(job), job, request.signal);
    let text = '';
    for await (const frames of run.frames.from(0, request.signal)) {
      for (const frame of frames) text += frame.text;
    }
    request.abort();
    expect(text).toHaveLength(job);
  };
  return { runs, use, begun, ended };
}

describe('runs', () => {
  it('are kept for later requests', async () => {
    const { use, begun, ended } = numberRuns({ runs: 3, bytes: 1e6 });
    for (const job of [1, 2, 1, 2, 1]) await use(job);
    expect(begun).toEqual([1, 2]);
    expect(ended).toEqual([]);
  });

  it('make room for a new one where they are too many, the one unused for longest first', async () => {
    const { use, begun, ended } = numberRuns({ runs: 2, bytes: 1e6 });
    for (const job of [1, 2, 1, 3, 1]) await use(job);
    expect(begun).toEqual([1, 2, 3]);
    expect(ended).toEqual([2]);
  });

  it('make room where their texts take too much memory', async () => {
    const { use, ended } = numberRuns({ runs: 10, bytes: 5000 });
    for (const job of [1000, 1001, 1002, 3]) await use(job);
    expect(ended).toEqual([1000]);
  });

  it('that are used are not ended for others', () => {
    const { runs, ended } = numberRuns({ runs: 1, bytes: 0 });
    const { signal } = new AbortController();
    const run = runs.hold('1', 1, signal);
    expect(runs.hold('1', 1, signal)).toBe(run);
    expect(() => runs.hold('2', 2, signal)).toThrow('1 programs');
    expect(ended).toEqual([]);
  });

  it('are all ended at the close', async () => {
    const { runs, use, ended } = numberRuns({ runs: 5, bytes: 1e6 });
    for (const job of [1, 2]) await use(job);
    runs.close();
    expect(ended).toEqual([1, 2]);
  });

  it('are not kept when they failed at once', async () => {
    let begun = 0;
    const failing = new Runs<null>(
      () => {
        begun++;
        return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no Python')) }) };
      },
      { runs: 2, bytes: 1e6 },
    );
    for (let i = 0; i < 2; i++) {
      const { signal } = new AbortController();
      const frames = failing.hold('key', null, signal).frames.from(0, signal);
      await expect(frames.next()).rejects.toThrow('no Python');
    }
    expect(begun).toBe(2);
  });
});
