import type { ExpressionEvaluator } from '../python/expressions';
import type { Trajectory } from '../trajectory/trajectory';
import { isRaise } from './exceptions';

export interface LineBreakpoint {
  /** The line that it really sits on. */
  readonly line: number;
  /** A Python expression that must be true; null: stop always. */
  readonly condition: string | null;
}

/** Why execution stops at a state. */
export interface BreakpointMatch {
  readonly reason: 'breakpoint' | 'exception';
  /** What people should know, such as a condition that failed. */
  readonly notes: readonly string[];
}

/** The lines and exceptions at which execution stops. */
export class Breakpoints {
  #byLine: ReadonlyMap<number, LineBreakpoint> = new Map();
  /** Stop where an exception is raised, caught or not. */
  raised = false;
  /** Stop where an exception was raised that ends the program. */
  uncaught = true;

  constructor(private readonly evaluator: ExpressionEvaluator) {}

  get lineBreakpoints(): readonly LineBreakpoint[] {
    return [...this.#byLine.values()];
  }

  /** Sets the breakpoints on lines, instead of those before. */
  setLines(breakpoints: readonly LineBreakpoint[]): void {
    this.#byLine = new Map(breakpoints.map((breakpoint) => [breakpoint.line, breakpoint]));
  }

  /** Why execution stops at a state, or null. */
  async match(trajectory: Trajectory, index: number): Promise<BreakpointMatch | null> {
    if (trajectory.event(index) === 'line') {
      const breakpoint = this.#onLineOf(trajectory, index);
      const notes = breakpoint && (await this.#holds(breakpoint, trajectory, index));
      if (notes) return { reason: 'breakpoint', notes };
    }
    return this.raised && isRaise(trajectory, index) ? { reason: 'exception', notes: [] } : null;
  }

  /** A state whose line is in doubt stops at any of the lines that it may be on. */
  #onLineOf(trajectory: Trajectory, index: number): LineBreakpoint | null {
    if (this.#byLine.size === 0) return null;
    const lines = [trajectory.line(index), ...trajectory.prediction(index).otherLines];
    return lines.map((line) => this.#byLine.get(line)).find((breakpoint) => breakpoint !== undefined) ?? null;
  }

  /**
   * Whether a breakpoint's condition holds: null if not, else what to tell. One that cannot be evaluated stops
   * and says so; passing over it in silence would hide the place that was looked for.
   */
  async #holds(
    { line, condition }: LineBreakpoint,
    trajectory: Trajectory,
    index: number,
  ): Promise<readonly string[] | null> {
    if (condition === null) return [];
    const locals = trajectory.locals(index)?.locals ?? new Map();
    const result = await this.evaluator.evaluate(`bool(${condition}\n)`, locals);
    if (result.kind === 'value') return result.repr === 'True' ? [] : null;
    const why =
      result.kind === 'raises'
        ? `raises ${result.type}: ${result.message}`
        : `is not known: ${result.reason}`;
    return [`The condition "${condition}" of the breakpoint on line ${line} ${why}`];
  }
}
