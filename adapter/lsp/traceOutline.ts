import { type DocumentSymbol, type FoldingRange, type Range, SymbolKind } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { shortText } from '../shownText';
import type { Frame } from '../trajectory/trajectory';
import { valueText } from './stateText';
import type { TraceDocument } from './traceDocument';

/** More folding ranges than editors keep. */
const maxRanges = 5_000;
/** More symbols than this are slow to show and to look through. */
const maxSymbols = 5_000;
/** Calls nested deeper are left out: editors walk symbols by recursion. */
const maxSymbolDepth = 200;

/** A frame's calls and the states between which it is open. */
interface Node {
  readonly frame: Frame;
  lastState: number;
}

/** The frames in the order of their calls, each with its last state, or that of the last one called from it. */
function nodesOf({ trajectory, spans }: TraceDocument): Node[] {
  const nodes = trajectory.frames.map((frame) => ({ frame, lastState: frame.firstState }));
  for (let state = 0; state < spans.length; state++) {
    const node = nodes[trajectory.frame(state).id];
    if (node) node.lastState = state;
  }
  for (const { frame, lastState } of nodes.toReversed()) {
    const outer = frame.parent && nodes[frame.parent.id];
    if (outer) outer.lastState = Math.max(outer.lastState, lastState);
  }
  return nodes;
}

/** Ranges that fold each call to its first line. */
export function foldingRanges(trace: TraceDocument, document: TextDocument): FoldingRange[] {
  const ranges: FoldingRange[] = [];
  for (const { frame, lastState } of nodesOf(trace)) {
    if (ranges.length >= maxRanges) break;
    const startLine = document.positionAt(trace.spans[frame.firstState]?.start ?? 0).line;
    const endLine = lastLineOf(trace, document, lastState);
    if (endLine > startLine) ranges.push({ startLine, endLine });
  }
  return ranges;
}

/** The last line that is the state's alone: where the next state begins on its last line, the line before. */
function lastLineOf({ spans }: TraceDocument, document: TextDocument, state: number): number {
  const end = document.positionAt(spans[state]?.end ?? 0);
  const next = spans[state + 1];
  const isShared = next !== undefined && document.positionAt(next.start).line === end.line;
  // A state whose text ends with a line break ends on the line before.
  return isShared || end.character === 0 ? end.line - 1 : end.line;
}

/** The call tree: a symbol for each call, named for the function, with its arguments. */
export function documentSymbols(trace: TraceDocument, document: TextDocument): DocumentSymbol[] {
  const { trajectory, spans } = trace;
  const roots: DocumentSymbol[] = [];
  const symbols = new Map<Frame, DocumentSymbol>();
  const range = (first: number, last: number): Range => ({
    start: document.positionAt(spans[first]?.start ?? 0),
    end: document.positionAt(spans[last]?.end ?? 0),
  });
  for (const { frame, lastState } of nodesOf(trace)) {
    if (symbols.size >= maxSymbols) break;
    const outer = frame.parent && symbols.get(frame.parent);
    if (frame.depth > maxSymbolDepth || (frame.parent && !outer)) continue;
    const symbol: DocumentSymbol = {
      name: shortText(frame.function, 100) || '<unknown>',
      detail: detailOf(trace, frame),
      kind: frame.function === '<module>' ? SymbolKind.Module : SymbolKind.Function,
      range: range(frame.firstState, lastState),
      selectionRange: range(frame.firstState, frame.firstState),
      children: [],
    };
    symbols.set(frame, symbol);
    (outer ? (outer.children ??= []) : roots).push(symbol);
  }
  const [first] = roots;
  if (first && symbols.size < trajectory.frames.length) {
    first.detail = `${first.detail ?? ''} (${symbols.size} of ${trajectory.frames.length} calls)`;
  }
  return roots;
}

function detailOf({ trajectory }: TraceDocument, frame: Frame): string {
  const locals = trajectory.locals(frame.firstState)?.locals ?? new Map<string, never>();
  const given = [...locals].slice(0, 5).map(([name, value]) => `${name}=${valueText(value, 30)}`);
  const resumed = frame.resumed ? ', resumed' : '';
  return shortText(
    `line ${trajectory.line(frame.firstState)}${resumed}: ${given.join(', ')}`.replace(/: $/, ''),
    200,
  );
}
