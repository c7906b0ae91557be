import type { PythonSource } from '../../python/source';
import type { SyntaxNode } from '../../python/syntaxTree';
import { pureBuiltins } from './callables';

/** Decorators that run none of the program's code when a function or class is defined. */
const pureDecorators =
  /^((dataclasses\.)?dataclass|(functools\.)?(total_ordering|cache|lru_cache|cached_property|wraps)|property|staticmethod|classmethod|(abc\.)?abstractmethod|(typing\.)?(final|overload)|\w+\.(setter|getter|deleter))\b/;

/** Whether a statement of the module runs in a script only: `if __name__ == '__main__':` and no more. */
export function isMainGuard(text: string, statement: SyntaxNode): boolean {
  if (statement.type !== 'if_statement') return false;
  const condition = statement.child('condition');
  const hasMore = statement.parts.some(({ type }) => type === 'elif_clause' || type === 'else_clause');
  return (
    !hasMore &&
    condition !== null &&
    /^\(?\s*__name__\s*==\s*(["'])__main__\1\s*\)?$/.test(text.slice(condition.start, condition.end))
  );
}

/**
 * Whether the module's code, run as an import, may call functions of its own: they could change the module's names
 * before an entry call begins.
 *
 * @param pureImports names of modules and functions that call none of the program's
 */
export function mayCallOwnCode({ text, tree }: PythonSource, pureImports: ReadonlySet<string>): boolean {
  const word = ({ start, end }: SyntaxNode) => text.slice(start, end);
  const pending = tree.root.parts.filter((statement) => !isMainGuard(text, statement));
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.type === 'decorator' && !pureDecorators.test(word(node).slice(1).trim())) return true;
    if (node.type === 'call') {
      const callee = node.child('function');
      const first = /^\w+/.exec(callee ? word(callee) : '')?.[0] ?? '';
      if (!pureBuiltins.has(first) && !pureImports.has(first)) return true;
    }
    if (node.type === 'class_definition' && /\b(__init_subclass__|__set_name__|metaclass)\b/.test(word(node)))
      return true;
    // A function's body runs when it is called only; its defaults are run.
    const isFunction = node.type === 'function_definition' || node.type === 'lambda';
    const body = isFunction ? node.child('body') : null;
    pending.push(...node.parts.filter((part) => part !== body));
  }
  return false;
}
