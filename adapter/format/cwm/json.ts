/**
 * A JSON string exactly as Python's `json.dumps` writes it by default: everything beyond printable ASCII as
 * `\uXXXX`, a UTF-16 unit each.
 */
export function jsonString(text: string): string {
  return `"${text.replace(/[^ !#-[\]-~]/g, escapeUnit)}"`;
}

/** A JSON object of strings as Python's `json.dumps` writes it by default. */
export function jsonObject(entries: Iterable<readonly [string, string]>): string {
  const items = Array.from(entries, ([name, value]) => `${jsonString(name)}: ${jsonString(value)}`);
  return `{${items.join(', ')}}`;
}

const shortEscapes = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\f', '\\f'],
  ['\b', '\\b'],
]);

function escapeUnit(unit: string): string {
  return shortEscapes.get(unit) ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A value in a text, and where it stands there. */
export interface SpannedText {
  readonly text: string;
  /** The span of the value with its quotes, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

const space = /[ \t\r\n]*/y;
const stringLiteral = /"(?:[^"\\]|\\.)*"/sy;
/** Values that should have been strings: numbers, `true`, `None`. */
const bareWord = /[^\s,{}[\]":]+/y;

/**
 * Reads the value of a return or exception frame: a JSON string. Text that does not begin like one is taken as
 * it is.
 *
 * @returns null if it begins like a JSON string and is none
 */
export function readJsonString(text: string): SpannedText | null {
  const start = match(space, text, 0)?.length ?? 0;
  if (text[start] !== '"') {
    const bare = text.trim();
    return { text: bare, start, end: start + bare.length };
  }
  const literal = match(stringLiteral, text, start);
  const value = literal === null ? null : parseLiteral(literal);
  if (literal === null || value === null || text.slice(start + literal.length).trim() !== '') return null;
  return { text: value, start, end: start + literal.length };
}

/**
 * Reads a JSON object of strings, with any spacing; numbers and words are taken as their text.
 *
 * @returns null if the text is no such object
 */
export function readJsonObject(text: string): Map<string, SpannedText> | null {
  const values = new Map<string, SpannedText>();
  let at = skip('{', text, 0);
  if (at === null) return null;
  const empty = skip('}', text, at);
  if (empty !== null) return isEnd(text, empty) ? values : null;
  for (;;) {
    at += match(space, text, at)?.length ?? 0;
    const name = match(stringLiteral, text, at);
    if (name === null) return null;
    at = skip(':', text, at + name.length);
    if (at === null) return null;
    at += match(space, text, at)?.length ?? 0;
    const value = match(stringLiteral, text, at) ?? match(bareWord, text, at);
    if (value === null) return null;
    const key = parseLiteral(name);
    const parsed = value.startsWith('"') ? parseLiteral(value) : value;
    if (key === null || parsed === null) return null;
    values.set(key, { text: parsed, start: at, end: at + value.length });
    at += value.length;
    const next = skip(',', text, at);
    if (next === null) break;
    at = next;
  }
  const end = skip('}', text, at);
  return end !== null && isEnd(text, end) ? values : null;
}

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

/** Where the text goes on after spaces and a mark, or null if the mark is not there. */
function skip(mark: string, text: string, at: number): number | null {
  const start = at + (match(space, text, at)?.length ?? 0);
  return text[start] === mark ? start + 1 : null;
}

function isEnd(text: string, at: number): boolean {
  return text.slice(at).trim() === '';
}

function parseLiteral(literal: string): string | null {
  try {
    // Python reads raw control characters in strings with `strict=False`; models write them at times.
    const value: unknown = JSON.parse(literal.replace(/[^ -\u{10ffff}]/gu, escapeUnit));
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}
