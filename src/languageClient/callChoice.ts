import type { EntryWriting } from '../../adapter/python/entryCall';

/**
 * The expression that a person means who typed a text: all of it, the call only, or only its arguments.
 *
 * @returns null where more has to be typed, such as how a method's object is made
 */
export function typedCall(
  typed: string,
  qualifiedName: string,
  { before, after, callee }: EntryWriting = { before: '', after: '', callee: qualifiedName },
): string | null {
  const text = typed.trim();
  if (text === '') return null;
  if (before !== '' && text.startsWith(before)) return text;
  const whole = (call: string) => before + call + after;
  if (callee !== null && text.startsWith('(') && text.endsWith(')') && closesAtEnd(text))
    return whole(callee + text);
  const name = qualifiedName.split('.', 1)[0] ?? qualifiedName;
  const rest = text.startsWith(name) ? text.slice(name.length).trimStart() : '';
  if (rest.startsWith('(') || rest.startsWith('.')) return whole(text);
  return callee === null ? null : whole(`${callee}(${text})`);
}

/** Whether the first bracket of a text is closed by its last character. */
function closesAtEnd(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const mark = text[at];
    if (mark === '(') depth++;
    else if (mark === ')' && --depth === 0) return at === text.length - 1;
  }
  return false;
}
