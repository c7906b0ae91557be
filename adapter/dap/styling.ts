import { percent } from '../debugger/confidence';

/*
 * How doubtful spans look: faint, by the control sequences SGR 2 and SGR 22 (ECMA-48, 8.3.117). They are written
 * around text that shownText has made safe, so that they are the only control sequences in it; and only in
 * variables' values and in output, for clients that read them there.
 */

const faint = '\x1b[2m';
const normal = '\x1b[22m';

/** A text that is shown faint, line by line: clients show each line of output by itself. */
export function dimmed(text: string): string {
  return text.replace(/[^\n]+/g, (line) => faint + line + normal);
}

/**
 * A value with its confidence as a Python comment. An editor lets people edit a value as it is shown, with control
 * sequences too: so what can be set is not dimmed.
 *
 * @param confidence from 0 to 1
 */
export function remarked(text: string, confidence: number): string {
  return `${text}  # ${percent(confidence)} sure`;
}

/** A text without such styling: editors let people edit, copy and evaluate a value as it was shown. */
export function undimmed(text: string): string {
  return text.replaceAll(faint, '').replaceAll(normal, '');
}
