import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { readProgram } from '../debugger/open';
import { endLine, headerLine, stateLine } from '../trajectory/recording';
import { Trajectory } from '../trajectory/trajectory';
import { ReferenceWorld } from '../world/reference';

/** The options of `trace`. */
export interface TraceOptions {
  readonly entry?: string;
  readonly arg: readonly string[];
  readonly output: string;
  readonly python?: string;
}

/** Really runs a program and records every event of it, definitions too. */
export async function trace(file: string, options: TraceOptions): Promise<void> {
  const program = await readProgram({ program: file, entry: options.entry ?? null, args: [...options.arg] });
  process.stderr.write(`Really running ${program.path}, to record it.\n`);
  const world = new ReferenceWorld(program, options.python === undefined ? {} : { python: options.python });
  const toStandardOutput = options.output === '-';
  const out = toStandardOutput ? process.stdout : createWriteStream(options.output);
  // Opening the file can fail before anything is written to it.
  const written = toStandardOutput ? Promise.resolve() : finished(out);
  written.catch(() => undefined);
  const write = async (line: string): Promise<void> => {
    if (!out.write(line)) await Promise.race([written, once(out, 'drain')]);
  };
  try {
    const trajectory = new Trajectory(program);
    const signal = new AbortController().signal;
    let last = -1;
    let hasHeader = false;
    for await (const steps of world.predict({
      trajectory,
      from: -1,
      action: { name: 'step_into' },
      wanted: 'many',
      signal,
    })) {
      // The world knows its version once the run has begun.
      if (!hasHeader) await write(headerLine(program, world.description));
      hasHeader = true;
      for (const step of steps) {
        if (step.kind === 'end') {
          await write(endLine(step));
          for (const note of step.notes) process.stderr.write(`${note}\n`);
          continue;
        }
        last = trajectory.append(last, { name: 'step_into' }, step);
        await write(stateLine(trajectory, last));
      }
    }
    if (!toStandardOutput) out.end();
    await written;
  } finally {
    await world.close();
  }
}
