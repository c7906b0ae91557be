import { createWriteStream } from 'node:fs';
import { isAbsolute } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { describeCause, errors } from '../errors';
import { recordingLines } from '../trajectory/recording';
import type { Trajectory } from '../trajectory/trajectory';
import type { World } from '../world/world';
import { read } from './requests';

/** Longer recordings, in UTF-16 units, are written to files only. */
const maxText = 32 * 1024 * 1024;

const recordingArguments = z.object({ path: z.string().min(1).optional() });

/** The answer to `neuralDebug/recording`. */
export interface RecordingAnswer {
  /** How many states the recording has. */
  readonly states: number;
  /** The recording; null where it was written to a file. */
  readonly text: string | null;
}

/**
 * The custom request `neuralDebug/recording`: the states that are recorded, on the newest branch, as the text of a
 * recording file; with an absolute `path` they are written there instead.
 *
 * @throws CatalogueError where the file cannot be written, or the text is too long for an answer
 */
export async function recording(
  { trajectory, world }: { readonly trajectory: Trajectory; readonly world: World },
  args: unknown,
): Promise<RecordingAnswer> {
  const { path } = read(recordingArguments, args);
  const lines = recordingLines(trajectory, world.description);
  if (path !== undefined) {
    if (!isAbsolute(path)) throw errors.requestArgument('path', 'it must be absolute');
    try {
      await pipeline(Readable.from(lines), createWriteStream(path));
    } catch (thrown) {
      throw errors.cannotWrite(path, describeCause(thrown));
    }
    return { states: countStates(trajectory), text: null };
  }
  const parts: string[] = [];
  let length = 0;
  for (const line of lines) {
    length += line.length;
    if (length > maxText)
      throw errors.requestArgument('path', 'the recording is too long to be answered as text');
    parts.push(line);
  }
  return { states: countStates(trajectory), text: parts.join('') };
}

function countStates(trajectory: Trajectory): number {
  let states = 0;
  for (let at = trajectory.next(-1); at !== null; at = trajectory.next(at)) states++;
  return states;
}
