import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** How long what was made of a trace is kept after it was last wanted: a session may still read it. In milliseconds. */
const kept = 7 * 24 * 60 * 60 * 1000;

/** A trace as a recording, and its program's source. */
interface Made {
  readonly source: string;
  readonly text: string;
}

/**
 * Keeps what is made of a trace, its program and a recording, where a session can read it. Each text of each trace
 * has a folder of its own, and files come into being whole: sessions read while they go on, in other windows too, and
 * must not find another trace of the same name in their files.
 *
 * @param folder where all of them are kept
 * @param trace the trace's path
 * @param text the trace
 * @param make makes the recording for a program's path; null where nothing in the trace can be read
 * @returns the recording's path
 */
export async function keepRecording(
  folder: string,
  trace: string,
  text: string,
  make: (program: string) => Promise<Made | null>,
): Promise<string | null> {
  const name = createHash('sha256').update(`${trace}\0${text}`).digest('hex').slice(0, 32);
  const own = join(folder, name);
  const program = join(own, `${basename(trace).replace(/\.[^]*$/, '')}.py`);
  const made = await make(program);
  if (!made) return null;
  await mkdir(own, { recursive: true });
  await removeOld(folder, name);
  const recording = join(own, `${basename(trace)}.trace.jsonl`);
  await writeWhole(program, made.source);
  await writeWhole(recording, made.text);
  return recording;
}

async function writeWhole(path: string, text: string): Promise<void> {
  const part = `${path}.${randomBytes(6).toString('hex')}.part`;
  await writeFile(part, text);
  await rename(part, path);
}

async function removeOld(folder: string, wanted: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    const path = join(folder, entry);
    try {
      const { mtimeMs } = await stat(path);
      if (entry !== wanted && Date.now() - mtimeMs > kept) await rm(path, { recursive: true, force: true });
    } catch {
      // Another window has removed it.
    }
  }
}
