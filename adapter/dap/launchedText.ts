import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { decodeSource, splitLines } from '../python/encoding';
import { sameLines } from '../python/sameLines';
import type { LineBreakpoint } from '../debugger/breakpoints';
import type { Opened } from '../debugger/open';
import type { Program } from '../trajectory/program';
import { type Client, isUri } from './client';

/** What a session has opened, with the text that it shows. */
export type OpenedText = Opened & { readonly text: LaunchedText };

/**
 * The program's text as of launch, which is what is predicted, beside what its file has now. Where they differ, the
 * editor is given the launched text to show, and lines of the file are found in it.
 */
export class LaunchedText {
  /** What the editor has that is not saved; null where that is what the file has, or nothing is told. */
  #unsaved: string | null = null;
  #saved: { readonly stamp: string; readonly text: string | null } | null = null;
  /** The lines of the text now, where it differs. */
  #now: readonly string[] | null = null;
  #isMissing = false;
  #isTold = false;
  readonly #breakpoints = new Map<boolean, readonly LineBreakpoint[]>();

  /** @param reference what the editor names the text by; another one for each text of a session */
  constructor(
    private readonly program: Program,
    readonly reference: number,
  ) {
    this.check();
  }

  /** Whether what the editor would show of the file is not what is predicted. */
  get differs(): boolean {
    return this.#now !== null || this.#isMissing;
  }

  /** Whether there is a text now that a new start would predict. */
  get hasChanged(): boolean {
    return this.#now !== null;
  }

  /** The text, for the request `source`. */
  get content(): object {
    return { content: this.program.source, mimeType: 'text/x-python' };
  }

  /** Tells what an editor has that is not saved; null: nothing. */
  edited(unsaved: string | null): void {
    this.#unsaved = unsaved;
    this.check();
  }

  /** Looks at the file, which is read only where it was written to. */
  check(): void {
    this.#look();
    const now = this.#unsaved ?? this.#saved?.text ?? null;
    this.#isMissing = now === null;
    const lines = now === null ? null : splitLines(now);
    this.#now = lines && isSame(lines, splitLines(this.program.source)) ? null : lines;
  }

  #look(): void {
    const { path, source } = this.program;
    if (isUri(path)) {
      // Such a text is in the editor only, which tells what was changed in it.
      this.#saved = { stamp: '', text: source };
      return;
    }
    try {
      const stats = statSync(path);
      const { mtimeMs, size } = stats;
      // A recording may name anything, such as a device that has no end.
      if (!stats.isFile()) throw new Error(`${path} is no file.`);
      const stamp = `${mtimeMs} ${size}`;
      if (stamp !== this.#saved?.stamp) this.#saved = { stamp, text: decodeSource(readFileSync(path)).text };
    } catch {
      this.#saved = { stamp: '', text: null };
    }
  }

  /** Whether a change is to be told now: once for each text. */
  tellsChange(): boolean {
    if (!this.hasChanged || this.#isTold) return false;
    this.#isTold = true;
    return true;
  }

  /** The source as the client is to show it. */
  sourceFor(client: Client): DebugProtocol.Source {
    const source = client.sourceOf(this.program.path);
    if (!this.differs) return source;
    const reference = { sourceReference: this.reference };
    if (this.#isMissing)
      return { ...source, ...reference, origin: 'the predicted text: there is no such file' };
    const name = `${basename(this.program.path)} (as of launch)`;
    return { ...source, ...reference, name, origin: 'the text as of launch' };
  }

  /** All breakpoints, after those of the file, or those of the launched text, were set anew: editors tell them apart. */
  breakpoints(isOfLaunch: boolean, set: readonly LineBreakpoint[]): readonly LineBreakpoint[] {
    this.#breakpoints.set(isOfLaunch, set);
    const own = this.#breakpoints.get(true) ?? [];
    const lines = new Set(own.map(({ line }) => line));
    return [...own, ...(this.#breakpoints.get(false) ?? []).filter(({ line }) => !lines.has(line))];
  }

  /** Breakpoints where their lines are now; those whose lines are gone are left out. */
  inTextNow(set: readonly LineBreakpoint[]): readonly LineBreakpoint[] {
    return set.flatMap((one) => {
      const line = this.lineNow(one.line);
      return line === null ? [] : [{ ...one, line }];
    });
  }

  /** The launched text's line of a line of the file; null where that line is not in it. */
  lineThen(line: number): number | null {
    return this.#now === null
      ? line
      : (sameLines(splitLines(this.program.source), this.#now).get(line) ?? null);
  }

  /** The line of the file now of a line of the launched text; null where it is not there. */
  lineNow(line: number): number | null {
    if (this.#now === null) return line;
    return sameLines(this.#now, splitLines(this.program.source)).get(line) ?? null;
  }
}

/** Line ends may differ: editors write one kind only. */
function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index]);
}
