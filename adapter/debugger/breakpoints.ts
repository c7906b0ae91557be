import type { Trajectory } from '../trajectory/trajectory';
import { isRaise } from './exceptions';

/** The lines and exceptions at which execution stops. */
export class Breakpoints {
  #lines: ReadonlySet<number> = new Set();
  /** Stop where an exception is raised, caught or not. */
  raised = false;
  /** Stop where an exception was raised that ends the program. */
  uncaught = true;

  /** The lines, which are those that breakpoints really sit on. */
  get lines(): ReadonlySet<number> {
    return this.#lines;
  }

  setLines(lines: Iterable<number>): void {
    this.#lines = new Set(lines);
  }

  /** Why execution stops at a state, or null. */
  matches(trajectory: Trajectory, index: number): 'breakpoint' | 'exception' | null {
    if (trajectory.event(index) === 'line' && this.#onLine(trajectory, index)) return 'breakpoint';
    if (this.raised && isRaise(trajectory, index)) return 'exception';
    return null;
  }

  /** A state whose line is in doubt stops at any of the lines that it may be on. */
  #onLine(trajectory: Trajectory, index: number): boolean {
    return (
      this.#lines.has(trajectory.line(index)) ||
      trajectory.prediction(index).otherLines.some((line) => this.#lines.has(line))
    );
  }
}
