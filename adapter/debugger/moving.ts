import { errors } from '../errors';
import { followBranch } from './branches';
import type { Debugger } from './debugger';
import type { Stop } from './stop';
import type { Opened } from './open';
import { changeOf } from './whatIf';

/**
 * Puts a value in a place of the current state, by a what-if.
 *
 * @param state the state of the frame that is meant
 * @param target a name, or an item inside a value: `d["k"]`
 * @param text a literal, or a pure expression over the locals
 * @throws CatalogueError with the reason why it cannot be
 */
export async function setValue(
  { debugger: session, evaluator }: Opened,
  state: number,
  target: string,
  text: string,
): Promise<Stop> {
  if (session.isRunning) throw errors.stillPredicting();
  if (session.cursor < 0) throw errors.notStarted();
  if (state !== session.cursor) throw errors.whatIfOuterFrame();
  const locals = session.trajectory.locals(state)?.locals ?? new Map<string, never>();
  return session.whatIf(await changeOf(target, text, locals, evaluator));
}

/**
 * Lets execution go on from another line of the current frame, by a what-if.
 *
 * @throws CatalogueError with the reason why it cannot
 */
export function jump(session: Debugger, line: number): Promise<Stop> {
  return session.whatIf({ locals: new Map(), line: session.source.breakpointLine(line) ?? line });
}

/** Goes back to the first line of a state's frame. */
export function restartFrame(session: Debugger, state: number): Promise<Stop> {
  const { trajectory } = session;
  let first = state;
  for (
    let at: number | null = state;
    at !== null && at >= (session.first ?? 0);
    at = trajectory.previousInFrame(at)
  ) {
    if (trajectory.event(at) === 'line' || trajectory.event(first) !== 'line') first = at;
  }
  return session.goTo(first, [`Back to the beginning of ${trajectory.frame(state).function}.`]);
}

/**
 * Goes to a branch: to the first of its states that is not on the way that was followed before.
 *
 * @param number as branches are numbered
 * @throws CatalogueError where there is no such branch
 */
export function switchBranch(session: Debugger, number: number): Promise<Stop> {
  if (session.isRunning) throw errors.stillPredicting();
  const state = followBranch(session.trajectory, number, session.cursor);
  return state === null
    ? session.goTo(session.cursor, [`Branch ${number} is the current one.`])
    : session.goTo(state, [`Branch ${number}.`]);
}
