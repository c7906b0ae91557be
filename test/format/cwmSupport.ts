import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';
import { FrameWriter } from '../../adapter/format/cwm/writer';
import { breakControlText } from '../../adapter/format/cwm/tokens';
import type { Format } from '../../adapter/format/format';
import { scriptBeginning } from '../../adapter/python/script';
import { PythonSource } from '../../adapter/python/source';
import type { EventKind, State, Step } from '../../adapter/trajectory/state';
import type { Program } from '../../adapter/trajectory/program';
import { Trajectory } from '../../adapter/trajectory/trajectory';

/** An event as `cwmTrace.py` prints it. */
export interface TraceRow {
  readonly ev: EventKind;
  readonly fn: string;
  readonly line: number;
  readonly depth: number;
  readonly frame: number;
  readonly locals: Readonly<Record<string, string>>;
  readonly arg?: string;
}

export interface Trace {
  readonly rows: readonly TraceRow[];
  readonly how: string;
}

/** What is to be traced: a source text, and its entry call unless it is a script. */
export interface Traced {
  readonly source: string;
  readonly entry: string | null;
  /** The module's `__name__`. */
  readonly name: string;
}

/** Really runs programs, one after the other. */
export function trace(programs: readonly Traced[]): Trace[] {
  const output = execFileSync('python3', [join(import.meta.dirname, 'cwmTrace.py')], {
    input: programs.map((program) => `${JSON.stringify(program)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    // Sets in the same order in every run.
    env: { ...process.env, PYTHONHASHSEED: '0' },
  });
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Trace);
}

/** The source context of a format's prompts, and the name of its wrapper. */
export function contextOf(format: Format, program: Program): { context: string; wrapper: string } {
  const prompt = format.prompt(new Trajectory(program), -1, 'many');
  if (prompt.kind !== 'text') throw new Error('CWM prompts are text.');
  const match = /<\|trace_context_start\|>(.*?)<\|frame_sep\|>/s.exec(prompt.text);
  const wrapper = /def (\w+)\(\): {2}# << START_OF_TRACE\n/.exec(match?.[1] ?? '')?.[1];
  if (match?.[1] === undefined || wrapper === undefined) throw new Error(`No context in ${prompt.text}`);
  return { context: match[1], wrapper };
}

/** Writes the trace of a wrapped program as CWM does, without the seeded frame. */
export function writeTrace({ rows, how }: Trace, context: string): string {
  const lines = context.split('\n');
  const writer = new FrameWriter();
  let open = 0;
  const frames = rows.map((row) => {
    const depth = row.depth - (rows[0]?.depth ?? 0);
    const unwinds = Math.max(0, open - (row.ev === 'call' ? depth : depth + 1));
    open = row.ev === 'return' ? depth : depth + 1;
    return writer.write(
      {
        event: row.ev,
        locals:
          row.ev === 'call' || row.ev === 'line'
            ? new Map(Object.entries(row.locals).map(([name, repr]) => [name, { repr, confidence: null }]))
            : null,
        line: breakControlText((lines[row.line - 1] ?? '').replace('  # << START_OF_TRACE', '')) + '\n',
        argument: row.arg ?? null,
      },
      unwinds,
    );
  });
  return frames.slice(1).join('') + (how === 'cut' ? '' : '<|end_of_text|>');
}

/**
 * The rows of a trace in which frames that an exception leaves have no return event, as models may leave it
 * out.
 */
export function withoutRaisedReturns(rows: readonly TraceRow[]): TraceRow[] {
  return rows.filter(({ ev, frame }, index) => {
    const before = rows[index - 1];
    return !(ev === 'return' && before?.ev === 'exception' && before.frame === frame);
  });
}

/** Reads an answer in pieces of varying sizes. */
export function readAnswer(
  format: Format,
  trajectory: Trajectory,
  from: number,
  text: string,
  seed = 1,
): Step[] {
  const reader = format.reader(trajectory, from);
  const steps: Step[] = [];
  let state = seed;
  for (let at = 0; at < text.length;) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    const length = 1 + ((state >> 8) % (seed % 2 === 0 ? 7 : 200));
    steps.push(...reader.read({ kind: 'text', text: text.slice(at, at + length), tokens: [] }));
    at += length;
  }
  const reason = text.endsWith('<|end_of_text|>') ? 'stop' : 'length';
  steps.push(...reader.read({ kind: 'end', reason, stopString: null, usage: null }));
  return steps;
}

/** A new trajectory with the opening and an answer's states; the reader's other steps are left out. */
export function trajectoryOf(
  format: Format,
  program: Program,
  text: string,
): { trajectory: Trajectory; steps: Step[] } {
  const trajectory = new Trajectory(program);
  let from = -1;
  const append = (steps: readonly Step[]) => {
    for (const step of steps)
      if (step.kind === 'state') from = trajectory.append(from, { name: 'step_into' }, step);
  };
  append(format.opening);
  const steps = readAnswer(format, trajectory, from, text);
  append(steps);
  return { trajectory, steps };
}

/** What is compared of a state: all that the format carries. */
function shown(format: Format, state: State, depth: number, frame: number): string {
  const carried = format.project(state);
  if (!carried) return `not carried: ${state.event} ${state.function} ${state.line}`;
  const { event, function: name, line, locals, argument } = carried;
  const values = locals && Array.from(locals, ([local, { repr }]) => `${local}=${repr ?? '?'}`).sort();
  const what = values ? ` {${values.join(', ')}}` : '';
  return `${event} ${name} ${line} depth ${depth} frame ${frame}${what}${argument ? ` -> ${argument.repr ?? '?'}` : ''}`;
}

function stateOf(row: TraceRow): State {
  const locals = new Map(
    Object.entries(row.locals).map(([name, repr]) => [name, { repr, confidence: null }]),
  );
  return {
    event: row.ev,
    function: row.fn,
    line: row.line,
    thread: null,
    locals,
    argument: row.arg === undefined ? null : { repr: row.arg, confidence: null },
  };
}

/** Numbers frames in the order in which they are first seen. */
function numbering(): (frame: number) => number {
  const numbers = new Map<number, number>();
  return (frame) => {
    if (!numbers.has(frame)) numbers.set(frame, numbers.size);
    return numbers.get(frame) ?? -1;
  };
}

function shownRows(format: Format, rows: readonly TraceRow[]): string[] {
  const number = numbering();
  const bottom = Math.min(...rows.map(({ depth }) => depth));
  return rows.map((row) => shown(format, stateOf(row), row.depth - bottom, number(row.frame)));
}

function shownTrajectory(format: Format, trajectory: Trajectory): string[] {
  const number = numbering();
  return Array.from({ length: trajectory.length }, (_, index) => {
    const frame = trajectory.frame(index);
    return shown(format, trajectory.state(index), frame.depth, number(frame.activation));
  });
}

/** What really happens from a script's beginning on. */
function fromBeginning(rows: readonly TraceRow[], beginning: number): readonly TraceRow[] {
  const first = rows.findIndex(({ fn, ev, line }) => fn === '<module>' && ev === 'line' && line >= beginning);
  return [...rows.slice(0, 1), ...rows.slice(first)];
}

export interface Compared {
  readonly read: string[];
  readonly real: string[];
  readonly doubts: (string | null)[];
  readonly format: Format;
  readonly text: string;
  readonly trajectory: Trajectory;
  readonly ending: string | undefined;
  readonly how: string;
}

/** A program to compare; scripts have no entry. */
export interface Compare {
  readonly source: string;
  readonly entry: string | null;
}

/**
 * Runs programs, and as a CWM would their wrapped forms, whose traces are read back.
 *
 * @param change what to make of the rows of both before they are written and compared
 */
export async function compare(
  programs: readonly Compare[],
  change: (rows: readonly TraceRow[]) => readonly TraceRow[] = (rows) => rows,
): Promise<Compared[]> {
  const prepared = await Promise.all(
    programs.map(async ({ source, entry }) => {
      const program: Program = { path: '/p.py', source, entry, args: [] };
      const parsed = await PythonSource.parse(source);
      const format = await createCwmFormat(program, parsed);
      const beginning = entry === null ? (scriptBeginning(parsed) ?? 0) : null;
      return { program, format, beginning, ...contextOf(format, program) };
    }),
  );
  const nameOf = (entry: string | null) => (entry === null ? '__main__' : 'p');
  const real = trace(programs.map(({ source, entry }) => ({ source, entry, name: nameOf(entry) })));
  const wrapped = trace(
    prepared.map(({ context, wrapper, program }) => ({
      source: context,
      entry: `${wrapper}()`,
      name: nameOf(program.entry),
    })),
  );
  return prepared.map(({ program, format, beginning, context }, index) => {
    const { rows } = real[index] ?? { rows: [] };
    const asWrapped = wrapped[index] ?? { rows: [], how: 'missing' };
    const text = writeTrace({ ...asWrapped, rows: change(asWrapped.rows) }, context);
    const { trajectory, steps } = trajectoryOf(format, program, text);
    const last = steps.at(-1);
    return {
      read: shownTrajectory(format, trajectory),
      real: shownRows(format, change(beginning === null ? rows : fromBeginning(rows, beginning))),
      doubts: Array.from({ length: trajectory.length }, (_, state) => trajectory.prediction(state).doubt),
      format,
      text,
      trajectory,
      ending: last?.kind === 'end' ? last.how : 'cut',
      how: asWrapped.how,
    };
  });
}
