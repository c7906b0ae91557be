import type { Configuration } from '../debugger/configuration';
import type { Opened } from '../debugger/open';
import { errors } from '../errors';
import type { Trajectory } from '../trajectory/trajectory';
import type { OpenedText } from './launchedText';

/** Opens a debugger for a configuration that goes on with a record. */
export type Open = (configuration: Configuration, recorded: Trajectory) => Promise<Opened>;

/**
 * Lets another server go on with what is debugged: all that was predicted stays, and so does the current state.
 *
 * @param configuration what the session was launched with, with the other server
 * @returns the debugger that asks it; the one before is not closed yet
 * @throws CatalogueError where there is nothing that a server could go on with
 */
export async function reconnected(
  { debugger: before, text }: OpenedText,
  configuration: Configuration,
  open: Open,
): Promise<OpenedText> {
  if (before.world.description.kind !== 'server') {
    throw errors.requestOrder('neuralDebug/reconnect', 'no server predicts in this session');
  }
  // Also what is being predicted in advance: it would go on into the record.
  before.pause();
  // The text as of launch, whatever the file has now, and the call that a given state has become.
  const { path, source, entry } = before.trajectory.program;
  const opened = await open(
    { ...configuration, program: path, source, entry, startAt: null },
    before.trajectory,
  );
  const { debugger: now } = opened;
  now.takeOver(before);
  // The way to the current state is on record, so nothing is asked for it.
  const { cursor } = before;
  try {
    await now.start(true);
    await now.goTo(cursor);
  } catch (thrown) {
    await now.close();
    await opened.evaluator.close();
    throw thrown;
  }
  return { ...opened, text };
}
