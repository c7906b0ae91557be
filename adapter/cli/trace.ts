import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { describeCause, errors } from '../errors';
import { readProgram } from '../debugger/open';
import { choosePython } from '../sandbox/python';
import { endLine, headerLine, stateLine } from '../trajectory/recording';
import { Trajectory } from '../trajectory/trajectory';
import { ReferenceWorld } from '../world/reference';

/** The options of `trace`. */
export interface TraceOptions {
  readonly entry?: string;
  readonly arg: readonly string[];
  readonly output: string;
  readonly python?: string;
  readonly sandbox?: 'python' | 'pyodide';
}

/** Really runs a program and records every event of it, definitions too. */
export async function trace(file: string, options: TraceOptions): Promise<void> {
  const program = await readProgram({ program: file, entry: options.entry ?? null, args: [...options.arg] });
  process.stderr.write(`Really running ${program.path}, to record it.\n`);
  const python = await choosePython(options.sandbox ?? null, options.python ?? null);
  const world = new ReferenceWorld(program, { python });
  // A run that cannot begin leaves a recording of before as it is.
  let out: RecordingOutput | null = null;
  try {
    const trajectory = new Trajectory(program);
    const signal = new AbortController().signal;
    const step_into = { name: 'step_into' } as const;
    let last = -1;
    for await (const steps of world.predict({
      trajectory,
      from: -1,
      action: step_into,
      wanted: 'many',
      signal,
    })) {
      // The world knows its version once the run has begun.
      if (!out) {
        out = new RecordingOutput(options.output);
        await out.open();
        await out.write(headerLine(program, world.description));
      }
      for (const step of steps) {
        if (step.kind === 'end') {
          await out.write(endLine(step));
          for (const note of step.notes) process.stderr.write(`${note}\n`);
          process.stderr.write(`Recorded ${last + 1} states; ${endings[step.how]}.\n`);
          continue;
        }
        last = trajectory.append(last, step_into, step);
        await out.write(stateLine(trajectory, last));
      }
    }
    await out?.end();
  } finally {
    await world.close();
  }
}

const endings = {
  returned: 'the program ended normally',
  raised: 'an exception ended the program',
  exited: 'the program exited',
  cut: 'the recording was cut short',
} as const;

/** A recording's file, or standard output. */
class RecordingOutput {
  readonly #stream: Writable;
  /** Settled once all is written; standard output is never closed. */
  readonly #written: Promise<void>;

  constructor(private readonly path: string) {
    const isStandard = path === '-';
    this.#stream = isStandard ? process.stdout : createWriteStream(path);
    this.#written = isStandard ? Promise.resolve() : finished(this.#stream);
    // Opening the file can fail before anything waits for it.
    this.#written.catch(() => undefined);
  }

  /** Waits until the file can be written: the run is not worth its time where it cannot. */
  async open(): Promise<void> {
    if (this.path !== '-') await this.#orFail(once(this.#stream, 'open'));
  }

  async write(line: string): Promise<void> {
    if (this.#stream.write(line)) return;
    const drained = once(this.#stream, 'drain');
    await (this.path === '-' ? drained : this.#orFail(Promise.race([drained, this.#written])));
  }

  async end(): Promise<void> {
    if (this.path === '-') return;
    this.#stream.end();
    await this.#orFail(this.#written);
  }

  async #orFail(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (thrown) {
      throw errors.cannotWrite(this.path, describeCause(thrown));
    }
  }
}
