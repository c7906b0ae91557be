import type { EventKind, Locals } from '../../trajectory/state';
import { jsonObject, jsonString } from './json';
import { breakControlText, controlTokens, unchanged } from './tokens';
import { plainRepr } from './values';

/** What a frame of the format says. */
export interface FrameContent {
  readonly event: EventKind;
  /** The locals of a call or line event; those of other events are not written. */
  readonly locals: Locals | null;
  /** The text of the event's line as it stands in the source context, with its line end. */
  readonly line: string;
  /** The value of a return event, or the exception as `Type(arguments)`; null where it is not known. */
  readonly argument: string | null;
}

/**
 * Writes one frame. JSON is as Python's `json.dumps` writes it by default, non-ASCII characters escaped.
 *
 * @param before the locals of the scope's previous frame, whose unchanged values are written as `..`; null at
 *   the beginning of a scope
 * @param inFull names whose values are written also where they are unchanged
 */
export function writeFrame(
  { event, locals, line, argument }: FrameContent,
  before: Locals | null,
  inFull: { has(name: string): boolean } = new Set(),
): string {
  const { [event]: kind, action, argument: argumentToken, frameEnd } = controlTokens;
  if (event === 'return' || event === 'exception') {
    return `${kind}${action}${line}${argumentToken}${jsonString(shown(argument))}${frameEnd}`;
  }
  return `${kind}${writeLocals(locals, before, inFull)}${action}${line}${frameEnd}`;
}

function writeLocals(
  locals: Locals | null,
  before: Locals | null,
  inFull: { has(name: string): boolean },
): string {
  const entries: [string, string][] = [];
  // A state that does not carry its locals says nothing new about them.
  for (const [name, value] of locals ?? before ?? []) {
    const old = locals === null ? value : before?.get(name);
    const isUnchanged = old !== undefined && old.repr === value.repr && !inFull.has(name);
    entries.push([breakControlText(name), isUnchanged ? unchanged : shown(value.repr)]);
  }
  return jsonObject(entries);
}

/** A value that is not known is written as unchanged: a reader that finds nothing before it knows no more. */
function shown(repr: string | null): string {
  return repr === null ? unchanged : breakControlText(plainRepr(repr));
}

/** Writes frames one after the other, keeping the locals of the open scopes: each costs only its own length. */
export class FrameWriter {
  readonly #scopes: (Locals | null)[] = [];

  /** @param unwinds how many scopes were left without a return frame since the frame before */
  write(content: FrameContent, unwinds = 0): string {
    this.#scopes.length = Math.max(0, this.#scopes.length - unwinds);
    if (content.event === 'call') {
      this.#scopes.push(content.locals);
      return writeFrame(content, null);
    }
    const text = writeFrame(content, this.#scopes.at(-1) ?? null);
    if (content.event === 'return') this.#scopes.pop();
    else if (content.event === 'line' && content.locals)
      this.#scopes[this.#scopes.length - 1] = content.locals;
    return text;
  }
}
