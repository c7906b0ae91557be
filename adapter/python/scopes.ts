import type { SyntaxNode } from './syntaxTree';

export type UnitKind = 'module' | 'function' | 'lambda' | 'comprehension' | 'generatorExpression' | 'class';

const COMPREHENSIONS: ReadonlyMap<string, string> = new Map([
  ['list_comprehension', '<listcomp>'],
  ['set_comprehension', '<setcomp>'],
  ['dictionary_comprehension', '<dictcomp>'],
  ['generator_expression', '<genexpr>'],
]);

/** One place at which a name is bound. */
export interface Binding {
  readonly name: string;
  /** The offset of the name. */
  readonly offset: number;
  /** Whether a `def`, a `class` or an import binds it. */
  readonly isDefinition: boolean;
}

/** A namespace of Python: what one code object binds and reads. All names are as the program sees them. */
export class Scope {
  readonly children: Scope[] = [];
  readonly parameters: string[] = [];
  /** Names that a statement or an expression of this scope binds or deletes. */
  readonly bound = new Set<string>();
  /** Names that are annotated without a value: they belong to the scope, but hold nothing by that. */
  readonly annotated = new Set<string>();
  readonly read = new Set<string>();
  readonly globals = new Set<string>();
  readonly nonlocals = new Set<string>();
  /** Names whose values live in a function around this one, also those that only inner scopes need. */
  readonly free = new Set<string>();
  readonly globalsRead = new Set<string>();
  /** Where names are bound, in no order. */
  readonly bindings: Binding[] = [];
  yields = false;
  awaits = false;

  constructor(
    readonly kind: UnitKind,
    readonly name: string,
    readonly node: SyntaxNode,
    readonly parent: Scope | null,
    /** The name of the class around it, by which private names are mangled. */
    readonly className: string | null,
  ) {}

  get isFunction(): boolean {
    return this.kind !== 'module' && this.kind !== 'class';
  }

  /** Whether the name is one of this scope's own. */
  owns(name: string): boolean {
    return (this.bound.has(name) || this.annotated.has(name)) && !this.nonlocals.has(name);
  }

  get isComprehension(): boolean {
    return this.kind === 'comprehension' || this.kind === 'generatorExpression';
  }
}

export interface ScopeTree {
  readonly module: Scope;
  /** In the order of the source, the module first. */
  readonly scopes: readonly Scope[];
  readonly asyncComprehensions: ReadonlySet<SyntaxNode>;
  readonly futureAnnotations: boolean;
}

/** An identifier as Python compares it (PEP 3131), private names as the class around mangles them. */
function nameOf(text: string, node: SyntaxNode, className: string | null): string {
  const name = text.slice(node.start, node.end).normalize('NFKC');
  const prefix = className?.replace(/^_+/, '') ?? '';
  if (prefix === '' || !name.startsWith('__') || name.endsWith('__')) return name;
  return `_${prefix}${name}`;
}

/** Finds the scopes of a program, and what each name means in them. */
export function findScopes(text: string, root: SyntaxNode): ScopeTree {
  return new ScopeFinder(text, root).find();
}

type Visit = readonly [node: SyntaxNode, scope: Scope];

class ScopeFinder {
  private readonly scopes: Scope[] = [];
  private readonly module: Scope;
  /** Nodes still to be visited, the next one last: iterative, since sources may nest deeper than the stack. */
  private readonly pending: Visit[] = [];
  private readonly futureAnnotations: boolean;

  constructor(
    private readonly text: string,
    private readonly root: SyntaxNode,
  ) {
    this.module = new Scope('module', '<module>', root, null, null);
    this.scopes.push(this.module);
    this.futureAnnotations = root.parts.some(
      (statement) =>
        statement.type === 'future_import_statement' &&
        /\bannotations\b/.test(text.slice(statement.start, statement.end)),
    );
  }

  find(): ScopeTree {
    this.push(this.root.children, this.module);
    for (let visit = this.pending.pop(); visit !== undefined; visit = this.pending.pop())
      this.visit(...visit);
    // A comprehension around an asynchronous one waits for it.
    for (const scope of this.scopes.toReversed()) {
      if (scope.kind === 'comprehension' && scope.awaits && scope.parent?.isComprehension === true) {
        scope.parent.awaits = true;
      }
    }
    for (const scope of this.scopes) this.resolve(scope);
    const waiting = this.scopes.filter((scope) => scope.isComprehension && scope.awaits);
    return {
      module: this.module,
      scopes: this.scopes,
      asyncComprehensions: new Set(waiting.map(({ node }) => node)),
      futureAnnotations: this.futureAnnotations,
    };
  }

  private push(nodes: readonly SyntaxNode[], scope: Scope): void {
    for (let index = nodes.length - 1; index >= 0; index--) {
      const node = nodes[index];
      if (node?.named === true) this.pending.push([node, scope]);
    }
  }

  private open(kind: UnitKind, name: string, node: SyntaxNode, parent: Scope): Scope {
    const className = kind === 'class' ? name : parent.className;
    const scope = new Scope(kind, name, node, parent, className);
    parent.children.push(scope);
    this.scopes.push(scope);
    return scope;
  }

