import { writeFile } from 'node:fs/promises';
import { parseConfiguration } from '../debugger/configuration';
import { openWorldFor } from '../debugger/open';
import { describeCause, errors } from '../errors';
import { evaluatedActions } from '../evaluation/ask';
import { type AskedState, evaluateNextState } from '../evaluation/nextState';
import { readPrograms } from '../evaluation/programs';
import { ResultsFile, settingsKey } from '../evaluation/results';
import { scoresOf, type Summary, summaryTable } from '../evaluation/summary';
import { shownText } from '../shownText';
import type { World } from '../world/world';
import { environmentKey } from './keys';

/** The options of `eval next-state`. */
export interface EvalOptions {
  readonly data?: string;
  readonly world?: 'server' | 'reference';
  readonly format: 'cwm' | 'chat';
  readonly baseUrl?: string;
  readonly model?: string;
  readonly python?: string;
  readonly limit: number;
  readonly seed: number;
  readonly output: string;
}

/** Scores a world state by state against real runs, and writes what came of it beside a table for people. */
export async function evalNextState(files: readonly string[], options: EvalOptions): Promise<void> {
  const { baseUrl, model, python, limit, seed } = options;
  const kind = options.world ?? (baseUrl === undefined ? undefined : 'server');
  if (kind === undefined) throw errors.noWorld();
  const server =
    kind === 'server' && baseUrl !== undefined ? { baseUrl, model, format: options.format } : null;
  const configuration = parseConfiguration({ world: kind, server, python });
  const format = server ? options.format : null;
  const programs = await readPrograms([...(options.data === undefined ? [] : [options.data]), ...files]);
  const settings = settingsKey({ kind, server, limit, seed, programs: programs.map(({ id }) => id) });
  const results = await ResultsFile.open(options.output, settings);
  process.stderr.write(`Really running ${programs.length} programs, to compare with.\n`);
  const controller = new AbortController();
  const interrupt = () => {
    controller.abort(errors.evaluationInterrupted(options.output));
  };
  process.once('SIGINT', interrupt);
  const rows: AskedState[] = [];
  const skipped: { program: string; why: string }[] = [];
  const progress = new Progress(limit * evaluatedActions.length);
  let opened: World | null = null;
  try {
    await evaluateNextState({
      programs,
      actions: evaluatedActions,
      limit,
      seed,
      ...(python === undefined ? {} : { python }),
      openWorld: async (program) => {
        opened = await openWorldFor(configuration, program, environmentKey(baseUrl ?? null));
        return opened;
      },
      known: results.known,
      signal: controller.signal,
      onAsked: async (asked, isKnown) => {
        rows.push(asked);
        if (!isKnown) await results.add(asked);
        progress.show(rows.length);
      },
      onSkipped: (program, why) => {
        if (!skipped.some((one) => one.program === program)) skipped.push({ program, why });
      },
    });
  } finally {
    progress.end();
    process.off('SIGINT', interrupt);
    await results.close();
  }
  // A server's model may be known only once it has answered.
  const world = (opened as World | null)?.description.name ?? kind;
  const actions = Object.fromEntries(
    evaluatedActions.map((action) => [action, scoresOf(rows.filter((row) => row.action === action))]),
  );
  const summary: Summary = {
    evaluation: 'next-state',
    world,
    format,
    seed,
    limit,
    programs: new Set(rows.map(({ program }) => program)).size,
    skipped,
    actions,
    all: scoresOf(rows),
  };
  const path = `${options.output}.summary.json`;
  try {
    await writeFile(path, `${JSON.stringify(summary, null, 2)}\n`);
  } catch (thrown) {
    throw errors.cannotWrite(path, describeCause(thrown));
  }
  for (const { program, why } of skipped)
    process.stderr.write(`Left out ${shownText(program)}: ${shownText(why)}\n`);
  process.stdout.write(
    `${shownText(world)}${format === null ? '' : `, format ${format}`}\n${summaryTable(summary)}`,
  );
}

/** How far an evaluation is, on one line of a terminal; elsewhere, a line from time to time. */
class Progress {
  #shown = 0;

  constructor(private readonly most: number) {}

  show(asked: number): void {
    const text = `${asked} of at most ${this.most} states asked`;
    if (process.stderr.isTTY) process.stderr.write(`\r${text}`);
    else if (asked - this.#shown >= Math.max(50, this.most / 10)) process.stderr.write(`${text}\n`);
    else return;
    this.#shown = asked;
  }

  end(): void {
    if (process.stderr.isTTY && this.#shown > 0) process.stderr.write('\n');
  }
}
