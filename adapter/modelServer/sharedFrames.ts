import type { FrameSource, TraceFrame } from './traceFrame';

/** How many frames a reader gets at a time: few enough that a stream begins soon and can be left. */
const batchLength = 256;

/** Frames that are made once, as far as anybody asks for them, and kept for all readers. */
export class SharedFrames implements FrameSource {
  readonly #frames: TraceFrame[] = [];
  readonly #making: AsyncIterator<readonly TraceFrame[]>;
  /** The batch that is being made, if one is. */
  #pending: Promise<void> | null = null;
  #ended = false;
  #failure: { readonly thrown: unknown } | null = null;
  /** The length of all frames' text in UTF-16 units. */
  #length = 0;

  constructor(frames: AsyncIterable<readonly TraceFrame[]>) {
    this.#making = frames[Symbol.asyncIterator]();
  }

  /** Whether frames are being made for somebody who asked for them. */
  get isWorking(): boolean {
    return this.#pending !== null;
  }

  /** Whether no frame was or will be made. */
  get isBroken(): boolean {
    return this.#failure !== null && this.#frames.length === 0;
  }

  /** About how much memory the frames take, in bytes. */
  get size(): number {
    return 2 * this.#length + 100 * this.#frames.length;
  }

  at(index: number): TraceFrame | undefined {
    return this.#frames[index];
  }

  /** Lets the next frames be made though nobody has asked for them. */
  readAhead(): void {
    if (!this.#ended) this.#pending ??= this.#make();
  }

  async *from(index: number, signal: AbortSignal): AsyncGenerator<readonly TraceFrame[]> {
    for (let next = index; ;) {
      signal.throwIfAborted();
      if (next < this.#frames.length) {
        const batch = this.#frames.slice(next, next + batchLength);
        next += batch.length;
        yield batch;
      } else if (this.#ended) {
        if (this.#failure) throw this.#failure.thrown;
        return;
      } else {
        await untilAborted((this.#pending ??= this.#make()), signal);
      }
    }
  }

  async #make(): Promise<void> {
    try {
      const batch = await this.#making.next();
      if (batch.done) {
        this.#ended = true;
      } else {
        for (const frame of batch.value) {
          this.#frames.push(frame);
          this.#length += frame.text.length;
        }
      }
    } catch (thrown) {
      this.#ended = true;
      this.#failure = { thrown };
    } finally {
      this.#pending = null;
    }
  }
}

/** Waits for a promise, but not longer than until the signal is aborted. */
function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
