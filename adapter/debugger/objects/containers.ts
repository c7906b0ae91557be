import { type BoxKind, type Contents, type Known } from './heap';

/** What a container holds after an item was set; null where that is not known. */
export function withItem(contents: Contents, key: string, value: Known): Contents | null {
  if ('items' in contents) {
    const index = indexOf(contents, key);
    return index === null ? null : { items: contents.items.with(index, value) };
  }
  if ('entries' in contents && hasPlainKeys(contents, key)) {
    return { entries: new Map([...contents.entries, [key, value]]) };
  }
  return null;
}

/** What a container holds after an item was deleted; null where that is not known. */
export function withoutItem(contents: Contents, key: string): Contents | null {
  if ('items' in contents) {
    const index = indexOf(contents, key);
    return index === null ? null : { items: contents.items.toSpliced(index, 1) };
  }
  if ('entries' in contents && hasPlainKeys(contents, key)) {
    return { entries: new Map([...contents.entries].filter(([at]) => at !== key)) };
  }
  return null;
}

/**
 * What a container holds after one of its methods changed it, and what that gave; null where that is not known. Items
 * keep their identity, which no expression over reprs could tell.
 */
export function changedContents(
  kind: BoxKind,
  contents: Contents,
  method: string,
  given: readonly Known[],
  contentsOf: (value: Known) => Contents | null,
): { contents: Contents; result: Known | null } | null {
  const [first, second] = given;
  if (method === 'clear' && given.length === 0) {
    if ('items' in contents) return { contents: { items: [] }, result: null };
    if ('entries' in contents) return { contents: { entries: new Map() }, result: null };
    return { contents: { text: 'set()' }, result: null };
  }
  if ('entries' in contents) {
    if (method !== 'pop' || first?.kind !== 'plain') return null;
    const result = contents.entries.get(first.repr);
    const left = result ? withoutItem(contents, first.repr) : null;
    return left && result ? { contents: left, result } : null;
  }
  if (!('items' in contents)) return null;
  const { items } = contents;
  const removed = (index: number) => {
    const result = items.at(index);
    return result ? { contents: { items: items.toSpliced(index, 1) }, result } : null;
  };
  switch (method) {
    case 'append':
      return first ? { contents: { items: [...items, first] }, result: null } : null;
    case 'appendleft':
      return first ? { contents: { items: [first, ...items] }, result: null } : null;
    case 'extend': {
      const more = first ? contentsOf(first) : null;
      return more && 'items' in more
        ? { contents: { items: [...items, ...more.items] }, result: null }
        : null;
    }
    case 'insert': {
      const index = first?.kind === 'plain' && /^-?\d{1,9}$/.test(first.repr) ? Number(first.repr) : null;
      return index !== null && second
        ? { contents: { items: items.toSpliced(index, 0, second) }, result: null }
        : null;
    }
    case 'pop': {
      if (given.length === 0) return removed(-1);
      const index = kind === 'list' && first?.kind === 'plain' ? indexOf(contents, first.repr) : null;
      return index === null ? null : removed(index);
    }
    case 'popleft':
      return removed(0);
    case 'reverse':
      return { contents: { items: items.toReversed() }, result: null };
    default:
      return null;
  }
}

function indexOf({ items }: { readonly items: readonly Known[] }, key: string): number | null {
  if (!/^-?\d{1,9}$/.test(key)) return null;
  const index = Number(key) < 0 ? Number(key) + items.length : Number(key);
  return index >= 0 && index < items.length ? index : null;
}

/** Whether keys are equal only where they are written alike: 1, 1.0 and True are one key. */
function hasPlainKeys({ entries }: { readonly entries: ReadonlyMap<string, Known> }, key: string): boolean {
  return [...entries.keys(), key].every((at) => /^(['"]|-?\d+$)/.test(at));
}
