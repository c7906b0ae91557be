import type { FileHandle } from 'node:fs/promises';

/** How much of the file is read at a time, in bytes. */
const pieceSize = 1 << 18;
const lineFeed = 0x0a;

/** Where a line begins in its file, in bytes, and its number, from 1. */
export interface LinePlace {
  readonly offset: number;
  readonly line: number;
}

/** Thrown for a line that is longer than lines may be. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';
}

/** The lines of a file in UTF-8 from one on, of which only a piece is in memory. */
export class FileLines {
  /** What has been read and is still to be given, from `#at` on. */
  #piece: Buffer = Buffer.alloc(0);
  #at = 0;
  #place: LinePlace;
  #isOver = false;

  /** @param maxLength how long a line may be, in bytes */
  constructor(
    private readonly file: FileHandle,
    from: LinePlace,
    private readonly maxLength: number,
  ) {
    this.#place = from;
  }

  /** Where the next line begins. */
  get place(): LinePlace {
    return this.#place;
  }

  /** The next line without its line feed, where it has been read already; else null. */
  take(): string | null {
    const end = this.#piece.indexOf(lineFeed, this.#at);
    return end < 0 ? null : this.#give(end, 1);
  }

  /**
   * The next line without its line feed; null at the end of the file.
   *
   * @throws LineTooLong, or what reading the file throws
   */
  async next(): Promise<string | null> {
    for (;;) {
      const line = this.take();
      if (line !== null) return line;
      const rest = this.#piece.length - this.#at;
      if (this.#isOver) return rest === 0 ? null : this.#give(this.#piece.length, 0);
      if (rest > this.maxLength) throw new LineTooLong();
      await this.#read(rest);
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }

  /** Reads on; as much again as the rest that has no end, so that a long line is not copied often. */
  async #read(rest: number): Promise<void> {
    const wanted = Math.max(pieceSize, rest);
    const piece = Buffer.allocUnsafe(rest + wanted);
    this.#piece.copy(piece, 0, this.#at);
    const { bytesRead } = await this.file.read(piece, rest, wanted, this.#place.offset + rest);
    this.#isOver = bytesRead === 0;
    this.#piece = piece.subarray(0, rest + bytesRead);
    this.#at = 0;
  }

  #give(end: number, feed: number): string {
    const { offset, line } = this.#place;
    const text = this.#piece.toString('utf8', this.#at, end);
    this.#place = { offset: offset + end + feed - this.#at, line: line + 1 };
    this.#at = end + feed;
    return text;
  }
}
