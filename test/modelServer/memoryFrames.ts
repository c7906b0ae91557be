import { FrameWriter, type FrameContent } from '../../adapter/format/cwm/writer';
import type { FrameSource, TraceFrame } from '../../adapter/modelServer/traceFrame';

/** A frame in short: event, line, and locals as an object or the argument. */
export type ShortFrame = readonly [
  event: FrameContent['event'],
  line: string,
  data: Readonly<Record<string, string>> | string,
];

/** The frames of a run, as the writer writes them. */
export function writeFrames(frames: readonly ShortFrame[]): TraceFrame[] {
  const writer = new FrameWriter();
  const scopes: number[] = [];
  return frames.map(([event, line, data], index) => {
    const values = typeof data === 'string' ? null : Object.entries(data);
    const locals = values && new Map(values.map(([name, repr]) => [name, { repr, confidence: null }]));
    const argument = typeof data === 'string' ? data : null;
    const text = writer.write({ event, line: `${line}\n`, locals, argument });
    if (event === 'call') scopes.push(-1);
    const localsBefore = scopes.at(-1) ?? -1;
    if (locals) scopes[scopes.length - 1] = index;
    if (event === 'return') scopes.pop();
    return { text, localsBefore, line: 1 };
  });
}

/** Frames that are all known. */
export class MemoryFrames implements FrameSource {
  constructor(private readonly frames: readonly TraceFrame[]) {}

  async *from(index: number, signal: AbortSignal): AsyncGenerator<readonly TraceFrame[]> {
    for (let at = index; at < this.frames.length; at += 3) {
      signal.throwIfAborted();
      yield await Promise.resolve(this.frames.slice(at, at + 3));
    }
  }

  at(index: number): TraceFrame | undefined {
    return this.frames[index];
  }
}
