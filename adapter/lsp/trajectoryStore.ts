import { basename, dirname, resolve } from 'node:path';
import { findRecordings, readRecordingFile, type RecordingFile } from './recordingFiles';
import { readRecordingText } from './recordingText';
import type { KnownTrajectory } from './pythonFile';

/** Milliseconds for which the recordings of a folder are not looked for again. */
const scanTime = 3_000;
/** Programs whose trajectories are kept. */
const maxPrograms = 20;

interface Given {
  readonly at: number;
  readonly known: KnownTrajectory;
}

/** Knows the newest trajectory of each Python file: of sessions, and of recordings in the workspace. */
export class TrajectoryStore {
  readonly #given = new Map<string, Given>();
  readonly #ofFiles = new Map<
    string,
    { readonly writtenAt: number; readonly known: KnownTrajectory | null }
  >();
  readonly #scans = new Map<string, { readonly at: number; readonly files: Promise<RecordingFile[]> }>();

  /** @param folders the workspace's folders */
  constructor(private readonly folders: readonly string[] = []) {}

  /**
   * Takes a recording's text as the newest of its program.
   *
   * @returns whether there was any state in it
   */
  async give(text: string): Promise<boolean> {
    const { program, trajectory, world } = await readRecordingText(text, 'the trajectory');
    if (!program || trajectory.length === 0) return false;
    const key = keyOf(program.path);
    this.#given.delete(key);
    this.#given.set(key, { at: Date.now(), known: { trajectory, world } });
    for (const oldest of this.#given.keys()) {
      if (this.#given.size <= maxPrograms) break;
      this.#given.delete(oldest);
    }
    return true;
  }

  /** Looks for recordings anew the next time. */
  filesChanged(): void {
    this.#scans.clear();
  }

  /**
   * The newest trajectory of a file, or null.
   *
   * @param source the file's text: a recording beside it that was made elsewhere is taken by its name and text
   */
  async newestFor(path: string, source: string): Promise<KnownTrajectory | null> {
    const given = this.#given.get(keyOf(path)) ?? null;
    const own = dirname(resolve(path));
    const files = await this.#recordingsIn(own);
    const matching = files
      .filter(
        ({ program, path: file }) =>
          keyOf(program.path) === keyOf(path) ||
          (dirname(file) === own && basename(program.path) === basename(path) && program.source === source),
      )
      .filter(({ writtenAt }) => writtenAt > (given?.at ?? 0))
      .sort((a, b) => b.writtenAt - a.writtenAt);
    for (const file of matching) {
      const known = await this.#read(file);
      if (known) return known;
    }
    return given?.known ?? null;
  }

  #recordingsIn(folder: string): Promise<RecordingFile[]> {
    const scanned = this.#scans.get(folder);
    if (scanned && Date.now() - scanned.at < scanTime) return scanned.files;
    const files = findRecordings([folder, ...this.folders]);
    this.#scans.set(folder, { at: Date.now(), files });
    return files;
  }

  async #read({ path, writtenAt }: RecordingFile): Promise<KnownTrajectory | null> {
    const kept = this.#ofFiles.get(path);
    if (kept?.writtenAt === writtenAt) return kept.known;
    const text = await readRecordingFile(path);
    const read = text === null ? null : await readRecordingText(text, path);
    const known = read && read.trajectory.length > 0 ? read : null;
    this.#ofFiles.set(path, { writtenAt, known });
    for (const oldest of this.#ofFiles.keys()) {
      if (this.#ofFiles.size <= maxPrograms) break;
      this.#ofFiles.delete(oldest);
    }
    return known;
  }
}

/** One file has one key, on systems that do not tell letters of different case apart too. */
function keyOf(path: string): string {
  const absolute = resolve(path);
  return process.platform === 'win32' || process.platform === 'darwin' ? absolute.toLowerCase() : absolute;
}
