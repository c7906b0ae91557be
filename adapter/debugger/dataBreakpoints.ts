import type { PythonSource } from '../python/source';
import { lookUp } from '../python/valuePath';
import type { Trajectory } from '../trajectory/trajectory';
import { isFrameOf } from './functionBreakpoints';

/** A frame's variable, or a part of it, whose changes are watched. */
export interface WatchedVariable {
  /** The Python frame: `Frame.activation`. */
  readonly activation: number;
  readonly function: string;
  /** A local's name, and `.attribute` or `[item]` after it. */
  readonly path: string;
}

/** What a variable was and became; null where it did not exist. */
export interface Change {
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * The variable that an expression means in the frame of a state, or why it cannot be watched. A local that is not
 * bound yet can.
 */
export function watchedVariable(
  source: PythonSource,
  trajectory: Trajectory,
  state: number,
  expression: string,
): { readonly variable: WatchedVariable } | { readonly problem: string } {
  if (state < 0) return { problem: 'The program has no state here.' };
  const path = expression.trim();
  const frame = trajectory.frame(state);
  const locals = trajectory.locals(state)?.locals ?? new Map();
  const isName = /^[^\W\d]\w*$/u.test(path);
  const isLocal = () =>
    source.units.some((unit) => isFrameOf(unit, trajectory, frame) && unit.names.has(path.normalize('NFKC')));
  if (!lookUp(path, locals) && !(isName && (locals.has(path) || isLocal()))) {
    return {
      problem: isName
        ? `${path} is no variable of ${frame.function}.`
        : 'Only a variable, or an attribute or item of one that is known here, can be watched.',
    };
  }
  return { variable: { activation: frame.activation, function: frame.function, path } };
}

/**
 * How a variable changed between a state of its frame and the frame's state before. Null where it did not, or
 * where that is not known.
 */
export function changeAt(trajectory: Trajectory, index: number, variable: WatchedVariable): Change | null {
  if (!isIn(trajectory, index, variable)) return null;
  const after = valueAt(trajectory, index, variable);
  if (after === undefined) return null;
  for (let at = stateBefore(trajectory, index); at >= 0; at = stateBefore(trajectory, at)) {
    const before = valueAt(trajectory, at, variable);
    // What is not known is passed over: it says neither that the value stayed nor that it changed.
    if (before === undefined) continue;
    return before === after ? null : { before, after };
  }
  return null;
}

/** A change in words: `total: 3 → 6`. */
export function describeChange({ path }: WatchedVariable, { before, after }: Change): string {
  if (before === null) return `${path} is now ${after}, and was not there before`;
  if (after === null) return `${path} is gone, and was ${before}`;
  return `${path} changed from ${before} to ${after}`;
}

function isIn(trajectory: Trajectory, index: number, variable: WatchedVariable): boolean {
  const { activation, function: name } = trajectory.frame(index);
  return activation === variable.activation && name === variable.function;
}

/** The state before one in its Python frame, a generator's suspensions included; -1 where there is none. */
function stateBefore(trajectory: Trajectory, index: number): number {
  const inFrame = trajectory.previousInFrame(index);
  if (inFrame !== null) return inFrame;
  const { activation, resumed } = trajectory.frame(index);
  if (!resumed) return -1;
  let at = trajectory.previous(index);
  while (at >= 0 && trajectory.frame(at).activation !== activation) at = trajectory.previous(at);
  return at;
}

/** The variable's repr at a state; null where it does not exist, undefined where it is not known. */
function valueAt(
  trajectory: Trajectory,
  index: number,
  { path }: WatchedVariable,
): string | null | undefined {
  const locals = trajectory.locals(index)?.locals;
  if (!locals) return undefined;
  const found = lookUp(path, locals);
  if (found) return found.repr ?? undefined;
  const [root = ''] = /^[^\s.[]+/.exec(path) ?? [];
  return locals.get(root)?.repr === null ? undefined : null;
}
