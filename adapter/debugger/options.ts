import { type Budget, defaultBudget } from './budget';
import type { StartAt } from './startAt';

/** How a program is debugged. */
export interface DebuggerOptions {
  readonly budget: Budget;
  /** Whether a script's leading definitions, imports and docstring are shown too. */
  readonly showDefinitions: boolean;
  /** Whether steps stop at states of every event, not at lines only. */
  readonly allStates: boolean;
  /** Whether a step over is predicted while a person looks at a stop. */
  readonly prefetch: boolean;
  /** The state to start at; null: the program's beginning. */
  readonly startAt?: StartAt | null;
}

export const defaultOptions: DebuggerOptions = {
  budget: defaultBudget,
  showDefinitions: false,
  allStates: false,
  prefetch: false,
};
