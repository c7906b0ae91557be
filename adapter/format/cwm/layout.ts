import { exactKey } from './lineTexts';
import { breakControlText, holdsControlText, mendControlText, startMarker } from './tokens';
import { writeFrame } from './writer';

/** How a program is put to a model: the source with a wrapper function that the model enters. */
export class Layout {
  /** The source context; lines end at `\n`. */
  readonly context: string;
  /** The texts of the file's lines as they stand in the context, without line ends; index 0 is line 1. */
  readonly lines: readonly string[];
  /** The wrapper's first line as frames have it: without the marker. */
  readonly wrapperHeader: string;
  /** What frames stand before the first state: that of the wrapper's line, for an entry call. */
  readonly firstFrames: string;
  /** What a person should know about the context, or null. */
  readonly note: string | null;
  readonly #wrapperBody: ReadonlySet<string>;

  constructor(
    /** The name of the wrapper function. */
    readonly wrapper: string,
    /** The entry call; null for scripts. */
    readonly entry: string | null,
    /** The script's first line that stands in the wrapper; null for entry calls. */
    readonly beginning: number | null,
    /** The names of a script's own that are locals of the wrapper. */
    readonly carriedNames: ReadonlySet<string>,
    /** The file's lines as they are to stand in the context, control tokens included. */
    lines: readonly string[],
    /** The wrapper's lines after its first one that are not the file's. */
    wrapperBody: readonly string[],
  ) {
    this.lines = lines.map(breakControlText);
    const body = wrapperBody.map(breakControlText);
    const before = beginning === null ? this.lines : this.lines.slice(0, beginning - 1);
    const after = beginning === null ? [] : this.lines.slice(beginning - 1);
    const header = `def ${wrapper}():`;
    this.context = [...before, header + startMarker, ...body, ...after].map((line) => `${line}\n`).join('');
    this.wrapperHeader = `${header}\n`;
    this.#wrapperBody = new Set(body);
    const call = { event: 'line', locals: new Map(), line: `${body.join('\n')}\n`, argument: null } as const;
    this.firstFrames = entry === null ? '' : writeFrame(call, null);
    this.note = [...lines, ...wrapperBody].some(holdsControlText)
      ? 'The source has text that is a control token to the model: it sees it with a zero-width space inside.'
      : null;
  }

  get isScript(): boolean {
    return this.entry === null;
  }

  /** The text of a file's line as frames have it. */
  textOfLine(line: number): string {
    return `${this.lines[line - 1] ?? ''}\n`;
  }

  isWrapperHeader(text: string): boolean {
    return exactKey(text) === exactKey(this.wrapperHeader);
  }

  /** Whether a text is that of a line of the wrapper after its first one that is not the file's. */
  isWrapperBody(text: string): boolean {
    return this.#wrapperBody.has(exactKey(text));
  }

  /** A value as the program has it: without broken control tokens, and without the wrapper in its names. */
  valueOf(written: string): string {
    return mendControlText(written).replaceAll(`${this.wrapper}.<locals>.`, '');
  }
}
