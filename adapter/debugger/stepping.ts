import type { Frame, Trajectory } from '../trajectory/trajectory';

export type ForwardRequest = 'stepIn' | 'next' | 'stepOut' | 'continue';

/** Says of each state after the one that a step began in, in order, whether the step ends there. */
export type StepEnd = (index: number) => boolean;

/**
 * Where a step ends. People stop at line states: a step into a call goes to the callee's first line, a step
 * that leaves a function to its caller's next line.
 *
 * @param from the state that the step begins in
 * @param allStates whether states of every event count, not lines only
 */
export function stepEnd(
  trajectory: Trajectory,
  from: number,
  request: ForwardRequest,
  allStates: boolean,
): StepEnd {
  if (request === 'continue') return () => false;
  const frame = trajectory.frame(from);
  // Once the stepped thread, or one of several calls that the entry makes, is over, any state is the next.
  let isOver = trajectory.event(from) === 'return' && frame.depth === 0;
  return (index) => {
    const at = trajectory.frame(index);
    const ends =
      (allStates || trajectory.event(index) === 'line') &&
      (isOver || (at.thread === frame.thread && reaches(trajectory, frame, at, request)));
    if (at.thread === frame.thread && at.depth === 0 && trajectory.event(index) === 'return') isOver = true;
    return ends;
  };
}

function reaches(trajectory: Trajectory, frame: Frame, at: Frame, request: ForwardRequest): boolean {
  if (request === 'stepIn') return true;
  const same = at === frame || at.activation === frame.activation;
  if (request === 'next') return same || trajectory.isWithin(frame, at);
  return !same && trajectory.isWithin(frame, at);
}

/**
 * The state that stepping over would have come from: the line before in the same frame, or at a frame's
 * beginning the caller's line; null at the record's beginning.
 *
 * @param first the first state that is shown
 */
export function stateBefore(
  trajectory: Trajectory,
  from: number,
  first: number,
  allStates: boolean,
): number | null {
  const frame = trajectory.frame(from);
  let index = from > first ? trajectory.previous(from) : -1;
  /** The state before; the inside of a call that the frame is not in is passed over at once. */
  const before = (state: number): number => {
    const at = trajectory.frame(state);
    // A generator may have gone on in there.
    const isPassedOver =
      !allStates && !frame.resumed && at.thread === frame.thread && !trajectory.isWithin(frame, at);
    return isPassedOver && at.callerState >= 0 ? at.callerState : trajectory.previous(state);
  };
  for (; index >= first; index = before(index)) {
    const at = trajectory.frame(index);
    if (!allStates && trajectory.event(index) !== 'line') continue;
    if (at.thread !== frame.thread) continue;
    // The calls that an entry makes one after the other have no caller that is shown.
    if (at.depth === 0 || at.activation === frame.activation || trajectory.isWithin(frame, at)) return index;
    if (allStates) return index;
  }
  return null;
}
