import { errors } from '../errors';
import type { WantedResult } from '../python/inputSearch';
import { isLiteral } from '../python/repr';

/**
 * What people write for a wanted result: a Python literal.
 *
 * @throws CatalogueError for anything else
 */
export function wantedValue(text: string): WantedResult {
  const repr = text.trim();
  if (!isLiteral(repr)) throw errors.outputNotLiteral(repr);
  return { kind: 'returns', repr };
}

/**
 * What people write for a wanted exception: `ValueError`, or `ValueError: what its message holds`.
 *
 * @throws CatalogueError for what is no exception's name
 */
export function wantedException(text: string): WantedResult {
  const [, type, message] = /^\s*([^\W\d][\w.]*)\s*(?::\s*([^]*?)\s*)?$/u.exec(text) ?? [];
  if (type === undefined) throw errors.exceptionName(text);
  return { kind: 'raises', type, message: message || null };
}

/** A wanted result in words: `returns 3`, `raises ValueError`. */
export function describeWanted(wanted: WantedResult): string {
  if (wanted.kind === 'returns') return `returns ${wanted.repr}`;
  return `raises ${wanted.type}${wanted.message === null ? '' : `: ${wanted.message}`}`;
}
