import { childrenOf, ReprNode, stringValue, wrappedItems } from './repr';
import { readTape } from './reprTape';

/** How large a value is: its items, characters, bytes or digits, with those that its repr leaves out. */
export interface ValueSize {
  readonly count: number;
  readonly unit: 'items' | 'characters' | 'bytes' | 'digits';
  /** How many of them the repr leaves out. */
  readonly hidden: number;
}

/** A value's size; null where it has none, or its repr does not say how much it leaves out. */
export function valueSize(text: string): ValueSize | null {
  const tape = readTape(text);
  const hidden = tape.hidden(0);
  switch (tape.kind(0)) {
    case 'string':
    case 'bytes': {
      const contents = stringValue(text, new ReprNode(tape, 0)) ?? '';
      const isBytes = tape.is(0, 'bytes');
      const shown = isBytes ? contents.length : Array.from(contents).length;
      return sized(shown, hidden, isBytes ? 'bytes' : 'characters');
    }
    case 'number':
      return hidden > 0
        ? sized(text.replace(/\.\.\..*$/s, '').replace(/\D/g, '').length, hidden, 'digits')
        : null;
    case 'list':
    case 'tuple':
    case 'set':
    case 'frozenset':
    case 'dict':
    case 'call': {
      const children = childrenOf(text);
      const isContainer = !tape.is(0, 'call') || wrappedItems(tape, 0) !== null;
      return isContainer ? sized(children.indexed + children.named, children.hidden, 'items') : null;
    }
    default:
      return null;
  }
}

function sized(shown: number, hidden: number, unit: ValueSize['unit']): ValueSize | null {
  return Number.isFinite(hidden) ? { count: shown + hidden, unit, hidden } : null;
}
