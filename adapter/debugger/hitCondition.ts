/** Says at which of its hits a breakpoint stops. Hits are counted from 1. */
export interface HitCondition {
  /** As it was written. */
  readonly text: string;
  holds(hits: number): boolean;
}

const comparisons: Readonly<Record<string, (hits: number, count: number) => boolean>> = {
  '': (hits, count) => hits === count,
  '==': (hits, count) => hits === count,
  '>': (hits, count) => hits > count,
  '>=': (hits, count) => hits >= count,
  '<': (hits, count) => hits < count,
  '<=': (hits, count) => hits <= count,
  '%': (hits, count) => count > 0 && hits % count === 0,
};

/** What is told of a hit condition that cannot be read. */
export const hitConditionHelp = 'A hit count is a number, or >, >=, <, <=, == or % before one.';

/** Reads `5` or `==5`, `>5`, `>=5`, `<5`, `<=5`, or `%5` for every fifth; null where it is none of them. */
export function parseHitCondition(text: string): HitCondition | null {
  const [, operator = '', digits = ''] = /^\s*(==|>=|<=|>|<|%)?\s*(\d{1,15})\s*$/.exec(text) ?? [];
  const compare = comparisons[operator];
  if (digits === '' || !compare) return null;
  const count = Number(digits);
  if (operator === '%' && count === 0) return null;
  return { text: text.trim(), holds: (hits) => compare(hits, count) };
}
