import { debugType } from '../debug/debugType';

/** What is known of a session of ours that runs. */
interface Running {
  /** What answers in it; null until it has stopped once. */
  readonly answering: object | null;
}

/**
 * Which of our sessions the status bar is about: the one that is looked at, or else the one that stopped last. While
 * another debugger is looked at it is none, for what is seen then was not predicted.
 *
 * @param sessions those that run, by their ids, the one that stopped last at the end
 * @param active the session that the editor has in focus
 */
export function shownSession<Session extends Running>(
  sessions: ReadonlyMap<string, Session>,
  active: { readonly id: string; readonly type: string } | undefined,
): Session | undefined {
  if (active && active.type !== debugType) return undefined;
  const last = [...sessions.values()].filter(({ answering }) => answering).at(-1);
  return (active && sessions.get(active.id)) ?? last;
}
