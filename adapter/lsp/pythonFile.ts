import type { PythonSource } from '../python/source';
import { splitLines } from '../python/encoding';
import type { RecordedWorld } from '../trajectory/recording';
import type { Trajectory } from '../trajectory/trajectory';
import { LineVisits } from './lineVisits';
import { sameLines } from '../python/sameLines';

/** What is known about the values in a file: the newest trajectory of it. */
export interface KnownTrajectory {
  readonly trajectory: Trajectory;
  readonly world: RecordedWorld;
}

const visitsOf = new WeakMap<Trajectory, LineVisits>();

/** A Python file as it is now, and the trajectory of the text that it, or an older version of it, had. */
export class PredictedFile {
  readonly visits: LineVisits;
  readonly #older: ReadonlyMap<number, number> | null;

  constructor(
    readonly source: PythonSource,
    readonly known: KnownTrajectory,
  ) {
    const { trajectory } = known;
    let visits = visitsOf.get(trajectory);
    if (!visits) visitsOf.set(trajectory, (visits = new LineVisits(trajectory)));
    this.visits = visits;
    const then = splitLines(trajectory.program.source);
    const isSame = then.length === source.lines.length && then.every((line, at) => line === source.lines[at]);
    this.#older = isSame ? null : sameLines(then, source.lines);
  }

  /** Whether the file has changed since. */
  get isStale(): boolean {
    return this.#older !== null;
  }

  /** The trajectory's line of a line of the file; null where that line was another one. */
  lineThen(line: number): number | null {
    return this.#older ? (this.#older.get(line) ?? null) : line;
  }

  /** The line events on a line of the file. */
  visitsOn(line: number): readonly number[] {
    const then = this.lineThen(line);
    return then === null ? [] : (this.visits.byLine.get(then) ?? []);
  }
}
