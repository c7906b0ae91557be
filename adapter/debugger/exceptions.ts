import type { Trajectory } from '../trajectory/trajectory';

/** Exceptions that end iterations and generators as a matter of course: nobody wants to stop for them. */
const controlFlowExceptions = /^(StopIteration|StopAsyncIteration|GeneratorExit)\b/;

/**
 * The exception event that one continues: an exception is reported again in every frame it passes, right
 * after the callee was left. Null where the event is the raise itself.
 */
function passedOnFrom(trajectory: Trajectory, index: number): number | null {
  const { thread } = trajectory.frame(index);
  const before = trajectory.newestInThread(trajectory.previous(index), thread);
  if (before < 0 || trajectory.frame(before).parent !== trajectory.frame(index)) return null;
  // Lines may run between the exception and the return: those of finally blocks and with exits.
  for (let at: number | null = before; at !== null; at = trajectory.previousInFrame(at)) {
    if (trajectory.event(at) !== 'exception') continue;
    return trajectory.argument(at)?.repr === trajectory.argument(index)?.repr ? at : null;
  }
  return null;
}

/** Where the exception of an exception event was raised. */
export function raiseOf(trajectory: Trajectory, index: number): number {
  let at = index;
  for (let from = passedOnFrom(trajectory, at); from !== null; from = passedOnFrom(trajectory, at)) at = from;
  return at;
}

/** Whether a state is an exception event that people who stop on raised exceptions want to see. */
export function isRaise(trajectory: Trajectory, index: number): boolean {
  return (
    trajectory.event(index) === 'exception' &&
    !controlFlowExceptions.test(trajectory.argument(index)?.repr ?? '') &&
    passedOnFrom(trajectory, index) === null
  );
}

/** Where the exception was raised that ended the program after a state; null if none did. */
export function uncaughtRaise(trajectory: Trajectory, last: number): number | null {
  if (trajectory.ending(last)?.how !== 'raised') return null;
  let at = last;
  while (at >= 0 && !(trajectory.event(at) === 'exception' && isBottom(trajectory, at))) {
    at = trajectory.previous(at);
  }
  return at < 0 ? null : raiseOf(trajectory, at);
}

/** Whether a return event only reports that an exception left the frame. */
export function wasLeftByException(trajectory: Trajectory, index: number): boolean {
  const before = trajectory.previousInFrame(index);
  if (before !== null && trajectory.event(before) === 'exception') return true;
  const next = trajectory.next(index);
  return next !== null && trajectory.event(next) === 'exception' && passedOnFrom(trajectory, next) !== null;
}

function isBottom(trajectory: Trajectory, index: number): boolean {
  const { thread, depth } = trajectory.frame(index);
  return thread === null && depth === 0;
}
