import type { Locals } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';

/** The question what an expression gives at a state. */
export interface Question {
  readonly trajectory: Trajectory;
  /** The newest state of the frame in which the expression is meant; -1 before the first. */
  readonly state: number;
  /** Python, on one line. */
  readonly expression: string;
  /** What the locals are that it reads; objects may be written with the attributes that are known. */
  readonly locals: Locals;
  /** Names of the module whose values may be others than those that the module's code gives. */
  readonly globals: Locals;
}

/** What a model answered to a question. */
export interface Guess {
  /** The value's repr, or what the expression raises as `Type(arguments)`. */
  readonly repr: string;
  readonly raises: boolean;
  /** The probability that the answer is right, given the question, 0 to 1; null where nothing says. */
  readonly confidence: number | null;
}
