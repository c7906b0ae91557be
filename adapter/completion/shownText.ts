/**
 * Text of a server as it may be shown in one line: bounded, without control characters and without the
 * characters that turn the direction of text.
 */
export function shownText(text: string, limit: number): string {
  // Cut before cleaning, so that the work is bounded too.
  const line = text
    .slice(0, limit * 4)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}
