/**
 * The control tokens of CWM's trace format, from the prompting guide of facebookresearch/cwm.
 */
export const controlTokens = {
  /** The start of the sequence. */
  beginOfText: '<|begin_of_text|>',
  /** The end of the trace: the entry point's scope was left. */
  endOfText: '<|end_of_text|>',
  /** Before the source context. */
  contextStart: '<|trace_context_start|>',
  /** After the source context, and after every frame. */
  frameEnd: '<|frame_sep|>',
  /** The frames' kinds. */
  call: '<|call_sep|>',
  line: '<|line_sep|>',
  return: '<|return_sep|>',
  exception: '<|exception_sep|>',
  /** Before the source line. */
  action: '<|action_sep|>',
  /** Before the value of a return or exception frame. */
  argument: '<|arg_sep|>',
} as const;

/** The comment at the end of the entry point's line. */
export const startMarker = '  # << START_OF_TRACE';

/** The local value that is unchanged since the scope's previous frame. */
export const unchanged = '..';

/** What stands in control-like text to keep it from being a control token: a zero-width space. */
const breaker = '\u200b';
const controlLike = /<\|(\w+)(\u200b*)\|>/g;
const brokenControl = /<\|(\w+)\u200b(\u200b*)\|>/g;

/**
 * Text in which nothing can be taken for a control token: `<|name|>` gets a zero-width space before its `|>`.
 * That holds for every name, since the tokenizer has more control tokens than the format uses.
 */
export function breakControlText(text: string): string {
  return text.includes('<|') ? text.replace(controlLike, `<|$1$2${breaker}|>`) : text;
}

/** The text that `breakControlText` was given. */
export function mendControlText(text: string): string {
  return text.includes('<|') ? text.replace(brokenControl, '<|$1$2|>') : text;
}

/** Whether a text holds something that a tokenizer may take for a control token. */
export function holdsControlText(text: string): boolean {
  return text.includes('<|') && /<\|\w+\|>/.test(text);
}

/** A source line's text without the marker, if it ends with exactly that. */
export function withoutMarker(line: string): string {
  return line.endsWith(startMarker) ? line.slice(0, -startMarker.length) : line;
}

/** A line's text without its line end. */
export function withoutLineEnd(line: string): string {
  return line.replace(/(?:\r\n|\n|\r)$/, '');
}
