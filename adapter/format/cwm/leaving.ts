import type { OpenFrame } from './openFrame';
import { exceptionType } from './values';

/** Whether a return event suspends its frame, so that a later call event may resume it. */
export type Suspension = 'no' | 'maybe' | 'yes';

/** Exceptions that end an iteration or an `await`, for which there is an event though nothing is raised. */
const signals = new Set(['StopIteration', 'StopAsyncIteration']);

/**
 * The exception that a return event leaves its frame by: the event that says so is that before it.
 *
 * @param frame the frame that is left, before it is
 * @param line the text of the event's line
 * @param value the returned value's repr, or null where it is not known
 */
export function leavingException(frame: OpenFrame, line: string, value: string | null): string | null {
  const { unit, raised } = frame;
  if (raised === null || (value !== null && value !== 'None')) return null;
  const endsIteration = unit?.isGenerator || unit?.isAsync || /\b(?:for|await)\b/.test(line);
  return endsIteration && signals.has(exceptionType(raised)) ? null : raised;
}

/**
 * Tells a `yield` or `await` from the end of a function that is not left by an exception: their events are the
 * same.
 *
 * @param frame the frame that is left, before it is
 * @param line the text of the event's line
 * @param value the returned value's repr, or null where it is not known
 */
export function suspension(frame: OpenFrame, line: string, value: string | null): Suspension {
  const { unit, newestEvent } = frame;
  if (!unit || (!unit.isGenerator && !unit.isAsync)) return 'no';
  // What is yielded may be None too, but so is what an exhausted generator returns.
  const mayBeNone = value === 'None' || value === null;
  if (unit.kind === 'generatorExpression') return mayBeNone ? 'maybe' : 'yes';
  if (!/\b(?:yield|await|async)\b/.test(line)) return 'no';
  // A frame that ends right after it was resumed has no line event between.
  return newestEvent === 'call' && (mayBeNone || unit.isAsync) ? 'maybe' : 'yes';
}
