/** A share of a number of trials, with the interval that the true share lies in with 95% confidence. */
export interface Share {
  readonly right: number;
  readonly of: number;
  /** null where nothing was tried. */
  readonly share: number | null;
  readonly interval: readonly [low: number, high: number] | null;
}

/** The standard normal quantile of a two-sided 95% interval. */
const z = 1.959963984540054;

/** A share with Wilson's score interval (E. B. Wilson 1927), which holds for few trials and near 0 and 1 too. */
export function share(right: number, of: number): Share {
  if (of === 0) return { right, of, share: null, interval: null };
  const p = right / of;
  const denominator = 1 + (z * z) / of;
  const centre = (p + (z * z) / (2 * of)) / denominator;
  const half = (z / denominator) * Math.sqrt((p * (1 - p)) / of + (z * z) / (4 * of * of));
  return { right, of, share: p, interval: [Math.max(0, centre - half), Math.min(1, centre + half)] };
}

/** How far confidences say what they should: that of those given 0.8, 80% are right. */
export interface Calibration {
  readonly of: number;
  readonly meanConfidence: number;
  /** The share that is right, of those with a confidence. */
  readonly accuracy: number;
  /**
   * The expected calibration error: over bins of confidence, the mean distance between accuracy and confidence,
   * weighted by the bins' sizes (Naeini et al. 2015).
   */
  readonly ece: number;
}

const bins = 10;

/** The calibration of confidences; null where there are none. */
export function calibration(
  answers: readonly { readonly confidence: number; readonly isRight: boolean }[],
): Calibration | null {
  if (answers.length === 0) return null;
  const sums = Array.from({ length: bins }, () => ({ of: 0, confidence: 0, right: 0 }));
  for (const { confidence, isRight } of answers) {
    const bin = sums[Math.min(bins - 1, Math.floor(confidence * bins))];
    if (!bin) continue;
    bin.of++;
    bin.confidence += confidence;
    bin.right += Number(isRight);
  }
  const total = (what: 'confidence' | 'right') => sums.reduce((sum, bin) => sum + bin[what], 0);
  return {
    of: answers.length,
    meanConfidence: total('confidence') / answers.length,
    accuracy: total('right') / answers.length,
    ece: sums.reduce((sum, { confidence, right }) => sum + Math.abs(right - confidence), 0) / answers.length,
  };
}

/** Numbers from 0 to below 1 that a seed gives: the generator mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Some of a list's items, drawn without putting back, in the list's order. */
export function sample<T>(items: readonly T[], count: number, random: () => number): T[] {
  const drawn = new Set<number>();
  // Floyd's algorithm: each subset is as likely as any other.
  for (let last = Math.max(0, items.length - count); last < items.length; last++) {
    const at = Math.floor(random() * (last + 1));
    drawn.add(drawn.has(at) ? last : at);
  }
  return items.filter((_, index) => drawn.has(index));
}
