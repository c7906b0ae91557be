import type { SyntaxNode } from '../../python/syntaxTree';

/** Methods that operators call on what stands to their left. */
export const operatorMethods: ReadonlyMap<string, string> = new Map([
  ['__add__', '+'],
  ['__sub__', '-'],
  ['__mul__', '*'],
  ['__matmul__', '@'],
  ['__truediv__', '/'],
  ['__floordiv__', '//'],
  ['__mod__', '%'],
  ['__pow__', '**'],
  ['__and__', '&'],
  ['__or__', '|'],
  ['__xor__', '^'],
  ['__lshift__', '<<'],
  ['__rshift__', '>>'],
  ['__eq__', '=='],
  ['__ne__', '!='],
  ['__lt__', '<'],
  ['__le__', '<='],
  ['__gt__', '>'],
  ['__ge__', '>='],
]);

/** Methods that compare: containers and lookups call them on what they hold. */
export const comparingMethods: ReadonlySet<string> = new Set(
  '__eq__ __ne__ __lt__ __le__ __gt__ __ge__'.split(' '),
);

/** Methods that builtins call on their only argument, and whose value they give. */
export const builtinMethods: ReadonlyMap<string, string> = new Map([
  ['__len__', 'len'],
  ['__str__', 'str'],
  ['__repr__', 'repr'],
]);

const quiet = 'len isinstance issubclass int float range id type hash getattr hasattr';
const quietForOperators: ReadonlySet<string> = new Set(`${quiet} print str repr bool format`.split(' '));
const quietForBuiltins: ReadonlySet<string> = new Set(quiet.split(' '));

/** Whether a builtin calls no method of this name by itself. */
export function isQuiet(builtin: string, method: string): boolean {
  return (builtinMethods.has(method) ? quietForBuiltins : quietForOperators).has(builtin);
}

/** Expressions that call a method without any call or operator of their own: by truth, by formatting. */
const hidden: ReadonlyMap<string, RegExp> = new Map([
  ['__len__', /^(boolean_operator|conditional_expression|not_operator)$/],
  ['__str__', /^interpolation$/],
  ['__repr__', /^interpolation$/],
]);

/** Whether a statement may enter a method in a way that no call and no operation shows. */
export function mayHide(text: string, parts: readonly SyntaxNode[], method: string): boolean {
  const pattern = hidden.get(method);
  if (!pattern) return false;
  const pending = [...parts];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (pattern.test(node.type)) return true;
    const operation = method === '__len__' ? null : operationOf(text, node);
    if (operation?.symbol === '%') return true;
    pending.push(...node.parts);
  }
  return false;
}

/** An operator between two operands; null for other nodes, and for chains of comparisons. */
export function operationOf(
  text: string,
  node: SyntaxNode,
): { readonly symbol: string; readonly left: SyntaxNode; readonly right: SyntaxNode } | null {
  if (node.type !== 'binary_operator' && node.type !== 'comparison_operator') return null;
  const [left, right, ...more] = node.parts;
  if (!left || !right || more.length > 0) return null;
  const symbol = text.slice(left.end, right.start).replace(/[\s()]/g, '');
  return { symbol, left, right };
}

/**
 * What a node is known by among those of its line. Calls and attributes are known by their ends; an operation may end
 * where its last operand does, and is known by its beginning, too.
 */
export function placeOf({ type, start, end }: SyntaxNode): number {
  const isOperation = type === 'binary_operator' || type === 'comparison_operator';
  return isOperation ? -(start * 0x1000000 + (end - start)) - 1 : end;
}
