import type { PythonSource, SourceCall } from '../python/source';
import type { Locals } from '../trajectory/state';
import type { Frame, Trajectory } from '../trajectory/trajectory';
import { isFrameOf } from './functionBreakpoints';
import { type StepEnd, stepEnd } from './stepping';

/** A call on the current line that a step can go into, over the others. */
export interface StepTarget {
  readonly call: SourceCall;
  /** The function or class that it enters, as far as names tell; null where they do not. */
  readonly name: string | null;
  /** All targets of the line, this one too, in the order of evaluation. */
  readonly all: readonly StepTarget[];
  readonly source: PythonSource;
}

/**
 * The calls on a state's line that a step can go into: of functions and classes of the program, and of what is
 * not known. Builtins and generators are not entered by their calls.
 */
export function stepTargets(source: PythonSource, trajectory: Trajectory, state: number): StepTarget[] {
  if (state < 0 || trajectory.event(state) !== 'line') return [];
  const locals: Locals = trajectory.locals(state)?.locals ?? new Map();
  const all: StepTarget[] = [];
  for (const call of source.callsOnLine(trajectory.line(state))) {
    const value = locals.get(call.name)?.repr;
    const isLocal = value !== undefined && !source.units.some((unit) => isPlain(unit, call.name));
    const known = isLocal ? functionIn(value ?? '') : call.name;
    if (!isEntered(source, known) && !(isLocal && value?.startsWith('<') !== false) && known !== '') continue;
    // What a wrapper is around is entered through the wrapper, whose name is another.
    const isNamed = source.units.some((unit) => isPlain(unit, known));
    all.push({ call, name: isNamed ? known : null, all, source });
  }
  return all;
}

/** The name of the function that a value is: `<function g at 0x…>`, `<bound method A.get of …>`. */
function functionIn(repr: string): string {
  const [, path = ''] = /^<(?:function|bound method|class) '?([^\s>']+)/.exec(repr) ?? [];
  return path.slice(path.lastIndexOf('.') + 1);
}

type Unit = PythonSource['units'][number];

/** Whether a name is that of a function or class whose call enters nothing else first. */
function isPlain(unit: Unit, name: string): boolean {
  return unit.name === name && unit.callLine === unit.headerLine && unit.kind !== 'module';
}

/** Whether the program has a function or class of a name that a call enters. */
function isEntered(source: PythonSource, name: string): boolean {
  return source.units.some(
    (unit) =>
      unit.name === name &&
      (unit.kind === 'class' || (unit.kind === 'function' && !unit.isGenerator && !unit.isAsync)),
  );
}

/**
 * Where a step into one call of the line ends: at the first line of what it enters, or, where the line is left
 * without that call, where a step over would have ended. Calls of one name are told apart by their order.
 */
export function targetEnd(
  trajectory: Trajectory,
  from: number,
  target: StepTarget,
  allStates: boolean,
): StepEnd {
  const frame = trajectory.frame(from);
  const isOver = stepEnd(trajectory, from, 'next', allStates);
  const before = target.all.slice(0, target.all.indexOf(target)).filter(({ name }) => name === target.name);
  let toPass = before.length - entriesSince(trajectory, from, target);
  let entered: Frame | null = null;
  return (index) => {
    if (!entered && isEntry(trajectory, index, frame, target) && toPass-- <= 0) {
      entered = trajectory.frame(index);
    }
    const isInside = entered !== null && trajectory.frame(index) === entered;
    return (isInside && (allStates || trajectory.event(index) === 'line')) || isOver(index);
  };
}

/** How often the target's function was entered since the line began. */
function entriesSince(trajectory: Trajectory, from: number, target: StepTarget): number {
  const frame = trajectory.frame(from);
  let count = 0;
  for (let at = from; at >= 0; at = trajectory.previous(at)) {
    if (trajectory.frame(at) === frame && trajectory.event(at) === 'line') break;
    if (isEntry(trajectory, at, frame, target)) count++;
  }
  return count;
}

/** Whether a state is a call that a target may mean, made by a frame itself or by a comprehension in it. */
function isEntry(trajectory: Trajectory, index: number, frame: Frame, target: StepTarget): boolean {
  if (trajectory.event(index) !== 'call') return false;
  const entered = trajectory.frame(index);
  if (entered.resumed || isAnonymous(entered) || callerOf(entered) !== frame) return false;
  if (target.name !== null) return isCallOf(trajectory, entered, target.name, target.source);
  // Operators and the like enter methods with such names.
  if (entered.function.startsWith('__')) return false;
  const isExplained = ({ name }: StepTarget) =>
    name !== null && isCallOf(trajectory, entered, name, target.source);
  return !target.all.some(isExplained);
}

/** Whether a frame is entered by a call of a function or class. */
function isCallOf(trajectory: Trajectory, entered: Frame, name: string, source: PythonSource): boolean {
  if (entered.function === name) return true;
  if (entered.function !== '__init__' && entered.function !== '__new__') return false;
  if (!source.units.some((unit) => unit.kind === 'class' && unit.name === name)) return false;
  const owner = source.units.find((unit) => isFrameOf(unit, trajectory, entered))?.parent?.name;
  // A class may have its `__init__` from another.
  const hasOwn = source.units.some(
    (unit) => unit.name === entered.function && unit.parent?.kind === 'class' && unit.parent.name === name,
  );
  return owner === name || !hasOwn;
}

function isAnonymous(frame: Frame): boolean {
  return frame.function.startsWith('<') && frame.depth > 0;
}

function callerOf(frame: Frame): Frame | null {
  let at = frame.parent;
  while (at && isAnonymous(at)) at = at.parent;
  return at;
}
