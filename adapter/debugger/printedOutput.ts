import type { ExpressionEvaluator } from '../python/expressions';
import type { PythonSource } from '../python/source';
import type { Trajectory } from '../trajectory/trajectory';

/**
 * Works out what `print` statements write, for worlds that do not tell: the arguments are evaluated exactly
 * over the predicted values; calls of the program's own functions stand for the values they returned.
 */
export class PrintedOutput {
  constructor(
    private readonly source: PythonSource,
    private readonly evaluator: ExpressionEvaluator,
  ) {}

  /** What the statement wrote that a state completed; null where it is no `print`, or cannot be known. */
  async writtenBefore(trajectory: Trajectory, index: number): Promise<string | null> {
    if (trajectory.event(index) !== 'line' && trajectory.event(index) !== 'return') return null;
    const before = trajectory.previousInFrame(index);
    if (before === null || trajectory.event(before) !== 'line') return null;
    const print = this.source.printOnLine(trajectory.line(before));
    const locals = trajectory.locals(before);
    if (!print || !locals) return null;
    const returned: string[] = [];
    const frame = trajectory.frame(index);
    for (let at = before + 1; at < index; at++) {
      if (trajectory.event(at) !== 'return' || trajectory.frame(at).parent !== frame) continue;
      const repr = trajectory.argument(at)?.repr;
      if (repr === null || repr === undefined) return null;
      returned.push(repr);
    }
    return this.evaluator.evaluatePrint(print.argumentsText, locals.locals, returned);
  }
}
