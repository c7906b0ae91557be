import type { PythonSource } from './source';
import type { SyntaxNode } from './syntaxTree';

/** A function that can be called from outside: one of the module, or a method of one of its classes. */
export interface FunctionDefinition {
  /** `gcd`, or `Account.change`. */
  readonly qualifiedName: string;
  readonly name: string;
  /** The class's qualified name for methods, else null. */
  readonly className: string | null;
  /** A property is read, not called. */
  readonly kind: 'function' | 'method' | 'static' | 'class' | 'property';
  /** What it takes beside a call until its body runs: a coroutine is awaited, a generator gone through. */
  readonly runs: 'called' | 'awaited' | 'iterated';
  /** The line of `def`, from 1. */
  readonly line: number;
  /** Where `def` begins and the name ends on that line, in UTF-16 units from 0. */
  readonly startColumn: number;
  readonly endColumn: number;
  /** The parameters that a call gives, as they are written, without `self` or `cls`, `*` and `/`. */
  readonly parameters: readonly string[];
  /** Whether a call without arguments is allowed. */
  readonly needsNoArguments: boolean;
  readonly node: SyntaxNode;
}

/** The functions of a source that a call can name, in the order of the text; not those within functions. */
export function functionsOf(source: PythonSource): FunctionDefinition[] {
  const found: FunctionDefinition[] = [];
  const pending: { readonly node: SyntaxNode; readonly className: string | null }[] = [
    { node: source.tree.root, className: null },
  ];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, className } = next;
    if (node.type === 'function_definition') {
      const definition = definitionOf(source, node, className);
      if (definition !== null) found.push(definition);
      continue;
    }
    let inner = className;
    if (node.type === 'class_definition') {
      const name = node.child('name');
      if (name === null) continue;
      const own = source.text.slice(name.start, name.end);
      inner = className === null ? own : `${className}.${own}`;
    }
    if (node.type === 'lambda') continue;
    for (const child of node.parts.toReversed()) pending.push({ node: child, className: inner });
  }
  return found;
}

/** The function of a qualified name: the last definition of it, which is the one that stands. */
export function findFunction(source: PythonSource, qualifiedName: string): FunctionDefinition | null {
  return functionsOf(source).findLast((definition) => definition.qualifiedName === qualifiedName) ?? null;
}

/** A function within another: nothing outside can name it. */
export interface NestedFunction extends Pick<
  FunctionDefinition,
  'name' | 'line' | 'startColumn' | 'endColumn'
> {
  /** The function around it that a call can name. */
  readonly within: FunctionDefinition;
}

/** The functions within functions, in the order of the text. */
export function nestedFunctionsOf(source: PythonSource): NestedFunction[] {
  const found: NestedFunction[] = [];
  for (const within of functionsOf(source)) {
    const pending = [...within.node.parts].reverse();
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      const name = node.type === 'function_definition' ? node.child('name') : null;
      if (name !== null) found.push({ ...placeOf(source, node, name), within });
      pending.push(...node.parts.toReversed());
    }
  }
  return found;
}

function placeOf(source: PythonSource, node: SyntaxNode, name: SyntaxNode) {
  return {
    name: source.text.slice(name.start, name.end),
    line: node.line,
    startColumn: node.start - (source.tree.lineStarts[node.line - 1] ?? 0),
    endColumn: name.end - (source.tree.lineStarts[name.line - 1] ?? 0),
  };
}

/** Whether a function's own body has a `yield`. */
function isGenerator(definition: SyntaxNode): boolean {
  const pending = [...(definition.child('body')?.parts ?? [])];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.type === 'yield') return true;
    if (!/^(function_definition|class_definition|lambda)$/.test(node.type)) pending.push(...node.parts);
  }
  return false;
}

/** Null for what no expression runs: asynchronous generators, setters, definitions without a name. */
function definitionOf(
  source: PythonSource,
  node: SyntaxNode,
  className: string | null,
): FunctionDefinition | null {
  const nameNode = node.child('name');
  if (nameNode === null) return null;
  const isAsync = node.has('async');
  const yields = isGenerator(node);
  if (isAsync && yields) return null;
  const textOf = (part: SyntaxNode) => source.text.slice(part.start, part.end);
  const decorators =
    node.parent?.type === 'decorated_definition'
      ? node.parent.parts
          .filter(({ type }) => type === 'decorator')
          .map((each) => textOf(each).slice(1).trim())
      : [];
  if (decorators.some((each) => /\.(setter|deleter|getter)$/.test(each))) return null;
  const isProperty = className !== null && decorators.some((each) => /property$/.test(each));
  const kind =
    className === null
      ? 'function'
      : isProperty
        ? 'property'
        : decorators.includes('staticmethod')
          ? 'static'
          : decorators.includes('classmethod')
            ? 'class'
            : 'method';
  const all = (node.child('parameters')?.parts ?? []).filter(
    ({ type }) => type !== 'keyword_separator' && type !== 'positional_separator',
  );
  const given = kind === 'function' || kind === 'static' ? all : all.slice(1);
  const place = placeOf(source, node, nameNode);
  return {
    ...place,
    qualifiedName: className === null ? place.name : `${className}.${place.name}`,
    className,
    kind,
    runs: isAsync ? 'awaited' : yields ? 'iterated' : 'called',
    parameters: given.map(textOf),
    needsNoArguments: given.every(isOptional),
    node,
  };
}

function isOptional(parameter: SyntaxNode): boolean {
  return (
    parameter.type === 'default_parameter' ||
    parameter.type === 'typed_default_parameter' ||
    holdsSplat(parameter)
  );
}

/** `*args` and `**kwargs`, with or without an annotation. */
function holdsSplat(parameter: SyntaxNode): boolean {
  const { type, parts } = parameter;
  if (type === 'list_splat_pattern' || type === 'dictionary_splat_pattern') return true;
  return type === 'typed_parameter' && parts[0] !== undefined && holdsSplat(parts[0]);
}
