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
  | { readonly name: 'inv_step_call' };

export type ActionName = Action['name'];
