import { prettyRepr } from '../python/prettyRepr';
import { isLiteral } from '../python/repr';
import { valueSize } from '../python/valueSize';
import { shownText } from '../shownText';

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

/** A value, given by its repr, for a document or the clipboard. A literal means the same there. */
export function wholeValue(repr: string): WholeValue {
  const size = valueSize(repr);
  return {
    value: prettyRepr(escaped(repr)),
    isLiteral: isLiteral(repr),
    size: size?.count ?? null,
    sizeUnit: size?.unit ?? null,
    hidden: size?.hidden ?? 0,
  };
}

/**
 * Characters that no repr of Python's own has, since they move the cursor or turn the text, as Python escapes. A
 * backslash that stands before one for itself has to be doubled, for it would escape the backslash of the escape.
 */
function escaped(repr: string): string {
  return repr.replace(
    /(\\*)((?![\t\n\\])[\p{C}\u2028\u2029])/gu,
    (text, slashes: string, character: string) => {
      const shown = shownText(character);
      return shown === character ? text : `${slashes}${slashes.length % 2 === 1 ? '\\' : ''}${shown}`;
    },
  );
}
