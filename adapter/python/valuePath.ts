import type { Locals, Value } from '../trajectory/state';
import { callName, entries, wrappedItems } from './repr';
import { decodeString, nameEnd, numberEnd, skipSpace, stringLiteral } from './reprLexer';
import { readTape, type ReprTape } from './reprTape';

/** One step from a value to a part of it. */
type PathStep =
  | { readonly attribute: string }
  /** The index's repr. */
  | { readonly index: string };

/** The way from a local to itself or to a part of its value. */
export interface ValuePath {
  /** The local. */
  readonly name: string;
  readonly steps: readonly PathStep[];
}

/**
 * Finds what an expression means that only looks things up: a name, then `.attribute`, `[constant]` or
 * `[name]`, inside the values that are known. Nothing is computed.
 *
 * @returns the value, with the confidence of the local it is part of; null where it is not known
 */
export function lookUp(expression: string, locals: Locals): Value | null {
  const path = readPath(expression, locals);
  const found = path && valueAt(path, locals);
  return found?.repr === null ? null : found;
}

/**
 * Reads an expression of the kind that `lookUp` takes. A name in brackets stands for the index that it is now, so
 * the path leads to the same place among other locals.
 *
 * @returns null for another expression, or where an index is not known
 */
export function readPath(expression: string, locals: Locals): ValuePath | null {
  // Such as `.0`, which no expression leads to.
  if (locals.has(expression)) return { name: expression, steps: [] };
  return parsePath(expression, locals);
}

/** The value that a path leads to, with the confidence of the local it is part of; null where nothing is there. */
export function valueAt({ name, steps }: ValuePath, locals: Locals): Value | null {
  const root = locals.get(name);
  if (!root || steps.length === 0) return root ?? null;
  const part = root.repr === null ? null : follow(steps, root.repr);
  return part && { repr: part.text, confidence: root.confidence };
}

/** A place in a local's value that can be written anew. */
export interface Place {
  /** The local. */
  readonly name: string;
  /** Where the part stands in the local's repr, in UTF-16 units; null where the local itself is meant. */
  readonly span: { readonly start: number; readonly end: number } | null;
}

/**
 * Finds the place that an expression of the kind that `lookUp` takes means, to put another value there. A name
 * alone is a place whether or not it has a value; of what is inside a value, only what is there is one, and not
 * the characters of a string.
 */
export function placeOf(expression: string, locals: Locals): Place | null {
  const path = parsePath(expression, locals);
  if (!path) return null;
  if (path.steps.length === 0) return { name: path.name, span: null };
  const part = follow(path.steps, locals.get(path.name)?.repr ?? '');
  if (!part || part.start === null) return null;
  return { name: path.name, span: { start: part.start, end: part.start + part.text.length } };
}

/** A part of a value; one that does not stand in its text has no start. */
interface Part {
  readonly text: string;
  readonly start: number | null;
}

function follow(steps: readonly PathStep[], repr: string): Part | null {
  let at: Part = { text: repr, start: 0 };
  for (const step of steps) {
    const part: Part | null =
      'attribute' in step ? attributeOf(at.text, step.attribute) : itemOf(at.text, step.index);
    if (!part) return null;
    at = { text: part.text, start: at.start === null || part.start === null ? null : at.start + part.start };
  }
  return at;
}

/** Paths longer than this are not followed. */
const maxSteps = 100;

function parsePath(expression: string, locals: Locals): ValuePath | null {
  const text = expression.trim();
  let at = nameEnd(text, 0);
  if (at < 0) return null;
  // Python compares identifiers in this form.
  const name = text.slice(0, at).normalize('NFKC');
  const steps: PathStep[] = [];
  for (;;) {
    at = skipSpace(text, at);
    if (at === text.length) return { name, steps };
    if (steps.length === maxSteps) return null;
    if (text[at] === '.') {
      const start = skipSpace(text, at + 1);
      at = nameEnd(text, start);
      if (at < 0) return null;
      steps.push({ attribute: text.slice(start, at).normalize('NFKC') });
    } else if (text[at] === '[') {
      const start = skipSpace(text, at + 1);
      const end = constantEnd(text, start);
      if (end < 0) return null;
      const word = text.slice(start, end);
      const index = isName(word) ? locals.get(word.normalize('NFKC'))?.repr : word;
      if (index === undefined || index === null) return null;
      at = skipSpace(text, end);
      if (text[at] !== ']') return null;
      at++;
      steps.push({ index });
    } else {
      return null;
    }
  }
}

