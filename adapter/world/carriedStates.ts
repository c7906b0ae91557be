import type { Trajectory } from '../trajectory/trajectory';
import type { World } from './world';

/**
 * Which states of a trajectory a world can carry. A projection sees one state at a time; what is called from a state
 * that is not carried, such as a decorator before a script's beginning, is not carried either.
 */
export class CarriedStates {
  readonly #known: boolean[] = [];

  constructor(
    private readonly world: World,
    private readonly trajectory: Trajectory,
  ) {}

  has(index: number): boolean {
    // States before a state have lower indices, so that this needs no recursion.
    for (let next = this.#known.length; next <= index; next++) {
      const { callerState } = this.trajectory.frame(next);
      const isOuterCarried = callerState < 0 || this.#known[callerState] === true;
      this.#known.push(isOuterCarried && this.world.project(this.trajectory.state(next)) !== null);
    }
    return this.#known[index] === true;
  }
}
