import {
  cutCount,
  cutEnd,
  nameEnd,
  numberEnd,
  opaqueEnd,
  qualifiedNameEnd,
  skipSpace,
  stringLiteral,
} from './reprLexer';

export const reprKinds = [
  'number',
  'string',
  'bytes',
  'constant',
  'list',
  'tuple',
  'set',
  'frozenset',
  'dict',
  /** `Name(arguments)`. */
  'call',
  /** `<…>`, or a name that stands for a value: `re.IGNORECASE`. */
  'opaque',
  /** A container inside itself: `[...]`. */
  'cycle',
  /** What was left out: `...`, `... +950 more`. */
  'cut',
  'malformed',
] as const;

export type ReprKind = (typeof reprKinds)[number];

type TapeKind = ReprKind | 'keyword';

const tapeKinds: readonly TapeKind[] = [...reprKinds, 'keyword'];
const codes = Object.fromEntries(tapeKinds.map((kind, code) => [kind, code])) as Record<TapeKind, number>;

/** Deeper nesting than this is not read: CPython's own repr does not get there. */
export const maxReprDepth = 1000;
/** Values with more parts than this are not read. */
export const maxReprNodes = 5_000_000;

const fieldsPerNode = 4;

/**
 * A repr as a tree, in one array of numbers: a node's kind, start, end, and the index of the node after its
 * parts, which follow it. A dict's parts are a key and a value in turn, an argument with a name is a `keyword`
 * node and its value; a cut or malformed entry of a dict is a node of its own.
 */
export class ReprTape {
  #fields = new Int32Array(8 * fieldsPerNode);
  #length = 0;

  constructor(readonly text: string) {}

  get length(): number {
    return this.#length;
  }

