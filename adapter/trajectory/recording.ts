import { z } from 'zod';
import { errors } from '../errors';
import type { Program } from './program';
import type { Ending, Locals, Prediction, Step, Value } from './state';
import { unwindsBefore } from './predictionOf';
import { maxLine, type Trajectory } from './trajectory';

/*
 * The recording file: one JSON object a line, in UTF-8 (lone surrogates as \u escapes).
 *
 * First line, the header:
 *   {"recording": "neural-debug", "version": 1, "world": NAME, "real": whether it was a real run,
 *    "program": {"path", "source", "entry", "args"}}
 * Then one line a state, in the order of execution:
 *   {"event": "call|line|return|exception", "function": NAME, "line": N, "depth": N,
 *    "locals": {NAME: REPR|null} | null, "argument": REPR|null}
 * with, only where they say something:
 *   "thread": NAME            not the main thread
 *   "activation": N           on calls: which Python frame is entered, equal where a generator is resumed
 *   "unwinds": N              frames left before without a return event
 *   "confidence": P           of the event and the line
 *   "confidences": {NAME: P}  of the locals; "argumentConfidence": P of the argument
 *   "doubt": TEXT, "otherLines": [N], "text": TEXT (as the model wrote it), "output": TEXT, "tokens": N
 * Last line, unless the recording was cut short:
 *   {"end": "returned|raised|exited|cut", "notes": [TEXT], "output": TEXT, "text": TEXT}
 */

const version = 1;

const headerShape = z.object({
  recording: z.literal('neural-debug'),
  version: z.number().int(),
  world: z.string(),
  real: z.boolean(),
  program: z.object({
    path: z.string(),
    source: z.string(),
    entry: z.string().nullable(),
    args: z.array(z.string()),
  }),
});

const confidence = z.number().min(0).max(1);

/**
 * An object whose values are checked one by one. Names of Python variables can be any, `__proto__` too, which
 * zod's own records leave out.
 */
function named<T>(shape: z.ZodType<T>): z.ZodType<ReadonlyMap<string, T>> {
  return z
    .custom<object>((given) => typeof given === 'object' && given !== null && !Array.isArray(given), {
      error: 'expected an object',
    })
    .transform((given) => new Map(Object.entries(given)))
    .pipe(z.map(z.string(), shape));
}

const stateShape = z.object({
  event: z.enum(['call', 'line', 'return', 'exception']),
  function: z.string(),
  line: z.number().int().nonnegative().max(maxLine),
  depth: z.number().int().nonnegative(),
  locals: named(z.string().nullable()).nullable(),
  argument: z.string().nullable(),
  thread: z.string().optional(),
  activation: z.number().int().optional(),
  unwinds: z.number().int().nonnegative().optional(),
  confidence: confidence.optional(),
  confidences: named(confidence).optional(),
  argumentConfidence: confidence.optional(),
  doubt: z.string().optional(),
  otherLines: z.array(z.number().int().positive()).optional(),
  text: z.string().optional(),
  output: z.string().optional(),
  tokens: z.number().int().nonnegative().optional(),
});

const endShape = z.object({
  end: z.enum(['returned', 'raised', 'exited', 'cut']),
  notes: z.array(z.string()).default([]),
  output: z.string().optional(),
  text: z.string().optional(),
});

/** The world that was recorded. */
export interface RecordedWorld {
  readonly name: string;
  /** Whether the values come from a real run. */
  readonly isReal: boolean;
}

/** The header line of a recording, with its line end. */
export function headerLine({ path, source, entry, args }: Program, world: RecordedWorld): string {
  const header = {
    recording: 'neural-debug',
    version,
    world: world.name,
    real: world.isReal,
    program: { path, source, entry, args },
  };
  return `${JSON.stringify(header)}\n`;
}

/** A state's line, with its line end. */
export function stateLine(trajectory: Trajectory, index: number): string {
  const state = trajectory.state(index);
  const frame = trajectory.frame(index);
  const prediction = trajectory.prediction(index);
  const isCall = state.event === 'call';
  return `${JSON.stringify({
    event: state.event,
    function: state.function,
    line: state.line,
    depth: frame.depth,
    locals: state.locals && reprs(state.locals),
    argument: state.argument?.repr ?? null,
    thread: state.thread ?? undefined,
    activation: isCall ? frame.activation : undefined,
    unwinds: unwindsBefore(trajectory, index) || undefined,
    confidence: prediction.confidence ?? undefined,
    confidences: state.locals ? confidences(state.locals) : undefined,
    argumentConfidence: state.argument?.confidence ?? undefined,
    doubt: prediction.doubt ?? undefined,
    otherLines: prediction.otherLines.length > 0 ? prediction.otherLines : undefined,
    text: prediction.text ?? undefined,
    output: prediction.output ?? undefined,
    tokens: prediction.tokens || undefined,
  })}\n`;
}

