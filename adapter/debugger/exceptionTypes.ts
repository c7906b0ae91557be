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
 * Whether an exception, as `Type(arguments)`, is of one of the types, by its name with or without its module.
 * Types that derive from them are not known here, and do not count.
 */
export function isOfTypes(types: ExceptionTypes, exception: string): boolean {
  const { type } = exceptionParts(exception);
  return types.has(type) || types.has(type.slice(type.lastIndexOf('.') + 1));
}
