import type { Prediction } from './state';
import type { Trajectory } from './trajectory';

/** A state of a trajectory as `append` takes it: appended in the same place it would be the same. */
export function predictionOf(trajectory: Trajectory, index: number): Prediction {
  const { activation, resumed } = trajectory.frame(index);
  return {
    ...trajectory.prediction(index),
    state: trajectory.state(index),
    // Another call is another frame, but it resumes the same generator.
    activation: trajectory.event(index) === 'call' && resumed ? activation : null,
    unwinds: unwindsBefore(trajectory, index),
  };
}

/** How many frames were left just before a state without a return event. */
export function unwindsBefore(trajectory: Trajectory, index: number): number {
  const { thread, parent } = trajectory.frame(index);
  const frame = trajectory.event(index) === 'call' ? parent : trajectory.frame(index);
  const before = trajectory.newestInThread(trajectory.previous(index), thread);
  let unwinds = 0;
  let at = before < 0 ? null : trajectory.frameAfter(before);
  for (; at && at !== frame; at = at.parent) unwinds++;
  return at || !frame ? unwinds : 0;
}
