import { findFunction, type FunctionDefinition } from './functions';
import type { PythonSource } from './source';
import type { SyntaxNode } from './syntaxTree';

/** How an expression is written that runs a function's body. */
export interface EntryWriting {
  /** What stands before and after the call: a coroutine is awaited, a generator gone through. */
  readonly before: string;
  readonly after: string;
  /**
   * What the arguments stand behind: `gcd`, or `Cart().add` where the object can be made without arguments. Null where
   * more has to be known than arguments: how the object is made, or nothing, for a property takes none.
   */
  readonly callee: string | null;
}

/** How a function of a source is called. */
export function entryWriting(source: PythonSource, definition: FunctionDefinition): EntryWriting {
  return { ...around(source, definition), callee: calleeOf(source, definition) };
}

function around(source: PythonSource, { runs }: FunctionDefinition): { before: string; after: string } {
  switch (runs) {
    case 'called':
      return { before: '', after: '' };
    case 'awaited': {
      const isImported = source.lines.some((line) => /^import\s(.*,)?\s*asyncio\s*(,|#|;|$)/.test(line));
      return { before: `${isImported ? 'asyncio' : "__import__('asyncio')"}.run(`, after: ')' };
    }
    case 'iterated':
      return { before: 'list(', after: ')' };
  }
}

function calleeOf(source: PythonSource, definition: FunctionDefinition): string | null {
  const { kind, name, className, qualifiedName } = definition;
  if (kind === 'property') return null;
  if (kind !== 'method' || className === null) return qualifiedName;
  return canBeMade(source, definition) ? `${className}().${name}` : null;
}

/** Whether a method's class can be called without arguments, as far as its own text tells. */
export function canBeMade(source: PythonSource, { className, node }: FunctionDefinition): boolean {
  if (className === null) return false;
  const constructor = findFunction(source, `${className}.__init__`);
  if (constructor) return constructor.needsNoArguments;
  // Bases and decorators may bring a constructor that wants something.
  let around: SyntaxNode | null = node;
  while (around && around.type !== 'class_definition') around = around.parent;
  const isPlain = !around?.child('superclasses') && around?.parent?.type !== 'decorated_definition';
  return around !== null && isPlain;
}
