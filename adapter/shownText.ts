/**
 * Text from programs and models, made safe to show: control characters, terminal escapes, characters that
 * change the direction of writing and lone surrogates are written as Python escapes.
 */
export function shownText(text: string): string {
  return text.replace(
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (character) => {
      const code = character.charCodeAt(0);
      return code < 0x100
        ? `\\x${code.toString(16).padStart(2, '0')}`
        : `\\u${code.toString(16).padStart(4, '0')}`;
    },
  );
}

/** A value's text for a place with little room. */
export function shortText(text: string, most = 1_000): string {
  return shownText(text.length > most ? `${text.slice(0, most)}…` : text);
}
