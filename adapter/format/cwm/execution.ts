import type { CodeUnit } from '../../python/codeUnits';
import type { EventKind, Locals } from '../../trajectory/state';
import { leavingException, suspension } from './leaving';
import type { OpenFrame } from './openFrame';

/** A generator or coroutine that has yielded, or looks like it. */
export interface SuspendedFrame {
  readonly unit: CodeUnit;
  readonly activation: number;
  readonly line: number;
  /** The locals of its newest call or line event: what its line changed after that is not known. */
  readonly locals: Locals | null;
  /** The activation that resumed it last; -1 for the wrapper. */
  readonly caller: number;
  /** Whether its newest return event may as well have been its end. */
  readonly mayBeFinished: boolean;
}

/**
 * Where an execution stands. Executions are never changed, so that each state of a trajectory can keep the one
 * after it.
 */
export interface Execution {
  readonly top: OpenFrame | null;
  /** In the order in which they were suspended. */
  readonly suspended: readonly SuspendedFrame[];
  /** If the newest event left a frame, whether it did so by an exception; null after other events. */
  readonly lastLeft: Leaving | null;
  /** How the outermost frame was left the first time that one was; null before. */
  readonly outcome: Leaving | null;
}

/** How a frame was left: the exception that it was left by, or null where it returned. */
export interface Leaving {
  readonly raised: string | null;
}

export const notStarted: Execution = { top: null, suspended: [], lastLeft: null, outcome: null };

/** More suspended generators than this are not kept apart: those that may be finished are forgotten first. */
const maxSuspended = 200;

/** More calls than this on one line are not told apart by their order. */
const maxEntered = 8;

/** What is to be said of a frame that is entered. */
export type EnteredFrame = Omit<
  OpenFrame,
  'outer' | 'otherLines' | 'trail' | 'entered' | 'newestEvent' | 'raised'
>;

/** The execution after a call event. */
export function enter(execution: Execution, frame: EnteredFrame): Execution & { readonly top: OpenFrame } {
  const { top: caller, suspended } = execution;
  const { unit, activation } = frame;
  // An exception that a frame calls something after has not left it.
  const outer = caller && {
    ...caller,
    raised: null,
    entered: unit ? withEntered(caller, unit) : caller.entered,
  };
  return {
    ...execution,
    top: { ...frame, outer, otherLines: [], trail: [0, 0], entered: [], newestEvent: 'call', raised: null },
    lastLeft: null,
    suspended: suspended.some((other) => other.activation === activation)
      ? suspended.filter((other) => other.activation !== activation)
      : suspended,
  };
}

function withEntered({ entered }: OpenFrame, unit: CodeUnit): readonly CodeUnit[] {
  return [...entered.slice(1 - maxEntered), unit];
}

/** What a line, return or exception event says about the frame on top. */
export interface FrameEvent {
  readonly event: Exclude<EventKind, 'call'>;
  readonly unit: CodeUnit | null;
  readonly line: number;
  /** Other lines that it may as well be on. */
  readonly otherLines: readonly number[];
  /** The text of the line. */
  readonly text: string;
  /** Null where the event does not carry them. */
  readonly locals: Locals | null;
  /** The repr of the returned value or of the exception, or null where it is not known. */
  readonly argument: string | null;
}

/** The execution after a line, return or exception event of its top frame. */
export function advance(
  execution: Execution,
  { event, unit, line, otherLines, text, ...rest }: FrameEvent,
): Execution {
  const { top } = execution;
  if (!top) return execution;
  if (event === 'return') return leave(execution, { ...top, unit, line }, text, rest.argument);
  const raised = event === 'exception' ? (rest.argument ?? '') : null;
  const locals = event === 'line' ? rest.locals : top.locals;
  const trail = event === 'line' ? ([top.line, top.trail[0]] as const) : top.trail;
  const moved = { ...top, newestEvent: event, unit, line, otherLines, trail, entered: [], locals, raised };
  return { ...execution, top: moved, lastLeft: null };
}

/** The execution if its top frame may as well stand on other lines. */
export function withOtherLines(execution: Execution, otherLines: readonly number[]): Execution {
  const { top } = execution;
  return top ? { ...execution, top: { ...top, otherLines } } : execution;
}

/** The execution after frames were left without a return event, as exceptions do. */
export function unwind(execution: Execution, frames: number): Execution {
  let { top } = execution;
  let raised: string | null = null;
  for (let left = frames; left > 0 && top; left--) {
    raised = top.raised ?? raised;
    top = top.outer;
  }
  if (frames === 0) return execution;
  // The exception passes the frame that is on top now, whether or not an event says so.
  if (top && raised !== null) top = { ...top, newestEvent: 'exception', raised };
  return withLeft(execution, top, raised);
}

function withLeft(execution: Execution, top: OpenFrame | null, raised: string | null): Execution {
  const lastLeft = { raised };
  return { ...execution, top, lastLeft, outcome: execution.outcome ?? (top ? null : lastLeft) };
}

function leave(execution: Execution, frame: OpenFrame, lineText: string, value: string | null): Execution {
  const raised = leavingException(frame, lineText, value);
  const left = withLeft(execution, frame.outer, raised);
  const suspends = raised === null ? suspension(frame, lineText, value) : 'no';
  if (suspends === 'no' || !frame.unit) return left;
  const suspended: SuspendedFrame = {
    unit: frame.unit,
    activation: frame.activation,
    line: frame.line,
    locals: frame.locals,
    caller: frame.outer?.activation ?? -1,
    mayBeFinished: suspends === 'maybe',
  };
  return { ...left, suspended: withoutExcess([...execution.suspended, suspended]) };
}

function withoutExcess(frames: readonly SuspendedFrame[]): readonly SuspendedFrame[] {
  if (frames.length <= maxSuspended) return frames;
  const finished = frames.findIndex(({ mayBeFinished }) => mayBeFinished);
  return frames.toSpliced(Math.max(0, finished), 1);
}

/** The open frames, innermost first. */
export function* openFrames(execution: Execution): Generator<OpenFrame> {
  for (let frame = execution.top; frame; frame = frame.outer) yield frame;
}
