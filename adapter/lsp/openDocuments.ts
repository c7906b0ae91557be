import { basename } from 'node:path';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { controlTokens } from '../format/cwm/tokens';
import { PythonSource } from '../python/source';
import { type CwmDocument, readCwmText } from './cwmText';
import { readRecordingText } from './recordingText';
import type { TraceDocument } from './traceDocument';
import { pathOf } from './traceFeatures';

export type DocumentKind = 'python' | 'recording' | 'cwm' | 'other';

const header = /^\s*\{\s*"recording"\s*:\s*"neural-debug"/;

/** What a document is: by its language, else by how it begins. */
export function kindOf(document: TextDocument): DocumentKind {
  if (document.languageId === 'python') return 'python';
  if (document.languageId === 'neural-debug-recording') return 'recording';
  if (document.languageId === 'cwm-trace') return 'cwm';
  const beginning = document.getText({ start: { line: 0, character: 0 }, end: { line: 0, character: 200 } });
  if (header.test(beginning)) return 'recording';
  const { beginOfText, contextStart } = controlTokens;
  return beginning.startsWith(contextStart) || beginning.startsWith(beginOfText + contextStart)
    ? 'cwm'
    : 'other';
}

/** Reads documents, each version of one once. What is not wanted any more is given up. */
export class OpenDocuments {
  readonly #traces = new Map<string, Reading<TraceDocument | CwmDocument>>();
  readonly #sources = new Map<string, Reading<PythonSource>>();

  /** The states of a recording or trace; null where it is none, or has been changed or closed meanwhile. */
  async trace(document: TextDocument): Promise<TraceDocument | CwmDocument | null> {
    const kind = kindOf(document);
    if (kind !== 'recording' && kind !== 'cwm') return null;
    const name = nameOf(document.uri);
    return newest(this.#traces, document, (text, signal) =>
      kind === 'cwm' ? readCwmText(text, `<${name}>`, signal) : readRecordingText(text, name, signal),
    );
  }

  /** The syntax of a Python file; null where it has been changed or closed meanwhile. */
  async python(document: TextDocument): Promise<PythonSource | null> {
    if (kindOf(document) !== 'python') return null;
    return newest(this.#sources, document, (text) => PythonSource.parse(text));
  }

  close(uri: string): void {
    for (const readings of [this.#traces, this.#sources]) {
      readings.get(uri)?.controller.abort();
      readings.delete(uri);
    }
  }
}

interface Reading<T> {
  readonly version: number;
  readonly controller: AbortController;
  readonly result: Promise<T | null>;
}

function newest<T>(
  readings: Map<string, Reading<T>>,
  document: TextDocument,
  read: (text: string, signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const { uri, version } = document;
  const known = readings.get(uri);
  if (known?.version === version) return known.result;
  known?.controller.abort();
  const controller = new AbortController();
  const { signal } = controller;
  const result = read(document.getText(), signal).catch((thrown: unknown) => {
    if (signal.aborted) return null;
    throw thrown;
  });
  readings.set(uri, { version, controller, result });
  return result;
}

function nameOf(uri: string): string {
  return basename(pathOf(uri) ?? decodeURIComponent(uri.replace(/[?#].*/, '')));
}
