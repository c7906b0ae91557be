import type { PythonSource } from './source';
import type { SyntaxNode } from './syntaxTree';

/** What the code on a line does with names, in the order of the source. */
export interface LineNames {
  /** The names it reads. Attributes and the names of arguments are left out; builtins and definitions are among them. */
  readonly read: ReadonlySet<string>;
  /** The names it assigns, or binds as a loop's targets. */
  readonly bound: ReadonlySet<string>;
}

const known = new WeakMap<PythonSource, ReadonlyMap<number, LineNames>>();

/** The names on each line that has any, as they stand there. */
export function namesByLine(source: PythonSource): ReadonlyMap<number, LineNames> {
  const before = known.get(source);
  if (before) return before;
  const byLine = new Map<number, { read: Set<string>; bound: Set<string> }>();
  const pending: SyntaxNode[] = [source.tree.root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    // The first child is looked at first: names come in the order of the source.
    pending.push(...node.children.toReversed());
    const use = node.type === 'identifier' ? useOf(node) : null;
    if (!use) continue;
    const names = byLine.get(node.line) ?? { read: new Set(), bound: new Set() };
    byLine.set(node.line, names);
    names[use].add(source.text.slice(node.start, node.end).normalize('NFKC'));
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

/** Whether a name is read or bound where it stands; null where it is neither. */
function useOf(name: SyntaxNode): keyof LineNames | null {
  const { parent, field } = name;
  if (!parent) return null;
  if (parent.type === 'attribute') return field === 'attribute' ? null : 'read';
  if (parent.type === 'keyword_argument') return field === 'name' ? null : 'read';
  if (parent.type === 'default_parameter') return field === 'value' ? 'read' : null;
  if (definitions.has(parent.type)) return null;
  let target = name;
  while (target.parent && patterns.has(target.parent.type)) target = target.parent;
  return target.field === 'left' && target.parent && binders.has(target.parent.type) ? 'bound' : 'read';
}
