import { compareReprs } from '../python/reprEquality';
import type { Locals, State, Value } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { World } from '../world/world';

/** In what a prediction is right; null where there is nothing to be right about. */
export interface Score {
  readonly event: boolean;
  /** The line and the function. */
  readonly line: boolean;
  /** The functions and lines of all open frames. */
  readonly stack: boolean;
  /** The values that differ from the frame's state before, and the return value or exception. */
  readonly changed: boolean | null;
  /** All locals, none more and none less, and the return value or exception. */
  readonly values: boolean | null;
  /** In all of it. */
  readonly exact: boolean;
}

export const wrong: Score = {
  event: false,
  line: false,
  stack: false,
  changed: false,
  values: false,
  exact: false,
};

/** A state in a trajectory. */
export interface StateAt {
  readonly trajectory: Trajectory;
  readonly index: number;
}

/** Scores a predicted state by the real one, in what the world can carry of it. */
export function score(world: World, predicted: StateAt, real: StateAt): Score {
  const said = world.project(predicted.trajectory.state(predicted.index));
  const does = world.project(real.trajectory.state(real.index));
  if (!said || !does) return wrong;
  const event = said.event === does.event;
  const line = said.line === does.line && said.function === does.function;
  const stack = stackText(predicted) === stackText(real);
  const changed = event && line ? areChangesRight(said, does, localsBefore(world, real)) : false;
  const values = event && line ? areValuesRight(said, does) : false;
  return { event, line, stack, changed, values, exact: event && line && stack && values !== false };
}

function stackText({ trajectory, index }: StateAt): string {
  return trajectory
    .stack(index)
    .map(({ frame, state }) => `${frame.function}:${trajectory.line(state)}`)
    .join('\n');
}

/** The frame's locals before a state, as far as the world can carry them; null where none are known. */
function localsBefore(world: World, { trajectory, index }: StateAt): Locals | null {
  for (let at = trajectory.previousInFrame(index); at !== null; at = trajectory.previousInFrame(at)) {
    const locals = world.project(trajectory.state(at))?.locals;
    if (locals) return locals;
  }
  return null;
}

function areChangesRight(said: State, does: State, before: Locals | null): boolean | null {
  const names = new Set<string>();
  if (does.locals) {
    for (const [name, { repr }] of does.locals) if (before?.get(name)?.repr !== repr) names.add(name);
    for (const name of before?.keys() ?? []) if (!does.locals.has(name)) names.add(name);
  }
  if (names.size === 0 && !does.argument) return null;
  return (
    isRight(said.argument, does.argument) &&
    [...names].every((name) => isRight(said.locals?.get(name), does.locals?.get(name)))
  );
}

function areValuesRight(said: State, does: State): boolean | null {
  if (!does.locals && !does.argument) return null;
  if (!isRight(said.argument, does.argument)) return false;
  if (!does.locals) return true;
  if (said.locals?.size !== does.locals.size) return false;
  return [...does.locals].every(([name, value]) => isRight(said.locals?.get(name), value));
}

/** Whether a value is what it really is; what was not predicted is not right. */
function isRight(said: Value | null | undefined, does: Value | null | undefined): boolean {
  if (!said || !does) return !said && !does;
  return said.repr === does.repr || compareReprs(said.repr, does.repr) === 'same';
}
