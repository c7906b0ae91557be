import type { EventKind } from '../../trajectory/state';
import { controlTokens } from './tokens';

/** A part of a frame's text. */
export interface FramePart {
  readonly text: string;
  /** Where the part begins in the frame's text, in UTF-16 units. */
  readonly start: number;
}

/** A frame's text, taken apart at its control tokens. */
export interface RawFrame {
  /** The whole text, with the `<|frame_sep|>` at its end where there was one. */
  readonly text: string;
  /** The kind and where its token begins; null where no kind's token is at the frame's beginning. */
  readonly kind: { readonly event: EventKind; readonly start: number } | null;
  /** What stands between the kind and the line. */
  readonly locals: FramePart;
  /** The source line, or null where the frame has no `<|action_sep|>`. */
  readonly line: FramePart | null;
  /** The value, or null where the frame has no `<|arg_sep|>`. */
  readonly argument: FramePart | null;
}

const kinds: readonly EventKind[] = ['call', 'line', 'return', 'exception'];

/** Takes a frame's text apart. */
export function splitFrame(text: string): RawFrame {
  const { frameEnd, action, argument } = controlTokens;
  const end = text.endsWith(frameEnd) ? text.length - frameEnd.length : text.length;
  const begin = /^\s*/.exec(text)?.[0].length ?? 0;
  const event = kinds.find((kind) => text.startsWith(controlTokens[kind], begin)) ?? null;
  const afterKind = event === null ? begin : begin + controlTokens[event].length;
  const kind = event && { event, start: begin };
  const actionAt = text.indexOf(action, afterKind);
  if (actionAt < 0) {
    return { text, kind, locals: part(text, afterKind, end), line: null, argument: null };
  }
  const lineAt = actionAt + action.length;
  const argumentAt = text.indexOf(argument, lineAt);
  return {
    text,
    kind,
    locals: part(text, afterKind, actionAt),
    line: part(text, lineAt, argumentAt < 0 ? end : argumentAt),
    argument: argumentAt < 0 ? null : part(text, argumentAt + argument.length, end),
  };
}

function part(text: string, start: number, end: number): FramePart {
  return { text: text.slice(start, end), start };
}
