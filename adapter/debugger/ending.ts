import type { Trajectory } from '../trajectory/trajectory';
import { uncaughtRaise } from './exceptions';

/** The exception that ended the program after a state, as `Type(arguments)`; null where none did. */
export function uncaughtException(trajectory: Trajectory, last: number): string | null {
  const raise = uncaughtRaise(trajectory, last);
  return raise === null ? null : (trajectory.argument(raise)?.repr ?? null);
}

/** How the program ended after a state, in words. */
export function describeEnding(trajectory: Trajectory, last: number): string {
  const how = trajectory.ending(last)?.how;
  if (how === 'cut') return 'nothing is known beyond here';
  if (how === 'raised') {
    return `end of the program: ${uncaughtException(trajectory, last) ?? 'an exception'} was not caught`;
  }
  const value =
    how === 'returned' && trajectory.event(last) === 'return' ? trajectory.argument(last)?.repr : null;
  // A script returns nothing that anyone asked for.
  const isCall = trajectory.program.entry !== null;
  return `end of the program${isCall && value ? `, returned ${value}` : ''}`;
}
