import { prettyRepr } from '../python/prettyRepr';
import { isLiteral } from '../python/repr';
import { valueSize } from '../python/valueSize';

/** The body of the answer to `neuralDebug/value`. */
export interface WholeValue {
  /** All that is known of the value, as Python source over as many lines as it takes. */
  readonly value: string;
  /** Whether it is a Python literal that means the value; else parts are described or cut off. */
  readonly isLiteral: boolean;
  /** How many items, characters, bytes or digits the value has; null where it has no size, or it is not known. */
  readonly size: number | null;
  readonly sizeUnit: string | null;
  /** How many of them are cut off. */
  readonly hidden: number;
}

/** A value, given by its repr, for a document or the clipboard. The text is not made safe to show: it is data. */
export function wholeValue(repr: string): WholeValue {
  const size = valueSize(repr);
  return {
    value: prettyRepr(repr),
    isLiteral: isLiteral(repr),
    size: size?.count ?? null,
    sizeUnit: size?.unit ?? null,
    hidden: size?.hidden ?? 0,
  };
}
