import { callName, entries, isLiteral, typeName } from '../../python/repr';
import { readTape, type ReprTape } from '../../python/reprTape';
import type { Classes } from './classes';
import type { Box, BoxKind, Contents, Heap, Instance, Known } from './heap';

/** Makes what is followed out of reprs, and reprs out of it. */
export class Reprs {
  constructor(
    private readonly heap: Heap,
    private readonly classes: Classes,
  ) {}

  /** The value of a repr: its objects are new ones, which may be any that are known already. */
  read(repr: string, isIdentified = false): Known {
    return this.#known(readTape(repr), 0, isIdentified);
  }

  /** What a container's repr says that it holds. */
  contents(repr: string): Contents {
    return this.#contents(readTape(repr), 0) ?? { text: repr };
  }

  /** Whether a value can be what a repr shows; objects may have reprs of their own. */
  matches(value: Known, shown: Known): boolean {
    switch (value.kind) {
      case 'unknown':
        return false;
      case 'class':
        return shown.kind === 'class' && shown.name === value.name;
      case 'instance':
        if (shown.kind === 'instance') return shown.instance.className === value.instance.className;
        return this.classes.method(value.instance.className, '__repr__') !== null;
      case 'plain': {
        if (shown.kind !== 'plain')
          return shown.kind === 'instance' && sameType(value.repr, shown.instance.repr);
        return (
          sameRepr(value.repr, shown.repr) || (value.repr.startsWith('<') && sameType(value.repr, shown.repr))
        );
      }
      case 'box': {
        if (shown.kind !== 'box' || shown.box.kind !== value.box.kind) return false;
        const [one, other] = [this.heap.contents(value.box), this.heap.contents(shown.box)];
        if (!one || !other) return false;
        if ('text' in one || 'text' in other) return this.write(value) === this.write(shown);
        if ('items' in one && 'items' in other) {
          const matches = (item: Known, index: number) => this.matches(item, other.items[index] ?? item);
          return one.items.length === other.items.length && one.items.every(matches);
        }
        if (!('entries' in one) || !('entries' in other)) return false;
        const [mine, theirs] = [[...one.entries], [...other.entries]];
        const matches = ([key, at]: [string, Known], index: number) =>
          theirs[index]?.[0] === key && this.matches(at, theirs[index][1]);
        return mine.length === theirs.length && mine.every(matches);
      }
    }
  }

  /** A value's repr, or null where it is not known. */
  write(value: Known): string | null {
    switch (value.kind) {
      case 'plain':
        return value.repr;
      case 'instance':
        return value.instance.repr;
      case 'class':
        return `<class '${value.name}'>`;
      case 'box':
        return this.#writeBox(value.box, (part) => this.write(part));
      case 'unknown':
        return null;
    }
  }

  /**
   * A value with the attributes of its objects, written as a call (`Point(x=1)`), for expressions; what is not known
   * is left out.
   *
   * @param depth how many objects within objects are shown
   */
  expand(
    value: Known,
    attributesOf: (instance: Instance) => ReadonlyMap<string, Known>,
    depth: number,
  ): string {
    const open = new Set<Instance | Box>();
    let left = 2_000;
    const expand = (part: Known, deep: number): string => {
      if (--left < 0) return '...';
      if (part.kind === 'box') {
        if (open.has(part.box)) return '...';
        open.add(part.box);
        const text = this.#writeBox(part.box, (item) => expand(item, deep)) ?? '...';
        open.delete(part.box);
        return text;
      }
      if (part.kind !== 'instance') return this.write(part) ?? '...';
      const { instance } = part;
      if (deep === 0 || open.has(instance)) return instance.repr;
      open.add(instance);
      const attributes: string[] = [];
      for (const [name, at] of attributesOf(instance)) {
        if (at.kind !== 'unknown') attributes.push(`${name}=${expand(at, deep - 1)}`);
      }
      open.delete(instance);
      return `${instance.className}(${attributes.join(', ')})`;
    };
    return expand(value, depth);
  }

