import type { PythonSource } from '../python/source';
import type { Value } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import { wasLeftByException } from './exceptions';

/** What a call returned. */
export interface Returned {
  readonly function: string;
  readonly value: Value;
  /** The return event. */
  readonly state: number;
}

/** How many returned values are told at most. */
const maxReturned = 10;

/**
 * What the calls returned that a frame made, or that led back to it, on the way to one of its states; the
 * newest last. Comprehensions and class bodies are frames too, but nobody called them.
 *
 * @param from the state that the step began in
 * @param to the state that it ended in
 */
export function returnedBetween(
  source: PythonSource,
  trajectory: Trajectory,
  from: number,
  to: number,
): Returned[] {
  const returned: Returned[] = [];
  const frame = trajectory.frame(to);
  const isCall = (name: string) =>
    name === '<lambda>' || source.units.some((unit) => unit.kind === 'function' && unit.name === name);
  for (let index = to; index > from && returned.length < maxReturned; index = trajectory.previous(index)) {
    const left = trajectory.frame(index);
    const value = trajectory.argument(index);
    if (trajectory.event(index) !== 'return' || left.parent !== frame || !value) continue;
    if (!isCall(left.function) || wasLeftByException(trajectory, index)) continue;
    returned.unshift({ function: left.function, value, state: index });
  }
  return returned;
}
