/** One frame of a trace as CWM writes it. */
export interface TraceFrame {
  /** The whole text, from the token that says the frame's kind to the separator that closes it. */
  readonly text: string;
  /** The index of the frame before it in the same scope that carries locals, or -1. */
  readonly localsBefore: number;
  /** The source context's line that it is on, from 1. */
  readonly line: number;
}

/** The frames of one run, which may be asked for more than once and by several readers at once. */
export interface FrameSource {
  /**
   * The frames from an index on, in batches, waiting for those that the program has yet to make. It ends
   * where the trace ends.
   *
   * @throws Refusal when the run ended before the trace did
   * @throws the signal's reason once it is aborted
   */
  from(index: number, signal: AbortSignal): AsyncGenerator<readonly TraceFrame[]>;
  /** A frame that was given out before. */
  at(index: number): TraceFrame | undefined;
}