  kind(node: number): ReprKind {
    const kind = tapeKinds[this.#field(node, 0)];
    if (kind === undefined || kind === 'keyword') throw new RangeError(`Node ${node} is no value.`);
    return kind;
  }

  is(node: number, kind: TapeKind): boolean {
    return this.#field(node, 0) === codes[kind];
  }

  start(node: number): number {
    return this.#field(node, 1);
  }

  end(node: number): number {
    return this.#field(node, 2);
  }

  /** The node after this one and its parts. */
  after(node: number): number {
    return this.#field(node, 3);
  }

  slice(node: number): string {
    return this.text.slice(this.start(node), this.end(node));
  }

  /** The offset of the value that begins with an entry's first node: past a key or a keyword. */
  valueOf(container: number, entry: number): number {
    if (this.is(entry, 'keyword')) return entry + 1;
    if (!this.is(container, 'dict') || this.is(entry, 'cut') || this.is(entry, 'malformed')) return entry;
    return this.after(entry);
  }

  /** The node whose entries are the items: a frozenset's are those of the set in it. */
  itemsOf(node: number): number {
    return this.is(node, 'frozenset') && this.after(node) > node + 1 ? node + 1 : node;
  }

  /** How many things a node says it leaves out: a cut, or a string that was cut. 0: nothing. */
  hidden(node: number): number {
    const end = this.end(node);
    switch (this.kind(node)) {
      case 'cut':
        return cutCount(this.text, this.start(node), end);
      case 'string':
      case 'bytes':
      case 'number': {
        const last = this.text.charAt(end - 1);
        return (last === 'e' && this.text.startsWith('more', end - 4)) ||
          (last === '.' && this.text.startsWith('...', end - 3))
          ? cutCount(this.text, this.start(node), end)
          : 0;
      }
      default:
        return 0;
    }
  }

  /** Adds a node and returns its index. */
  add(kind: TapeKind, start: number, end: number): number {
    if (this.#length * fieldsPerNode === this.#fields.length) {
      const grown = new Int32Array(this.#fields.length * 2);
      grown.set(this.#fields);
      this.#fields = grown;
    }
    const at = this.#length * fieldsPerNode;
    this.#fields[at] = codes[kind];
    this.#fields[at + 1] = start;
    this.#fields[at + 2] = end;
    this.#fields[at + 3] = this.#length + 1;
    return this.#length++;
  }

  /** Completes a container with the nodes that were added since. */
  close(node: number, kind: TapeKind, end: number): void {
    const at = node * fieldsPerNode;
    this.#fields[at] = codes[kind];
    this.#fields[at + 2] = end;
    this.#fields[at + 3] = this.#length;
  }

  /** Takes a node and all after it away. */
  cutBack(node: number): void {
    this.#length = node;
  }

  #field(node: number, field: number): number {
    const value = node < this.#length ? this.#fields[node * fieldsPerNode + field] : undefined;
    if (value === undefined) throw new RangeError(`The repr has no node ${node}.`);
    return value;
  }
}

/** A container that is being read. */
interface Open {
  readonly node: number;
  readonly bracket: '(' | '[' | '{';
  readonly isCall: boolean;
  /** The first node and the offset of the item that is being read. */
  item: number;
  itemStart: number;
  /** Items that are complete. */
  items: number;
  braces: 'dict' | 'set' | null;
  /** Whether a dict's key was read and its value is due. */
  hasKey: boolean;
}

const closers = { '(': ')', '[': ']', '{': '}' } as const;
const constants = new Set(['None', 'True', 'False', 'Ellipsis', 'NotImplemented']);

/** Reads a repr. What cannot be read is one malformed node; a malformed item leaves the others readable. */
export function readTape(text: string): ReprTape {
  const tape = new ReprTape(text);
  if (!new TapeReader(tape).read()) {
    tape.cutBack(0);
    tape.add('malformed', 0, text.length);
  }
  return tape;
}

class TapeReader {
  readonly #text: string;
  readonly #stack: Open[] = [];
  #at = 0;

  constructor(readonly tape: ReprTape) {
    this.#text = tape.text;
  }

  /** Whether the whole text is one value, whose items may be malformed. */
  read(): boolean {
    for (;;) {
      if (!this.#value()) return false;
      for (;;) {
        this.#at = skipSpace(this.#text, this.#at);
        const open = this.#stack.at(-1);
        if (!open) return this.#at === this.#text.length;
        const next = this.#afterValue(open);
        if (next === 'failed') return false;
        if (next === 'value') break;
      }
    }
  }

  /** Reads a value up to its end, or into its first item. False: nothing further can be read. */
  #value(): boolean {
    for (;;) {
      this.#at = skipSpace(this.#text, this.#at);
      const open = this.#stack.at(-1);
      if (open && !open.hasKey) {
        open.item = this.tape.length;
        open.itemStart = this.#at;
        if (this.#text[this.#at] === closers[open.bracket]) return this.#close(open);
        if (open.isCall) this.#keyword();
      }
      if (this.tape.length > maxReprNodes) return false;
      const start = this.#at;
      const bracket = this.#text[start];
      if (bracket === '[' || bracket === '{' || (bracket === '(' && numberEnd(this.#text, start) < 0)) {
        if (!this.#open(bracket, start, start + 1, false)) return false;
        continue;
      }
      const name = qualifiedNameEnd(this.#text, start);
      if (name >= 0 && this.#text[name] === '(') {
        if (!this.#open('(', start, name + 1, true)) return false;
        continue;
      }
      return this.#leaf(start, name, open);
    }
  }

  #open(bracket: Open['bracket'], start: number, inside: number, isCall: boolean): boolean {
    if (this.#stack.length >= maxReprDepth) return false;
    const node = this.tape.add('list', start, start);
    this.#stack.push({
      node,
      bracket,
      isCall,
      item: node + 1,
      itemStart: inside,
      items: 0,
      braces: null,
      hasKey: false,
    });
    this.#at = inside;
    return true;
  }

  /** An argument's name. */
  #keyword(): void {
    const end = nameEnd(this.#text, this.#at);
    if (end < 0 || this.#text[end] !== '=' || this.#text[end + 1] === '=') return;
    this.tape.add('keyword', this.#at, end);
    this.#at = skipSpace(this.#text, end + 1);
  }

  #leaf(start: number, name: number, open: Open | undefined): boolean {
    const text = this.#text;
    const number = numberEnd(text, start);
    if (number >= 0) return this.#cuttable('number', start, number);
    const literal = stringLiteral(text, start);
    // Without an end, all that follows is in doubt.
    if (literal === 'unclosed') return false;
    if (literal) {
      const kind = literal.isSound ? (literal.isBytes ? 'bytes' : 'string') : 'malformed';
      return this.#cuttable(kind, start, literal.end);
    }
    if (name >= 0) {
      const word = text.slice(start, name);
      if (constants.has(word)) return this.#add('constant', start, name);
      // A lone name is no repr of a builtin value, but `array(…, dtype=int8)` and `re.I|re.M` are written so.
      if (open?.isCall === true || word.includes('.'))
        return this.#add('opaque', start, this.#namesEnd(name));
      return this.#malformed(start);
    }
    if (text[start] === '<') {
      const end = opaqueEnd(text, start);
      return end >= 0 && this.#add('opaque', start, end);
    }
    const cut = cutEnd(text, start);
    return cut >= 0 ? this.#add('cut', start, cut) : this.#malformed(start);
  }

  #add(kind: TapeKind, start: number, end: number): boolean {
    this.tape.add(kind, start, end);
    this.#at = end;
    return true;
  }

  /** A literal of which only the beginning may be there: `'abc'... +950 more`. */
  #cuttable(kind: TapeKind, start: number, end: number): boolean {
    const cut = cutEnd(this.#text, end);
    return this.#add(kind, start, cut < 0 ? end : cut);
  }

  #namesEnd(end: number): number {
    while (this.#text[end] === '|') {
      const next = qualifiedNameEnd(this.#text, end + 1);
      if (next < 0) break;
      end = next;
    }
    return end;
  }

  /** Text that is no value, up to where the item, or the whole text, ends. */
  #malformed(start: number): boolean {
    let depth = 0;
    let end = start;
    for (; end < this.#text.length; end++) {
      const character = this.#text.charAt(end);
      if ('([{'.includes(character)) depth++;
      else if (depth === 0 && ',)]}'.includes(character) && this.#stack.length > 0) break;
      else if (depth > 0 && ')]}'.includes(character)) depth--;
    }
    return this.#add('malformed', start, end);
  }

  /** The item that is being read is no value: what follows it up to its end is part of it. */
  #spoil(open: Open): void {
    const reached = this.#at;
    this.tape.cutBack(open.item);
    this.#malformed(reached);
    this.tape.cutBack(open.item);
    this.tape.add('malformed', open.itemStart, this.#at);
    open.hasKey = false;
  }

  #afterValue(open: Open): 'value' | 'afterValue' | 'failed' {
    switch (this.#text[this.#at]) {
      case ',':
        this.#endItem(open);
        this.#at++;
        return 'value';
      case closers[open.bracket]:
        this.#endItem(open);
        return this.#close(open) ? 'afterValue' : 'failed';
      case ')':
      case ']':
      case '}':
      case undefined:
        return 'failed';
      case ':':
        if (open.bracket === '{' && !open.hasKey && open.braces !== 'set' && !this.#isStandIn(open.item)) {
          open.braces = 'dict';
          open.hasKey = true;
          this.#at++;
          return 'value';
        }
        break;
      default:
        break;
    }
    this.#spoil(open);
    return 'afterValue';
  }

  /** Whether an item is a cut or malformed, and so may stand in any container. */
  #isStandIn(item: number): boolean {
    return this.tape.is(item, 'cut') || this.tape.is(item, 'malformed');
  }

  #endItem(open: Open): void {
    open.items++;
    if (open.bracket === '{' && !open.hasKey && !this.#isStandIn(open.item)) {
      if (open.braces === 'dict') {
        const end = this.tape.end(open.item);
        this.tape.cutBack(open.item);
        this.tape.add('malformed', open.itemStart, end);
      } else {
        open.braces = 'set';
      }
    }
    open.hasKey = false;
  }

  /** Completes the innermost container; `#at` is its closing bracket. */
  #close(open: Open): boolean {
    this.#stack.pop();
    const { tape } = this;
    const { node } = open;
    const first = node + 1;
    const hasItem = tape.length > first;
    const isOneItem = hasItem && open.items === 1 && tape.after(first) === tape.length;
    const end = ++this.#at;
    if (open.isCall) {
      tape.close(node, this.#callKind(node, isOneItem), end);
    } else if (isOneItem && tape.is(first, 'cut') && tape.end(first) - tape.start(first) === 3) {
      tape.cutBack(first);
      tape.close(node, 'cycle', end);
    } else if (open.bracket === '(') {
      // One item in brackets is a tuple only with a comma after it.
      const isTuple =
        !isOneItem || tape.is(first, 'cut') || this.#text.slice(tape.end(first), end).includes(',');
      if (!isTuple) tape.cutBack(first);
      tape.close(node, isTuple ? 'tuple' : 'malformed', end);
    } else {
      tape.close(node, open.bracket === '[' ? 'list' : open.braces === 'set' ? 'set' : 'dict', end);
    }
    return true;
  }

  #callKind(node: number, isOneItem: boolean): ReprKind {
    const first = node + 1;
    const start = this.tape.start(node);
    if (this.tape.length === first) {
      if (this.#text.startsWith('set(', start)) return 'set';
      return this.#text.startsWith('frozenset(', start) ? 'frozenset' : 'call';
    }
    return isOneItem && this.#text.startsWith('frozenset({', start) && this.tape.is(first, 'set')
      ? 'frozenset'
      : 'call';
  }
}
