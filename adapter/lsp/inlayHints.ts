import { type InlayHint, type Range } from 'vscode-languageserver';
import type { SyntaxNode } from '../python/syntaxTree';
import { shortText } from '../shownText';
import type { PredictedFile } from './pythonFile';
import { worldText } from './stateText';

/** Values beyond this are not listed after a loop's line. */
const maxValues = 3;
const maxValueLength = 24;
/** More hints are not made for one request. */
const maxHints = 500;
/** Visits beyond this are counted, and not looked at. */
const maxVisits = 10_000;

/**
 * Hints at the ends of loop and branch lines: the values that a loop's variables took, and how often a condition
 * was true.
 */
export function inlayHints(file: PredictedFile, range: Range): InlayHint[] {
  const { source, known } = file;
  const hints: InlayHint[] = [];
  const pending: SyntaxNode[] = [source.tree.root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.endLine - 1 < range.start.line || node.line - 1 > range.end.line) continue;
    pending.push(...node.parts);
    const label = labelOf(file, node);
    if (label === null || hints.length >= maxHints) continue;
    const line = headEnd(node);
    hints.push({
      position: { line: line - 1, character: (source.lines[line - 1] ?? '').trimEnd().length },
      label: shortText(label, 120),
      paddingLeft: true,
      tooltip: `Neural Debug, ${worldText(known.world)}`,
    });
  }
  return hints.sort((a, b) => a.position.line - b.position.line);
}

function labelOf(file: PredictedFile, node: SyntaxNode): string | null {
  switch (node.type) {
    case 'for_statement':
      return loopLabel(file, node);
    case 'while_statement':
    case 'if_statement':
    case 'elif_clause':
      return branchLabel(file, node);
    default:
      return null;
  }
}

function bodyOf(node: SyntaxNode): SyntaxNode | null {
  return node.child('body') ?? node.child('consequence');
}

/** The line on which a statement's head, up to its colon, ends. */
function headEnd(node: SyntaxNode): number {
  const head = node.child('right') ?? node.child('condition');
  return head?.endLine ?? node.line;
}

function loopLabel(file: PredictedFile, node: SyntaxNode): string | null {
  const { source, known } = file;
  const target = node.child('left');
  if (!target) return null;
  const names = namesIn(target).map((name) => source.text.slice(name.start, name.end).normalize('NFKC'));
  const { trajectory } = known;
  const values = new Map<string, string[]>(names.map((name) => [name, []]));
  for (const { after } of outcomes(file, node)) {
    if (after === null) continue;
    const locals = trajectory.locals(after)?.locals;
    for (const [name, seen] of values) seen.push(locals?.get(name)?.repr ?? '?');
  }
  const listed = [...values].flatMap(([name, seen]) =>
    seen.length === 0 ? [] : [`${name} = ${listing(seen)}`],
  );
  return listed.length === 0 ? null : listed.join('; ');
}

function listing(values: readonly string[]): string {
  const shown = values.slice(0, maxValues).map((value) => shortText(value, maxValueLength));
  const last = values.at(-1);
  if (values.length <= maxValues || last === undefined) return shown.join(', ');
  const gap = values.length === maxValues + 1 ? [] : ['…'];
  return [...shown, ...gap, shortText(last, maxValueLength)].join(', ');
}

function branchLabel(file: PredictedFile, node: SyntaxNode): string | null {
  let isTrue = 0;
  let isFalse = 0;
  for (const { after } of outcomes(file, node)) {
    if (after === null) isFalse++;
    else isTrue++;
  }
  if (isTrue + isFalse === 0) return null;
  if (isTrue + isFalse === 1) return isTrue === 1 ? 'True' : 'False';
  return [...(isTrue > 0 ? [`True ×${isTrue}`] : []), ...(isFalse > 0 ? [`False ×${isFalse}`] : [])].join(
    ', ',
  );
}

/**
 * What came of each visit of a head: the state in its body, or null where the body was not entered. Visits whose
 * outcome is not recorded, or was an exception, are left out.
 */
function* outcomes(file: PredictedFile, node: SyntaxNode): Generator<{ readonly after: number | null }> {
  const { visits, known } = file;
  const { trajectory } = known;
  const body = bodyOf(node);
  const first = file.lineThen(node.line);
  const head = file.lineThen(headEnd(node));
  const begin = body && file.lineThen(body.line);
  if (!body || first === null || head === null || begin === null || body.line <= headEnd(node)) return;
  const bodyEnd = begin + (body.endLine - body.line);
  /** Whether a state is a line event of the head, which may be on more lines than one. */
  const isInHead = (state: number) => {
    const line = trajectory.line(state);
    return trajectory.event(state) === 'line' && line >= first && line <= head;
  };
  const visited: number[] = [];
  for (let line = first; line <= head && visited.length < maxVisits; line++) {
    visited.push(...(visits.byLine.get(line) ?? []).slice(0, maxVisits - visited.length));
  }
  for (const state of visited.sort((a, b) => a - b)) {
    const before = trajectory.previousInFrame(state);
    // A head on one line that follows itself is evaluated again; on more lines it goes on.
    if (head > first && before !== null && isInHead(before)) continue;
    let after = visits.nextInFrame(state);
    while (head > first && after !== null && isInHead(after)) after = visits.nextInFrame(after);
    if (after === null || trajectory.event(after) === 'exception') continue;
    const line = trajectory.line(after);
    const isInside = trajectory.event(after) === 'line' && line >= begin && line <= bodyEnd;
    yield { after: isInside ? after : null };
  }
}

function namesIn(target: SyntaxNode): SyntaxNode[] {
  if (target.type === 'identifier') return [target];
  if (target.type === 'attribute' || target.type === 'subscript') return [];
  return target.parts.flatMap(namesIn);
}
