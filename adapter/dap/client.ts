import { basename, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { initializeArguments, read } from './requests';

/** How a client counts and names: lines and columns from 0 or 1, files by path or URI. */
export class Client {
  readonly #wants;

  /** @param args the arguments of `initialize` */
  constructor(args: unknown) {
    this.#wants = read(initializeArguments, args);
  }

  get showsProgress(): boolean {
    return this.#wants.supportsProgressReporting;
  }

  /** Whether the client can be told that what it shows has changed. */
  get takesInvalidated(): boolean {
    return this.#wants.supportsInvalidatedEvent;
  }

  /** Whether the client shows styles that stand in output and values as control sequences. */
  get showsStyling(): boolean {
    return this.#wants.supportsANSIStyling;
  }

  /**
   * Whether the client shows a stack right that it gets in parts, from the top. VS Code (1.100 and 1.139 were tried)
   * asks for the top frame, shows below it the others of the stop before and a row to load more, and, where the rest
   * then proves to be the same, does not draw anew: the row stays below a stack that is complete.
   */
  get takesStacksInParts(): boolean {
    return this.#wants.clientID !== 'vscode';
  }

  get firstColumn(): number {
    return this.#wants.columnsStartAt1 ? 1 : 0;
  }

  /** A line of ours, which are counted from 1, as the client counts. */
  lineOf(line: number): number {
    return this.#wants.linesStartAt1 ? line : line - 1;
  }

  /** A line of the client's as ours. */
  ownLine(line: number): number {
    return this.#wants.linesStartAt1 ? line : line + 1;
  }

  sourceOf(path: string): DebugProtocol.Source {
    if (isUri(path)) return { name: path.replace(/^[^:]*:/, ''), path };
    return { name: basename(path), path: this.#wants.pathFormat === 'uri' ? pathToFileURL(path).href : path };
  }

  /** The file that a source of the client's names; null if it names none. */
  ownPath({ path }: { readonly path?: string | undefined }): string | null {
    if (path === undefined) return null;
    if (isUri(path) && !path.startsWith('file:')) return path;
    return resolve(path.startsWith('file:') ? fileURLToPath(path) : path);
  }
}

/** Whether a source is named by a URI: a text that is in no file is. One letter before a colon is a drive. */
export function isUri(path: string): boolean {
  return /^[a-z][a-z\d+.-]+:/i.test(path);
}