  private bind(node: SyntaxNode | null, scope: Scope, isDefinition = false): void {
    if (node === null) return;
    const name = nameOf(this.text, node, scope.className);
    scope.bound.add(name);
    scope.bindings.push({ name, offset: node.start, isDefinition });
  }

  private visit(node: SyntaxNode, scope: Scope): void {
    switch (node.type) {
      case 'identifier':
        scope.read.add(nameOf(this.text, node, scope.className));
        return;
      case 'function_definition':
        this.functionDefinition(node, scope);
        return;
      case 'class_definition': {
        const name = node.child('name');
        this.bind(name, scope, true);
        const label = name === null ? '' : this.text.slice(name.start, name.end).normalize('NFKC');
        const inner = this.open('class', label, node, scope);
        this.push(node.all('body'), inner);
        this.push(node.all('superclasses'), scope);
        return;
      }
      case 'lambda': {
        const inner = this.open('lambda', '<lambda>', node, scope);
        this.parameters(node.child('parameters'), scope, inner);
        this.push(node.all('body'), inner);
        return;
      }
      case 'list_comprehension':
      case 'set_comprehension':
      case 'dictionary_comprehension':
      case 'generator_expression':
        this.comprehension(node, scope);
        return;
      case 'assignment':
      case 'augmented_assignment':
      case 'for_statement':
        this.bindingStatement(node, scope);
        return;
      case 'delete_statement':
        for (const part of node.parts) this.target(part, scope);
        return;
      case 'as_pattern':
        this.asPattern(node, scope);
        return;
      case 'except_clause':
        if (node.child('alias') !== null) this.bind(node.child('alias'), scope);
        this.push(
          node.children.filter((child) => child.field !== 'alias'),
          scope,
        );
        return;
      case 'named_expression':
        this.namedExpression(node, scope);
        return;
      case 'import_statement':
      case 'import_from_statement':
      case 'future_import_statement':
        for (const name of node.all('name')) {
          const bound = name.type === 'aliased_import' ? name.child('alias') : (name.parts[0] ?? null);
          this.bind(bound, scope, true);
        }
        return;
      case 'global_statement':
      case 'nonlocal_statement': {
        const declared = node.type === 'global_statement' ? scope.globals : scope.nonlocals;
        for (const name of node.parts) declared.add(nameOf(this.text, name, scope.className));
        return;
      }
      case 'type_alias_statement': {
        const alias = node.child('left')?.parts[0];
        if (alias?.type === 'identifier') this.bind(alias, scope);
        return;
      }
      case 'case_pattern':
        this.casePattern(node, scope);
        return;
      case 'splat_pattern':
        for (const part of node.parts) this.bind(part, scope);
        return;
      case 'keyword_pattern': {
        const value = node.children.at(-1);
        if (value?.type === 'dotted_name' && value.parts.length === 1)
          this.bind(value.parts[0] ?? null, scope);
        else if (value !== undefined) this.push([value], scope);
        return;
      }
      case 'class_pattern': {
        const [name, ...others] = node.parts;
        const first = name?.parts[0];
        if (first !== undefined) this.push([first], scope);
        this.push(others, scope);
        return;
      }
      case 'dotted_name': {
        const first = node.parts[0];
        if (first !== undefined) this.push([first], scope);
        return;
      }
      case 'attribute':
        this.push(node.all('object'), scope);
        return;
      case 'keyword_argument':
        this.push(node.all('value'), scope);
        return;
      case 'yield':
        scope.yields = true;
        this.push(node.children, scope);
        return;
      case 'await':
        scope.awaits = true;
        this.push(node.children, scope);
        return;
      case 'ERROR':
        // What stands in code that does not parse binds nothing, but its names are in use.
        this.push(node.children, scope);
        return;
      default:
        this.push(node.children, scope);
    }
  }

  private functionDefinition(node: SyntaxNode, scope: Scope): void {
    const name = node.child('name');
    this.bind(name, scope, true);
    const label = name === null ? '' : this.text.slice(name.start, name.end).normalize('NFKC');
    const inner = this.open('function', label, node, scope);
    inner.awaits = node.has('async');
    this.push(node.all('body'), inner);
    this.parameters(node.child('parameters'), scope, inner);
    if (!this.futureAnnotations) this.push(node.all('return_type'), scope);
  }

  /** Parameters in the order of `f_locals`: positional ones, keyword-only ones, then `*args` and `**kwargs`. */
  private parameters(list: SyntaxNode | null, outer: Scope, inner: Scope): void {
    const positional: SyntaxNode[] = [];
    const keywordOnly: SyntaxNode[] = [];
    const rest: SyntaxNode[] = [];
    let afterStar = false;
    for (const parameter of list?.parts ?? []) {
      const [first] = parameter.parts;
      const splat = parameter.type === 'typed_parameter' && first !== undefined ? first : parameter;
      if (splat.type === 'list_splat_pattern' || splat.type === 'dictionary_splat_pattern') {
        rest.push(...splat.parts.slice(0, 1));
        afterStar ||= splat.type === 'list_splat_pattern';
      } else if (parameter.type === 'keyword_separator') {
        afterStar = true;
      } else if (parameter.type !== 'positional_separator') {
        const name = parameter.type === 'identifier' ? parameter : (parameter.child('name') ?? first);
        if (name?.type === 'identifier') (afterStar ? keywordOnly : positional).push(name);
      }
      this.push(parameter.all('value'), outer);
      if (!this.futureAnnotations) this.push(parameter.all('type'), outer);
    }
    for (const name of [...positional, ...keywordOnly, ...rest]) {
      const mangled = nameOf(this.text, name, inner.className);
      inner.parameters.push(mangled);
      inner.bound.add(mangled);
    }
  }

