import { errors } from '../errors';
import type { Trajectory } from '../trajectory/trajectory';
import { describeChange } from './whatIf';

/** One line of states of the record: the first that was recorded, or what an edit or another sample began. */
export interface Branch {
  /** Branches are numbered from 1 in the order of their recording. */
  readonly number: number;
  /** The state that it begins with. */
  readonly first: number;
  /** The number of states recorded in it. */
  readonly length: number;
  /** What began it, in words. */
  readonly label: string;
  /** Whether the current state is in it. */
  readonly isCurrent: boolean;
}

/**
 * All branches of a record.
 *
 * @param cursor the current state, or -1
 */
export function branchesOf(trajectory: Trajectory, cursor: number): Branch[] {
  const beginnings = trajectory.branchBeginnings;
  const known = new Set(beginnings);
  let current = cursor;
  while (current >= 0 && !known.has(current)) current = trajectory.previous(current);
  return beginnings.map((first, index) => ({
    number: index + 1,
    first,
    length: lengthOf(trajectory, first),
    label: index === 0 ? 'the first line of states' : labelOf(trajectory, first),
    isCurrent: first === current,
  }));
}

function lengthOf(trajectory: Trajectory, first: number): number {
  let length = 0;
  for (let at: number | null = first; at !== null; at = trajectory.continuation(at)) length++;
  return length;
}

function labelOf(trajectory: Trajectory, first: number): string {
  const change = describeChange(trajectory, first);
  return change ?? `another sample: ${trajectory.event(first)} at line ${trajectory.line(first)}`;
}

/**
 * Makes a branch the one that is followed.
 *
 * @param number the branch's number
 * @returns the state to go to: the first that is not on the way that was followed before; null where the branch
 *   was followed already
 * @throws CatalogueError for a number that no branch has
 */
export function followBranch(trajectory: Trajectory, number: number, cursor: number): number | null {
  const { [number - 1]: first } = trajectory.branchBeginnings;
  if (first === undefined) throw errors.noSuchBranch(number, trajectory.branchBeginnings.length);
  const line = new Set<number>();
  for (let at = cursor; at >= 0; at = trajectory.previous(at)) line.add(at);
  for (let at = trajectory.next(cursor); at !== null; at = trajectory.next(at)) line.add(at);
  trajectory.follow(first);
  let parting = first;
  while (parting >= 0 && !line.has(parting)) {
    const before = trajectory.previous(parting);
    if (before < 0 || line.has(before)) return parting;
    parting = before;
  }
  // The branch begins before: it parts where the way that was followed left it.
  for (let at: number | null = first; at !== null; at = trajectory.continuation(at)) {
    if (!line.has(at)) return at;
  }
  return null;
}
