import type { CompletionChunk, Prompt } from '../completion/completion';
import type { PythonSource } from '../python/source';
import type { Program } from '../trajectory/program';
import type { Locals } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { Format } from './format';

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

/** How a format puts questions. */
export type QuestionFormat =
  /** As the trace of another program, which ends in the answer. */
  | {
      readonly kind: 'trace';
      readonly formatFor: (program: Program, source: PythonSource) => Promise<Format>;
    }
  /** In words of its own. */
  | {
      readonly kind: 'words';
      readonly prompt: (question: Question) => Prompt;
      /** @throws CatalogueError where the answer, given as its pieces, says nothing that can be read */
      readonly read: (answer: readonly CompletionChunk[]) => Guess;
    };
