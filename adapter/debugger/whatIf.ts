import { errors } from '../errors';
import type { ExpressionEvaluator } from '../python/expressions';
import { isLiteral } from '../python/repr';
import type { CodeUnit } from '../python/codeUnits';
import type { PythonSource } from '../python/source';
import { placeOf } from '../python/valuePath';
import type { WhatIf } from '../trajectory/action';
import { predictionOf } from '../trajectory/predictionOf';
import type { Locals } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { World } from '../world/world';

/** An edit of a state: other values, as Python literals, or another line to go on from. */
export type Change = Pick<WhatIf, 'locals' | 'line'>;

/** How much of a value an error shows. */
const shownLength = 100;

/**
 * The value that a person gave, as the repr of a literal: a literal, or a pure expression over a frame's locals.
 *
 * @throws CatalogueError where it comes to no literal
 */
export async function givenValue(
  text: string,
  locals: Locals,
  evaluator: ExpressionEvaluator,
): Promise<string> {
  const result = await evaluator.evaluate(text, locals);
  switch (result.kind) {
    case 'value':
      if (isLiteral(result.repr)) return result.repr;
      throw errors.whatIfValue(cut(text), `it comes to ${cut(result.repr)}, which is no literal`);
    case 'raises':
      throw errors.whatIfValue(cut(text), `it raises ${result.type}: ${cut(result.message)}`);
    case 'unknown': {
      // The order of a set is no reason against it.
      const literal = text.trim();
      if (isLiteral(literal)) return literal;
      throw errors.whatIfValue(cut(text), result.reason);
    }
  }
}

/**
 * The change that puts a value in a place: a name, or an item inside a value, whose local is then written anew.
 *
 * @param target a name, then `.attribute` or `[constant]`
 * @param text the value, as `givenValue` takes it
 * @throws CatalogueError where the place or the value cannot be
 */
export async function changeOf(
  target: string,
  text: string,
  locals: Locals,
  evaluator: ExpressionEvaluator,
): Promise<Change> {
  const value = await givenValue(text, locals, evaluator);
  const place = placeOf(target, locals);
  if (place?.span) {
    const whole = locals.get(place.name)?.repr ?? '';
    const repr = whole.slice(0, place.span.start) + value + whole.slice(place.span.end);
    if (!isLiteral(repr))
      throw errors.whatIfPlace(cut(target), `${place.name} has no value that is a literal`);
    return { locals: new Map([[place.name, repr]]), line: null };
  }
  if (place) return { locals: new Map([[place.name, value]]), line: null };
  // A key that a dict does not have yet is put at its end.
  const [, container = '', key = ''] = /^(.*\S)\s*\[([^[\]]*)\]\s*$/s.exec(target) ?? [];
  const before = container === '' ? null : await evaluator.evaluate(`{**(${container}\n)}`, locals);
  if (before?.kind !== 'value') throw errors.whatIfPlace(cut(target), 'it is no part of a known value');
  return changeOf(container, `{**(${container}\n), (${key}\n): ${value}}`, locals, evaluator);
}

/**
 * Checks an edit of a state.
 *
 * @throws CatalogueError with the reason why it cannot be
 */
export function checkChange(
  source: PythonSource,
  trajectory: Trajectory,
  world: World,
  state: number,
  change: Change,
): void {
  const problem =
    (world.canBeEdited ? null : world.whatIfProblem(trajectory, state, { name: 'what_if', ...change })) ??
    functionProblem(source, trajectory, state, change) ??
    world.whatIfProblem(trajectory, state, { name: 'what_if', ...change });
  if (problem !== null) throw errors.whatIfRefused(problem);
}

/** What Python itself has against an edit. */
function functionProblem(
  source: PythonSource,
  trajectory: Trajectory,
  state: number,
  { locals, line }: Change,
): string | null {
  const { function: name } = trajectory.frame(state);
  const known = trajectory.locals(state)?.locals;
  const units = unitsAt(source, trajectory, state);
  for (const [local, repr] of locals) {
    if (!isLiteral(repr)) return `${cut(repr)} is no literal.`;
    const exists = (known?.has(local) ?? false) || units.some(({ names }) => names.has(local));
    // What Python itself makes, as `.0` in a comprehension, has no name in the program.
    if (!exists || local.startsWith('.')) return `${name} has no variable ${cut(local)}.`;
  }
  if (line === null || line === trajectory.line(state)) return null;
  if (trajectory.event(state) !== 'line') return 'Execution can be put on another line at a line only.';
  return units.some(({ lines }) => lines.has(line))
    ? null
    : `Line ${line} is not a line of ${name} on which execution can stop.`;
}

