import { type LineNames, namesByLine } from '../python/lineNames';
import type { PythonSource } from '../python/source';
import type { Trajectory } from '../trajectory/trajectory';

/** What is shown at the end of a line: names and reprs as they were when the line ran last. */
export interface InlineValues {
  readonly line: number;
  readonly values: readonly { readonly name: string; readonly repr: string }[];
}

const noNames: LineNames = { read: new Set(), bound: new Set() };
/** How many of a frame's states are looked at, and how many values one line shows. */
const limits = { states: 5_000, values: 4 } as const;

/**
 * The values beside the lines of a frame that have run, as they were then: what a line changed or bound as it was
 * after it, what it only read as it was before. The line that is about to run shows what it reads. Of a line that ran
 * often, the last time counts.
 *
 * @param state the state in which the frame stands
 */
export function inlineValues(source: PythonSource, trajectory: Trajectory, state: number): InlineValues[] {
  const names = namesByLine(source);
  const shown = new Map<number, InlineValues>();
  let after: number | null = null;
  let looked = 0;
  for (let at: number | null = state; at !== null && looked < limits.states; looked++) {
    const line = trajectory.line(at);
    if (trajectory.event(at) === 'line' && !shown.has(line)) {
      const values = valuesOf(trajectory, at, after, names.get(line) ?? noNames);
      if (values.length > 0) shown.set(line, { line, values });
    }
    after = at;
    at = trajectory.previousInFrame(at);
  }
  return [...shown.values()].sort((one, other) => one.line - other.line);
}

/** What a line changed, what it bound to what it was before, then what it only read. */
function valuesOf(trajectory: Trajectory, at: number, after: number | null, names: LineNames) {
  const before = trajectory.locals(at)?.locals;
  const then = after === null ? null : trajectory.locals(after)?.locals;
  const action = after === null ? null : trajectory.action(after);
  /** What a person put there afterwards, no line did. */
  const given = action?.name === 'what_if' ? action.locals : null;
  const values = new Map<string, string>();
  const show = (name: string, repr: string | null) => {
    if (repr !== null && !values.has(name) && !saysLittle(repr)) values.set(name, repr);
  };
  for (const [name, { repr }] of then ?? []) {
    if (before?.get(name)?.repr !== repr && !given?.has(name)) show(name, repr);
  }
  for (const name of names.bound) if (!given?.has(name)) show(name, then?.get(name)?.repr ?? null);
  for (const name of names.read) show(name, before?.get(name)?.repr ?? null);
  return Array.from(values, ([name, repr]) => ({ name, repr })).slice(0, limits.values);
}

/**
 * Functions, classes and modules are named on many lines, and what they are is seen there; of other objects the repr
 * says no more than their class.
 */
function saysLittle(repr: string): boolean {
  return /^<((function|class|module|built-in|bound method|method)\b|[\w.]+ object( at 0x[0-9a-fA-F]+)?>$)/.test(
    repr,
  );
}
