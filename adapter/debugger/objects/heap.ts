/** A value as it is followed: what Python calls an object, with its identity where that is known. */
export type Known =
  /** A value that does not change, or of which no more than its description is known. */
  | { readonly kind: 'plain'; readonly repr: string }
  | { readonly kind: 'instance'; readonly instance: Instance }
  | { readonly kind: 'box'; readonly box: Box }
  /** A class of the program. */
  | { readonly kind: 'class'; readonly name: string }
  | { readonly kind: 'unknown' };

export const unknownValue: Known = { kind: 'unknown' };

/** What a container holds, where it is known. */
export type Contents =
  /** The items of a list, tuple or deque, one by one. */
  | { readonly items: readonly Known[] }
  /** A dict's values, by the repr of their keys. */
  | { readonly entries: ReadonlyMap<string, Known> }
  /** Only the text: a set, or what was cut off in part. */
  | { readonly text: string };

/** Where something was worked out: on the way to a state, from what was known before. */
export interface Origin {
  readonly state: number;
  /** What was read on the way, and where the locals came from whose values were taken over. */
  readonly from: Set<Origin>;
  /** The locals of the state whose values were taken over. */
  readonly locals: Set<string>;
}

interface Stamped<T> {
  readonly value: T;
  /** Null for what the source alone says. */
  readonly origin: Origin | null;
  /** When it was written: what is forgotten is forgotten up to a time. */
  readonly time: number;
}

/** An instance of one of the program's classes. */
export class Instance {
  readonly attributes = new Map<string, Stamped<Known>>();

  constructor(
    readonly className: string,
    /** How it is shown by itself. */
    readonly repr: string,
    /** Whether it was seen to be made; another one may be the same object. */
    readonly isIdentified: boolean,
    readonly madeAt: number,
  ) {}
}

export type BoxKind = 'list' | 'tuple' | 'deque' | 'dict' | 'set';

/** A container of a builtin type. */
export class Box {
  readonly contents = new Map<'contents', Stamped<Contents>>();

  constructor(
    readonly kind: BoxKind,
    readonly isIdentified: boolean,
  ) {}
}

interface Change {
  readonly map: Map<unknown, unknown>;
  readonly key: unknown;
  readonly had: boolean;
  readonly before: unknown;
  readonly has: boolean;
  readonly after: unknown;
}

/** Writes that can be taken back and made again, so that any state of a trajectory can be gone to. */
export class Journal {
  #changes: Change[] = [];

  set<K, V>(map: Map<K, V>, key: K, value: V): void {
    this.#note(map, key, true, value);
    map.set(key, value);
  }

  delete<K, V>(map: Map<K, V>, key: K): void {
    if (!map.has(key)) return;
    this.#note(map, key, false, undefined);
    map.delete(key);
  }

  /** The changes since they were last taken. */
  take(): readonly Change[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  static undo(changes: readonly Change[]): void {
    for (const { map, key, had, before } of changes.toReversed()) {
      if (had) map.set(key, before);
      else map.delete(key);
    }
  }

  static redo(changes: readonly Change[]): void {
    for (const { map, key, has, after } of changes) {
      if (has) map.set(key, after);
      else map.delete(key);
    }
  }

  #note<K, V>(map: Map<K, V>, key: K, has: boolean, after: V | undefined): void {
    const plain = map as Map<unknown, unknown>;
    this.#changes.push({ map: plain, key, had: map.has(key), before: map.get(key), has, after });
  }
}

export type Changes = ReturnType<Journal['take']>;

/**
 * The objects of a program as far as they can be followed. What may have changed unseen is forgotten: an attribute of
 * all instances, all containers, or everything that is reached from one object.
 */
export class Heap {
  /** Times up to which things are forgotten: of everything, of containers, of attributes by name. */
  readonly #forgotten = new Map<string, number>();
  readonly #forgottenCells = new Map<Instance | Box, number>();
  /** Objects that code which is not seen may hold. */
  readonly #escaped = new Map<Instance | Box, true>();
  readonly #classes = new Map<string, Map<string, Stamped<Known>>>();
  #time = 1;
  #writes = 0;

  /** Where what is written comes from, and what is read goes to; null outside of states. */
  origin: Origin | null = null;

  constructor(readonly journal: Journal) {}

  /** Grows whenever anything that was known is changed or forgotten. */
  get writes(): number {
    return this.#writes;
  }

