import type { PythonSource } from '../../python/source';
import type { SyntaxNode } from '../../python/syntaxTree';

/** A method, or another function of a class. */
export interface Method {
  readonly node: SyntaxNode;
  /** The texts of its decorators, without `@`. */
  readonly decorators: readonly string[];
}

/** A field of a data class. */
export interface Field {
  readonly name: string;
  readonly value: SyntaxNode | null;
}

/** What the source says of a class. */
export interface ClassFacts {
  readonly name: string;
  readonly bases: readonly string[];
  readonly methods: ReadonlyMap<string, Method>;
  /** What the class's body assigns to names. */
  readonly members: ReadonlyMap<string, SyntaxNode | null>;
  /** Its own fields, where it is a data class whose making can be told from the call. */
  readonly fields: readonly Field[] | null;
  readonly isDataClass: boolean;
  readonly isTopLevel: boolean;
  /** Whether its attributes are kept as usual, as far as the class itself tells. */
  readonly isUsual: boolean;
}

/** Bases of the standard library that keep attributes in the usual way and have no state of their own to follow. */
const usualBases: ReadonlySet<string> = new Set(
  (
    'object ABC Generic Protocol Exception BaseException ValueError TypeError KeyError IndexError RuntimeError ' +
    'ArithmeticError LookupError StopIteration AttributeError NotImplementedError OSError ZeroDivisionError'
  ).split(' '),
);
const unusualMethods = ['__setattr__', '__getattribute__', '__delattr__', '__new__', '__init_subclass__'];
const usualDecorators = /^((dataclasses\.)?dataclass\b|(functools\.)?total_ordering$|(typing\.)?final$)/;

/** The classes of a program, by name; those whose name several classes have are left out. */
export class Classes {
  readonly #byName = new Map<string, ClassFacts>();
  readonly #orders = new Map<string, readonly ClassFacts[] | null>();

