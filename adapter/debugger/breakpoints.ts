import type { ExpressionEvaluator } from '../python/expressions';
import type { PythonSource } from '../python/source';
import type { Trajectory } from '../trajectory/trajectory';
import { CheckedBreakpoint, type Checks, type Direction, type NamesOf } from './checkedBreakpoint';
import { changeAt, describeChange, type WatchedVariable } from './dataBreakpoints';
import { doubtAt } from './doubt';
import { isRaise, uncaughtRaise } from './exceptions';
import { ExceptionHierarchy } from '../python/exceptionHierarchy';
import { type ExceptionTypes, isOfTypes } from './exceptionTypes';
import { functionsNamed, isEntryOf } from './functionBreakpoints';
import { type LogMessage, renderLogMessage } from './logMessage';

export interface LineBreakpoint extends Checks {
  /** The line that it really sits on. */
  readonly line: number;
  /** What stops there name it by; left out where nobody does. */
  readonly id?: number;
  /** Given: it logs and does not stop. */
  readonly logMessage?: LogMessage | null;
}

/** Stops at the first line of each call of a function. */
export interface FunctionBreakpoint extends Checks {
  /** `f` or `Class.method`. */
  readonly function: string;
  readonly id?: number;
}

/** Stops where a variable's value has changed. */
export interface DataBreakpoint extends Checks {
  readonly variable: WatchedVariable;
  readonly id?: number;
}

/** Why breakpoints and exceptions stop, in DAP's words. */
export type BreakpointReason =
  | 'breakpoint'
  | 'function breakpoint'
  | 'data breakpoint'
  | 'exception'
  /** The state is less sure than was asked for, or its legality is in question. */
  | 'doubt';

/** Why execution stops at a state. */
export interface BreakpointMatch {
  readonly reason: BreakpointReason;
  /** What people should know, such as a condition that failed. */
  readonly notes: readonly string[];
  /** What happened, as a clause: how a variable changed, what is doubtful. Null where the reason says it all. */
  readonly why: string | null;
  /** The ids of the breakpoints that stopped. */
  readonly hits: readonly number[];
}

/** What a log point wrote. */
export interface Logged {
  readonly text: string;
  readonly line: number;
  /** The state at which it was passed. */
  readonly state: number;
}

/** A breakpoint as it was set, and as it is checked. */
interface Placed<Set> {
  readonly set: Set;
  readonly checked: CheckedBreakpoint;
}

/** The lines, functions, changes, exceptions and doubts at which execution stops. */
export class Breakpoints {
  #lines: readonly Placed<LineBreakpoint>[] = [];
  #byLine: ReadonlyMap<number, readonly Placed<LineBreakpoint>[]> = new Map();
  #functions: readonly Placed<FunctionBreakpoint>[] = [];
  #data: readonly Placed<DataBreakpoint>[] = [];
  /** Stop where an exception is raised, caught or not. */
  raised = false;
  /** The types of which raised exceptions are stops; null: all. */
  raisedTypes: ExceptionTypes | null = null;
  /** Stop where an exception was raised that ends the program. */
  uncaught = true;
  uncaughtTypes: ExceptionTypes | null = null;
  /** Stop at the first state that is less sure than this, from 0 to 1, or marked doubtful; null: at none. */
  doubtBelow: number | null = null;
  #exceptions: ExceptionHierarchy | null = null;

  /**
   * @param first the first state that is shown, from which on hits count
   * @param namesOf what conditions see
   */
  constructor(
    private readonly evaluator: ExpressionEvaluator,
    private readonly source: PythonSource,
    private readonly first: () => number,
    private readonly namesOf: NamesOf,
  ) {}

  get lineBreakpoints(): readonly LineBreakpoint[] {
    return this.#lines.map(({ set }) => set);
  }

  get functionBreakpoints(): readonly FunctionBreakpoint[] {
    return this.#functions.map(({ set }) => set);
  }

  get dataBreakpoints(): readonly DataBreakpoint[] {
    return this.#data.map(({ set }) => set);
  }

