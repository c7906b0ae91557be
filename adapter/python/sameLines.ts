/**
 * Which lines of a text are lines of an older one: what is equal at the beginning and at the end, and between
 * them lines that stand once in each, in the same order.
 *
 * @returns by the newer text's line, from 1, the older text's
 */
export function sameLines(older: readonly string[], newer: readonly string[]): Map<number, number> {
  const same = new Map<number, number>();
  let start = 0;
  while (start < older.length && start < newer.length && older[start] === newer[start]) {
    same.set(start + 1, start + 1);
    start++;
  }
  let oldEnd = older.length;
  let newEnd = newer.length;
  while (oldEnd > start && newEnd > start && older[oldEnd - 1] === newer[newEnd - 1]) {
    same.set(newEnd, oldEnd);
    oldEnd--;
    newEnd--;
  }
  const oldPlaces = onlyPlaces(older, start, oldEnd);
  const newPlaces = onlyPlaces(newer, start, newEnd);
  const pairs: { newer: number; older: number }[] = [];
  for (let index = start; index < newEnd; index++) {
    const text = newer[index] ?? '';
    const old = oldPlaces.get(text);
    if (old !== undefined && old >= 0 && newPlaces.get(text) === index)
      pairs.push({ newer: index, older: old });
  }
  for (const pair of longestRise(pairs)) same.set(pair.newer + 1, pair.older + 1);
  return same;
}

/** Where each text stands that stands once between two places; -1 for the others. */
function onlyPlaces(lines: readonly string[], start: number, end: number): Map<string, number> {
  const places = new Map<string, number>();
  for (let index = start; index < end; index++) {
    const text = lines[index] ?? '';
    if (text.trim() !== '') places.set(text, places.has(text) ? -1 : index);
  }
  return places;
}

/** The longest part of a list whose older places rise: by patience sorting. */
function longestRise(pairs: readonly { newer: number; older: number }[]): { newer: number; older: number }[] {
  const tops: number[] = [];
  const before = new Array<number>(pairs.length).fill(-1);
  pairs.forEach(({ older }, index) => {
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tops[middle] ?? 0]?.older ?? 0) < older) low = middle + 1;
      else high = middle;
    }
    before[index] = low > 0 ? (tops[low - 1] ?? -1) : -1;
    tops[low] = index;
  });
  const rise: { newer: number; older: number }[] = [];
  for (let at = tops.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const pair = pairs[at];
    if (pair) rise.push(pair);
  }
  return rise.reverse();
}
