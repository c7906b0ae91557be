import type { AnswerConstraint, ConstraintPart } from '../../completion/completion';
import type { PythonSource } from '../../python/source';
import type { Execution } from './execution';
import type { Layout } from './layout';
import { followingLines } from './linePositions';
import { controlTokens } from './tokens';

/**
 * The frames that can follow, by where control can go: on the next lines of the frame on top, in any function that
 * may be called, or out of the frame by a return or an exception. Null where that is not known: while an exception
 * is on its way, and where the frame's code is not the program's.
 */
export function legalFrames(
  { top, lastLeft }: Execution,
  source: PythonSource,
  layout: Layout,
): AnswerConstraint | null {
  const unit = top?.isVisible ? top.unit : null;
  if (!top || !unit || top.raised !== null || (lastLeft?.raised ?? null) !== null) return null;
  const textsOf = (lines: readonly number[]) => [...new Set(lines.map((line) => layout.textOfLine(line)))];
  const here = [top.line, ...top.otherLines].filter((line) => line > 0);
  const next = textsOf(
    [top.line, ...top.otherLines].flatMap((line) => followingLines(top, line, unit, layout.beginning)),
  );
  const calls = textsOf(source.units.filter(({ kind }) => kind !== 'module').map(({ callLine }) => callLine));
  const { call, line, action, argument, frameEnd } = controlTokens;
  const text = (...oneOf: readonly string[]): ConstraintPart => ({ oneOf });
  const withLocals = (kind: string, lines: readonly string[]): readonly ConstraintPart[] =>
    lines.length === 0 ? [] : [text(kind), { json: 'object' }, text(action), text(...lines), text(frameEnd)];
  const withValue = (kind: string): readonly ConstraintPart[] =>
    here.length === 0
      ? []
      : [text(kind + action), text(...textsOf(here)), text(argument), { json: 'string' }, text(frameEnd)];
  const beginnings = [
    withLocals(line, next),
    withLocals(call, calls),
    withValue(controlTokens.return),
    withValue(controlTokens.exception),
  ].filter((parts) => parts.length > 0);
  return beginnings.length > 0 ? { beginnings } : null;
}
