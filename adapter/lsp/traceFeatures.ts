import { access } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type Diagnostic,
  DiagnosticSeverity,
  type DocumentLink,
  type Hover,
  type Location,
  type Position,
  type Range,
} from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { CwmDocument } from './cwmText';
import { placeIn, type Span } from './jsonPlaces';
import { plainMarkdown, pythonBlock, stateMarkdown, worldText } from './stateText';
import { stateAt, type TraceDocument } from './traceDocument';

/** The path of a document that is a file of this computer, or null. */
export function pathOf(uri: string): string | null {
  try {
    const { protocol, host } = new URL(uri);
    // A host would be asked for the file.
    return protocol === 'file:' && host === '' ? fileURLToPath(uri) : null;
  } catch {
    return null;
  }
}

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  information: DiagnosticSeverity.Information,
} as const;

export function diagnostics({ problems }: TraceDocument, document: TextDocument): Diagnostic[] {
  return problems.map(({ severity, message, code, ...span }) => ({
    range: rangeOf(document, span),
    severity: severities[severity],
    message,
    source: 'Neural Debug',
    ...(code === null ? {} : { code }),
  }));
}

export function rangeOf(document: TextDocument, { start, end }: Span): Range {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}

/** The state under a position; over the header, what was recorded. */
export function traceHover(trace: TraceDocument, document: TextDocument, position: Position): Hover | null {
  const offset = document.offsetAt(position);
  const state = stateAt(trace, offset);
  if (state !== null) {
    const span = trace.spans[state];
    return {
      contents: { kind: 'markdown', value: stateMarkdown(trace.trajectory, state, trace.world) },
      ...(span ? { range: rangeOf(document, span) } : {}),
    };
  }
  const first = trace.spans[0]?.start ?? Infinity;
  if (!trace.program || offset >= first) return null;
  const { path, entry } = trace.program;
  const value = [
    `**${plainMarkdown(basename(path))}** (${plainMarkdown(worldText(trace.world))}): ${trace.spans.length} states, ${trace.trajectory.frames.length} calls`,
    ...(entry === null ? [] : [pythonBlock(plainCode(entry))]),
  ];
  return { contents: { kind: 'markdown', value: value.join('\n\n') } };
}

function plainCode(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 500);
}

/** Where the source line of the state under a position is: in the program's file, or in the trace itself. */
export async function definition(
  trace: TraceDocument | CwmDocument,
  document: TextDocument,
  position: Position,
): Promise<Location | null> {
  const state = stateAt(trace, document.offsetAt(position));
  if (state === null) return null;
  const line = Math.max(0, trace.trajectory.line(state) - 1);
  if ('sourceStart' in trace) {
    const first = document.positionAt(trace.sourceStart).line;
    return { uri: document.uri, range: lineRange(first + line) };
  }
  const path = await programPath(trace, document.uri);
  return path === null ? null : { uri: pathToFileURL(path).href, range: lineRange(line) };
}

/** A link from the path in the header to the program's file. */
export async function documentLinks(trace: TraceDocument, document: TextDocument): Promise<DocumentLink[]> {
  if ('sourceStart' in trace || !trace.program) return [];
  const path = await programPath(trace, document.uri);
  if (path === null) return [];
  const header = document.getText({ start: { line: 0, character: 0 }, end: { line: 1, character: 0 } });
  const place = placeIn(header, ['program', 'path']);
  return [{ range: rangeOf(document, place), target: pathToFileURL(path).href }];
}

function lineRange(line: number): Range {
  return { start: { line, character: 0 }, end: { line, character: 0 } };
}

/** The file of a recording's program: where it was, else beside the recording. */
async function programPath({ program }: TraceDocument, uri: string): Promise<string | null> {
  if (!program) return null;
  const own = pathOf(uri);
  const beside = own === null ? [] : [join(dirname(own), basename(program.path))];
  for (const path of [program.path, ...beside]) {
    if (!isLocal(path)) continue;
    try {
      await access(path);
      return path;
    } catch {
      continue;
    }
  }
  return null;
}

/** Whether a path leads to no other computer: looking for such a file would already reach out to it. */
function isLocal(path: string): boolean {
  return isAbsolute(path) && !/^[\\/]{2}|\0/.test(path);
}
