import { decodeString, qualifiedNameEnd, skipSpace, stringLiteral } from './reprLexer';
import { readTape, type ReprKind, type ReprTape } from './reprTape';

/**
 * A value in a repr. Reprs are read as models and tracers write them: what was left out is marked (`[1, 2,
 * ... +950 more]`, `'abc'... +950 more`, a bare `...`), objects may be described in angle brackets, and an item
 * that cannot be read is `malformed` among readable ones. Offsets are those of the text, in UTF-16 units.
 */
export class ReprNode {
  readonly #tape: ReprTape;
  readonly #index: number;
  #parts: readonly ReprPart[] | null = null;

  /** @param index the node's place on the tape */
  constructor(tape: ReprTape, index: number) {
    this.#tape = tape;
    this.#index = index;
  }

  get kind(): ReprKind {
    return this.#tape.kind(this.#index);
  }

  get start(): number {
    return this.#tape.start(this.#index);
  }

  get end(): number {
    return this.#tape.end(this.#index);
  }

  /** How many items or characters a cut or cut string leaves out: 0 for none, Infinity if it does not say. */
  get hidden(): number {
    return this.#tape.hidden(this.#index);
  }

  /** Whether this and everything in it could be read. */
  get isWellFormed(): boolean {
    return everyNode(this.#tape, this.#index, (node) => !this.#tape.is(node, 'malformed'));
  }

  /** Items of containers and arguments of calls, cuts among them; made when first asked for. */
  get children(): readonly ReprPart[] {
    this.#parts ??= [...entries(this.#tape, this.#index)].map((entry) => {
      const container = this.#tape.itemsOf(this.#index);
      const value = this.#tape.valueOf(container, entry);
      return {
        key: value !== entry && !this.#tape.is(entry, 'keyword') ? new ReprNode(this.#tape, entry) : null,
        name: this.#tape.is(entry, 'keyword') ? this.#tape.slice(entry) : null,
        value: new ReprNode(this.#tape, value),
      };
    });
    return this.#parts;
  }
}

/** One part of a value: a dict's entry has a key, an argument may have a name. */
export interface ReprPart {
  readonly key: ReprNode | null;
  readonly name: string | null;
  readonly value: ReprNode;
}

/** Reads a whole text; never throws. */
export function readRepr(text: string): ReprNode {
  return new ReprNode(readTape(text), 0);
}

/** Whether a value and everything in it could be read. */
export function isWellFormed(node: ReprNode): boolean {
  return node.isWellFormed;
}

/** The text of a value, exactly as it was written. */
export function reprText(text: string, node: ReprNode): string {
  return text.slice(node.start, node.end);
}

/**
 * What a string or bytes literal stands for, or null for other values. Bytes are the characters 0 to 255. Of a
 * literal that was cut, what is there.
 */
export function stringValue(text: string, node: ReprNode): string | null {
  if (node.kind !== 'string' && node.kind !== 'bytes') return null;
  const literal = stringLiteral(text, node.start);
  return literal === null || literal === 'unclosed' ? null : decodeString(text, literal);
}

/** A row below a value when it is opened. */
export interface Child {
  /** An index, a key as it is written, or an argument's name. */
  readonly name: string;
  /** The part's own repr. */
  readonly text: string;
  /** The expression that leads here from the parent's; `''` where none does. */
  expression(parentExpression: string): string;
}

/** What a value can be opened into. Rows are numbered with indexed ones first, then named ones. */
export interface Children {
  readonly indexed: number;
  readonly named: number;
  /** How many more items there are that the text leaves out; Infinity where it does not say how many. */
  readonly hidden: number;
  /** Rows from one on; the numbers are cut to what is there. */
  page(start: number, count: number): Child[];
}

