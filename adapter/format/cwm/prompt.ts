import { errors } from '../../errors';
import type { EventKind, Locals } from '../../trajectory/state';
import { frameProblem } from './frameProblem';
import { splitFrame } from './frames';
import { readJsonString } from './json';
import { readLocals, resolveLocals } from './locals';
import { exactKey } from './lineTexts';
import { controlTokens, mendControlText, startMarker, unchanged } from './tokens';

/** A frame of a prompt. */
export interface HistoryFrame {
  readonly event: EventKind;
  /** The scope's locals, with `..` replaced by the values it stands for; null for returns and exceptions. */
  readonly locals: Locals | null;
  /** The source line without its line end and the marker, as in the context. */
  readonly line: string;
  /** The repr of the returned value or of the exception; null where there is none, or it is `..`. */
  readonly argument: string | null;
}

/** A prompt, taken apart. */
export interface ParsedPrompt {
  /** The source context as Python: with the marker, control tokens in the text as the program has them. */
  readonly source: string;
  /** The lines of the context as frames have them, each with its line end; index 0 is line 1. */
  readonly lines: readonly string[];
  /** The function whose line has the marker, and that line, from 1. */
  readonly entry: { readonly name: string; readonly line: number };
  readonly frames: readonly HistoryFrame[];
}

/**
 * Takes a prompt of the format apart.
 *
 * @throws CatalogueError that names what is malformed
 */
export function parsePrompt(text: string): ParsedPrompt {
  const { beginOfText, contextStart, frameEnd } = controlTokens;
  const from = text.startsWith(beginOfText) ? beginOfText.length : 0;
  if (!text.startsWith(contextStart, from)) {
    throw errors.malformedTracePrompt(`it does not begin with ${contextStart}`);
  }
  const contextEnd = text.indexOf(frameEnd, from);
  if (contextEnd < 0) throw errors.malformedTracePrompt(`the source context has no ${frameEnd} after it`);
  const context = text.slice(from + contextStart.length, contextEnd);
  const lines = context.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return {
    source: mendControlText(context),
    lines,
    entry: entryOf(lines),
    frames: framesOf(text.slice(contextEnd + frameEnd.length)),
  };
}

function entryOf(lines: readonly string[]): ParsedPrompt['entry'] {
  for (const [index, line] of lines.entries()) {
    if (!line.trimEnd().endsWith(startMarker)) continue;
    const name = /^\s*(?:async\s+)?def\s+(\w+)/u.exec(line)?.[1];
    if (name !== undefined) return { name, line: index + 1 };
  }
  throw errors.malformedTracePrompt(`no function's line has the comment${startMarker.trimEnd()}`);
}

function framesOf(text: string): HistoryFrame[] {
  const { frameEnd } = controlTokens;
  const texts = text.split(frameEnd);
  if (texts.pop()?.trim() !== '') throw errors.malformedTracePrompt(`its last frame has no ${frameEnd}`);
  const scopes: (Locals | null)[] = [];
  return texts.map((frameText, index) => {
    const raw = splitFrame(frameText);
    const malformed = frameProblem(raw);
    if (malformed) throw errors.malformedTracePrompt(`frame ${index + 1} ${malformed.problem}`);
    const { kind, line, locals: written, argument } = raw;
    const event = kind?.event ?? 'line';
    const frame = { event, line: exactKey(line?.text ?? '') };
    if (event === 'return' || event === 'exception') {
      if (event === 'return') scopes.pop();
      const value = argument && readJsonString(argument.text);
      return {
        ...frame,
        locals: null,
        argument: !value || value.text === unchanged ? null : mendControlText(value.text),
      };
    }
    const values = readLocals(written.text, () => null) ?? new Map<string, never>();
    const locals = resolveLocals(values, event === 'call' ? null : (scopes.at(-1) ?? null));
    if (event === 'line') scopes.pop();
    scopes.push(locals);
    return { ...frame, locals, argument: null };
  });
}
