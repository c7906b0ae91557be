import { isWellFormed, readRepr } from '../../python/repr';
import type { Loose } from './looseJson';

const constants = new Map([
  ['true', 'True'],
  ['false', 'False'],
  ['null', 'None'],
  ['undefined', 'None'],
  ['NaN', 'nan'],
  ['Infinity', 'inf'],
  ['-Infinity', '-inf'],
]);

const escapes = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** The repr of a Python string. */
export function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(/[\\'"\p{Cc}]/gu, (char) => {
    if (char === quote) return `\\${char}`;
    return escapes.get(char) ?? (/\p{Cc}/u.test(char) ? `\\x${hex(char)}` : char);
  });
  return quote + inner + quote;
}

/** The text of a value that was meant as a repr. */
export function reprFromText(text: string): string {
  const trimmed = text.trim();
  const constant = constants.get(trimmed);
  if (constant !== undefined) return constant;
  // A model that forgets one level of escapes writes real line ends between quotes.
  const repr = trimmed.replace(/[\n\r\t]/g, (char) => escapes.get(char) ?? char);
  return isWellFormed(readRepr(repr)) ? repr : stringRepr(text);
}

/** The repr of a value that may be given as a repr or as a JSON value. */
export function valueRepr(value: Loose): string {
  return value.kind === 'text' ? reprFromText(value.text) : partRepr(value);
}

/** The repr of a JSON value; inside one, texts are strings. */
function partRepr(value: Loose): string {
  switch (value.kind) {
    case 'text':
      return stringRepr(value.text);
    case 'word':
      return value.text === '' ? 'None' : reprFromText(value.text);
    case 'list':
      return `[${value.items.map(partRepr).join(', ')}]`;
    case 'map':
      return `{${value.entries.map(([key, item]) => `${partRepr(key)}: ${partRepr(item)}`).join(', ')}}`;
  }
}

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(2, '0');
}
