import { recordSteps } from '../debugger/record';
import { exceptionParts } from '../python/repr';
import { compareReprs, type ReprEquality } from '../python/reprEquality';
import type { WantedResult } from '../python/inputSearch';
import type { Value } from '../trajectory/state';
import type { Program } from '../trajectory/program';
import { Trajectory } from '../trajectory/trajectory';
import type { World } from '../world/world';

/** How a call of a function ends, as a world says. */
export type Outcome =
  | { readonly kind: 'returns'; readonly value: Value }
  /** The exception as `Type(arguments)`. */
  | { readonly kind: 'raises'; readonly exception: Value }
  /** It was not followed to its end. */
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * Follows a call to its end, state by state.
 *
 * @param program the program, with the call as its entry
 * @param maxStates how many states are followed at most
 * @throws CatalogueError when the world fails
 */
export async function outcomeOf(
  program: Program,
  world: World,
  maxStates: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const trajectory = new Trajectory(program);
  let last = -1;
  const action = { name: 'step_into' } as const;
  while (trajectory.ending(last) === null) {
    const before = last;
    for await (const steps of world.predict({ trajectory, from: last, action, wanted: 'many', signal })) {
      recordSteps(trajectory, last, steps);
      last = trajectory.length - 1;
      if (last >= maxStates) return { kind: 'unknown', reason: `it goes on after ${maxStates} states` };
    }
    if (signal.aborted) return { kind: 'unknown', reason: 'it was cancelled' };
    if (last === before && trajectory.ending(last) === null) break;
  }
  const ending = trajectory.ending(last);
  if (last < 0 || !ending) return { kind: 'unknown', reason: 'the world says no more' };
  const value = trajectory.argument(last);
  if (ending.how === 'returned' && value) return { kind: 'returns', value };
  if (ending.how === 'raised') {
    for (let at = last; at >= 0; at = trajectory.previous(at)) {
      const exception = trajectory.argument(at);
      if (trajectory.event(at) === 'exception' && exception) return { kind: 'raises', exception };
    }
  }
  return { kind: 'unknown', reason: ending.notes[0] ?? 'its end is not known' };
}

/** Whether an outcome is what is wanted. */
export function isWanted(outcome: Outcome, wanted: WantedResult): ReprEquality {
  if (outcome.kind === 'unknown') return 'unknown';
  if (wanted.kind === 'returns') {
    return outcome.kind === 'returns' ? compareReprs(outcome.value.repr, wanted.repr) : 'different';
  }
  if (outcome.kind === 'returns') return 'different';
  const { type, message } = exceptionParts(outcome.exception.repr ?? '');
  const isType = type === wanted.type || type.endsWith(`.${wanted.type}`);
  const isMessage = wanted.message === null || (message ?? '').includes(wanted.message);
  return isType && isMessage ? 'same' : 'different';
}

/** An outcome in words: `returns 3`, `raises ValueError('x')`. */
export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'returns':
      return `returns ${outcome.value.repr ?? 'a value that is not known'}`;
    case 'raises':
      return `raises ${outcome.exception.repr ?? 'an exception that is not known'}`;
    case 'unknown':
      return `is not known: ${outcome.reason}`;
  }
}
