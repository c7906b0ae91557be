import { setImmediate } from 'node:timers/promises';
import type { Program } from '../trajectory/program';
import type { RecordedWorld } from '../trajectory/recording';
import { Trajectory } from '../trajectory/trajectory';
import type { Span } from './jsonPlaces';

/** What is to be said about a part of a text. */
export interface TraceProblem extends Span {
  readonly severity: 'error' | 'warning' | 'information';
  readonly message: string;
  /** The number of the error in the catalogue, or null. */
  readonly code: number | null;
}

/** A recording or a raw trace as far as it can be read: its states, and where in the text each stands. */
export interface TraceDocument {
  /** Null where the text does not say of which program it is. */
  readonly program: Program | null;
  readonly world: RecordedWorld;
  readonly trajectory: Trajectory;
  /** Where the text of each state begins and ends, in UTF-16 units, by the state's number. */
  readonly spans: readonly Span[];
  readonly problems: readonly TraceProblem[];
}

/** Longer texts are read up to here, in UTF-16 units: what a person can look through, and a quick answer. */
export const maxTraceLength = 64 * 1024 * 1024;
/** States beyond this are not looked at. */
export const maxTraceStates = 400_000;
/** More problems than this help nobody. */
export const maxProblems = 100;

const noProgram: Program = { path: '<unknown>', source: '', entry: null, args: [] };

/** Collects what is read of a text. */
export class TraceBuilder implements TraceDocument {
  readonly trajectory: Trajectory;
  readonly spans: Span[] = [];
  readonly problems: TraceProblem[] = [];

  constructor(
    readonly program: Program | null,
    readonly world: RecordedWorld,
  ) {
    this.trajectory = new Trajectory(program ?? noProgram);
  }

  report(
    span: Span,
    message: string,
    code: number | null,
    severity: TraceProblem['severity'] = 'error',
  ): void {
    if (this.problems.length < maxProblems) this.problems.push({ ...span, message, code, severity });
  }

  get isFull(): boolean {
    return this.spans.length >= maxTraceStates;
  }

  /** Says that the text is not looked at from an offset on. */
  reportRest(start: number, length: number): void {
    this.problems.push({
      start,
      end: Math.min(length, start + 1),
      severity: 'information',
      code: null,
      message:
        'What follows is not looked at here: the text is too long. "Debug This Recording" reads all of it.',
    });
  }
}

/** The number of the state that an offset is in, or null. */
export function stateAt({ spans }: TraceDocument, offset: number): number | null {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((spans[middle]?.start ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  const found = spans[low - 1];
  return found && offset <= found.end ? low - 1 : null;
}

/** Milliseconds of work after which others get their turn. */
const turn = 25;

/** Lets requests be answered while something long is worked on. */
export class Breath {
  #since = performance.now();

  /** @throws the signal's reason once the work is not wanted any more */
  async take(signal: AbortSignal | null): Promise<void> {
    if (performance.now() - this.#since < turn) return;
    await setImmediate();
    signal?.throwIfAborted();
    this.#since = performance.now();
  }
}