  constructor(source: PythonSource) {
    const twice = new Set<string>();
    const pending = [...source.tree.root.children];
    for (let node = pending.pop(); node; node = pending.pop()) {
      pending.push(...node.children);
      if (node.type !== 'class_definition') continue;
      const facts = factsOf(source.text, node);
      if (!facts) continue;
      if (this.#byName.has(facts.name)) twice.add(facts.name);
      this.#byName.set(facts.name, facts);
    }
    for (const { name, isDefinition } of source.scopes.module.bindings) {
      if (!isDefinition && this.#byName.has(name)) twice.add(name);
    }
    for (const name of twice) this.#byName.delete(name);
  }

  get all(): Iterable<ClassFacts> {
    return this.#byName.values();
  }

  get(name: string): ClassFacts | null {
    return this.#byName.get(name) ?? null;
  }

  /**
   * The classes of the program in which an instance's attributes are looked up, in order; null where something keeps
   * its attributes in a way of its own.
   */
  order(name: string): readonly ClassFacts[] | null {
    const known = this.#orders.get(name);
    if (known !== undefined) return known;
    this.#orders.set(name, null);
    const order = this.#orderOf(name);
    this.#orders.set(name, order);
    return order;
  }

  method(className: string, name: string): Method | null {
    return this.owner(className, name)?.methods.get(name) ?? null;
  }

  /** The first class that has a function or a member of this name. */
  owner(className: string, name: string): ClassFacts | null {
    return this.order(className)?.find((facts) => facts.methods.has(name) || facts.members.has(name)) ?? null;
  }

  /** The fields that making an instance of a data class fills, in the order of its arguments; null for others. */
  fields(className: string): readonly Field[] | null {
    const order = this.order(className);
    if (!order?.[0]?.isDataClass) return null;
    const fields = new Map<string, Field>();
    for (const facts of order.toReversed()) {
      if (!facts.isDataClass) continue;
      if (!facts.fields) return null;
      for (const field of facts.fields) fields.set(field.name, field);
    }
    return [...fields.values()];
  }

  #orderOf(name: string): readonly ClassFacts[] | null {
    const facts = this.#byName.get(name);
    if (!facts?.isUsual) return null;
    const order = [facts];
    for (const base of facts.bases) {
      if (!this.#byName.has(base)) {
        if (!usualBases.has(base)) return null;
        continue;
      }
      const above = this.order(base);
      if (!above) return null;
      for (const at of above) {
        const index = order.indexOf(at);
        if (index >= 0) order.splice(index, 1);
        order.push(at);
      }
    }
    return order;
  }
}

function factsOf(text: string, node: SyntaxNode): ClassFacts | null {
  const word = (part: SyntaxNode) => text.slice(part.start, part.end);
  const nameNode = node.child('name');
  const body = node.child('body');
  if (!nameNode || !body) return null;
  const decorated = node.parent?.type === 'decorated_definition' ? node.parent : null;
  const decorators = decorated ? decoratorsOf(text, decorated) : [];
  const methods = new Map<string, Method>();
  const members = new Map<string, SyntaxNode | null>();
  const fields: Field[] = [];
  let isUsual = decorators.every((decorator) => usualDecorators.test(decorator));
  let fieldsAreKnown = !decorators.some((decorator) => /\b(kw_only|init)\b/.test(decorator));
  for (const statement of body.parts) {
    const definition =
      statement.type === 'decorated_definition' ? (statement.child('definition') ?? statement) : statement;
    if (definition.type === 'function_definition') {
      const name = definition.child('name');
      if (!name) continue;
      const own = statement === definition ? [] : decoratorsOf(text, statement);
      const before = methods.get(word(name))?.decorators ?? [];
      methods.set(word(name), { node: definition, decorators: [...before, ...own] });
    } else if (definition.type === 'class_definition') {
      const name = definition.child('name');
      if (name) members.set(word(name), null);
    } else if (statement.type === 'expression_statement') {
      const [assignment] = statement.parts;
      if (assignment?.type !== 'assignment') continue;
      const left = assignment.child('left');
      const right = assignment.child('right');
      const type = assignment.child('type');
      if (left?.type !== 'identifier') {
        isUsual = false;
        continue;
      }
      if (right) members.set(word(left), right);
      if (!type || word(type).includes('ClassVar')) continue;
      if (/InitVar|KW_ONLY/.test(word(type))) fieldsAreKnown = false;
      if (right?.type === 'call' && /\b(init|kw_only)\b/.test(word(right))) fieldsAreKnown = false;
      fields.push({ name: word(left), value: right });
    } else if (!['pass_statement', 'import_statement'].includes(statement.type)) {
      isUsual = false;
    }
  }
  if (unusualMethods.some((name) => methods.has(name))) isUsual = false;
  const bases: string[] = [];
  for (const base of node.child('superclasses')?.parts ?? []) {
    if (base.type === 'keyword_argument') isUsual = false;
    else bases.push(word(base).replace(/\[.*$/s, '').replace(/^.*\./s, ''));
  }
  const top = decorated ?? node;
  const isDataClass = decorators.some((decorator) => /^(dataclasses\.)?dataclass\b/.test(decorator));
  return {
    name: word(nameNode),
    bases,
    methods,
    members,
    fields: fieldsAreKnown ? fields : null,
    isDataClass,
    isTopLevel: top.parent?.parent === null,
    isUsual,
  };
}

/** The texts of a decorated definition's decorators. */
export function decoratorsOf(text: string, decorated: SyntaxNode): string[] {
  return decorated.parts
    .filter(({ type }) => type === 'decorator')
    .map(({ start, end }) => text.slice(start + 1, end).trim());
}

/** Whether reading or setting an attribute runs a function of the class instead. */
export function isProperty({ decorators }: Method): boolean {
  return decorators.some((decorator) =>
    /(^|\.)(property|cached_property|setter|getter|deleter)$/.test(decorator),
  );
}
