import type { EventKind, Locals, Prediction, State, Value } from '../../trajectory/state';
import { exceptionOf, isException } from './answeredException';
import type { ChatFrame } from './callStack';
import type { Functions } from './functions';
import type { AnsweredState } from './stateReading';

/** What a state in an answer is taken for: which frames it leaves and enters, and the states to record. */
export interface Placed {
  readonly predictions: readonly Placement[];
  /** Whether it left the frame at the bottom. */
  readonly isLast: boolean;
  /** How the bottom frame was left: the exception that left it, or null. */
  readonly raised: string | null;
}

/** A state with where it belongs, and why that may be wrong. */
export type Placement = Pick<Prediction, 'state' | 'unwinds' | 'doubt'>;

/** The probability of a part of the answer, or null. */
export type Confidence = (part: { readonly start: number; readonly end: number }) => number | null;

export interface PlacingContext {
  readonly functions: Functions;
  /** How many lines the source has. */
  readonly lineCount: number;
  /** The line on which a script begins, or null. */
  readonly beginning: number | null;
  /** The function that is entered first, or null where it is not known. */
  readonly entry: string | null;
}

/**
 * Checks a state of an answer against the source and the open frames, and mends what can be mended. The
 * frames are changed to those that go on after it.
 */
export function place(
  answered: AnsweredState,
  frames: ChatFrame[],
  context: PlacingContext,
  confidence: Confidence,
): Placed {
  const doubts: string[] = [];
  const predictions: Placement[] = [];
  const event = answered.event ?? guessedEvent(doubts);
  const { functions } = context;
  const named = answered.function === null ? null : functions.resolve(answered.function);

  let unwinds = 0;
  let frame: ChatFrame;
  if (event === 'call') frame = enter(named, answered.line, frames, context, doubts);
  else {
    const reached = reach(named, event, frames, context, doubts);
    unwinds = reached.unwinds;
    frame = reached.frame;
    if (reached.call) predictions.push(reached.call);
    frame.line = lineOf(answered.line, event, frame, context, doubts);
  }

  const raisedBefore = frame.raised;
  const locals = localsOf(answered, frame, functions, confidence, doubts);
  const argument = argumentOf(answered, event, confidence, doubts);
  frame.event = event;
  if (event === 'line') frame.raised = null;
  if (event === 'exception') frame.raised = argument?.repr ?? '';
  if (locals) frame.locals = locals;
  const isLast = event === 'return' && frames.length === 1;
  if (event === 'return') frames.pop();

  const state: State = { event, function: frame.function, line: frame.line, thread: null, locals, argument };
  predictions.push({ state, unwinds, doubt: doubts.length > 0 ? doubts.join(' ') : null });
  return { predictions, isLast, raised: isLast ? raisedBefore : null };
}

function guessedEvent(doubts: string[]): EventKind {
  doubts.push('The model does not say which event this is.');
  return 'line';
}

/** Opens the frame of a call event. */
function enter(
  named: string | null,
  line: number | null,
  frames: ChatFrame[],
  { functions, lineCount, entry }: PlacingContext,
  doubts: string[],
): ChatFrame {
  const caller = frames.at(-1) ?? null;
  if (named === null) doubts.push('The model does not say which function is called.');
  const given = named ?? entry ?? '<module>';
  const name = functions.entered(given, caller?.line ?? null);
  if (name !== given) doubts.push(`The model names the class ${given} instead of its ${name}.`);
  const callLine = functions.callLine(name, line);
  if (!callLine) doubts.push(`The file has no function ${name}.`);
  else if (!callLine.isSure) doubts.push(`The file has more than one function ${name}.`);
  const fallback = line !== null && line >= 1 && line <= lineCount ? line : Math.max(1, caller?.line ?? 1);
  const frame: ChatFrame = {
    function: name,
    line: callLine?.line ?? fallback,
    event: 'call',
    raised: null,
    locals: null,
  };
  frames.push(frame);
  return frame;
}

/** The frame that an event is of, and the frames that were left, or the call that was left out, before it. */
function reach(
  named: string | null,
  event: EventKind,
  frames: ChatFrame[],
  context: PlacingContext,
  doubts: string[],
): { readonly frame: ChatFrame; readonly unwinds: number; readonly call: Placement | null } {
  const top = frames.at(-1);
  const name = named ?? top?.function ?? context.entry ?? '<module>';
  if (named === null) doubts.push('The model does not say in which function this is.');
  const index = frames.findLastIndex((frame) => frame.function === name);
  const found = frames[index];
  if (top && found) {
    const unwinds = frames.length - 1 - index;
    // An exception may leave frames without more ado.
    if (unwinds > 0 && top.raised === null) {
      doubts.push(`${top.function} was left without a return event.`);
    }
    frames.length = index + 1;
    return { frame: found, unwinds, call: null };
  }
  if (top && (event !== 'line' || context.functions.named(name).length === 0)) {
    doubts.push(`The model names ${name}, but ${top.function} is running.`);
    return { frame: top, unwinds: 0, call: null };
  }
  const frame = enter(name, null, frames, context, []);
  const state: State = {
    event: 'call',
    function: frame.function,
    line: frame.line,
    thread: null,
    locals: null,
    argument: null,
  };
  return { frame, unwinds: 0, call: { state, unwinds: 0, doubt: 'The model left this call out.' } };
}

function lineOf(
  line: number | null,
  event: EventKind,
  frame: ChatFrame,
  { functions, lineCount, beginning }: PlacingContext,
  doubts: string[],
): number {
  if (line === null || line < 1 || line > lineCount) {
    doubts.push(line === null ? 'The model does not say on which line.' : `The file has no line ${line}.`);
    return Math.max(1, frame.line);
  }
  const isBeginning = frame.function === '<module>' && frame.event === 'call' && line === beginning;
  const doubt =
    event === 'return'
      ? functions.returnDoubt(frame.function, line)
      : event === 'line' && !isBeginning
        ? functions.lineDoubt(frame.function, line, frame)
        : null;
  if (doubt !== null) doubts.push(doubt);
  return line;
}

function localsOf(
  { locals }: AnsweredState,
  frame: ChatFrame,
  functions: Functions,
  confidence: Confidence,
  doubts: string[],
): Locals | null {
  if (!locals) return null;
  const values = new Map<string, Value>();
  let unknown: string | null = null;
  for (const [name, { repr, isUnchanged, given }] of locals) {
    const exists = functions.hasLocal(frame.function, name);
    // What every module has is no variable of the program.
    if (!exists && frame.function === '<module>' && /^__\w+__$/.test(name)) continue;
    if (!exists) unknown ??= name;
    const before = isUnchanged ? frame.locals?.get(name) : undefined;
    values.set(name, before ?? { repr, confidence: repr === null ? null : confidence(given) });
  }
  if (unknown !== null) doubts.push(`${frame.function} has no variable ${unknown}.`);
  return values;
}

function argumentOf(
  { value, valueIsNull }: AnsweredState,
  event: EventKind,
  confidence: Confidence,
  doubts: string[],
): Value | null {
  if (event === 'call' || event === 'line') return null;
  if (!value) return { repr: null, confidence: null };
  if (event === 'return')
    return { repr: valueIsNull ? 'None' : value.repr, confidence: confidence(value.given) };
  const exception = valueIsNull ? null : exceptionOf(value);
  if (exception !== null && !isException(exception)) {
    doubts.push('The exception is not given as its type and arguments.');
  }
  return { repr: exception, confidence: exception === null ? null : confidence(value.given) };
}