/** The line of a recording's end, with its line end. */
export function endLine(ending: Ending): string {
  const { how, notes, output, text } = ending;
  return `${JSON.stringify({ end: how, notes, output: output ?? undefined, text: text ?? undefined })}\n`;
}

/**
 * A trajectory's states from the first to the newest, as a recording's lines.
 *
 * @param program what the header says, where it is not the trajectory's own program
 */
export function* recordingLines(
  trajectory: Trajectory,
  world: RecordedWorld,
  program: Program = trajectory.program,
): Generator<string> {
  yield headerLine(program, world);
  let last = -1;
  for (let index = trajectory.next(-1); index !== null; index = trajectory.next(index)) {
    yield stateLine(trajectory, index);
    last = index;
  }
  const ending = trajectory.ending(last);
  if (ending) yield endLine(ending);
}

/** What a recording's first line says. */
export interface RecordingHeader {
  readonly program: Program;
  readonly world: RecordedWorld;
}

/**
 * Reads a recording's first line.
 *
 * @throws CatalogueError where it is no header, or one of another version
 */
export function readHeaderLine(line: string, name: string): RecordingHeader {
  const header = parseLine(headerShape, line, name, 1);
  if (header.version !== version) throw errors.recordingVersion(name, header.version, version);
  return { program: header.program, world: { name: header.world, isReal: header.real } };
}

/** What keeps a line of a recording from being read. */
export interface LineProblem {
  /** The names and indices that lead to what is wrong; null where the line is no JSON. */
  readonly path: readonly PropertyKey[] | null;
  readonly message: string;
}

/** What is wrong with a line of a recording, the header (line 1) or another; null where nothing is. */
export function lineProblem(line: string, number: number): LineProblem | null {
  const shape: z.ZodType = number === 1 ? headerShape : isEnd(line) ? endShape : stateShape;
  const checked = checkLine(shape, line);
  return 'problem' in checked ? checked.problem : null;
}

function isEnd(line: string): boolean {
  return /^\s*\{\s*"end"/.test(line);
}

/**
 * Reads the line of a state or of the end.
 *
 * @param number the line's number in the file, for errors
 * @throws CatalogueError where it is neither
 */
export function readStepLine(line: string, name: string, number: number): Step {
  if (isEnd(line)) {
    const { end, notes, output, text } = parseLine(endShape, line, name, number);
    return { kind: 'end', how: end, notes, output: output ?? null, text: text ?? null };
  }
  const row = parseLine(stateShape, line, name, number);
  const value = (repr: string | null, of: number | undefined): Value => ({ repr, confidence: of ?? null });
  const prediction: Prediction = {
    kind: 'state',
    state: {
      event: row.event,
      function: row.function,
      line: row.line,
      thread: row.thread ?? null,
      locals:
        row.locals &&
        new Map([...row.locals].map(([key, repr]) => [key, value(repr, row.confidences?.get(key))])),
      argument:
        row.argument === null && row.event !== 'return' && row.event !== 'exception'
          ? null
          : value(row.argument, row.argumentConfidence),
    },
    activation: row.activation ?? null,
    unwinds: row.unwinds ?? 0,
    confidence: row.confidence ?? null,
    doubt: row.doubt ?? null,
    otherLines: row.otherLines ?? [],
    text: row.text ?? null,
    output: row.output ?? null,
    tokens: row.tokens ?? 0,
  };
  return prediction;
}

function parseLine<T>(shape: z.ZodType<T>, line: string, name: string, number: number): T {
  const checked = checkLine(shape, line);
  if ('data' in checked) return checked.data;
  const { path, message } = checked.problem;
  throw errors.recordingLine(
    name,
    number,
    path === null ? message : `${path.map(String).join('.') || 'it'}: ${message}`,
  );
}

function checkLine<T>(shape: z.ZodType<T>, line: string): { data: T } | { problem: LineProblem } {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { problem: { path: null, message: 'it is not JSON' } };
  }
  const parsed = shape.safeParse(json);
  if (parsed.success) return { data: parsed.data };
  const [issue] = parsed.error.issues;
  return { problem: { path: issue?.path ?? [], message: issue?.message ?? 'not valid' } };
}

function reprs(locals: Locals): Record<string, string | null> {
  return Object.fromEntries([...locals].map(([name, value]) => [name, value.repr]));
}

function confidences(locals: Locals): Record<string, number> | undefined {
  const known = [...locals].flatMap(([name, { confidence: of }]) =>
    of === null ? [] : [[name, of] as const],
  );
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}
