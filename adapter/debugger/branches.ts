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
  const current = cursor < 0 ? -1 : trajectory.branchBeginning(cursor);
  return trajectory.branchBeginnings.map((first, index) => ({
    number: index + 1,
    first,
    length: trajectory.branchLength(first),
    label: index === 0 ? 'the first line of states' : labelOf(trajectory, first),
    isCurrent: first === current,
  }));
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
  const before = lastFollowedFrom(trajectory, cursor);
  trajectory.follow(first);
  return trajectory.next(trajectory.lastCommon(trajectory.lastFollowed(first), before));
}

/** @param state a state, or -1 for the place before the first */
function lastFollowedFrom(trajectory: Trajectory, state: number): number {
  const first = state < 0 ? trajectory.next(-1) : state;
  return first === null ? -1 : trajectory.lastFollowed(first);
}
