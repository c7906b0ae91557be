import type { RawFrame } from './frames';
import { readJsonString } from './json';
import { readLocals } from './locals';
import { controlTokens } from './tokens';

/** What is malformed in a frame, and where in its text, in UTF-16 units. */
export interface FrameProblem {
  /** A clause that follows "frame 3": `has no <|action_sep|>`. */
  readonly problem: string;
  readonly start: number;
  readonly end: number;
}

/** The first thing that keeps a frame from being one of the format, or null. */
export function frameProblem({ text, kind, line, locals, argument }: RawFrame): FrameProblem | null {
  const begin = text.length - text.trimStart().length;
  const whole = (problem: string) => ({ problem, start: begin, end: Math.max(begin, text.trimEnd().length) });
  if (!kind) return whole('does not begin with the token of a kind');
  if (!line) return whole(`has no ${controlTokens.action}`);
  const part = (of: { readonly text: string; readonly start: number }, problem: string) => ({
    problem,
    start: of.start,
    end: of.start + of.text.length,
  });
  if (kind.event === 'return' || kind.event === 'exception') {
    if (argument && readJsonString(argument.text)) return null;
    return part(argument ?? line, 'has no value that is a JSON string');
  }
  return readLocals(locals.text, () => null)
    ? null
    : part(locals, 'has locals that are no JSON object of strings');
}