  instance(className: string, repr: string, isIdentified: boolean): Instance {
    return new Instance(className, repr, isIdentified, ++this.#time);
  }

  box(kind: BoxKind, contents: Contents | null, isIdentified: boolean): Box {
    const box = new Box(kind, isIdentified);
    if (contents) this.journal.set(box.contents, 'contents', this.#stamped(contents));
    return box;
  }

  /** An attribute of the instance itself: null where it has none, unknown where that is not known. */
  attribute(instance: Instance, name: string): Known | null {
    const since = this.#attributeTime(instance, name);
    const entry = instance.attributes.get(name);
    if (entry && entry.time > since) return this.#read(entry);
    return !entry && instance.isIdentified && instance.madeAt > since ? null : unknownValue;
  }

  setAttribute(instance: Instance, name: string, value: Known): void {
    this.#forgetOthers(instance, name);
    this.journal.set(instance.attributes, name, this.#stamped(value));
  }

  deleteAttribute(instance: Instance, name: string): void {
    this.#forgetOthers(instance, name);
    if (instance.isIdentified && this.attribute(instance, name) !== unknownValue) {
      this.journal.delete(instance.attributes, name);
    } else {
      this.setAttribute(instance, name, unknownValue);
    }
  }

  classAttribute(className: string, name: string): Known | null {
    const entry = this.#classes.get(className)?.get(name);
    if (!entry) return null;
    const isKnown = entry.time > Math.max(this.#since('all'), this.#since(`.${name}`));
    return isKnown ? this.#read(entry) : unknownValue;
  }

  setClassAttribute(className: string, name: string, value: Known): void {
    let attributes = this.#classes.get(className);
    if (!attributes) {
      attributes = new Map();
      this.#classes.set(className, attributes);
    }
    this.#writes++;
    this.journal.set(attributes, name, this.#stamped(value));
  }

  /** An attribute of an instance has become known; nothing was changed. */
  learnAttribute(instance: Instance, name: string, value: Known): void {
    this.journal.set(instance.attributes, name, this.#stamped(value));
  }

  /** What a container holds, or null where that is not known. */
  contents(box: Box): Contents | null {
    const entry = box.contents.get('contents');
    if (!entry) return null;
    if (box.kind === 'tuple') return this.#read(entry);
    const since = Math.max(
      this.#since('all'),
      this.#since('boxes'),
      box.isIdentified ? 0 : this.#since('unidentified boxes'),
      this.#forgottenCells.get(box) ?? 0,
    );
    return entry.time > since ? this.#read(entry) : null;
  }

  /** A container was changed: others that may be the same one are not known any longer. */
  setContents(box: Box, contents: Contents | null): void {
    this.#forget(box.isIdentified ? 'unidentified boxes' : 'boxes');
    if (contents) this.journal.set(box.contents, 'contents', this.#stamped(contents));
    else this.#forgetCell(box);
  }

  /** What a container holds has become known; nothing was changed. */
  learn(box: Box, contents: Contents): void {
    this.journal.set(box.contents, 'contents', this.#stamped(contents));
  }

  /** Any object may have been given another attribute of this name. */
  forgetAttribute(name: string): void {
    this.#forget(`.${name}`);
  }

  /** Any container may have been changed. */
  forgetBoxes(): void {
    this.#forget('boxes');
  }

  forgetAll(): void {
    this.#forget('all');
  }

  /** Code that is not seen was given these values: it may change them, now and whenever such code runs. */
  escape(values: readonly Known[]): void {
    if (values.some(({ kind }) => kind === 'unknown')) this.#forgetUnidentified();
    const pending = [...values];
    for (let value = pending.pop(); value; value = pending.pop()) {
      const cell = value.kind === 'instance' ? value.instance : value.kind === 'box' ? value.box : null;
      if (!cell || this.#escaped.has(cell)) continue;
      this.journal.set(this.#escaped, cell, true);
      pending.push(...this.#parts(cell));
    }
    for (const cell of this.#escaped.keys()) this.#forgetCell(cell);
  }

  /** Where an attribute of an instance was written. */
  attributeOrigin(instance: Instance, name: string): Origin | null {
    return instance.attributes.get(name)?.origin ?? null;
  }

  /** Where a container was filled. */
  contentsOrigin(box: Box): Origin | null {
    return box.contents.get('contents')?.origin ?? null;
  }

  #stamped<T>(value: T): Stamped<T> {
    return { value, time: ++this.#time, origin: this.origin };
  }

  #read<T>({ value, origin }: Stamped<T>): T {
    if (this.origin && origin && origin !== this.origin) this.origin.from.add(origin);
    return value;
  }

  #forgetUnidentified(): void {
    this.#forget('unidentified boxes');
    this.#forget('unidentified');
  }

  *#parts(cell: Instance | Box): Generator<Known> {
    if (cell instanceof Instance) {
      for (const { value } of cell.attributes.values()) yield value;
      return;
    }
    const contents = cell.contents.get('contents')?.value;
    if (contents && 'items' in contents) yield* contents.items;
    if (contents && 'entries' in contents) yield* contents.entries.values();
  }

  #attributeTime(instance: Instance, name: string): number {
    return Math.max(
      this.#since('all'),
      this.#since(`.${name}`),
      instance.isIdentified ? 0 : Math.max(this.#since(`?.${name}`), this.#since('unidentified')),
      this.#forgottenCells.get(instance) ?? 0,
    );
  }

  /** Where it is not known which object is written to, it may be any. */
  #forgetOthers(instance: Instance, name: string): void {
    this.#forget(instance.isIdentified ? `?.${name}` : `.${name}`);
  }

  #since(what: string): number {
    return this.#forgotten.get(what) ?? 0;
  }

  #forget(what: string): void {
    this.#writes++;
    this.journal.set(this.#forgotten, what, ++this.#time);
  }

  #forgetCell(cell: Instance | Box): void {
    this.#writes++;
    this.journal.set(this.#forgottenCells, cell, ++this.#time);
  }
}