function isName(word: string): boolean {
  return nameEnd(word, 0) === word.length && !['None', 'True', 'False'].includes(word);
}

/** Where a number, a string, a name or a tuple of constants ends. */
function constantEnd(text: string, start: number): number {
  const literal = stringLiteral(text, start);
  if (literal === 'unclosed') return -1;
  if (literal) return literal.end;
  // A name may begin like a number: `inf`, `nan_count`.
  const name = nameEnd(text, start);
  if (name >= 0) return name;
  if (text[start] !== '(') return numberEnd(text, start);
  let at = start + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] === ')') return at + 1;
    if (text[at] === '(') return -1;
    at = constantEnd(text, at);
    if (at < 0) return -1;
    at = skipSpace(text, at);
    if (text[at] === ',') at++;
    else if (text[at] !== ')') return -1;
  }
}

/** A named argument of an object that is written as a call: `Point(x=1)`. */
function attributeOf(repr: string, name: string): Part | null {
  const tape = readTape(repr);
  if (!tape.is(0, 'call')) return null;
  for (const entry of entries(tape, 0)) {
    if (tape.is(entry, 'keyword') && tape.slice(entry) === name) return known(tape, entry + 1);
  }
  return null;
}

function itemOf(repr: string, index: string): Part | null {
  const tape = readTape(repr);
  const key = readTape(index);
  let node: number | null = 0;
  if (tape.is(0, 'call'))
    node = /^(\w+\.)?(deque|OrderedDict|defaultdict|Counter|mappingproxy)$/.test(callName(tape, 0))
      ? wrappedItems(tape, 0)
      : null;
  if (node === null) return null;
  switch (tape.kind(node)) {
    case 'list':
      return node > 0 && /Dict$/.test(callName(tape, 0))
        ? pairItem(tape, node, key)
        : sequenceItem(tape, node, wholeNumber(key));
    case 'tuple':
      return sequenceItem(tape, node, wholeNumber(key));
    case 'dict':
      return dictItem(tape, node, key);
    case 'string':
    case 'bytes':
      return characterAt(tape, node, wholeNumber(key));
    default:
      return null;
  }
}

/** A part, unless it stands for something that is not there. */
function known(tape: ReprTape, node: number): Part | null {
  return tape.is(node, 'cut') || tape.is(node, 'malformed')
    ? null
    : { text: tape.slice(node), start: tape.start(node) };
}

function sequenceItem(tape: ReprTape, container: number, index: number | null): Part | null {
  if (index === null) return null;
  let position = 0;
  if (index < 0) {
    for (const entry of entries(tape, container)) position -= tape.is(entry, 'cut') ? tape.hidden(entry) : 1;
    // Before a gap of unknown length nothing has a place that is counted from the end.
    if (position === -Infinity) return fromEnd(tape, container, index);
  }
  for (const entry of entries(tape, container)) {
    if (tape.is(entry, 'cut')) {
      position += tape.hidden(entry);
      continue;
    }
    if (position === index) return known(tape, entry);
    position++;
  }
  return null;
}

/** An item after the last gap, by an index from the end. */
function fromEnd(tape: ReprTape, container: number, index: number): Part | null {
  let after: number[] = [];
  for (const entry of entries(tape, container)) {
    if (tape.is(entry, 'cut')) after = [];
    else after.push(entry);
  }
  const entry = after.at(index);
  return entry === undefined ? null : known(tape, entry);
}

