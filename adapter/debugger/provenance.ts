import { namesByLine } from '../python/lineNames';
import type { PythonSource } from '../python/source';
import { readPath, valueAt, type ValuePath } from '../python/valuePath';
import type { Locals, Value } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import { describeChange } from './whatIf';

/** Why a value is what it is: where it last became something else, and what that came from. */
export interface Origin {
  /** The expression that means it. */
  readonly name: string;
  readonly path: ValuePath;
  readonly value: Value;
  /** The first state that has the value. */
  readonly state: number;
  /** The line that was run right before, which gave it; null where the frame begins with it. */
  readonly line: number | null;
  /** The state in which that line was about to run, or the call state's caller; -1 where nothing is recorded. */
  readonly ran: number;
  /** How it came to be, in words: `by line 3`, `as an argument of the call on line 9`, `what if n = 3`. */
  readonly how: string;
  /** What the line read of the frame's locals, and what its calls returned. */
  readonly from: readonly Source[];
}

/** Something that a value came from. */
export interface Source {
  /** A local's name, or a call such as `f()`. */
  readonly name: string;
  readonly value: Value;
  /** The state in which it had this value. */
  readonly state: number;
  readonly kind: 'local' | 'returned';
}

/** How many of the things that a value came from are told at most. */
const maxSources = 20;

/**
 * Why a local, or what `local["key"].attribute` means, has its value at a state; null where it is not known there.
 * What the line read is read off the syntax tree: it may have come from elsewhere too, as through other names for
 * the same object.
 */
export function originOf(
  source: PythonSource,
  trajectory: Trajectory,
  state: number,
  expression: string,
): Origin | null {
  const locals = trajectory.locals(state)?.locals;
  const path = locals && readPath(expression, locals);
  const value = path && valueAt(path, locals);
  if (!value) return null;
  const given = firstWith(trajectory, state, path);
  const origin = { name: expression, path, value, state: given };
  const edit = describeChange(trajectory, given);
  if (edit !== null) return { ...origin, line: null, ran: -1, how: edit, from: [] };
  const before = trajectory.previousInFrame(given);
  const ran = before ?? trajectory.frame(given).callerState;
  const line = ran < 0 ? null : trajectory.line(ran);
  return {
    ...origin,
    line,
    ran,
    how: describe(before !== null, line, trajectory.frame(given).function),
    from: ran < 0 ? [] : sourcesOf(source, trajectory, ran, given),
  };
}

/** The first of the frame's states up to one that has the value there, without another in between. */
function firstWith(trajectory: Trajectory, state: number, path: ValuePath): number {
  const localsAt = (at: number) => trajectory.locals(at)?.locals;
  const partOf = (locals: Locals | undefined) => locals && valueAt(path, locals)?.repr;
  const wanted = partOf(localsAt(state));
  let at = state;
  for (;;) {
    const before = trajectory.previousInFrame(at);
    if (before === null) return at;
    const locals = localsAt(before);
    // A value's parts are read anew only where the value is another.
    const isSame = locals?.get(path.name)?.repr === localsAt(at)?.get(path.name)?.repr;
    if (!isSame && partOf(locals) !== wanted) return at;
    at = before;
  }
}

function sourcesOf(source: PythonSource, trajectory: Trajectory, ran: number, given: number): Source[] {
  const sources: Source[] = [];
  const locals = trajectory.locals(ran)?.locals;
  for (const name of namesByLine(source).get(trajectory.line(ran))?.read ?? []) {
    const value = locals?.get(name);
    if (value && sources.length < maxSources) sources.push({ name, value, state: ran, kind: 'local' });
  }
  const frame = trajectory.frame(ran);
  for (let at = trajectory.previous(given); at > ran && sources.length < maxSources;) {
    const called = trajectory.frame(at);
    const value = trajectory.argument(at);
    const isReturn = trajectory.event(at) === 'return' && called.parent === frame;
    if (isReturn && value) sources.push({ name: `${called.function}()`, value, state: at, kind: 'returned' });
    at = trajectory.previous(isReturn ? called.firstState : at);
  }
  return sources;
}

function describe(isInFrame: boolean, line: number | null, name: string): string {
  if (line === null) return `as ${name} begins`;
  return isInFrame ? `by line ${line}` : `as an argument of the call on line ${line}`;
}
