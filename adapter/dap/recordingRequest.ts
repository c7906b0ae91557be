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

const recordingArguments = z.object({
  path: z.string().min(1).optional(),
  mostStates: z.int().positive().optional(),
});

/** The answer to `neuralDebug/recording`. */
export interface RecordingAnswer {
  /** How many states the recording has. */
  readonly states: number;
  /** The recording; null where it was written to a file, or has more states than were wanted. */
  readonly text: string | null;
}

/**
 * The custom request `neuralDebug/recording`: the states that are recorded, on the newest branch, as the text of a
 * recording file; with an absolute `path` they are written there instead, piece by piece, so that other requests are
 * answered meanwhile. Where there are more than `mostStates`, nothing is answered or written but how many there are.
 *
 * @throws CatalogueError where the file cannot be written, or the text is too long for an answer
 */
export async function recording(
  { trajectory, world }: { readonly trajectory: Trajectory; readonly world: World },
  args: unknown,
): Promise<RecordingAnswer> {
  const { path, mostStates } = read(recordingArguments, args);
  const states = countStates(trajectory);
  if (mostStates !== undefined && states > mostStates) return { states, text: null };
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
  return { states, text: parts.join('') };
}

function countStates(trajectory: Trajectory): number {
  let states = 0;
  for (let at = trajectory.next(-1); at !== null; at = trajectory.next(at)) states++;
  return states;
}