function dictItem(tape: ReprTape, container: number, key: ReprTape): Part | null {
  const wanted = identity(key, 0);
  if (wanted === null) return null;
  for (const entry of entries(tape, container)) {
    const value = tape.valueOf(container, entry);
    if (value !== entry && identity(tape, entry) === wanted) return known(tape, value);
  }
  return null;
}

/** An item of an ordered dict that is written as a list of pairs. */
function pairItem(tape: ReprTape, container: number, key: ReprTape): Part | null {
  const wanted = identity(key, 0);
  if (wanted === null) return null;
  for (const entry of entries(tape, container)) {
    const [first, second] = entries(tape, entry);
    if (first === undefined || second === undefined) continue;
    if (identity(tape, first) === wanted) return known(tape, second);
  }
  return null;
}

/** The same text for constants that are equal in Python: 1, 1.0 and True. Null for what is no constant. */
function identity(tape: ReprTape, node: number): string | null {
  switch (tape.kind(node)) {
    case 'number': {
      if (tape.hidden(node) > 0) return null;
      const text = tape.slice(node).replaceAll('_', '');
      const whole = wholeText(text);
      if (whole !== null) return `number ${whole}`;
      const value = Number(text);
      // No NaN equals another.
      if (Number.isNaN(value)) return /nan/.test(text) ? null : `number ${text}`;
      return `number ${Number.isInteger(value) ? BigInt(value).toString() : String(value)}`;
    }
    case 'constant': {
      const text = tape.slice(node);
      return text === 'True' ? 'number 1' : text === 'False' ? 'number 0' : text;
    }
    case 'string':
    case 'bytes': {
      const literal = tape.hidden(node) === 0 ? stringLiteral(tape.text, tape.start(node)) : null;
      if (literal === null || literal === 'unclosed') return null;
      return `${tape.kind(node)} ${JSON.stringify(decodeString(tape.text, literal))}`;
    }
    case 'tuple': {
      const items = [...entries(tape, node)].map((entry) => identity(tape, entry));
      return items.includes(null) ? null : `(${items.join(', ')})`;
    }
    default:
      return null;
  }
}

function wholeText(text: string): string | null {
  const match = /^([+-]?)(\d{1,4300}|0[xX][\da-fA-F]{1,4300}|0[oO][0-7]{1,4300}|0[bB][01]{1,4300})$/.exec(
    text,
  );
  if (!match) return null;
  const value = BigInt(match[2] ?? '');
  return (match[1] === '-' ? -value : value).toString();
}

/** An integer, as an index; True and False are two. */
function wholeNumber(tape: ReprTape): number | null {
  const text = tape.slice(0);
  if (text === 'True') return 1;
  if (text === 'False') return 0;
  const whole = tape.is(0, 'number') ? wholeText(text.replaceAll('_', '')) : null;
  return whole === null ? null : Number(whole);
}

/** The string of one character at an index, or the byte there. */
function characterAt(tape: ReprTape, node: number, index: number | null): Part | null {
  const literal = stringLiteral(tape.text, tape.start(node));
  if (index === null || literal === null || literal === 'unclosed') return null;
  const hidden = tape.hidden(node);
  if (hidden > 0 && index < 0) return null;
  // Two escaped surrogates are two characters in Python and one in JavaScript.
  if (/\\[uU]0{0,4}[dD][89a-fA-F]/.test(tape.text.slice(literal.from, literal.to))) return null;
  const contents = decodeString(tape.text, literal);
  const character = literal.isBytes ? contents.at(index) : Array.from(contents).at(index);
  if (character === undefined) return null;
  return { text: literal.isBytes ? String(character.charCodeAt(0)) : quoted(character), start: null };
}

const shortEscapes = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** The repr of one character. */
function quoted(character: string): string {
  if (character === "'") return `"'"`;
  if (character === ' ' || !/[\\\p{C}\p{Z}]/u.test(character)) return `'${character}'`;
  const short = shortEscapes.get(character);
  if (short !== undefined) return `'${short}'`;
  const code = character.codePointAt(0) ?? 0;
  const [letter, digits] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8];
  return `'\\${letter}${code.toString(16).padStart(digits, '0')}'`;
}
