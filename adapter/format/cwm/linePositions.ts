import type { CodeUnit } from '../../python/codeUnits';
import type { EventKind } from '../../trajectory/state';
import { openFrames, type Execution, type OpenFrame } from './execution';
import type { Layout } from './layout';
import type { LineTexts } from './lineTexts';

/** Where a line, return or exception frame stands. */
export interface Place {
  /** How many open frames were left before it. */
  readonly left: number;
  readonly line: number;
  /** Other lines that are as likely, or the next best where none is likely. */
  readonly otherLines: readonly number[];
  readonly doubt: string | null;
  /** Whether the open frame's code has the line; else the text was looked up in the whole file. */
  readonly isInFrame: boolean;
}

interface Match {
  readonly lines: readonly number[];
  /** Whether control can get there. */
  readonly isReachable: boolean;
}

/**
 * Finds the line of a line, return or exception frame, which names it by its text only: among the lines of the
 * frames that are open, by where control can go.
 */
export function findPlace(
  execution: Execution,
  event: Exclude<EventKind, 'call'>,
  text: string,
  texts: LineTexts,
  layout: Layout,
): Place {
  // Frames are left without a return frame only where an exception passes.
  const isRaising = (execution.top?.raised ?? execution.lastLeft?.raised ?? null) !== null;
  let best: { readonly match: Match; readonly frame: OpenFrame; readonly left: number } | null = null;
  let left = 0;
  for (const frame of openFrames(execution)) {
    const match = frame.isVisible
      ? matchIn(frame, event, text, texts, layout.beginning)
      : layout.isWrapperBody(text)
        ? { lines: [frame.line], isReachable: true }
        : null;
    if (match && (!best || (match.isReachable && !best.match.isReachable))) best = { match, frame, left };
    if (best && (best.match.isReachable || !isRaising)) break;
    left++;
  }
  if (!best) return placeAnywhere(execution, text, texts);
  const [line = 0, ...otherLines] = best.match.lines;
  return {
    left: best.left,
    line,
    otherLines,
    doubt:
      best.left > 0 && !isRaising
        ? `The model left ${best.left === 1 ? 'a function' : `${best.left} functions`} without a return.`
        : doubtOf(best.match, best.frame, line),
    isInFrame: true,
  };
}

function doubtOf({ lines, isReachable }: Match, { line: from }: OpenFrame, line: number): string | null {
  if (!isReachable) return `Control does not go from line ${from} to line ${line}.`;
  return lines.length > 1 ? `Lines ${listing(lines)} read the same, and each can come here.` : null;
}

function matchIn(
  frame: OpenFrame,
  event: Exclude<EventKind, 'call'>,
  text: string,
  texts: LineTexts,
  beginning: number | null,
): Match | null {
  const { unit, line: current } = frame;
  if (event !== 'line' && texts.reads(current, text)) {
    // One frame rarely raises twice on a line without a line event between: rather, its caller does.
    const isRepeated = event === 'exception' && frame.raised !== null;
    return { lines: [current], isReachable: !isRepeated };
  }
  const lines = texts.find(text, unit);
  if (lines.length === 0) return null;
  // A frame of unknown code may stand anywhere.
  if (!unit) return { lines, isReachable: false };
  const reachable = followingLines(frame, unit, beginning).filter((line) => lines.includes(line));
  if (reachable.length > 0) return { lines: reachable, isReachable: true };
  return { lines: byNearness(lines, current), isReachable: false };
}

/** The lines on which a frame's next line event can be. */
function followingLines(frame: OpenFrame, unit: CodeUnit, beginning: number | null): readonly number[] {
  if (frame.newestEvent !== 'call') return unit.successors(frame.line);
  if (unit.kind === 'module') return beginning === null ? [] : [beginning];
  // A generator may have been resumed there.
  return frame.line === unit.callLine
    ? [...new Set([...unit.entryLines, ...unit.successors(frame.line)])]
    : unit.successors(frame.line);
}

/** Lines in the order in which control is likely to meet them: those after a line first, then those before. */
function byNearness(lines: readonly number[], from: number): readonly number[] {
  return [...lines.filter((line) => line > from), ...lines.filter((line) => line <= from).reverse()];
}

function placeAnywhere(execution: Execution, text: string, texts: LineTexts): Place {
  const top = execution.top?.isVisible ? execution.top : null;
  const [line, ...otherLines] = texts.find(text, null);
  const where = top?.unit ? `${describe(top.unit)} has no line like this one` : 'No function was entered';
  return {
    left: 0,
    line: line ?? top?.line ?? 0,
    otherLines,
    doubt:
      line === undefined
        ? `The source has no line that reads ${JSON.stringify(text.trim())}.`
        : `${where}: it was looked up in the whole file.`,
    isInFrame: false,
  };
}

/** A code unit in a sentence. */
export function describe(unit: CodeUnit): string {
  return unit.kind === 'module' ? 'The module' : unit.qualifiedName;
}

/** Lines in a sentence: `4, 7 and 9`. */
export function listing(lines: readonly number[]): string {
  return lines.length < 2
    ? lines.join('')
    : `${lines.slice(0, -1).join(', ')} and ${String(lines[lines.length - 1])}`;
}
