import { CatalogueError, errors } from '../errors';
import { recordSteps } from '../debugger/record';
import type { Ending } from '../trajectory/state';
import { navigate } from '../trajectory/navigation';
import type { Frame, Trajectory } from '../trajectory/trajectory';
import type { World } from '../world/world';

/** The actions that are evaluated. */
export const evaluatedActions = ['step_into', 'step_over', 'step_return'] as const;
export type EvaluatedAction = (typeof evaluatedActions)[number];

/** How often what could not be read is asked again. */
export const mostAgain = 2;

/** What a world answered to one action. */
export type Answer =
  | { readonly kind: 'state'; readonly index: number }
  | { readonly kind: 'end'; readonly ending: Ending }
  /** It went on for too long without getting there. */
  | { readonly kind: 'tooFar' };

/**
 * Asks a world for what one action leads to from a trajectory's newest state, and records what it says. An action
 * that the world does not take itself is composed from `step_into`. An answer that cannot be read is asked for again.
 *
 * @param onUnreadable called for each answer that cannot be read
 * @param mostStates how many states a composed action may take
 * @throws CatalogueError when the world fails
 */
export async function ask(
  world: World,
  trajectory: Trajectory,
  from: number,
  action: EvaluatedAction,
  mostStates: number,
  signal: AbortSignal,
  onUnreadable: () => void,
): Promise<Answer> {
  const isNative = world.actions.has(action);
  let at = from;
  let states = 0;
  let again = 0;
  for (;;) {
    const before = at;
    const steps = world.predict({
      trajectory,
      from: at,
      action: { name: isNative ? action : 'step_into' },
      wanted: isNative || action === 'step_into' ? 'one' : 'many',
      signal,
    });
    try {
      for await (const batch of steps) {
        for (const step of batch) {
          recordSteps(trajectory, at, [step]);
          if (step.kind === 'end') {
            const reached = isNative ? null : navigate(trajectory, from, action);
            return reached === null ? { kind: 'end', ending: step } : { kind: 'state', index: reached };
          }
          at = trajectory.length - 1;
          states++;
          if (isNative) return { kind: 'state', index: at };
          const reached = navigate(trajectory, from, action) ?? (isAstray(trajectory, from, at) ? at : null);
          if (reached !== null) return { kind: 'state', index: reached };
          if (states >= mostStates) return { kind: 'tooFar' };
        }
      }
    } catch (thrown) {
      if (!isUnreadable(thrown)) throw thrown;
      onUnreadable();
      if (++again > mostAgain) throw thrown;
      continue;
    }
    signal.throwIfAborted();
    if (at === before) throw errors.noPrediction(world.description.name);
  }
}

/** Whether an error says that a model's answer cannot be read: the catalogue's hundred of what models answer. */
function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof CatalogueError && Math.floor(thrown.code / 100) === 4;
}

/** Whether a state lies outside of where an action from another state could end. */
function isAstray(trajectory: Trajectory, from: number, at: number): boolean {
  const frame = trajectory.frame(from);
  const home: Frame | null = trajectory.event(from) === 'call' ? frame.parent : frame;
  const now = trajectory.frame(at);
  return home !== null && now.thread === home.thread && !trajectory.isWithin(now, home);
}
