import type { PythonSource } from '../../python/source';
import type { SyntaxNode } from '../../python/syntaxTree';

/** What one line event runs: a simple statement, or the head of a compound one. */
export interface Executable {
  readonly node: SyntaxNode;
  readonly firstLine: number;
  readonly lastLine: number;
  /** The expressions and targets that are run, in the order of the source. */
  readonly parts: readonly SyntaxNode[];
  /** The line of the `def` or `class` around it; 0 for the module's. */
  readonly scopeLine: number;
}

/** A call, an attribute or item that is read, or an operation, in the order of evaluation. */
export interface Evaluation {
  readonly node: SyntaxNode;
  /** Whether it is evaluated whenever its statement is. */
  readonly isCertain: boolean;
  /** Whether it may be evaluated more than once, or later: in comprehensions and lambdas. */
  readonly isRepeated: boolean;
}

const simple: ReadonlySet<string> = new Set([
  'expression_statement',
  'return_statement',
  'raise_statement',
  'assert_statement',
  'delete_statement',
  'import_statement',
  'import_from_statement',
  'future_import_statement',
  'pass_statement',
  'break_statement',
  'continue_statement',
  'global_statement',
  'nonlocal_statement',
]);
const compound: ReadonlySet<string> = new Set([
  'if_statement',
  'elif_clause',
  'for_statement',
  'while_statement',
  'with_statement',
  'match_statement',
  'case_clause',
  'except_clause',
  'function_definition',
  'class_definition',
  'decorated_definition',
  'try_statement',
]);
const bodies: ReadonlySet<string> = new Set([
  'block',
  'elif_clause',
  'else_clause',
  'except_clause',
  'finally_clause',
  'case_clause',
]);
const repeated: ReadonlySet<string> = new Set([
  'list_comprehension',
  'set_comprehension',
  'dictionary_comprehension',
  'generator_expression',
  'lambda',
]);

const evaluated: ReadonlySet<string> = new Set([
  'call',
  'attribute',
  'subscript',
  'binary_operator',
  'comparison_operator',
]);

/** The executables by each of their lines. */
export function executablesByLine(source: PythonSource): ReadonlyMap<number, readonly Executable[]> {
  const byLine = new Map<number, Executable[]>();
  const pending: { node: SyntaxNode; scopeLine: number }[] = [{ node: source.tree.root, scopeLine: 0 }];
  for (let at = pending.pop(); at; at = pending.pop()) {
    const { node, scopeLine } = at;
    const opens = node.type === 'function_definition' || node.type === 'class_definition';
    const inner = opens ? node.line : scopeLine;
    for (const child of node.children.toReversed()) pending.push({ node: child, scopeLine: inner });
    if (!simple.has(node.type) && !compound.has(node.type)) continue;
    if (opens && node.parent?.type === 'decorated_definition') continue;
    const executable = executableOf(node, scopeLine);
    for (let line = executable.firstLine; line <= executable.lastLine; line++) {
      const known = byLine.get(line);
      if (known) known.push(executable);
      else byLine.set(line, [executable]);
    }
  }
  return byLine;
}

function executableOf(node: SyntaxNode, scopeLine: number): Executable {
  if (simple.has(node.type)) {
    return { node, firstLine: node.line, lastLine: node.endLine, parts: [node], scopeLine };
  }
  const definition = node.type === 'decorated_definition' ? node.child('definition') : node;
  const isDefinition = definition?.type === 'function_definition' || definition?.type === 'class_definition';
  const parts = isDefinition ? [] : node.parts.filter((part) => !bodies.has(part.type));
  const lastLine = Math.max(node.line, definition?.line ?? 0, ...parts.map((part) => part.endLine));
  return { node, firstLine: node.line, lastLine, parts, scopeLine };
}

/** The calls, attributes, items and operations of an executable, in the order of evaluation. */
export function evaluationsOf({ parts }: Executable): Evaluation[] {
  const found: Evaluation[] = [];
  const visit = (node: SyntaxNode, isCertain: boolean, isRepeated: boolean): void => {
    const inside = isRepeated || repeated.has(node.type);
    const children = node.type === 'assignment' ? [...node.all('right'), ...node.all('left')] : node.children;
    for (const child of children) {
      const isOptional =
        node.type === 'conditional_expression' ||
        (node.type === 'boolean_operator' && child.field === 'right');
      visit(child, isCertain && !inside && !isOptional, inside);
    }
    if (evaluated.has(node.type)) found.push({ node, isCertain, isRepeated });
  };
  for (const part of parts) visit(part, true, false);
  return found;
}

/** The names that an executable binds, wherever in it. */
export function namesBound(text: string, { node, parts }: Executable): Set<string> {
  const names = new Set<string>();
  const word = (at: SyntaxNode) => text.slice(at.start, at.end).normalize('NFKC');
  const targets = (at: SyntaxNode): void => {
    if (at.type === 'identifier') names.add(word(at));
    else if (at.type !== 'attribute' && at.type !== 'subscript') at.parts.forEach(targets);
  };
  const visit = (at: SyntaxNode): void => {
    const isBinder = ['assignment', 'augmented_assignment', 'for_statement', 'for_in_clause'].includes(
      at.type,
    );
    for (const child of at.children) {
      if (isBinder && child.field === 'left') targets(child);
      else if (at.type === 'named_expression' && child.field === 'name') targets(child);
      else if (child.type === 'as_pattern_target' || child.field === 'alias') targets(child);
    }
    if (['import_statement', 'import_from_statement', 'case_clause'].includes(at.type)) targets(at);
  };
  const all = (at: SyntaxNode): void => {
    visit(at);
    at.children.forEach(all);
  };
  visit(node);
  if (node.type === 'except_clause') parts.forEach(targets);
  if (node.type === 'case_clause') parts.forEach(targets);
  parts.forEach(all);
  const definition = node.type === 'decorated_definition' ? node.child('definition') : node;
  const name = definition?.type.endsWith('_definition') ? definition.child('name') : null;
  if (name) names.add(word(name));
  return names;
}
