import type { RunEdit } from '../python/tracer';
import type { Action } from '../trajectory/action';
import type { Trajectory } from '../trajectory/trajectory';

export type WhatIf = Extract<Action, { name: 'what_if' }>;

/** The way to a state of a trajectory: what a person changed on it. */
export interface EditedPath {
  /** The changes, in order. */
  readonly edits: readonly RunEdit[];
  /** How many states of the main thread the way has, the state itself included. */
  readonly mainStates: number;
}

const beginning: EditedPath = { edits: [], mainStates: 0 };

/** Finds the what-ifs on the ways to a trajectory's states; of ways that were asked for it knows them. */
export class EditedPaths {
  readonly #paths = new Map<number, EditedPath>();

  constructor(private readonly trajectory: Trajectory) {}

  /** @param state a state of the trajectory, or -1 */
  to(state: number): EditedPath {
    const { trajectory } = this;
    const between: number[] = [];
    let at = state;
    for (; at >= 0 && !this.#paths.has(at); at = trajectory.previous(at)) between.push(at);
    let { edits, mainStates } = this.#paths.get(at) ?? beginning;
    for (const index of between.reverse()) {
      const action = trajectory.action(index);
      // The edited state stands in the place of the one that it is a version of.
      if (action.name === 'what_if') edits = [...edits, editAt(mainStates, trajectory, index, action)];
      if (trajectory.frame(index).thread === null) mainStates++;
    }
    const path = { edits, mainStates };
    if (state >= 0) this.#paths.set(state, path);
    return path;
  }
}

/** A what-if in a state that another one may have led to, as one that changes what both do. */
export function furtherChange(before: Action, { name, locals, line }: WhatIf): WhatIf {
  return before.name === 'what_if'
    ? { name, locals: new Map([...before.locals, ...locals]), line }
    : { name, locals, line };
}

/**
 * A what-if as the change of a run.
 *
 * @param at the index of the changed state among the run's main states
 * @param state the state, or a version of it, whose line is the edit's where that names none: an edit before it
 *   may have jumped there
 */
export function editAt(at: number, trajectory: Trajectory, state: number, { locals, line }: WhatIf): RunEdit {
  const canJump = trajectory.event(state) === 'line';
  return { at, locals, lines: line === null && !canJump ? null : [line ?? trajectory.line(state)] };
}
