import type { CodeUnit } from '../../python/codeUnits';
import type { EventKind } from '../../trajectory/state';
import { openFrames, type Execution } from './execution';
import type { OpenFrame } from './openFrame';
import type { Layout } from './layout';
import type { LineTexts } from './lineTexts';

/** Where a line, return or exception frame stands. */
export interface Place {
  /** How many open frames were left before it. */
  readonly left: number;
  /** The line; more than one where several are equally likely, in the order of the control flow. */
  readonly lines: readonly [number, ...number[]];
  /** Where no line is likely: others than the first best. */
  readonly otherLines: readonly number[];
  /** Whether the open frame's code has the line; else the text was looked up in the whole file. */
  readonly isInFrame: boolean;
  /** Whether control can get there. */
  readonly isReachable: boolean;
  /** What is strange about the place, or null. */
  readonly doubt: string | null;
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
  units: readonly CodeUnit[],
): Place {
  // Frames are left without a return frame only where an exception passes.
  const isRaising = (execution.top?.raised ?? execution.lastLeft?.raised ?? null) !== null;
  let best: { readonly match: Match; readonly frame: OpenFrame; readonly left: number } | null = null;
  let left = 0;
  for (const frame of openFrames(execution)) {
    const match = frame.isVisible
      ? matchIn(frame, event, text, texts, layout.beginning, units)
      : layout.isWrapperBody(text)
        ? { lines: [frame.line], isReachable: true }
        : null;
    if (match && (!best || (match.isReachable && !best.match.isReachable))) best = { match, frame, left };
    if (best && (best.match.isReachable || !isRaising)) break;
    left++;
  }
  if (!best) return placeAnywhere(execution, text, texts);
  const { isReachable } = best.match;
  const [line = 0, ...others] = best.match.lines;
  const frames = best.left === 1 ? 'a function' : `${best.left} functions`;
  const isLeftSilently = best.left > 0 && !isRaising;
  const doubt = isReachable ? null : `Control does not go from line ${best.frame.line} to line ${line}.`;
  return {
    left: best.left,
    lines: isReachable ? [line, ...others] : [line],
    otherLines: isReachable ? [] : others,
    isInFrame: true,
    isReachable: isReachable && !isLeftSilently,
    doubt: isLeftSilently ? `The model left ${frames} without a return.` : doubt,
  };
}

function matchIn(
  frame: OpenFrame,
  event: Exclude<EventKind, 'call'>,
  text: string,
  texts: LineTexts,
  beginning: number | null,
  units: readonly CodeUnit[],
): Match | null {
  const { unit, line: current } = frame;
  if (event !== 'line' && texts.reads(current, text)) {
    // One frame rarely raises twice on a line without a line event between: rather, its caller does.
    const isRepeated = event === 'exception' && frame.raised !== null;
    return { lines: [current, ...frame.otherLines], isReachable: !isRepeated };
  }
  const lines = texts.find(text, unit);
  if (lines.length === 0) return null;
  // A frame of unknown code may stand anywhere.
  if (!unit) return { lines, isReachable: false };
  for (const from of [current, ...frame.otherLines]) {
    const reachable = followingLines(frame, from, unit, beginning).filter((line) => lines.includes(line));
    if (reachable.length > 0) return { lines: afterDecorators(frame, reachable, units), isReachable: true };
  }
  return { lines: byNearness(lines, current), isReachable: false };
}

/** The lines on which a frame's next line event can be if it stands on a line. */
export function followingLines(
  { newestEvent, isResumed }: OpenFrame,
  from: number,
  unit: CodeUnit,
  beginning: number | null,
): readonly number[] {
  if (newestEvent !== 'call' || isResumed) return unit.successors(from);
  return unit.kind === 'module' ? firstLines(unit, beginning ?? 1) : unit.entryLines;
}

/** The lines on which a script's first line event from its beginning on can be. */
function firstLines(module: CodeUnit, beginning: number): readonly number[] {
  const following = [...module.lines]
    .filter((line) => line < beginning)
    .flatMap((line) => module.successors(line));
  const first = [...module.entryLines, ...following].filter((line) => line >= beginning);
  return [...new Set(first)];
}

/**
 * Without the lines that decorators rule out. The line of a decorated definition comes twice: its decorators are
 * called in between, so that control goes to them from the first time, and on from the second.
 */
function afterDecorators(
  frame: OpenFrame,
  lines: readonly number[],
  units: readonly CodeUnit[],
): readonly number[] {
  const { line, trail } = frame;
  const decorated = units.find(({ headerLine, callLine }) => headerLine === line && callLine < line);
  if (!decorated || lines.length < 2) return lines;
  const first = decorated.callLine;
  const wereCalled = trail[0] === first && trail[1] > first && trail[1] <= line;
  const left = lines.filter((next) => (next >= first && next < line) !== wereCalled);
  return left.length > 0 ? left : lines;
}

/** Lines in the order in which control is likely to meet them: those after a line first, then those before. */
function byNearness(lines: readonly number[], from: number): readonly number[] {
  return [...lines.filter((line) => line > from), ...lines.filter((line) => line <= from).reverse()];
}

function placeAnywhere(execution: Execution, text: string, texts: LineTexts): Place {
  const top = execution.top?.isVisible ? execution.top : null;
  const [line, ...others] = texts.find(text, null);
  const where = top?.unit ? `${describe(top.unit)} has no line like this one` : 'No function was entered';
  return {
    left: 0,
    lines: [line ?? top?.line ?? 0],
    otherLines: others,
    isInFrame: false,
    isReachable: false,
    doubt:
      line === undefined
        ? `The source has no line that reads ${JSON.stringify(text.trim())}.`
        : `${where}: it was looked up in the whole file.`,
  };
}

/** A code unit in a sentence. */
function describe(unit: CodeUnit): string {
  return unit.kind === 'module' ? 'The module' : unit.qualifiedName;
}

/** Lines in a sentence: `4, 7 and 9`. */
export function listing(lines: readonly number[]): string {
  return lines.length < 2
    ? lines.join('')
    : `${lines.slice(0, -1).join(', ')} and ${String(lines[lines.length - 1])}`;
}