/** Calls whose one container argument holds the value's items. */
const wrappers = new Set([
  'deque',
  'collections.deque',
  'OrderedDict',
  'defaultdict',
  'Counter',
  'mappingproxy',
  'dict_keys',
  'dict_values',
  'dict_items',
]);
/** What the arguments of some calls are called, by position. */
const argumentNames = new Map<string, readonly string[]>([
  ['range', ['start', 'stop', 'step']],
  ['slice', ['start', 'stop', 'step']],
]);
/** Wrappers whose items cannot be reached by an index. */
const views = new Set(['dict_keys', 'dict_values', 'dict_items']);

const noChildren: Children = { indexed: 0, named: 0, hidden: 0, page: () => [] };

/** The parts of a value, for showing them row by row. */
export function childrenOf(text: string): Children {
  // Most values have no parts: those are not read.
  if (!/[[({]/.test(text) || text.startsWith('<')) return noChildren;
  const tape = readTape(text);
  return childrenOfNode(tape, 0);
}

function childrenOfNode(tape: ReprTape, node: number): Children {
  switch (tape.kind(node)) {
    case 'list':
    case 'tuple':
      return new Items(tape, node, 'subscript');
    case 'set':
    case 'frozenset':
      return new Items(tape, node, 'none');
    case 'dict':
      return new Items(tape, node, 'key');
    case 'call':
      return callChildren(tape, node);
    default:
      return noChildren;
  }
}

function callChildren(tape: ReprTape, node: number): Children {
  const name = callName(tape, node);
  const contents = wrappers.has(name) ? wrappedItems(tape, node) : null;
  if (contents === null) return new Items(tape, node, 'argument');
  if (views.has(name)) return new Items(tape, contents, 'none');
  const arePairs = name === 'OrderedDict' && tape.is(contents, 'list');
  return arePairs ? new Items(tape, contents, 'pair') : childrenOfNode(tape, contents);
}

/** The list or dict in a wrapper's arguments. */
export function wrappedItems(tape: ReprTape, node: number): number | null {
  for (const entry of entries(tape, node)) {
    if (tape.is(entry, 'list') || tape.is(entry, 'dict')) return entry;
  }
  return null;
}

/** How a container's parts are named and reached. */
type Access = 'subscript' | 'key' | 'pair' | 'argument' | 'none';

class Items implements Children {
  readonly indexed: number;
  readonly named: number;
  readonly hidden: number;
  readonly #tape: ReprTape;
  readonly #node: number;
  readonly #access: Access;
  /** Where the last page ended, so that pages in turn need no search: the row and its first node. */
  #reached = { row: 0, entry: 0 };

  constructor(tape: ReprTape, node: number, access: Access) {
    this.#tape = tape;
    this.#node = tape.itemsOf(node);
    this.#access = access;
    let rows = 0;
    let hidden = 0;
    for (const entry of entries(tape, node)) {
      if (tape.is(entry, 'cut')) hidden += tape.hidden(entry);
      else rows++;
    }
    const isIndexed = access === 'subscript' || access === 'none';
    this.indexed = isIndexed ? rows : 0;
    this.named = isIndexed ? 0 : rows;
    this.hidden = hidden;
    this.#reached.entry = this.#node + 1;
  }

  page(start: number, count: number): Child[] {
    const children: Child[] = [];
    const first = Math.max(0, start);
    const last = first + count;
    if (this.#reached.row > first) this.#reached = { row: 0, entry: this.#node + 1 };
    let { row, entry } = this.#reached;
    const end = this.#tape.after(this.#node);
    const skipped = this.#access === 'subscript' ? this.#cutBefore(entry) : 0;
    let cut = skipped;
    while (entry < end && row < last) {
      if (this.#tape.is(entry, 'cut')) {
        cut += this.#tape.hidden(entry);
      } else {
        if (row >= first) children.push(this.#child(entry, row, cut));
        row++;
      }
      entry = afterEntry(this.#tape, this.#node, entry);
    }
    this.#reached = { row, entry };
    return children;
  }

  #cutBefore(entry: number): number {
    if (this.hidden === 0) return 0;
    let cut = 0;
    for (const at of entries(this.#tape, this.#node)) {
      if (at >= entry) break;
      if (this.#tape.is(at, 'cut')) cut += this.#tape.hidden(at);
    }
    return cut;
  }

  #child(entry: number, row: number, cut: number): Child {
    const tape = this.#tape;
    const { name, suffix, node } = this.#naming(entry, row, cut);
    const text = tape.slice(node);
    return {
      name,
      text,
      expression: (parent) => (suffix === null || parent === '' ? '' : parent + suffix),
    };
  }

  #naming(entry: number, row: number, cut: number): { name: string; suffix: string | null; node: number } {
    const tape = this.#tape;
    const node = tape.valueOf(this.#node, entry);
    const keyed = (key: number, value: number) => {
      const name = tape.slice(key);
      return { name, suffix: isLiteralNode(tape, key) ? `[${name}]` : null, node: value };
    };
    switch (this.#access) {
      case 'subscript': {
        // After a gap of unknown length, items are counted from the end.
        const index = String(Number.isFinite(cut) ? row + cut : row - this.indexed);
        return { name: index, suffix: `[${index}]`, node };
      }
      case 'key':
        return tape.is(entry, 'malformed') ? { name: '?', suffix: null, node } : keyed(entry, node);
      case 'pair': {
        const [key, value] = entries(tape, entry);
        if (tape.is(entry, 'tuple') && key !== undefined && value !== undefined) return keyed(key, value);
        return { name: '?', suffix: null, node };
      }
      case 'argument': {
        const name = tape.is(entry, 'keyword')
          ? tape.slice(entry)
          : argumentNames.get(callName(tape, this.#node))?.[row];
        if (name === undefined) return { name: String(row), suffix: null, node };
        return { name, suffix: `.${name}`, node };
      }
      case 'none':
        return { name: String(row), suffix: null, node };
    }
  }
}

/** The first nodes of a container's entries. */
export function* entries(tape: ReprTape, node: number): Generator<number> {
  const container = tape.itemsOf(node);
  const end = tape.after(container);
  for (let entry = container + 1; entry < end; entry = afterEntry(tape, container, entry)) yield entry;
}

function afterEntry(tape: ReprTape, container: number, entry: number): number {
  return tape.after(tape.valueOf(container, entry));
}

/** Whether something is true of a node and of everything in it. */
function everyNode(tape: ReprTape, node: number, test: (node: number) => boolean): boolean {
  for (let at = node; at < tape.after(node); at++) if (!test(at)) return false;
  return true;
}

/** The name before a call's bracket. */
export function callName(tape: ReprTape, node: number): string {
  const start = tape.start(node);
  return tape.text.slice(start, qualifiedNameEnd(tape.text, start));
}

/** The name of a value's type, without its module; null where the text does not show it. */
export function typeName(text: string): string | null {
  const start = skipSpace(text, 0);
  if (text[start] === '<') return opaqueType(text.slice(start, start + 500));
  const tape = readTape(text);
  switch (tape.kind(0)) {
    case 'number':
      return numberType(tape.slice(0));
    case 'string':
      return 'str';
    case 'constant':
      return constantTypes.get(tape.slice(0)) ?? null;
    case 'call': {
      const name = lastName(callName(tape, 0));
      return callTypes.get(name) ?? name;
    }
    case 'cycle':
      return cycleTypes.get(text.charAt(tape.start(0))) ?? null;
    case 'bytes':
    case 'list':
    case 'tuple':
    case 'set':
    case 'frozenset':
    case 'dict':
      return tape.kind(0);
    case 'opaque':
    case 'cut':
    case 'malformed':
      return null;
  }
}

const constantTypes = new Map([
  ['None', 'NoneType'],
  ['True', 'bool'],
  ['False', 'bool'],
  ['Ellipsis', 'ellipsis'],
  ['NotImplemented', 'NotImplementedType'],
]);
/** Types whose repr is written as a call of something else. */
const callTypes = new Map([
  ['namespace', 'SimpleNamespace'],
  ['compile', 'Pattern'],
]);
const cycleTypes = new Map([
  ['[', 'list'],
  ['{', 'dict'],
  ['(', 'tuple'],
]);

function numberType(text: string): string {
  if (/[jJ]/.test(text.slice(-2))) return 'complex';
  if (/^[+-]?0[xXoObB]/.test(text)) return 'int';
  return /[.eEn]/.test(text.replace(/\.\.\..*$/, '')) ? 'float' : 'int';
}

/** What the descriptions that Python and its library give begin with. */
const opaqueBeginnings: readonly (readonly [RegExp, string])[] = [
  [/^<class /, 'type'],
  [/^<function /, 'function'],
  [/^<bound method /, 'method'],
  [/^<built-in (function|method) /, 'builtin_function_or_method'],
  [/^<method-wrapper /, 'method-wrapper'],
  [/^<method /, 'method_descriptor'],
  [/^<slot wrapper /, 'wrapper_descriptor'],
  [/^<module /, 'module'],
  [/^<enum /, 'EnumType'],
  [/^<code object /, 'code'],
  [/^<(cell|frame|traceback)\b/, '$1'],
];

function opaqueType(text: string): string | null {
  for (const [beginning, type] of opaqueBeginnings) {
    const match = beginning.exec(text);
    if (match) return type === '$1' ? (match[1] ?? null) : type;
  }
  const failed = /^<repr raised [\w.]+ on ([\w.]+)/.exec(text);
  if (failed) return lastName(failed[1] ?? '');
  const end = qualifiedNameEnd(text, 1);
  if (end < 0) return null;
  const name = text.slice(1, end);
  const rest = text.slice(end);
  // `<generator object f>`, `<Box object>`, `<re.Match object; span=(0, 1)>`, `<Box object at 0x1>`.
  if (/^ object[ ;>]/.test(rest)) return lastName(name);
  // An enumeration's member: `<Color.RED: 1>`.
  const member = /^([^.]+)\.[^.]+$/.exec(name);
  if (member && rest.startsWith(':')) return member[1] ?? null;
  return /^[ (:>]/.test(rest) ? lastName(name) : null;
}

function lastName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** An exception as it is told to people. */
export interface ExceptionParts {
  /** The type's name; without the module where that is `builtins` or `__main__`. */
  readonly type: string;
  /** What `str()` of the exception gives; null where it has no arguments. */
  readonly message: string | null;
}

/**
 * An exception's type and message, from any of the ways in which exceptions are written: `Type('message')`,
 * `Type: message`, `Type`, `<class 'Type'>`, the tuple that a trace function gets.
 */
export function exceptionParts(text: string): ExceptionParts {
  const trimmed = text.trim();
  const tape = readTape(trimmed);
  switch (tape.kind(0)) {
    case 'call':
      return { type: exceptionType(callName(tape, 0)), message: callMessage(tape, 0) };
    case 'tuple': {
      const [type, exception] = entries(tape, 0);
      if (type === undefined || exception === undefined || !tape.slice(type).startsWith('<class ')) break;
      const named = exceptionParts(tape.slice(type));
      if (!tape.is(exception, 'call')) return { ...named, message: spokenText(tape, exception) };
      return { ...named, message: callMessage(tape, exception) };
    }
    case 'string': {
      const said = stringValue(trimmed, new ReprNode(tape, 0)) ?? '';
      const inner = readTape(said.trim());
      if (inner.is(0, 'string')) break;
      return exceptionParts(said);
    }
    case 'opaque': {
      const named = /^<class '([^']+)'>$/.exec(trimmed);
      return { type: exceptionType(named?.[1] ?? typeName(trimmed) ?? trimmed), message: null };
    }
    default:
      break;
  }
  return spokenException(trimmed);
}

function exceptionType(name: string): string {
  return name.replace(/^(builtins|__main__)\./, '');
}

/** `Type: message` or `Type`; else all of the text is a message. */
function spokenException(text: string): ExceptionParts {
  const end = text.startsWith('<class ') ? text.indexOf('>') + 1 : qualifiedNameEnd(text, 0);
  if (end <= 0) return { type: 'Exception', message: text };
  const type = text.startsWith('<')
    ? exceptionParts(text.slice(0, end)).type
    : exceptionType(text.slice(0, end));
  if (end === text.length) return { type, message: null };
  if (text[end] === '(' && text.endsWith(')')) return { type, message: text.slice(end + 1, -1) };
  if (text[end] !== ':') return { type: 'Exception', message: text };
  const message = text.slice(end + 1).trim();
  // The message is sometimes the exception's repr again.
  const tape = readTape(message);
  if (tape.is(0, 'call') && lastName(callName(tape, 0)) === lastName(type)) {
    return { type, message: callMessage(tape, 0) };
  }
  return { type, message };
}

const groupTypes = new Set(['ExceptionGroup', 'BaseExceptionGroup']);
const systemErrors = new Set([
  'OSError',
  'FileNotFoundError',
  'PermissionError',
  'FileExistsError',
  'IOError',
]);

/** What `str()` gives of an exception that is written as a call. */
function callMessage(tape: ReprTape, node: number): string | null {
  const positional = [...entries(tape, node)].filter((entry) => !tape.is(entry, 'keyword'));
  const [first, second] = positional;
  if (first === undefined) return null;
  const type = lastName(callName(tape, node));
  const said = spokenText(tape, first);
  if (second === undefined) return type === 'KeyError' ? tape.slice(first) : said;
  if (groupTypes.has(type) && tape.is(second, 'list')) {
    const count = [...entries(tape, second)].length;
    return `${said} (${count} sub-exception${count === 1 ? '' : 's'})`;
  }
  if (systemErrors.has(type) && tape.is(second, 'string')) {
    return `[Errno ${said}] ${spokenText(tape, second)}`;
  }
  return `(${positional.map((entry) => tape.slice(entry)).join(', ')})`;
}

/** What `str()` gives of a part: a string's contents, else its repr. */
function spokenText(tape: ReprTape, node: number): string {
  const literal = tape.is(node, 'string') ? stringLiteral(tape.text, tape.start(node)) : null;
  if (literal === null || literal === 'unclosed') return tape.slice(node);
  return decodeString(tape.text, literal) + tape.text.slice(literal.end, tape.end(node));
}

/** More digits than Python turns into an integer. */
const maxDigits = 4300;
/** Python's parser gives up on more brackets within brackets. */
const maxLiteralDepth = 200;

/**
 * Whether `ast.literal_eval` reads a text as the value that it shows: no descriptions, calls or cuts. `set()`
 * is one; `frozenset()`, `nan`, `inf` and `Ellipsis` are not. Unhashable keys are not looked for.
 */
export function isLiteral(text: string): boolean {
  const tape = readTape(text);
  return isLiteralNode(tape, 0);
}

function isLiteralNode(tape: ReprTape, node: number): boolean {
  const ends: number[] = [];
  return everyNode(tape, node, (at) => {
    while (at >= (ends.at(-1) ?? Infinity)) ends.pop();
    switch (tape.kind(at)) {
      case 'string':
      case 'bytes':
        return tape.hidden(at) === 0;
      case 'number':
        return tape.hidden(at) === 0 && isLiteralNumber(tape.slice(at));
      case 'constant':
        return /^(None|True|False)$/.test(tape.slice(at));
      case 'list':
      case 'tuple':
      case 'set':
      case 'dict':
        return ends.push(tape.after(at)) <= maxLiteralDepth;
      default:
        return false;
    }
  });
}

function isLiteralNumber(text: string): boolean {
  if (/nan|inf/.test(text)) return false;
  return text.length <= maxDigits || !/^[+-]?[\d_]{4300,}$/.test(text);
}
