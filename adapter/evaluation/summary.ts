import type { AskedState } from './nextState';
import { calibration, type Calibration, share, type Share } from './statistics';

/** In how many of the asked states a world was right. Those at which it failed are counted apart. */
export interface Scores {
  readonly asked: number;
  readonly exact: Share;
  readonly event: Share;
  readonly line: Share;
  readonly stack: Share;
  readonly changed: Share;
  readonly values: Share;
  /** How often the world failed, by the errors' numbers. */
  readonly errors: Readonly<Record<string, number>>;
  /** Of the confidences of event and line; null where there are none. */
  readonly calibration: Calibration | null;
}

export interface Summary {
  readonly evaluation: 'next-state';
  readonly world: string;
  readonly format: string | null;
  readonly seed: number;
  readonly limit: number;
  readonly programs: number;
  readonly skipped: readonly { readonly program: string; readonly why: string }[];
  readonly actions: Readonly<Record<string, Scores>>;
  readonly all: Scores;
}

/** Adds up what was asked. */
export function scoresOf(rows: readonly AskedState[]): Scores {
  const answered = rows.flatMap(({ right, confidence }) => (right ? [{ right, confidence }] : []));
  const of = (part: 'exact' | 'event' | 'line' | 'stack' | 'changed' | 'values'): Share => {
    const known = answered.filter(({ right }) => right[part] !== null);
    return share(known.filter(({ right }) => right[part]).length, known.length);
  };
  const errors: Record<string, number> = {};
  for (const { error } of rows) if (error !== null) errors[error] = (errors[error] ?? 0) + 1;
  return {
    asked: rows.length,
    exact: of('exact'),
    event: of('event'),
    line: of('line'),
    stack: of('stack'),
    changed: of('changed'),
    values: of('values'),
    errors,
    calibration: calibration(
      answered.flatMap(({ right, confidence }) =>
        confidence === null ? [] : [{ confidence, isRight: right.event && right.line }],
      ),
    ),
  };
}

/** The scores as a table for people. */
export function summaryTable({ actions, all }: Pick<Summary, 'actions' | 'all'>): string {
  const parts = ['exact', 'event', 'line', 'stack', 'changed', 'values'] as const;
  const head = ['action', 'asked', 'failed', ...parts];
  const rows = Object.entries({ ...actions, all }).map(([name, scores]) => [
    name,
    `${scores.asked}`,
    `${Object.values(scores.errors).reduce((sum, count) => sum + count, 0)}`,
    ...parts.map((part) => shareText(scores[part])),
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const table = [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const { calibration: confidences } = all;
  if (confidences) {
    table.push(
      '',
      `Confidence of event and line: ${percent(confidences.meanConfidence)} on average, right ${percent(confidences.accuracy)}; ` +
        `expected calibration error ${percent(confidences.ece)} (${confidences.of} states).`,
    );
  }
  return `${table.join('\n')}\n`;
}

function shareText({ share: value, interval }: Share): string {
  return value === null || !interval
    ? '-'
    : `${percent(value)} (${percent(interval[0])}–${percent(interval[1])})`;
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)}%`;
}
