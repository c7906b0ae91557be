import { asCatalogueError, CatalogueError, errorText, errors } from '../errors';
import { createCwmFormat } from '../format/cwm/cwmFormat';
import { frameProblem } from '../format/cwm/frameProblem';
import { splitFrame } from '../format/cwm/frames';
import { type ParsedPrompt, parsePrompt } from '../format/cwm/prompt';
import { controlTokens, withoutLineEnd, withoutMarker } from '../format/cwm/tokens';
import type { StepReader } from '../format/format';
import { PythonSource } from '../python/source';
import { shownText } from '../shownText';
import type { Program } from '../trajectory/program';
import type { Step } from '../trajectory/state';
import { Breath, maxProblems, maxTraceLength, TraceBuilder, type TraceDocument } from './traceDocument';

const stepInto = { name: 'step_into' } as const;
const world = { name: 'a trace in the format cwm', isReal: false };

/** A raw trace, and where the source context stands in it. */
export interface CwmDocument extends TraceDocument {
  /** Where line 1 of the program begins in the text, in UTF-16 units. */
  readonly sourceStart: number;
}

/**
 * Reads a raw trace in CWM's format: a source context, then frames. Frames that are malformed are reported.
 *
 * @param path what the program is called
 * @param signal aborted when the result is not wanted any more; the promise then rejects with its reason
 */
export async function readCwmText(
  text: string,
  path: string,
  signal: AbortSignal | null = null,
): Promise<CwmDocument> {
  const { contextStart, frameEnd } = controlTokens;
  const sourceStart = Math.max(0, text.indexOf(contextStart)) + contextStart.length;
  const contextEnd = text.indexOf(frameEnd);
  const headEnd = contextEnd < 0 ? text.length : contextEnd + frameEnd.length;
  let parsed: ParsedPrompt;
  try {
    parsed = parsePrompt(text.slice(0, headEnd));
  } catch (thrown) {
    const builder = new TraceBuilder(null, world);
    report(builder, { start: 0, end: Math.min(text.length, firstLineEnd(text)) }, thrown);
    return located(builder, sourceStart);
  }
  const program: Program = { path, source: plainSource(parsed), entry: `${parsed.entry.name}()`, args: [] };
  const builder = new TraceBuilder(program, world);
  try {
    const format = await createCwmFormat(program, await PythonSource.parse(program.source));
    const reader = format.reader(builder.trajectory, -1);
    await new FrameFeed(text, headEnd, reader, builder).read(signal);
  } catch (thrown) {
    if (!(thrown instanceof CatalogueError)) throw thrown;
    report(
      builder,
      { start: sourceStart, end: Math.min(contextEnd, firstLineEnd(text, sourceStart)) },
      thrown,
    );
  }
  return located(builder, sourceStart);
}

function located(builder: TraceBuilder, sourceStart: number): CwmDocument {
  return Object.assign(builder, { sourceStart });
}

/** The program of a prompt, with the lines as they are in it and without the mark. */
function plainSource({ source, entry }: ParsedPrompt): string {
  const lines = source.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return lines
    .map((line, index) => {
      if (index !== entry.line - 1) return line;
      const text = withoutLineEnd(line);
      return withoutMarker(text) + line.slice(text.length);
    })
    .join('');
}

/** Gives a reader the frames of a text one by one, and records what it reads, with its place. */
class FrameFeed {
  #last = -1;
  /** Where the text of the next state begins. */
  #cursor: number;

  constructor(
    private readonly text: string,
    private readonly begin: number,
    private readonly reader: StepReader,
    private readonly builder: TraceBuilder,
  ) {
    this.#cursor = begin;
  }

  async read(signal: AbortSignal | null): Promise<void> {
    const { text, builder, reader } = this;
    const { frameEnd, endOfText } = controlTokens;
    const breath = new Breath();
    const length = Math.min(text.length, maxTraceLength);
    const traceEnd = text.indexOf(endOfText, this.begin);
    let at = this.begin;
    for (let number = 1; ; number++) {
      const end = text.indexOf(frameEnd, at);
      if (end < 0 || (traceEnd >= 0 && end > traceEnd)) break;
      const next = end + frameEnd.length;
      if (next > length || builder.isFull || builder.problems.length >= maxProblems) {
        builder.reportRest(at, text.length);
        return;
      }
      const raw = splitFrame(text.slice(at, next));
      const problem = frameProblem(raw);
      if (problem) {
        const { code, message } = errors.malformedTracePrompt(`frame ${number} ${problem.problem}`);
        builder.report({ start: at + problem.start, end: at + problem.end }, shownText(message), code);
      }
      try {
        if (raw.line) this.#record(reader.read({ kind: 'text', text: raw.text, tokens: [] }));
        else this.#cursor = next;
      } catch (thrown) {
        report(builder, { start: at, end: next }, thrown);
        return;
      }
      at = next;
      await breath.take(signal);
    }
    this.#end(at, traceEnd);
  }

  #end(at: number, traceEnd: number): void {
    const { text, builder, reader } = this;
    const end = traceEnd < 0 ? text.length : traceEnd;
    const rest = text.slice(at, end);
    if (rest.trim() !== '') {
      const message = `The trace ends within a frame, before its ${controlTokens.frameEnd}.`;
      const start = at + rest.length - rest.trimStart().length;
      builder.report({ start, end: at + rest.trimEnd().length }, message, null, 'warning');
    }
    const reason = traceEnd < 0 ? 'length' : 'stop';
    this.#record(reader.read({ kind: 'end', reason, stopString: null, usage: null }));
    const after = traceEnd < 0 ? '' : text.slice(traceEnd + controlTokens.endOfText.length);
    if (after.trim() === '') return;
    const start = text.length - after.trimStart().length;
    builder.report(
      { start, end: Math.min(text.length, firstLineEnd(text, start)) },
      `Nothing may follow ${controlTokens.endOfText}.`,
      null,
      'warning',
    );
  }

  #record(steps: readonly Step[]): void {
    const { builder, text } = this;
    for (const step of steps) {
      if (step.kind === 'end') {
        builder.trajectory.end(this.#last, step);
        continue;
      }
      const end = this.#cursor + (step.text?.length ?? 0);
      // A state's text may come after frames that are none, and line breaks between frames.
      const own = text.lastIndexOf(controlTokens[step.state.event], end - 1);
      const start = own >= this.#cursor ? own : this.#cursor;
      this.#last = builder.trajectory.append(this.#last, stepInto, step);
      builder.spans.push({ start, end });
      this.#cursor = end;
      if (step.doubt !== null) builder.report({ start, end }, shownText(step.doubt), null, 'information');
    }
  }
}

function report(builder: TraceBuilder, span: { start: number; end: number }, thrown: unknown): void {
  const error = asCatalogueError(thrown);
  builder.report(span, shownText(errorText(error)), error.code);
}

function firstLineEnd(text: string, from = 0): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
