import type { Step } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';

/** Records the steps that a world gave after a state, in order, up to an end among them. */
export function recordSteps(trajectory: Trajectory, from: number, steps: readonly Step[]): void {
  let index = from;
  for (const step of steps) {
    if (step.kind === 'end') {
      trajectory.end(index, step);
      break;
    }
    index = trajectory.append(index, { name: 'step_into' }, step);
  }
}
