import type { PythonSource } from './source';
import type { SyntaxNode } from './syntaxTree';

const known = new WeakMap<PythonSource, ReadonlyMap<number, ReadonlySet<string>>>();

/**
 * The names that the code on each line reads, as they stand there. What a line only binds is left out, as are
 * attributes and the names of arguments; builtins and definitions are among them.
 */
export function namesReadByLine(source: PythonSource): ReadonlyMap<number, ReadonlySet<string>> {
  const before = known.get(source);
  if (before) return before;
  const byLine = new Map<number, Set<string>>();
  const pending: SyntaxNode[] = [source.tree.root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    // The first child is looked at first: names come in the order of the source.
    pending.push(...node.children.toReversed());
    if (node.type !== 'identifier' || !isRead(node)) continue;
    const names = byLine.get(node.line) ?? new Set();
    byLine.set(node.line, names.add(source.text.slice(node.start, node.end).normalize('NFKC')));
  }
  known.set(source, byLine);
  return byLine;
}

const definitions: ReadonlySet<string> = new Set([
  'function_definition',
  'class_definition',
  'parameters',
  'default_parameter',
  'lambda_parameters',
]);
const patterns: ReadonlySet<string> = new Set([
  'pattern_list',
  'tuple_pattern',
  'list_pattern',
  'list_splat_pattern',
]);
const binders: ReadonlySet<string> = new Set(['assignment', 'for_statement', 'for_in_clause']);

function isRead(name: SyntaxNode): boolean {
  const { parent, field } = name;
  if (!parent) return false;
  if (parent.type === 'attribute') return field !== 'attribute';
  if (parent.type === 'keyword_argument') return field !== 'name';
  if (parent.type === 'default_parameter') return field === 'value';
  if (definitions.has(parent.type)) return false;
  let target = name;
  while (target.parent && patterns.has(target.parent.type)) target = target.parent;
  return !(target.field === 'left' && target.parent && binders.has(target.parent.type));
}
