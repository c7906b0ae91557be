import { CatalogueError, errors } from '../errors';
import { FrameWriter } from '../format/cwm/writer';
import { type RunEdit, type RunLimits, traceProgram } from '../python/tracer';
import type { Python } from '../sandbox/python';
import type { Ending, Prediction } from '../trajectory/state';
import { Refusal } from './refusal';
import type { TraceContext } from './traceContext';
import type { TraceFrame } from './traceFrame';

/** What is traced: the entry function of a source context, called with literals. */
export interface TraceJob {
  readonly context: TraceContext;
  readonly arguments: ReadonlyMap<string, string>;
  /** What is changed on the way, at the states that the frames with these indices tell. */
  readonly edits: readonly RunEdit[];
}

export interface TraceRunOptions {
  readonly python: Python;
  readonly limits: Partial<RunLimits>;
  /** The most text that one run's frames may come to, in UTF-16 units. */
  readonly maxLength: number;
}

/** What the program is called where Python names files. */
const label = '<prompt>';

/**
 * Really runs a program and writes the frames of its trace as they are asked for. Frames of other threads are
 * left out, as the trace function that CWM was trained with did not see them.
 *
 * @throws Refusal when the program cannot be run, or was cut
 */
export async function* traceFrames(
  { context, arguments: given, edits }: TraceJob,
  { python, limits, maxLength }: TraceRunOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly TraceFrame[]> {
  const { source, entry } = context;
  const program = { path: label, source, entry: null, args: [] };
  const call = { name: entry.name, arguments: Object.fromEntries(given), asMain: entry.isScript };
  const writer = new TraceWriter(context.lines);
  let length = 0;
  const steps = traceProgram(program, { python, limits, call, edits }, signal);
  try {
    for await (const batch of steps) {
      const frames: TraceFrame[] = [];
      for (const step of batch) {
        if (step.kind === 'end') {
          if (frames.length > 0) yield frames;
          requireTrace(step, writer);
          return;
        }
        if (step.state.thread !== null) continue;
        const frame = writer.write(step);
        length += frame.text.length;
        frames.push(frame);
        if (writer.isDone) break;
      }
      if (frames.length > 0) yield frames;
      if (writer.isDone) return;
      if (length > maxLength)
        throw cut(writer.count, `its frames came to more than ${maxLength} characters.`);
    }
  } catch (thrown) {
    throw thrown instanceof CatalogueError ? asRefusal(thrown) : thrown;
  }
  throw cut(writer.count, 'the server ended it.');
}

/** @throws Refusal unless a run's end is the end of its trace */
function requireTrace({ how, notes }: Ending, { count }: TraceWriter): void {
  if (how === 'cut') throw cut(count, notes.join(' '));
  if (count > 0) return;
  const error = errors.promptUnreadable(
    ['The program ended before its entry function was entered.', ...notes].join(' '),
    'Check that the entry function is defined and takes the arguments of the first frame.',
  );
  throw new Refusal(422, 'no_trace', error, 'prompt');
}

function cut(frames: number, why: string): Refusal {
  return new Refusal(422, 'run_cut', errors.runCut(frames, why), 'prompt');
}

/** What is wrong with the program is wrong with the prompt. */
function asRefusal(error: CatalogueError): Refusal {
  return error.blame === 'user'
    ? new Refusal(422, 'program_not_run', error, 'prompt')
    : new Refusal(500, 'internal_error', error);
}

/** Writes a run's states as frames, and knows which belong to one scope. */
class TraceWriter {
  readonly #writer = new FrameWriter();
  /** For each open scope, the index of its newest frame with locals. */
  readonly #scopes: number[] = [];
  #count = 0;

  /** @param lines the texts of the source's lines, with their line ends */
  constructor(private readonly lines: readonly string[]) {}

  /** How many frames are written. */
  get count(): number {
    return this.#count;
  }

  /** Whether the entry function was left, which is the end of the trace. */
  get isDone(): boolean {
    return this.#count > 0 && this.#scopes.length === 0;
  }

  write({ state, unwinds }: Prediction): TraceFrame {
    const { event, locals, argument } = state;
    const line = this.lines[state.line - 1] ?? '';
    const text = this.#writer.write({ event, locals, line, argument: argument?.repr ?? null }, unwinds);
    this.#scopes.length = Math.max(0, this.#scopes.length - unwinds);
    if (event === 'call') this.#scopes.push(-1);
    const localsBefore = this.#scopes.at(-1) ?? -1;
    if (event === 'call' || event === 'line') this.#scopes[this.#scopes.length - 1] = this.#count;
    if (event === 'return') this.#scopes.pop();
    this.#count++;
    return { text, localsBefore, line: state.line };
  }
}