/** The code that a state's frame may run. */
function unitsAt(source: PythonSource, trajectory: Trajectory, state: number): readonly CodeUnit[] {
  const line = trajectory.line(state);
  const { function: name } = trajectory.frame(state);
  const isCall = trajectory.event(state) === 'call';
  return source.units.filter(
    (unit) => unit.name === name && (isCall ? unit.callLine === line : unit.lines.has(line)),
  );
}

/**
 * Records another version of a state, unless it is there already.
 *
 * @returns the version; the state itself where the edit changes nothing
 * @throws CatalogueError where a real run cannot be changed so
 */
export async function versionOf(
  world: World,
  trajectory: Trajectory,
  state: number,
  change: Change,
  signal: AbortSignal,
): Promise<number> {
  const before = trajectory.previous(state);
  const original = predictionOf(trajectory, state);
  const known: Locals = trajectory.locals(state)?.locals ?? new Map<string, never>();
  const changed = new Map([...change.locals].filter(([name, repr]) => known.get(name)?.repr !== repr));
  const line = change.line === original.state.line ? null : change.line;
  if (changed.size === 0 && line === null) return state;
  const action = editSoFar(trajectory, state, { locals: changed, line });
  const locals = new Map(known);
  for (const [name, repr] of changed) locals.set(name, { repr, confidence: null });
  const version = { ...original.state, line: line ?? original.state.line, locals };
  const made = trajectory.children(before).find((sibling) => isVersion(trajectory, sibling, version));
  if (made !== undefined) {
    trajectory.prefer(before, made);
    return made;
  }
  if (world.actions.has('what_if')) {
    const request = { trajectory, from: state, action: { ...action, locals: changed, line }, signal };
    for await (const [edited] of world.predict({ ...request, wanted: 'one' })) {
      if (edited?.kind === 'state') return trajectory.append(before, action, { ...edited, text: null });
      break;
    }
    throw errors.noPrediction(world.description.name);
  }
  return trajectory.append(before, action, {
    ...original,
    state: version,
    text: null,
    tokens: 0,
    ...(line === null ? {} : { confidence: null, doubt: null, otherLines: [] }),
  });
}

/** The edit that a version is made by: an edit of an edited state keeps what was edited before. */
function editSoFar(trajectory: Trajectory, state: number, { locals, line }: Change): WhatIf {
  const before = trajectory.action(state);
  if (before.name !== 'what_if') return { name: 'what_if', locals, line };
  return { name: 'what_if', locals: new Map([...before.locals, ...locals]), line: line ?? before.line };
}

function isVersion(
  trajectory: Trajectory,
  state: number,
  { event, line, locals }: { event: string; line: number; locals: Locals },
): boolean {
  const own = trajectory.locals(state)?.locals;
  if (trajectory.event(state) !== event || trajectory.line(state) !== line || own?.size !== locals.size) {
    return false;
  }
  return [...locals].every(([name, { repr }]) => own.get(name)?.repr === repr);
}

/** What a person changed in a state, in words; null where nobody did. */
export function describeChange(trajectory: Trajectory, state: number): string | null {
  const action = trajectory.action(state);
  if (action.name !== 'what_if') return null;
  const values = [...action.locals].map(([name, repr]) => `${name} = ${cut(repr)}`);
  const jump = action.line === null ? [] : [`going on at line ${action.line}`];
  return `what if ${[...values, ...jump].join(', ')}`;
}

/** The locals of a state's frame whose values a person gave, and that are as they were given. */
export function givenNames(trajectory: Trajectory, state: number): ReadonlySet<string> {
  const names = new Set<string>();
  const known = trajectory.locals(state)?.locals;
  const frame = trajectory.frame(state);
  for (const edit of trajectory.branchBeginnings) {
    const action = edit > state ? null : trajectory.action(edit);
    if (action?.name !== 'what_if' || trajectory.frame(edit) !== frame || !trajectory.leadsTo(edit, state)) {
      continue;
    }
    for (const [name, repr] of action.locals) if (known?.get(name)?.repr === repr) names.add(name);
  }
  return names;
}

function cut(text: string): string {
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
}
