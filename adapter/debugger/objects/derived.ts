import type { ExpressionEvaluator } from '../../python/expressions';
import type { PythonSource } from '../../python/source';
import type { Locals, Value } from '../../trajectory/state';
import type { Trajectory } from '../../trajectory/trajectory';
import type { PathConfidence } from '../confidence';
import { Classes } from './classes';
import { Follower } from './follow';
import { Heap, type Instance, Journal, type Known, type Origin } from './heap';
import { DerivedSureness } from './sureness';

/** A part of a derived object: an attribute or an item. */
export interface DerivedPart {
  /** The attribute's name, or the index or key of an item. */
  readonly name: string;
  /** What leads here from the whole: `.items`, `[0]`. */
  readonly suffix: string;
  /** Null where it is not known. */
  readonly repr: string | null;
  /** The probability that the repr is right, 0 to 1; null where nothing says. */
  readonly confidence: number | null;
  /** Opens the part, where it is an object or holds some. */
  readonly open: (() => Promise<readonly DerivedPart[]>) | null;
}

/** A name of the module, as a function sees it. */
export interface GlobalName {
  readonly part: DerivedPart;
  /** Whether the source alone says it. */
  readonly isOfSource: boolean;
}

const noLocals: Locals = new Map<string, Value>();

/** How many objects within objects an expression sees. */
const expressionDepth = 6;

/** How deep containers are looked into for where they were filled. */
const maxDepth = 8;

/**
 * What follows from a trajectory, beside what its states say: the attributes of objects and the module's names. All
 * of it is worked out in memory and by the evaluator, when it is asked for, and kept; no world is asked.
 */
