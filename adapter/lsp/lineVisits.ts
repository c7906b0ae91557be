import type { Trajectory } from '../trajectory/trajectory';

/** Where a trajectory passed each line, and what came next in the same frame. */
export class LineVisits {
  /** By line, from 1: the line events on it, in the order of execution. */
  readonly byLine = new Map<number, number[]>();
  readonly #nextInFrame = new Map<number, number>();

  constructor(readonly trajectory: Trajectory) {
    for (let state = trajectory.next(-1); state !== null; state = trajectory.next(state)) {
      const before = trajectory.previousInFrame(state);
      if (before !== null) this.#nextInFrame.set(before, state);
      if (trajectory.event(state) !== 'line') continue;
      const line = trajectory.line(state);
      const known = this.byLine.get(line);
      if (known) known.push(state);
      else this.byLine.set(line, [state]);
    }
  }

  /** The frame's state after one, or null at its end and where a generator was left. */
  nextInFrame(state: number): number | null {
    return this.#nextInFrame.get(state) ?? null;
  }
}
