import { type ReprNode, readRepr, stringValue } from './repr';
import type { ReprKind } from './reprTape';

/** Whether two reprs say the same: `unknown` where what one of them leaves out could tell them apart. */
export type ReprEquality = 'same' | 'different' | 'unknown';

/**
 * Compares two reprs as values: spaces, the quotes of strings and the order of sets do not count, the order of a
 * dict does, for it is what a loop over it sees.
 *
 * @param one a repr, or null where it is not known
 * @param other likewise
 */
export function compareReprs(one: string | null, other: string | null): ReprEquality {
  if (one === null || other === null) return 'unknown';
  if (one === other) return 'same';
  return compareNodes({ text: one, node: readRepr(one) }, { text: other, node: readRepr(other) });
}

const containers: ReadonlySet<ReprKind> = new Set(['list', 'tuple', 'set', 'frozenset', 'dict', 'call']);

interface Part {
  readonly text: string;
  readonly node: ReprNode;
}

function compareNodes(one: Part, other: Part): ReprEquality {
  if (textOf(one) === textOf(other)) return 'same';
  // What was left out may be anything.
  if (one.node.kind === 'cut' || other.node.kind === 'cut') return 'unknown';
  if (one.node.kind !== other.node.kind) return 'different';
  if (one.node.kind === 'string' || one.node.kind === 'bytes') return compareStrings(one, other);
  const parts = partsOf(one);
  const otherParts = partsOf(other);
  if (!containers.has(one.node.kind)) return 'different';
  if (headOf(one) !== headOf(other)) return 'different';
  const isSet = one.node.kind === 'set' || one.node.kind === 'frozenset';
  return isSet ? compareSets(parts, otherParts) : compareInOrder(parts, otherParts);
}

function compareStrings(one: Part, other: Part): ReprEquality {
  const value = stringValue(one.text, one.node);
  const otherValue = stringValue(other.text, other.node);
  if (value === null || otherValue === null) return 'different';
  const { hidden } = one.node;
  const { hidden: otherHidden } = other.node;
  if (hidden === 0 && otherHidden === 0) return value === otherValue ? 'same' : 'different';
  const shown = Math.min(value.length, otherValue.length);
  if (value.slice(0, shown) !== otherValue.slice(0, shown)) return 'different';
  const isShorter = hidden === 0 ? value.length < otherValue.length : otherValue.length < value.length;
  if ((hidden === 0 || otherHidden === 0) && isShorter) return 'different';
  return 'unknown';
}

interface Parts {
  readonly shown: readonly { readonly key: Part | string | null; readonly value: Part }[];
  readonly isCut: boolean;
}

function partsOf({ text, node }: Part): Parts {
  const children = node.children;
  const shown = children.filter(({ value }) => value.kind !== 'cut');
  return {
    shown: shown.map(({ key, name, value }) => ({
      key: key ? { text, node: key } : name,
      value: { text, node: value },
    })),
    isCut: shown.length < children.length,
  };
}

function compareInOrder(one: Parts, other: Parts): ReprEquality {
  let result: ReprEquality = 'same';
  const shared = Math.min(one.shown.length, other.shown.length);
  for (let at = 0; at < shared; at++) {
    const a = one.shown[at];
    const b = other.shown[at];
    if (!a || !b) break;
    for (const equality of [compareKeys(a.key, b.key), compareNodes(a.value, b.value)]) {
      if (equality === 'different') return 'different';
      if (equality === 'unknown') result = 'unknown';
    }
  }
  return one.shown.length === other.shown.length && !one.isCut && !other.isCut ? result : sizes(one, other);
}

/** What the numbers of parts say, where those that both show are the same. */
function sizes(one: Parts, other: Parts): ReprEquality {
  if (!one.isCut && one.shown.length < other.shown.length + (other.isCut ? 1 : 0)) return 'different';
  if (!other.isCut && other.shown.length < one.shown.length + (one.isCut ? 1 : 0)) return 'different';
  return 'unknown';
}

function compareKeys(one: Part | string | null, other: Part | string | null): ReprEquality {
  if (one === null || other === null || typeof one === 'string' || typeof other === 'string') {
    return one === other ? 'same' : 'different';
  }
  return compareNodes(one, other);
}

/** Each element must have one that equals it. What a cut leaves out may be anything. */
function compareSets(one: Parts, other: Parts): ReprEquality {
  if (one.isCut || other.isCut) return 'unknown';
  if (one.shown.length !== other.shown.length) return 'different';
  const texts = (parts: Parts) => parts.shown.map(({ value }) => textOf(value)).sort();
  const others = texts(other);
  if (texts(one).every((text, at) => text === others[at])) return 'same';
  let result: ReprEquality = 'same';
  for (const { value } of one.shown) {
    const equalities = other.shown.map((part) => compareNodes(value, part.value));
    if (equalities.includes('same')) continue;
    if (!equalities.includes('unknown')) return 'different';
    result = 'unknown';
  }
  return result;
}

/** What a call calls; the kind says it of other containers. */
function headOf({ text, node }: Part): string {
  return node.kind === 'call' ? text.slice(node.start, text.indexOf('(', node.start)).trim() : '';
}

function textOf({ text, node }: Part): string {
  return text.slice(node.start, node.end);
}
