import type { ExpressionEvaluator } from '../python/expressions';
import { type PrintStatement, printStatements } from '../python/prints';
import type { PythonSource } from '../python/source';
import type { Trajectory } from '../trajectory/trajectory';

/**
 * Works out what `print` statements write, for worlds that do not tell: the arguments are evaluated exactly
 * over the predicted values; calls of the program's own functions stand for the values they returned.
 */
export class PrintedOutput {
  readonly #prints: ReadonlyMap<number, PrintStatement>;

  constructor(
    source: PythonSource,
    private readonly evaluator: ExpressionEvaluator,
  ) {
    this.#prints = printStatements(source);
  }

  /** What the statement wrote that a state completed; null where it is no `print`, or cannot be known. */
  async writtenBefore(trajectory: Trajectory, index: number): Promise<string | null> {
    const event = trajectory.event(index);
    const before = trajectory.previousInFrame(index);
    if (before === null || (event !== 'line' && event !== 'return')) return null;
    const print = this.#prints.get(trajectory.line(before));
    const locals = trajectory.locals(before);
    if (!print || !locals || trajectory.event(before) !== 'line') return null;
    // A call over several lines comes back to its first before it is made.
    const isWithin = trajectory.line(index) >= print.line && trajectory.line(index) <= print.endLine;
    if (event === 'line' && isWithin && print.line < print.endLine) return null;
    const returned = returnedTo(trajectory, before, index);
    const result =
      returned && (await this.evaluator.evaluatePrint(print.argumentsText, locals.locals, returned));
    return result?.kind === 'value' ? result.text : null;
  }
}

/** What the calls returned that a frame made between two of its states; null where a value is not known. */
function returnedTo(trajectory: Trajectory, before: number, index: number): string[] | null {
  const returned: string[] = [];
  const frame = trajectory.frame(index);
  for (let at = trajectory.next(before); at !== null && at !== index; at = trajectory.next(at)) {
    if (trajectory.event(at) !== 'return' || trajectory.frame(at).parent !== frame) continue;
    const repr = trajectory.argument(at)?.repr ?? null;
    if (repr === null) return null;
    returned.push(repr);
  }
  return returned;
}
