import type { CompletionChunk, Prompt } from '../completion/completion';
import type { PythonSource } from '../python/source';
import type { WhatIf } from '../trajectory/action';
import type { Program } from '../trajectory/program';
import type { State, Step } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { Guess, Question } from './question';

export type FormatName = 'cwm' | 'chat';

/** Reads a model's answer into steps as it arrives. */
export interface StepReader {
  /** The steps that a piece of the answer completed. The piece that says the answer's end comes last. */
  read(chunk: CompletionChunk): readonly Step[];
}

/**
 * A way to write a trajectory for a model and to read its answer, for one program.
 */
export interface Format {
  readonly name: FormatName;
  /** Steps that need no model, such as the call of a script's module: the beginning of every trajectory. */
  readonly opening: readonly Step[];
  /** What a model is asked so that it continues after a state (-1: after nothing). */
  prompt(trajectory: Trajectory, from: number, wanted: 'one' | 'many'): Prompt;
  /** A reader for the answer to that prompt. */
  reader(trajectory: Trajectory, from: number): StepReader;
  /**
   * What the format can carry of a state, or null where it has no such state. Two worlds are compared after
   * projection.
   */
  project(state: State): State | null;
  /** Why an edit of a state of the trajectory cannot be put to the model, as a sentence; null where it can. */
  whatIfProblem(trajectory: Trajectory, state: number, change: WhatIf): string | null;
  /** How the model is asked what an expression gives. */
  readonly questions: QuestionFormat;
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
