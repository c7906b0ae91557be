import type { ExceptionHierarchy } from '../python/exceptionHierarchy';
import { exceptionParts } from '../python/repr';

/** Names of exception types that a filter is limited to. */
export type ExceptionTypes = ReadonlySet<string>;

/** Reads names of types, with commas or spaces between them; null where a word is no name. */
export function parseExceptionTypes(text: string): ExceptionTypes | null {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  return names.length > 0 && names.every((name) => /^[^\W\d]\w*(\.[^\W\d]\w*)*$/u.test(name))
    ? new Set(names)
    : null;
}

/**
 * Whether an exception, as `Type(arguments)`, is of one of the types or of a class that derives from one, by their
 * names with or without their modules. Of other files' classes only the names are known.
 */
export function isOfTypes(types: ExceptionTypes, exception: string, hierarchy: ExceptionHierarchy): boolean {
  const { type } = exceptionParts(exception);
  return types.has(type) || [...hierarchy.withBases(type)].some((name) => types.has(name));
}