export class DerivedValues {
  readonly #follower: Follower;
  readonly #classes: Classes;
  readonly #sureness: DerivedSureness;
  #objects: RegExp | null = null;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly source: PythonSource,
    private readonly trajectory: Trajectory,
    evaluator: ExpressionEvaluator,
    confidence: PathConfidence,
  ) {
    this.#sureness = new DerivedSureness(confidence);
    this.#classes = new Classes(source);
    this.#follower = new Follower(source, trajectory, evaluator, new Heap(new Journal()), this.#classes);
  }

  /** Whether a repr shows an object of one of the program's classes, by itself or in a container. */
  showsObject(repr: string): boolean {
    this.#objects ??= new RegExp(
      `<(?:[\\w.]|<locals>\\.)*\\b(?:${[...this.#classes.all].map(({ name }) => name).join('|') || '(?!)'})\\b`,
      'u',
    );
    return this.#objects.test(repr);
  }

  /**
   * What an expression can see in a frame: its locals, whose objects are written with the attributes that are known
   * (`Point(x=1)`), and the module's names.
   *
   * @param now the current state
   * @param frameState the newest state of the frame
   */
  names(expression: string, now: number, frameState: number): Promise<Locals> {
    const known = this.trajectory.locals(frameState)?.locals ?? noLocals;
    const words = new Set(expression.normalize('NFKC').match(/[\p{L}_][\p{L}\p{M}\p{N}_]*/gu));
    const objects = [...words].filter((word) => {
      const value = known.get(word);
      return value ? this.showsObject(value.repr ?? '') : this.source.module.names.has(word);
    });
    if (objects.length === 0) return Promise.resolve(known);
    return this.#at(now, () => {
      const frame = this.trajectory.frame(frameState);
      const names = new Map(known);
      let isMore = false;
      for (const word of objects) {
        const given = known.get(word);
        const value = given ? this.#follower.local(frame, word) : this.#follower.global(frame, word).value;
        if (!value || value.kind === 'unknown') continue;
        const attributesOf = (instance: Instance) => this.#follower.allAttributes(instance);
        const repr = this.#follower.reprs.expand(value, attributesOf, expressionDepth);
        if (repr === '...' || repr === given?.repr) continue;
        names.set(word, { repr, confidence: given?.confidence ?? null });
        isMore = true;
      }
      return isMore ? names : known;
    });
  }

  /** The attributes of a local, or the objects in it; null where it is no object of the program's. */
  local(name: string, now: number, frameState: number): Promise<readonly DerivedPart[] | null> {
    return this.#at(now, () => {
      const value = this.#follower.local(this.trajectory.frame(frameState), name);
      return value && this.#holdsObjects(value) ? this.#parts(value, now) : null;
    });
  }

  /** What the module's names mean that the function of a frame reads or writes. */
  globals(now: number, frameState: number): Promise<readonly GlobalName[]> {
    return this.moduleNames(this.globalNames(frameState), now, frameState);
  }

  /** What names of the module mean, as the function of a frame sees them. */
  moduleNames(names: readonly string[], now: number, frameState: number): Promise<readonly GlobalName[]> {
    const frame = this.trajectory.frame(frameState);
    return this.#at(now, () =>
      names.map((name) => {
        const { value, isOfSource } = this.#follower.global(frame, name);
        const origin = isOfSource ? null : this.#follower.globalOrigin(name);
        return { part: this.#part(name, name, value, now, [origin]), isOfSource };
      }),
    );
  }

  /** The module's names that the function of a frame reads or writes; none where all are definitions. */
  globalNames(frameState: number): readonly string[] {
    const frame = this.trajectory.frame(frameState);
    const line = this.trajectory.line(frameState);
    const unit = this.source.unitsOfLine(line).find(({ name }) => name === frame.function);
    if (!unit || unit.kind === 'module') return [];
    const names = new Set([...unit.globalsRead, ...unit.globalsWritten]);
    const found = [...names].filter((name) => this.source.module.names.has(name));
    // Functions, classes and modules by themselves are no news.
    const { bindings } = this.source.scopes.module;
    const isNews = found.some((name) => bindings.some((at) => at.name === name && !at.isDefinition));
    return isNews ? found : [];
  }

  /** Works at a state, one after the other. */
  #at<T>(state: number, work: () => T): Promise<T> {
    const turn = this.#queue.then(async () => {
      await this.#follower.goTo(state);
      return work();
    });
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  /** @param origins where it was written that the value stands there */
  #part(
    name: string,
    suffix: string,
    value: Known,
    now: number,
    origins: readonly (Origin | null)[],
  ): DerivedPart {
    const repr = this.#follower.reprs.write(value);
    const from = [...origins, ...this.#origins(value)].filter((origin) => origin !== null);
    return {
      name,
      suffix,
      repr,
      confidence: repr === null ? null : this.#sureness.of(from),
      open: this.#holdsObjects(value) ? () => this.#at(now, () => this.#parts(value, now)) : null,
    };
  }

  /** Where what a value's repr shows was worked out, beside where the value was written. */
  #origins(value: Known, depth = 0): (Origin | null)[] {
    if (value.kind !== 'box' || depth > maxDepth) return [];
    const { heap } = this.#follower;
    const contents = heap.contents(value.box);
    const items = contents && 'items' in contents ? contents.items : [];
    const entries = contents && 'entries' in contents ? [...contents.entries.values()] : [];
    const inside = [...items, ...entries].flatMap((item) => this.#origins(item, depth + 1));
    return [heap.contentsOrigin(value.box), ...inside];
  }

  /** Whether opening a value shows more than its repr. */
  #holdsObjects(value: Known): boolean {
    if (value.kind !== 'box')
      return value.kind === 'instance' && this.#classes.order(value.instance.className) !== null;
    return /</.test(this.#follower.reprs.write(value) ?? '');
  }

  #parts(value: Known, now: number): readonly DerivedPart[] {
    if (value.kind === 'instance') {
      const { instance } = value;
      const attributes = [...this.#follower.attributes(instance)];
      return attributes.map(([name, at]) => {
        const origin = this.#follower.heap.attributeOrigin(instance, name);
        return this.#part(name, `.${name}`, at, now, [origin]);
      });
    }
    if (value.kind !== 'box') return [];
    const contents = this.#follower.heap.contents(value.box);
    const filled = [this.#follower.heap.contentsOrigin(value.box)];
    if (contents && 'items' in contents) {
      return contents.items.map((item, index) => this.#part(String(index), `[${index}]`, item, now, filled));
    }
    if (contents && 'entries' in contents) {
      return [...contents.entries].map(([key, item]) => this.#part(key, `[${key}]`, item, now, filled));
    }
    return [];
  }
}