  /** Sets the breakpoints on lines, instead of those before. What is known of equal ones is kept. */
  setLines(breakpoints: readonly LineBreakpoint[]): void {
    this.#lines = this.#placed(this.#lines, breakpoints, (set) => ({
      name: `the breakpoint on line ${set.line}`,
      isAt: (trajectory, index) => isOnLine(trajectory, index, set.line),
    }));
    const byLine = new Map<number, Placed<LineBreakpoint>[]>();
    for (const placed of this.#lines) {
      const { line } = placed.set;
      byLine.set(line, [...(byLine.get(line) ?? []), placed]);
    }
    this.#byLine = byLine;
  }

  /** Sets the breakpoints on functions, instead of those before. */
  setFunctions(breakpoints: readonly FunctionBreakpoint[]): void {
    this.#functions = this.#placed(this.#functions, breakpoints, (set) => {
      const units = functionsNamed(this.source, set.function);
      return {
        name: `the breakpoint on ${set.function}`,
        isAt: (trajectory, index) => isEntryOf(units, trajectory, index),
      };
    });
  }

  /** Sets the variables that are watched for changes, instead of those before. */
  setData(breakpoints: readonly DataBreakpoint[]): void {
    this.#data = this.#placed(this.#data, breakpoints, ({ variable }) => ({
      name: `the breakpoint on changes of ${variable.path}`,
      isAt: (trajectory, index) => changeAt(trajectory, index, variable) !== null,
    }));
  }

  /** Sets all that another debugger's breakpoints stop at. */
  takeOver(other: Breakpoints): void {
    this.setLines(other.lineBreakpoints);
    this.setFunctions(other.functionBreakpoints);
    this.setData(other.dataBreakpoints);
    const { raised, raisedTypes, uncaught, uncaughtTypes, doubtBelow } = other;
    Object.assign(this, { raised, raisedTypes, uncaught, uncaughtTypes, doubtBelow });
  }

  /**
   * Why execution stops at a state, or null.
   *
   * @param stops `telling`: only what says something about the state that its line does not, which is worth
   *   telling also where a step ends
   */
  async match(
    trajectory: Trajectory,
    index: number,
    direction: Direction = 'forward',
    stops: 'all' | 'telling' = 'all',
  ): Promise<BreakpointMatch | null> {
    const found: BreakpointMatch[] = [];
    const check = async (
      placed: Placed<{ readonly id?: number }>,
      reason: BreakpointReason,
      why: string | null,
    ) => {
      const notes = await placed.checked.stopsAt(trajectory, index, this.first(), direction);
      const { id } = placed.set;
      if (notes) found.push({ reason, notes, why, hits: id === undefined ? [] : [id] });
    };
    if (stops === 'all') {
      for (const placed of this.#atLineOf(trajectory, index)) {
        if (!placed.set.logMessage) await check(placed, 'breakpoint', null);
      }
      for (const placed of this.#functions) {
        if (placed.checked.isAt(trajectory, index)) await check(placed, 'function breakpoint', null);
      }
    }
    for (const placed of this.#data) {
      const change = changeAt(trajectory, index, placed.set.variable);
      if (change) await check(placed, 'data breakpoint', describeChange(placed.set.variable, change));
    }
    if (stops === 'all' && this.raised && isRaise(trajectory, index)) {
      if (this.#isWanted(this.raisedTypes, trajectory, index)) found.push({ ...plain, reason: 'exception' });
    }
    const doubt = this.doubtBelow === null ? null : doubtAt(trajectory, index, this.doubtBelow);
    if (doubt !== null) found.push({ ...plain, reason: 'doubt', why: doubt });
    const [first] = found;
    if (!first || found.length === 1) return first ?? null;
    const whys = found.flatMap(({ why }) => why ?? []);
    return {
      reason: first.reason,
      notes: found.flatMap(({ notes }) => notes),
      why: whys.length > 0 ? whys.join('; ') : null,
      hits: found.flatMap(({ hits }) => hits),
    };
  }

  /** Where the exception was raised that ended the program after a state, if that is a stop; else null. */
  uncaughtStop(trajectory: Trajectory, last: number): number | null {
    const raise = this.uncaught ? uncaughtRaise(trajectory, last) : null;
    return raise !== null && this.#isWanted(this.uncaughtTypes, trajectory, raise) ? raise : null;
  }

  /** What log points write at a state. */
  async logged(trajectory: Trajectory, index: number): Promise<Logged[]> {
    const logged: Logged[] = [];
    for (const { set, checked } of this.#atLineOf(trajectory, index)) {
      if (!set.logMessage) continue;
      const notes = await checked.stopsAt(trajectory, index, this.first(), 'forward');
      if (!notes) continue;
      const expressions = set.logMessage.map((part) => (typeof part === 'string' ? '' : part.expression));
      const names = await this.namesOf(expressions.join(' '), index);
      const text = await renderLogMessage(set.logMessage, names, this.evaluator);
      logged.push({ text: [...notes, text].join('\n'), line: set.line, state: index });
    }
    return logged;
  }

  /** How often the breakpoint with an id was hit on the way to a state; null where none has the id. */
  async hitsUpTo(id: number, trajectory: Trajectory, index: number): Promise<number | null> {
    const all: readonly Placed<{ readonly id?: number }>[] = [
      ...this.#lines,
      ...this.#functions,
      ...this.#data,
    ];
    const placed = all.find(({ set }) => set.id === id);
    return placed ? placed.checked.hitsUpTo(trajectory, index, this.first()) : null;
  }

  #placed<Set extends Checks>(
    before: readonly Placed<Set>[],
    breakpoints: readonly Set[],
    place: (set: Set) => Pick<CheckedBreakpoint, 'name' | 'isAt'>,
  ): Placed<Set>[] {
    const known = new Map(before.map((placed) => [JSON.stringify(placed.set), placed.checked]));
    return breakpoints.map((set) => {
      const { name, isAt } = place(set);
      const checked =
        known.get(JSON.stringify(set)) ??
        new CheckedBreakpoint(name, set, isAt, this.evaluator, this.namesOf);
      return { set, checked };
    });
  }

  #isWanted(types: ExceptionTypes | null, trajectory: Trajectory, index: number): boolean {
    if (types === null) return true;
    this.#exceptions ??= new ExceptionHierarchy(this.source);
    return isOfTypes(types, trajectory.argument(index)?.repr ?? '', this.#exceptions);
  }

  /** The breakpoints on a state's line; one in doubt is on any of the lines that it may be on. */
  #atLineOf(trajectory: Trajectory, index: number): readonly Placed<LineBreakpoint>[] {
    if (this.#byLine.size === 0 || trajectory.event(index) !== 'line') return [];
    const { otherLines } = trajectory.prediction(index);
    const own = this.#byLine.get(trajectory.line(index)) ?? [];
    return otherLines.length === 0
      ? own
      : [...own, ...otherLines.flatMap((line) => this.#byLine.get(line) ?? [])];
  }
}

const plain = { notes: [], why: null, hits: [] } as const;

function isOnLine(trajectory: Trajectory, index: number, line: number): boolean {
  return (
    trajectory.event(index) === 'line' &&
    (trajectory.line(index) === line || trajectory.prediction(index).otherLines.includes(line))
  );
}
