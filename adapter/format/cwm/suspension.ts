import type { OpenFrame } from './execution';

/** Whether a return event suspends its frame, so that a later call event may resume it. */
export type Suspension = 'no' | 'maybe' | 'yes';

/**
 * Tells a `yield` or `await` from the end of a function, whose events are the same.
 *
 * @param frame the frame that is left, before it is
 * @param line the text of the event's line
 * @param value the returned value's repr, or null where it is not known
 */
export function suspension(frame: OpenFrame, line: string, value: string | null): Suspension {
  const { unit, raised, newestEvent } = frame;
  if (!unit || (!unit.isGenerator && !unit.isAsync) || raised !== null) return 'no';
  // What is yielded may be None too, but so is what an exhausted generator returns.
  const mayBeNone = value === 'None' || value === null;
  if (unit.kind === 'generatorExpression') return mayBeNone ? 'maybe' : 'yes';
  if (!/\b(?:yield|await|async)\b/.test(line)) return 'no';
  // A frame that ends right after it was resumed has no line event between.
  return newestEvent === 'call' && (mayBeNone || unit.isAsync) ? 'maybe' : 'yes';
}
