import type { ActionName } from './action';
import type { Frame, Trajectory } from './trajectory';

/** The actions that lead from one recorded state to another, without anything being predicted. */
export type Navigation = Exclude<ActionName, 'breakpoint' | 'continue' | 'what_if'>;

/**
 * Where an action leads on the record, along the states that are followed now; null where the record has no such
 * state. Takes a time that grows with the depth of the stack, and not with how many states lie between.
 *
 * In the state tree a call state is the parent of what happens in its frame. So the siblings of a state are the
 * other states of its frame and the calls made from it; a call state's are those of the frame that it was made from.
 *
 * - `step_into` and `inv_step_into`: the next state, and the one before, of whatever thread.
 * - `step_over` and `inv_step_over`: the next sibling, and the one before: over all that happens in a call. A frame's
 *   last state has no next one, its first none before. Resuming a generator is a call like any other.
 * - `step_return`: the state with which the frame is left: its return event or, where it has none, the last of it.
 * - `inv_step_call`: the call state that is the state's parent: the one that opened the frame.
 */
export function navigate(trajectory: Trajectory, from: number, action: Navigation): number | null {
  switch (action) {
    case 'step_into':
      return trajectory.next(from);
    case 'step_over':
      return nextSibling(trajectory, from);
    case 'step_return':
      return leavingState(trajectory, from);
    case 'inv_step_into':
      return stateOrNull(trajectory.previous(from));
    case 'inv_step_over':
      return previousSibling(trajectory, from);
    case 'inv_step_call':
      return openingCall(trajectory, from);
  }
}

/** The frame in which a state's siblings are: for a call state the one that it was made from, which may be none. */
function homeOf(trajectory: Trajectory, state: number): Frame | null {
  const frame = trajectory.frame(state);
  return trajectory.event(state) === 'call' ? frame.parent : frame;
}

function nextSibling(trajectory: Trajectory, from: number): number | null {
  const isCall = trajectory.event(from) === 'call';
  const next = isCall ? trajectory.leavingOf(from) : trajectory.nextInThread(from);
  return next !== null && homeOf(trajectory, next) === homeOf(trajectory, from) ? next : null;
}

function leavingState(trajectory: Trajectory, from: number): number | null {
  const frame = trajectory.frame(from);
  const after = trajectory.leavingOf(from);
  const last = after === null ? trajectory.lastFollowed(from) : trajectory.previous(after);
  const state = trajectory.newestInFrame(trajectory.newestInThread(last, frame.thread), frame);
  if (state <= from) return null;
  const isLeft = after !== null || trajectory.event(state) === 'return' || trajectory.ending(last) !== null;
  return isLeft ? state : null;
}

function previousSibling(trajectory: Trajectory, from: number): number | null {
  const { thread } = trajectory.frame(from);
  const home = homeOf(trajectory, from);
  const before = trajectory.newestInThread(trajectory.previous(from), thread);
  if (before < 0) return null;
  if (trajectory.frame(before) === home) return trajectory.event(before) === 'call' ? null : before;
  let at: Frame | null = trajectory.frame(before);
  while (at && at.parent !== home) at = at.parent;
  return at && at.firstState;
}

function openingCall(trajectory: Trajectory, from: number): number | null {
  const first = homeOf(trajectory, from)?.firstState ?? -1;
  return first >= 0 && first < from && trajectory.event(first) === 'call' ? first : null;
}

function stateOrNull(state: number): number | null {
  return state < 0 ? null : state;
}
