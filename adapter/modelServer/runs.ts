import { errors } from '../errors';
import { KnownTexts } from './knownTexts';
import { Refusal } from './refusal';
import { SharedFrames } from './sharedFrames';
import type { TraceFrame } from './traceFrame';

/** Begins to run a program; aborting the signal ends it at any time. */
export type StartRun<Job> = (job: Job, signal: AbortSignal) => AsyncIterable<readonly TraceFrame[]>;

/** A run that is kept for the requests that ask for more of it. */
export interface Run {
  readonly frames: SharedFrames;
  /**
   * What prompts of this run were before.
   *
   * @param dropped how many frames they left out
   */
  known(dropped: number): KnownTexts;
}

export interface KeptLimits {
  /** How many runs are kept, those that wait to go on included. */
  readonly runs: number;
  /** How much memory the texts of all runs may take together, in bytes. */
  readonly bytes: number;
}

/** A run that nobody waits for any more and that makes no frame for this long is ended, in milliseconds. */
const abandonedAfter = 2000;
/** A run that nobody asked for in this long is ended, in milliseconds. */
const unusedAfter = 600_000;

/** How many windows of a run are known, of prompts that leave frames out. */
const maxWindows = 4;

interface KeptRun extends Run {
  readonly windows: Map<number, KnownTexts>;
  readonly end: AbortController;
  users: number;
  unused: NodeJS.Timeout | null;
}

/** The runs of a server, by what is run; those that were not used for long make room for others. */
export class Runs<Job> {
  /** In the order in which they were last used. */
  readonly #runs = new Map<string, KeptRun>();

  constructor(
    private readonly start: StartRun<Job>,
    private readonly limits: KeptLimits,
  ) {}

  /**
   * The run with a key, begun if it is not kept, and held until the signal is aborted.
   *
   * @throws Refusal when there is no room for another run
   */
  hold(key: string, job: Job, signal: AbortSignal): Run {
    signal.throwIfAborted();
    const kept = this.#runs.get(key);
    const run = kept && !kept.frames.isBroken ? kept : this.#begin(job);
    this.#runs.delete(key);
    this.#runs.set(key, run);
    this.#makeRoom();
    run.users++;
    if (run.unused) clearTimeout(run.unused);
    signal.addEventListener('abort', () => {
      if (--run.users === 0) this.#release(key, run);
    });
    return run;
  }

  /** The run with a key, if it is kept; it is not held. */
  get(key: string): Run | null {
    return this.#runs.get(key) ?? null;
  }

  /** Ends all runs. */
  close(): void {
    for (const [key, run] of this.#runs) this.#end(key, run);
  }

  #release(key: string, run: KeptRun): void {
    const later = (then: () => void, after: number) => {
      run.unused = setTimeout(then, after).unref();
    };
    const end = () => {
      this.#end(key, run);
    };
    later(() => {
      if (run.frames.isWorking) {
        end();
        return;
      }
      // A program that is not asked stands still only if it has frames to give.
      run.frames.readAhead();
      later(() => {
        if (run.frames.isWorking) end();
        else later(end, unusedAfter);
      }, abandonedAfter);
    }, abandonedAfter);
  }

  #begin(job: Job): KeptRun {
    if (this.#runs.size >= this.limits.runs) {
      const [oldest] = this.#idle();
      if (!oldest) {
        const error = errors.runsBusy(this.#runs.size);
        throw new Refusal(429, 'too_many_runs', error, null, { 'Retry-After': '1' });
      }
      this.#end(...oldest);
    }
    const end = new AbortController();
    const frames = new SharedFrames(this.start(job, end.signal));
    const windows = new Map<number, KnownTexts>();
    const known = (dropped: number) => {
      const texts = windows.get(dropped) ?? new KnownTexts();
      windows.delete(dropped);
      windows.set(dropped, texts);
      const [oldest] = windows.keys();
      if (windows.size > maxWindows && oldest !== undefined) windows.delete(oldest);
      return texts;
    };
    return { frames, known, windows, end, users: 0, unused: null };
  }

  /** Ends runs that nobody uses, from the one that was not used for longest, until all others have room. */
  #makeRoom(): void {
    const newest = [...this.#runs.values()].at(-1);
    for (const [key, run] of this.#idle()) {
      const size = [...this.#runs.values()].reduce(
        (sum, { frames, windows }) =>
          sum + frames.size + [...windows.values()].reduce((all, { size }) => all + size, 0),
        0,
      );
      if (size <= this.limits.bytes) return;
      if (run !== newest) this.#end(key, run);
    }
  }

  #idle(): [string, KeptRun][] {
    return [...this.#runs].filter(([, run]) => run.users === 0);
  }

  #end(key: string, run: KeptRun): void {
    if (run.unused) clearTimeout(run.unused);
    if (this.#runs.get(key) === run) this.#runs.delete(key);
    run.end.abort();
  }
}
