import type { EventKind, Locals } from '../../trajectory/state';
import type { Trajectory } from '../../trajectory/trajectory';

/** A frame that is open while an answer is read. */
export interface ChatFrame {
  readonly function: string;
  line: number;
  event: EventKind;
  /** The exception that was raised in the frame, or passes through it, since its last line; else null. */
  raised: string | null;
  /** The newest known locals, or null. */
  locals: Locals | null;
}

/** The frames that go on after a state of a trajectory (-1: none), innermost last. */
export function framesAfter(trajectory: Trajectory, from: number): ChatFrame[] {
  if (from < 0) return [];
  const entries = trajectory.stack(from);
  if (trajectory.event(from) === 'return') entries.shift();
  return entries.reverse().map(({ frame, state }) => {
    const event = trajectory.event(state);
    return {
      function: frame.function,
      line: trajectory.line(state),
      event,
      raised: event === 'exception' ? (trajectory.argument(state)?.repr ?? '') : null,
      locals: trajectory.locals(state)?.locals ?? null,
    };
  });
}
