import type { ExpressionEvaluator } from '../python/expressions';
import { type PrintStatement, printStatements } from '../python/prints';
import type { PythonSource } from '../python/source';
import type { Frame, Trajectory } from '../trajectory/trajectory';
import { wasLeftByException } from './exceptions';

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
    // What cannot be worked out must not look as if nothing was printed.
    const unknown = '(not known)\n';
    const after = event === 'line' ? (trajectory.state(index).locals ?? null) : null;
    if (!returned) return unknown;
    return (
      (await this.evaluator.evaluatePrint(print.argumentsText, locals.locals, returned, after)) ?? unknown
    );
  }
}

/**
 * What the program's functions returned that a frame called between two of its states, in comprehensions and
 * lambdas too; null where that is not known, or no plain call.
 */
function returnedTo(trajectory: Trajectory, before: number, index: number): string[] | null {
  const returned: string[] = [];
  const frame = trajectory.frame(index);
  for (let at = trajectory.next(before); at !== null && at !== index; at = trajectory.next(at)) {
    const left = trajectory.frame(at);
    if (trajectory.event(at) !== 'return' || isAnonymous(left) || caller(left) !== frame) continue;
    const repr = trajectory.argument(at)?.repr ?? null;
    if (repr === null || left.resumed || wasLeftByException(trajectory, at)) return null;
    returned.push(repr);
  }
  return returned;
}

/** Whether a frame is that of a comprehension or a lambda. */
function isAnonymous(frame: Frame): boolean {
  return frame.function.startsWith('<') && frame.depth > 0;
}

/** The function that made a call, whatever comprehension or lambda it stands in. */
function caller(frame: Frame): Frame | null {
  let at = frame.parent;
  while (at && isAnonymous(at)) at = at.parent;
  return at;
}
