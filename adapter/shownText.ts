/**
 * Text from programs and models, made safe to show: control characters, terminal escapes, characters that change
 * the direction of writing and lone surrogates are written as Python escapes. Tabs and line feeds stay.
 */
export function shownText(text: string): string {
  return text.replace(/(?![\t\n])[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029\ufeff]/gu, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** A name, such as a file's, for a sentence: on one line, and cut where it is no name any more. */
export function shownName(name: string, most = 100): string {
  return shortText(name.replace(/\s+/g, ' '), most);
}

/** A value's text for a place with little room. */
export function shortText(text: string, most = 1_000): string {
  return shownText(text.length > most ? `${text.slice(0, most)}…` : text);
}
