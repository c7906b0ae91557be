import { isLiteral, typeName } from '../python/repr';
import { compareReprs } from '../python/reprEquality';
import type { PythonSource, SourceCall } from '../python/source';
import { lookUp } from '../python/valuePath';
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
 * without that call, where a step over would have ended. Calls of one name are told apart by their order, and by the
 * arguments that are known: of `a and f(1) or f(2)` the first may not be made.
 */
export function targetEnd(
  trajectory: Trajectory,
  from: number,
  target: StepTarget,
  allStates: boolean,
): StepEnd {
  const frame = trajectory.frame(from);
  const isOver = stepEnd(trajectory, from, 'next', allStates);
  const calls = new CallsInTurn(trajectory, target);
  for (const index of entriesSince(trajectory, from, target)) calls.enter(index);
  let entered: Frame | null = null;
  return (index) => {
    if (!entered && isEntry(trajectory, index, frame, target) && calls.enter(index) === target) {
      entered = trajectory.frame(index);
    }
    const isInside = entered !== null && trajectory.frame(index) === entered;
    return (isInside && (allStates || trajectory.event(index) === 'line')) || isOver(index);
  };
}

/** Tells which of the calls of one name on a line are made, in the order in which they are. */
class CallsInTurn {
  readonly #same: readonly StepTarget[];
  /** How many of them are made, or passed over. */
  #passed = 0;

  constructor(
    private readonly trajectory: Trajectory,
    target: StepTarget,
  ) {
    this.#same = target.all.filter(({ name }) => name === target.name);
  }

  /** The call that a call state is likely to be of. A call may be made again and again, in a comprehension. */
  enter(index: number): StepTarget | undefined {
    const isPossible = (target: StepTarget) => !contradicts(this.trajectory, index, target);
    const next = this.#same.findIndex((target, at) => at >= this.#passed && isPossible(target));
    const before = this.#same[this.#passed - 1];
    if (next < 0 && before && isPossible(before)) return before;
    this.#passed = Math.min(next < 0 ? this.#passed + 1 : next + 1, this.#same.length);
    return this.#same[this.#passed - 1];
  }
}

/** Types whose values no call on the line can have changed. */
const scalars: ReadonlySet<string | null> = new Set([
  'int',
  'float',
  'complex',
  'str',
  'bytes',
  'bool',
  'NoneType',
]);

/** Whether a call was entered with other values than a target's arguments are known to have. */
function contradicts(trajectory: Trajectory, index: number, { call, source }: StepTarget): boolean {
  const entered = trajectory.frame(index);
  const { callerState } = entered;
  const given = trajectory.locals(index)?.locals;
  const unit = source.units.find((one) => isFrameOf(one, trajectory, entered));
  if (!given || !unit || callerState < 0 || unit.callLine !== unit.headerLine || !call.positional)
    return false;
  const bodyLine = Math.max(unit.headerLine + 1, Math.min(...unit.entryLines));
  const header = source.lines.slice(unit.headerLine - 1, bodyLine - 1).join('');
  // A parameter may take several arguments, and a line, or a turn of a comprehension, give values to names itself.
  if (header.includes('*')) return false;
  const setsNames = /:=/.test(source.lines[trajectory.line(callerState) - 1] ?? '');
  const isInTurns = isAnonymous(trajectory.frame(callerState));
  const names = setsNames || isInTurns ? null : trajectory.locals(callerState)?.locals;
  const parameters = unit.parameters.slice(unit.parent?.kind === 'class' ? 1 : 0);
  return call.positional.some((text, at) => {
    const known = isLiteral(text) ? text : (names && lookUp(text, names)?.repr) || null;
    const actual = given.get(parameters[at] ?? '')?.repr ?? null;
    return known !== null && scalars.has(typeName(known)) && compareReprs(known, actual) === 'different';
  });
}

/** The call states of the target's function since the line began, in order. */
function entriesSince(trajectory: Trajectory, from: number, target: StepTarget): number[] {
  const frame = trajectory.frame(from);
  const entries: number[] = [];
  for (let at = from; at >= 0; at = trajectory.previous(at)) {
    if (trajectory.frame(at) === frame && trajectory.event(at) === 'line') break;
    if (isEntry(trajectory, at, frame, target)) entries.push(at);
  }
  return entries.reverse();
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
