import type { Step } from '../trajectory/state';

/** The batches of one prediction, read one after the other; a read that is aborted ends the stream. */
export class StepStream {
  readonly #steps: AsyncIterator<readonly Step[]>;
  /** Whether nothing has come so far. */
  isEmpty = true;

  constructor(steps: AsyncIterable<readonly Step[]>) {
    this.#steps = steps[Symbol.asyncIterator]();
  }

  /** The next batch, or null at the stream's end and when the signal is aborted. */
  async next(signal: AbortSignal): Promise<readonly Step[] | null> {
    if (signal.aborted) return null;
    let abort = (): void => undefined;
    const aborted = new Promise<null>((resolve) => {
      abort = () => {
        resolve(null);
      };
    });
    signal.addEventListener('abort', abort);
    try {
      const batch = await Promise.race([this.#read(signal), aborted]);
      if (batch && batch.length > 0) this.isEmpty = false;
      return batch;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Stops the world's work on this prediction, without waiting for it. */
  leave(): void {
    this.#steps.return?.().catch(() => undefined);
  }

  async #read(signal: AbortSignal): Promise<readonly Step[] | null> {
    try {
      const result = await this.#steps.next();
      return result.done ? null : result.value;
    } catch (thrown) {
      if (signal.aborted) return null;
      throw thrown;
    }
  }
}
