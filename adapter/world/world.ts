import type { UsageTotals } from '../completion/usage';
import type { Guess, Question } from '../format/question';
import type { PythonSource } from '../python/source';
import type { Action, ActionName, WhatIf } from '../trajectory/action';
import type { Program } from '../trajectory/program';
import type { State, Step } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';

export type WorldKind = 'server' | 'reference' | 'recording' | 'embedded';

/** What answers, for people. */
export interface WorldDescription {
  readonly kind: WorldKind;
  /** One line, such as `CWM at http://127.0.0.1:8000/v1` or `Python 3.14.2 in a sandbox (Pyodide)`. */
  readonly name: string;
  /** Whether the values come from a real run, now or when they were recorded; otherwise they are predicted. */
  readonly isReal: boolean;
}

export interface PredictRequest {
  readonly trajectory: Trajectory;
  /** The state to go on from: an index of the trajectory, or -1 for the beginning. */
  readonly from: number;
  readonly action: Action;
  /** How many steps are likely to be wanted: a hint that saves work, not a limit. */
  readonly wanted: 'one' | 'many';
  /**
   * Whether another sample is wanted of what follows `from`, whatever is recorded there; it is not recorded while
   * it is drawn.
   */
  readonly isSample?: boolean;
  readonly signal: AbortSignal;
}

/** How a world is asked what an expression gives at a state. */
export type Questions =
  /** The question is the trace of another program, for which there is a world that is not closed by itself. */
  | { readonly kind: 'trace'; readonly another: (program: Program, source: PythonSource) => Promise<World> }
  /** @throws CatalogueError when the world fails, or its answer cannot be read */
  | { readonly kind: 'words'; readonly ask: (question: Question, signal: AbortSignal) => Promise<Guess> }
  /** It is not asked, with the reason as a clause: what is known can be evaluated, nothing is guessed. */
  | { readonly kind: 'none'; readonly why: string };

/**
 * Anything that predicts a program's states. A world may be asked again from any state of the trajectory that
 * it, or another world, gave before.
 */
export interface World {
  readonly description: WorldDescription;
  /** What people should know about what answers, in sentences; some is known only once it has answered. */
  readonly notes?: readonly string[];
  /** What was used of a model so far; null where there is none. */
  readonly usage?: UsageTotals | null;
  /**
   * The actions that the world takes by itself. All others are composed from `step_into`. A world that takes
   * `what_if` gives the edited version of the state that it is asked from; for others that is written.
   */
  readonly actions: ReadonlySet<ActionName>;
  /**
   * The steps that follow, in order, in batches as they arrive; an empty trajectory begins at the program's
   * first state. Each batch is recorded in the trajectory before the next one is asked for. For `step_into` a world goes on with the states after the next one for as long as it is
   * iterated; for jumps it yields one step. The iteration ends after an `Ending`, or when the world wants to
   * be asked anew. Leaving the iteration stops the work.
   *
   * @throws CatalogueError when the world fails; what was yielded before stays true
   */
  predict(request: PredictRequest): AsyncIterable<readonly Step[]>;
  /**
   * What the world can carry of a state, or null where it has no such state. Worlds are compared after the
   * projection of the one that is checked.
   */
  project(state: State): State | null;
  /** Whether the world can go on from states that a person edited. */
  readonly canBeEdited: boolean;
  /**
   * Why the world could not go on from an edited version of a state, as a sentence; null where it can. That the
   * values are literals, and the names and the line those of the frame's function, is known.
   */
  whatIfProblem(trajectory: Trajectory, state: number, change: WhatIf): string | null;
  /** The temperature at which other samples of a state are drawn; null where every answer is the same. */
  readonly samplingTemperature: number | null;
  /** How what answers here is asked what an expression gives. */
  readonly questions: Questions;
  /** Ends whatever the world holds: processes, connections. */
  close(): Promise<void>;
}

/** What a world does, in the words that begin a session: `Predicting with CWM at …`. */
export function describeWorld({ kind, name }: WorldDescription): string {
  switch (kind) {
    case 'reference':
      return `Running with ${name}`;
    case 'recording':
      return `Showing ${name}`;
    case 'server':
    case 'embedded':
      return `Predicting with ${name}`;
  }
}
