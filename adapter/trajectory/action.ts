/**
 * What a debugger can ask of a world (the vocabulary of arXiv 2603.09951). Forward actions lead to a later
 * state, inverse ones to an earlier.
 */
export type Action =
  | { readonly name: 'step_into' }
  | { readonly name: 'step_over' }
  | { readonly name: 'step_return' }
  /** The next state on one of these lines. */
  | { readonly name: 'breakpoint'; readonly lines: readonly number[] }
  /** The program's end. */
  | { readonly name: 'continue' }
  | { readonly name: 'inv_step_into' }
  | { readonly name: 'inv_step_over' }
  | { readonly name: 'inv_step_call' }
  /**
   * A person's edit: the state that follows is another version of the one it is made in. A branch begins at it,
   * beside what was recorded.
   */
  | {
      readonly name: 'what_if';
      /** The locals that get other values, as Python literals. */
      readonly locals: ReadonlyMap<string, string>;
      /** The line from which execution goes on instead, or null for the state's own. */
      readonly line: number | null;
    };

export type ActionName = Action['name'];

/** A person's edit of a state. */
export type WhatIf = Extract<Action, { readonly name: 'what_if' }>;
