import { open } from 'node:fs/promises';
import { describeCause, errors } from '../errors';
import { FileLines, type LinePlace, LineTooLong } from './fileLines';
import { readHeaderLine, readStepLine, type RecordingHeader } from './recording';
import type { Step } from './state';

/** How long a line may be, in bytes. */
const maxLine = 1 << 26;
/** How many steps are given at a time, and in how many bytes of the file at most. */
const batchSteps = 256;
const batchLength = 1 << 20;

const beginning: LinePlace = { offset: 0, line: 1 };

/**
 * A recording's file, of any length: it is read line by line as far as its steps are wanted, and nothing of it is
 * kept but its first line, and where some of the others begin.
 */
export class RecordingFile {
  readonly header: RecordingHeader;
  /** Where every `batchSteps`-th step is, as far as the file has been read. */
  readonly #places: LinePlace[];

  private constructor(
    private readonly path: string,
    private readonly headerText: string,
    first: LinePlace,
  ) {
    this.header = readHeaderLine(headerText, path);
    this.#places = [first];
  }

  /**
   * Reads a recording's first line.
   *
   * @throws CatalogueError where the file cannot be read, or does not begin as a recording
   */
  static async open(path: string): Promise<RecordingFile> {
    const { lines, headerText } = await openAt(path, null);
    await lines.close();
    return new RecordingFile(path, headerText, lines.place);
  }

  /**
   * The recording's steps from one on, in batches, as the file is read.
   *
   * @param position how many steps are left out
   * @throws CatalogueError naming the first line that is not as it must be, after the steps before it; or where the
   *   file is that of another recording by now
   */
  async *steps(position: number): AsyncGenerator<readonly Step[]> {
    const known = Math.min(Math.floor(position / batchSteps), this.#places.length - 1);
    const { lines, headerText } = await openAt(this.path, this.#places[known] ?? beginning);
    try {
      if (headerText !== this.headerText) throw errors.recordingReplaced(this.path);
      let index = known * batchSteps;
      for (; index < position; index++) if ((await this.#nextLine(lines, index)) === null) return;
      for (;;) {
        const batch: Step[] = [];
        let failure: { readonly thrown: unknown } | null = null;
        const from = lines.place.offset;
        while (batch.length < batchSteps && lines.place.offset - from < batchLength) {
          try {
            const step = await this.#nextStep(lines, index++);
            if (!step) break;
            batch.push(step);
          } catch (thrown) {
            failure = { thrown };
            break;
          }
        }
        if (batch.length > 0) yield batch;
        if (failure) throw failure.thrown;
        if (batch.length === 0 || batch.at(-1)?.kind === 'end') return;
      }
    } finally {
      await lines.close();
    }
  }

  async #nextStep(lines: FileLines, index: number): Promise<Step | null> {
    const line = await this.#nextLine(lines, index);
    if (!line) return null;
    const step = readStepLine(line.text, this.path, line.number);
    if (step.kind === 'end') {
      const after = await this.#nextLine(lines, index + 1);
      if (after) throw errors.recordingLine(this.path, after.number, 'nothing may follow the end');
    }
    return step;
  }

  /** The next line that is not empty; null at the end of the file. */
  async #nextLine(lines: FileLines, index: number): Promise<{ text: string; number: number } | null> {
    for (;;) {
      const { place } = lines;
      const text = lines.take() ?? (await nextOf(lines, this.path));
      if (text === null) return null;
      if (text.trim() === '') continue;
      if (index === this.#places.length * batchSteps) this.#places.push(place);
      return { text, number: place.line };
    }
  }
}

/** Opens a recording's file and reads its first line, then goes to a place; null: stays behind that line. */
async function openAt(
  path: string,
  place: LinePlace | null,
): Promise<{ lines: FileLines; headerText: string }> {
  const file = await open(path).catch((thrown: unknown) => {
    throw errors.cannotRead(path, describeCause(thrown));
  });
  try {
    const lines = new FileLines(file, beginning, maxLine);
    const text = (await nextOf(lines, path)) ?? '';
    // A byte order mark is no part of the text.
    const headerText = text.startsWith('\ufeff') ? text.slice(1) : text;
    return { lines: place ? new FileLines(file, place, maxLine) : lines, headerText };
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

async function nextOf(lines: FileLines, path: string): Promise<string | null> {
  try {
    return await lines.next();
  } catch (thrown) {
    if (!(thrown instanceof LineTooLong)) throw errors.cannotRead(path, describeCause(thrown));
    const most = `${maxLine / (1 << 20)} MiB`;
    throw errors.recordingLine(path, lines.place.line, `it is longer than ${most}`);
  }
}
