import type { PythonSource } from '../python/source';

const word = /[\p{L}_][\p{L}\p{M}\p{N}_]*/gu;

/** The names in a text of Python, those of strings and comments among them. */
export function wordsOf(text: string): Set<string> {
  return new Set(text.normalize('NFKC').match(word));
}

/**
 * The module's names that an expression may read, itself or in what it calls: variables, no functions, classes or
 * modules. What is called is told by names alone, so that there may be too many.
 */
export function moduleVariablesRead(source: PythonSource, expression: string): string[] {
  const reached = wordsOf(expression);
  const { bindings } = source.scopes.module;
  // A set is iterated over what is added meanwhile, too.
  for (const name of reached) {
    for (const unit of source.units) {
      if (unit.name !== name || unit.kind === 'module') continue;
      const text = source.lines.slice(unit.firstLine - 1, unit.lastLine).join('\n');
      for (const inside of wordsOf(text)) reached.add(inside);
    }
  }
  const variables = new Set(bindings.filter(({ isDefinition }) => !isDefinition).map(({ name }) => name));
  return [...variables].filter((name) => reached.has(name));
}
