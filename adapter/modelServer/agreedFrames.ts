import type { FrameSource, TraceFrame } from './traceFrame';

/** The frames of several runs, as far as they are the same. */
export class AgreedFrames implements FrameSource {
  /**
   * @param first one of the runs
   * @param others the others
   * @param differ what is thrown where they are no longer the same
   */
  constructor(
    private readonly first: FrameSource,
    private readonly others: readonly FrameSource[],
    private readonly differ: () => Error,
  ) {}

  at(index: number): TraceFrame | undefined {
    return this.first.at(index);
  }

  async *from(index: number, signal: AbortSignal): AsyncGenerator<readonly TraceFrame[]> {
    if (this.others.length === 0) {
      yield* this.first.from(index, signal);
      return;
    }
    const runs = [this.first, ...this.others].map((run) => singly(run.from(index, signal)));
    for (;;) {
      const [frame, ...others] = await Promise.all(runs.map(async (run) => (await run.next()).value ?? null));
      if (others.some((other) => other?.text !== frame?.text)) throw this.differ();
      if (!frame) return;
      yield [frame];
    }
  }
}

async function* singly(batches: AsyncIterable<readonly TraceFrame[]>): AsyncGenerator<TraceFrame, null> {
  for await (const batch of batches) yield* batch;
  return null;
}
