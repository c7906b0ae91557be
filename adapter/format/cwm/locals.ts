import type { Locals, Value } from '../../trajectory/state';
import { readJsonObject, type SpannedText } from './json';
import { mendControlText, unchanged } from './tokens';
import { leastOf } from './tokenSpans';

/** A local's value as a frame has it; the repr of an unchanged one is null. */
export interface WrittenValue extends Value {
  readonly isUnchanged: boolean;
}

/** The locals of a frame as they are written. */
export type WrittenLocals = ReadonlyMap<string, WrittenValue>;

/** The names of locals: identifiers, and those that Python itself makes (`.0`). */
const localName = /^(?:[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}·]*|\.\d+)$/u;

/**
 * Reads the locals of a frame.
 *
 * @param confidenceOf the confidence of a part of the text
 * @param valueOf a value as the program has it, from its text
 * @returns null where the text holds no locals: half of them would look like the whole
 */
export function readLocals(
  text: string,
  confidenceOf: (span: SpannedText) => number | null,
  valueOf: (text: string) => string = mendControlText,
): WrittenLocals | null {
  const values = readJsonObject(text);
  if (!values) return null;
  const locals = new Map<string, WrittenValue>();
  for (const [writtenName, value] of values) {
    const name = mendControlText(writtenName);
    if (!localName.test(name)) return null;
    const isUnchanged = value.text === unchanged;
    const repr = isUnchanged ? null : valueOf(value.text);
    locals.set(name, { isUnchanged, repr, confidence: confidenceOf(value) });
  }
  return locals;
}

/**
 * The locals with unchanged values taken from the scope's previous frame. A value is no surer than the one it
 * is said to be unchanged from; one that the previous frame did not have is not known.
 */
export function resolveLocals(written: WrittenLocals, before: Locals | null): Locals {
  const locals = new Map<string, Value>();
  for (const [name, { isUnchanged, repr, confidence }] of written) {
    const old = isUnchanged ? before?.get(name) : undefined;
    locals.set(
      name,
      old ? { repr: old.repr, confidence: leastOf(old.confidence, confidence) } : { repr, confidence },
    );
  }
  return locals;
}