  private comprehension(node: SyntaxNode, scope: Scope): void {
    const name = COMPREHENSIONS.get(node.type) ?? '';
    const kind = node.type === 'generator_expression' ? 'generatorExpression' : 'comprehension';
    const inner = this.open(kind, name, node, scope);
    inner.parameters.push('.0');
    inner.bound.add('.0');
    inner.yields = kind === 'generatorExpression';
    const inside: SyntaxNode[] = [];
    let outermost: readonly SyntaxNode[] | null = null;
    for (const part of node.parts) {
      if (part.type !== 'for_in_clause') {
        inside.push(part);
        continue;
      }
      if (part.has('async')) inner.awaits = true;
      const left = part.child('left');
      if (left !== null) this.target(left, inner);
      // The first iterable is evaluated outside.
      if (outermost === null) outermost = part.all('right');
      else inside.push(...part.all('right'));
    }
    this.push(inside, inner);
    this.push(outermost ?? [], scope);
  }

  private bindingStatement(node: SyntaxNode, scope: Scope): void {
    const left = node.child('left');
    const isOnlyAnnotated = node.type === 'assignment' && node.child('right') === null;
    if (left?.type === 'identifier' && isOnlyAnnotated) {
      scope.annotated.add(nameOf(this.text, left, scope.className));
    } else if (left !== null) this.target(left, scope);
    if (node.type === 'augmented_assignment' && left !== null) this.push([left], scope);
    this.push(
      node.children.filter(
        (child) => child.field !== 'left' && !(child.field === 'type' && this.futureAnnotations),
      ),
      scope,
    );
  }

  /** Binds the names of a target, and visits the expressions in it. */
  private target(outermost: SyntaxNode, scope: Scope): void {
    const pending = [outermost];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (node.type === 'identifier') this.bind(node, scope);
      else if (node.type === 'attribute' || node.type === 'subscript' || node.type === 'call') {
        this.push([node], scope);
      } else pending.push(...node.parts);
    }
  }

  private asPattern(node: SyntaxNode, scope: Scope): void {
    const alias = node.child('alias');
    const [value, name] = node.parts;
    if (alias !== null) this.target(alias, scope);
    else if (name?.type === 'identifier') this.bind(name, scope);
    if (value !== undefined) this.push([value], scope);
  }

  /** `:=` in a comprehension binds in the scope around it. */
  private namedExpression(node: SyntaxNode, scope: Scope): void {
    const name = node.child('name');
    this.push(node.all('value'), scope);
    if (name === null) return;
    let target = scope;
    while (target.isComprehension && target.parent !== null) target = target.parent;
    this.bind(name, target);
    const mangled = nameOf(this.text, name, scope.className);
    for (let inner: Scope | null = scope; inner !== null && inner !== target; inner = inner.parent) {
      if (target.kind === 'module' || target.globals.has(mangled)) inner.globals.add(mangled);
      else inner.nonlocals.add(mangled);
    }
    if (scope !== target) scope.bound.add(mangled);
  }

  private casePattern(node: SyntaxNode, scope: Scope): void {
    for (const part of node.parts) {
      if (part.type === 'dotted_name' && part.parts.length === 1) this.bind(part.parts[0] ?? null, scope);
      else this.push([part], scope);
    }
  }

  /** What each name read or bound in a scope means: its own, one of a function around it, or a global. */
  private resolve(scope: Scope): void {
    const used = new Set([...scope.read, ...scope.nonlocals]);
    if (scope.isFunction && used.has('super')) used.add('__class__');
    for (const name of used) {
      const own = scope.owns(name);
      if (scope.globals.has(name) || scope.kind === 'module') scope.globalsRead.add(name);
      else if (own && scope.isFunction) continue;
      else if (own) scope.globalsRead.add(name);
      else if (!this.resolveOutwards(scope, name)) scope.globalsRead.add(name);
    }
  }

  /** Whether a function around the scope holds the name; the scopes between pass it on. */
  private resolveOutwards(scope: Scope, name: string): boolean {
    const passing = [scope];
    for (let outer = scope.parent; outer !== null; outer = outer.parent) {
      const holds = outer.isFunction ? outer.owns(name) : outer.kind === 'class' && name === '__class__';
      if (outer.isFunction && outer.globals.has(name)) return false;
      if (holds) {
        for (const between of passing) between.free.add(name);
        return true;
      }
      passing.push(outer);
    }
    return false;
  }
}
