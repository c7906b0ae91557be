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
  /** Of the asked states, those at which the world's first answer, or a later one on the way, could not be read. */
  readonly unreadable: Share;
  /** How many of them were answered once they were asked again; the others were given up. */
  readonly mended: number;
  /** How often the world failed, by the errors' numbers. */
  readonly errors: Readonly<Record<string, number>>;
  /** Of the confidences of event and line; null where there are none. */
  readonly calibration: Calibration | null;
  /** Of the confidences of values, where event and line are right. */
  readonly valueCalibration: Calibration | null;
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
  const answered = rows.flatMap(({ right, confidence, valueConfidence }) =>
    right ? [{ right, confidence, valueConfidence }] : [],
  );
  const of = (part: 'exact' | 'event' | 'line' | 'stack' | 'changed' | 'values'): Share => {
    const known = answered.filter(({ right }) => right[part] !== null);
    return share(known.filter(({ right }) => right[part]).length, known.length);
  };
  const unreadable = rows.filter((row) => row.unreadable > 0);
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
    unreadable: share(unreadable.length, rows.length),
    mended: unreadable.filter(({ error }) => error === null).length,
    errors,
    calibration: calibration(
      answered.flatMap(({ right, confidence }) =>
        confidence === null ? [] : [{ confidence, isRight: right.event && right.line }],
      ),
    ),
    valueCalibration: calibration(
      answered.flatMap(({ right, valueConfidence }) =>
        valueConfidence === null || !right.event || !right.line || right.values === null
          ? []
          : [{ confidence: valueConfidence, isRight: right.values }],
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
  const told = [
    ...unreadableText(all),
    ...confidenceText('event and line', all.calibration),
    ...confidenceText('values, where these are right', all.valueCalibration),
  ];
  if (told.length > 0) table.push('', ...told);
  return `${table.join('\n')}\n`;
}

function unreadableText({ unreadable, mended }: Scores): string[] {
  if (unreadable.right === 0) return [];
  const givenUp = unreadable.right - mended;
  return [
    `States with an answer that could not be read: ${shareText(unreadable)}; ` +
      `${mended} were answered when asked again, ${givenUp} were given up.`,
  ];
}

function confidenceText(what: string, confidences: Calibration | null): string[] {
  if (!confidences) return [];
  const { meanConfidence, accuracy, ece, of } = confidences;
  return [
    `Confidence of ${what}: ${percent(meanConfidence)} on average, right ${percent(accuracy)}; ` +
      `expected calibration error ${percent(ece)} (${of} states).`,
  ];
}

function shareText({ share: value, interval }: Share): string {
  return value === null || !interval
    ? '-'
    : `${percent(value)} (${percent(interval[0])}–${percent(interval[1])})`;
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)}%`;
}
