import { exceptionRepr } from '../cwm/values';
import { stringRepr } from './pythonRepr';
import { type AnsweredValue, exceptionFields } from './stateReading';

/** An exception as `Type(arguments)`, from whichever form a model gives it in; null where it gives none. */
export function exceptionOf({ given, repr }: AnsweredValue): string | null {
  if (repr === null) return null;
  const fields = exceptionFields(given);
  if (fields) return `${fields.type}(${fields.message === null ? '' : stringRepr(fields.message)})`;
  const text = given.kind === 'text' ? given.text.trim() : repr;
  return exceptionRepr(text.replace(/[\n\r]+/g, ' '));
}

/** Whether an exception has the form of one. */
export function isException(repr: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_.]*\(.*\)$/su.test(repr);
}
