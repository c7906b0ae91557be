/** The call that a person means who typed a text: all of the call, or only its arguments. */
export function typedCall(typed: string, qualifiedName: string): string | null {
  const text = typed.trim();
  if (text === '') return null;
  if (text.startsWith('(') && text.endsWith(')') && closesAtEnd(text)) return qualifiedName + text;
  const name = qualifiedName.split('.', 1)[0] ?? qualifiedName;
  const rest = text.startsWith(name) ? text.slice(name.length).trimStart() : '';
  if (rest.startsWith('(') || rest.startsWith('.')) return text;
  return `${qualifiedName}(${text})`;
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