  #writeBox(box: Box, write: (part: Known) => string | null): string | null {
    const contents = this.heap.contents(box);
    if (!contents) return null;
    if ('text' in contents) return contents.text;
    if ('entries' in contents) {
      const written = [...contents.entries].map(([key, value]) => [key, write(value)] as const);
      if (written.some(([, value]) => value === null)) return null;
      return `{${written.map(([key, value]) => `${key}: ${value ?? ''}`).join(', ')}}`;
    }
    const items = contents.items.map(write);
    if (items.includes(null)) return null;
    const text = items.join(', ');
    if (box.kind === 'tuple') return items.length === 1 ? `(${text},)` : `(${text})`;
    return box.kind === 'deque' ? `deque([${text}])` : `[${text}]`;
  }

  #known(tape: ReprTape, node: number, isIdentified: boolean): Known {
    const text = tape.slice(node);
    const kind = boxKind(tape, node);
    if (kind) {
      const isPlain = kind === 'tuple' && isLiteral(text) && !/[[{]/.test(text);
      if (isPlain) return { kind: 'plain', repr: text };
      const contents = this.#contents(tape, node) ?? { text };
      return { kind: 'box', box: this.heap.box(kind, contents, isIdentified) };
    }
    if (tape.is(node, 'cut') || tape.is(node, 'malformed')) return { kind: 'unknown' };
    const named = /^<class '(?:[\w.]+\.)?(\w+)'>$/.exec(text)?.[1];
    if (named !== undefined && this.classes.get(named)) return { kind: 'class', name: named };
    const type = tape.is(node, 'opaque') || tape.is(node, 'call') ? typeName(text) : null;
    if (type === null || !this.classes.get(type)) {
      // What is written as a call may be changed in place, unless it is known not to.
      const isFixed = !tape.is(node, 'call') || unchangeable.has(callName(tape, node).replace(/^.*\./, ''));
      return isFixed ? { kind: 'plain', repr: text } : { kind: 'unknown' };
    }
    const instance = this.heap.instance(type, text, false);
    if (tape.is(node, 'call') && this.#writesFields(type)) {
      for (const entry of entries(tape, node)) {
        if (!tape.is(entry, 'keyword')) continue;
        const value = this.#known(tape, entry + 1, false);
        this.heap.learnAttribute(instance, tape.slice(entry), value);
      }
    }
    return { kind: 'instance', instance };
  }

  /** Whether a class's instances are written by its fields. */
  #writesFields(className: string): boolean {
    return this.classes.fields(className) !== null && this.classes.method(className, '__repr__') === null;
  }

  #contents(tape: ReprTape, node: number): Contents | null {
    const kind = boxKind(tape, node);
    if (kind === null || kind === 'set') return null;
    let container = node;
    if (tape.is(node, 'call')) {
      const parts = [...entries(tape, node)];
      const [only] = parts;
      if (kind !== 'deque' || only === undefined || parts.length > 1 || !tape.is(only, 'list')) return null;
      container = only;
    }
    const parts = [...entries(tape, container)];
    if (parts.some((entry) => tape.is(entry, 'cut') || tape.is(entry, 'malformed'))) return null;
    if (tape.is(container, 'dict')) {
      const values = parts.map(
        (entry) => [tape.slice(entry), this.#known(tape, tape.valueOf(container, entry), false)] as const,
      );
      return { entries: new Map(values) };
    }
    return { items: parts.map((entry) => this.#known(tape, entry, false)) };
  }
}

function boxKind(tape: ReprTape, node: number): BoxKind | null {
  if (tape.is(node, 'list')) return 'list';
  if (tape.is(node, 'tuple')) return 'tuple';
  if (tape.is(node, 'dict')) return 'dict';
  if (tape.is(node, 'set')) return 'set';
  if (!tape.is(node, 'call')) return null;
  switch (callName(tape, node).replace(/^collections\./, '')) {
    case 'deque':
      return 'deque';
    case 'defaultdict':
    case 'OrderedDict':
    case 'Counter':
      return 'dict';
    case 'set':
      return 'set';
    default:
      return null;
  }
}

/** Types whose values do not change, of those that are written as calls. */
const unchangeable: ReadonlySet<string> = new Set(
  'range frozenset slice Decimal Fraction date time datetime timedelta timezone Path PosixPath UUID complex'.split(
    ' ',
  ),
);

function sameType(one: string, other: string): boolean {
  const type = typeName(one);
  return type !== null && type === typeName(other);
}

/** Reprs of one value may name the program's module or leave it out. */
export function sameRepr(one: string, other: string): boolean {
  return one === other || one.replaceAll('<__main__.', '<') === other.replaceAll('<__main__.', '<');
}
