import type { RunLimits } from '../python/tracer';
import { defaultInterpreter, pyodide, type Python } from '../sandbox/python';
import type { LoopbackHost } from './access';
import { type FaultPlan, Faults } from './faults';
import { listen, type ModelServer } from './httpServer';
import type { OnDivergence } from './courses';
import { ReferenceModel } from './referenceModel';
import { traceFrames, type TraceRunOptions } from './traceRun';

export type { ModelServer } from './httpServer';
export type { OnDivergence } from './courses';

/** What the server and the programs that it runs may use up. */
export interface ModelServerLimits extends RunLimits {
  /** How many runs are kept at once. */
  readonly runs: number;
  /** The longest request body, in bytes. */
  readonly body: number;
}

/**
 * The limits of a run, and of all runs and requests together. Clients give up on a stream that stands still for
 * a minute: a run is ended before that, so that they are told why.
 */
export const defaultLimits: ModelServerLimits = {
  seconds: 50,
  events: 500_000,
  memory: 1024,
  output: 4096,
  processes: 32,
  runs: 8,
  body: 16 * 1024 * 1024,
};

export interface ModelServerOptions {
  /** 0: any free port. */
  readonly port: number;
  readonly host?: LoopbackHost;
  /** What clients have to send as their API key; a random one where none is given. */
  readonly token?: string;
  /** What runs the programs; `python3` by default. */
  readonly python?: Python;
  readonly limits?: Partial<ModelServerLimits>;
  /** What is done with a history that is not what the program does; it is refused where nothing is said. */
  readonly onDivergence?: OnDivergence;
  /** The most tokens that a prompt and its answer may have together; there is no limit where none is given. */
  readonly context?: number;
  /** Whether control tokens add nothing to the text of answers, where a request does not say, as with vLLM. */
  readonly skipsControl?: boolean;
  /** What goes wrong on purpose, for tests. */
  readonly faults?: FaultPlan | null;
}

/** The most text of one run's frames, in UTF-16 units, and of all that are kept, in bytes. */
const maxRunLength = 64 * 1024 * 1024;
const maxKeptBytes = 256 * 1024 * 1024;

/**
 * Starts an OpenAI-compatible server on this machine that answers prompts in CWM's trace format as a perfect
 * CWM would: it really runs the programs that it is sent.
 *
 * @throws CatalogueError when it cannot listen there
 */
export function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const limits = { ...defaultLimits, ...options.limits };
  const python: Python = options.python ?? defaultInterpreter;
  const run: TraceRunOptions = { python, limits, maxLength: maxRunLength };
  const faults = options.faults ? new Faults(options.faults) : null;
  const model = new ReferenceModel(
    (job, signal) => traceFrames(job, run, signal),
    { runs: limits.runs, bytes: maxKeptBytes },
    options.onDivergence,
    faults,
  );
  return listen(model, { ...options, faults, maxBodyBytes: limits.body });
}

/** What a person should know before they leave the server running. */
export function startupNotice(
  given: Partial<ModelServerLimits> = {},
  python: Python = defaultInterpreter,
): string {
  const { seconds, events, memory, runs } = { ...defaultLimits, ...given };
  return [
    python === pyodide
      ? 'This server really runs the Python programs that it is sent, in a sandbox (Pyodide), where they reach no file and no network.'
      : 'This server really runs the Python programs that it is sent, with your rights: they can read and write your files and use the network.',
    `A run may take ${seconds} seconds, ${memory} MiB of memory and ${events} states; ${runs} runs are kept at once.`,
    'It answers this machine only, and only to requests that carry the token. Keep the token to yourself.',
  ].join('\n');
}
