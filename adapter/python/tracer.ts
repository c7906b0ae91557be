import { z } from 'zod';
import { errors } from '../errors';
import { resourcePath } from '../resources';
import { defaultInterpreter, type Python } from '../sandbox/python';
import { PythonProcess } from '../sandbox/pythonProcess';
import type { Program } from '../trajectory/program';
import { ChangedLocals } from '../trajectory/changedLocals';
import type { Ending, EventKind, Locals, Prediction, Step, Value } from '../trajectory/state';

/** What a run may use up; reaching a limit ends it with a note. */
export interface RunLimits {
  /** Seconds that we wait for the program; the time in which nobody asks for its states does not count. */
  readonly seconds: number;
  /** How many states there may be. */
  readonly events: number;
  /** Memory, in MiB. */
  readonly memory: number;
  /** What it may write to its standard output, in KiB. */
  readonly output: number;
  /** How many processes it may start, one after the other or at once. */
  readonly processes: number;
}

export const defaultRunLimits: RunLimits = {
  seconds: 60,
  events: 1_000_000,
  memory: 2048,
  output: 4096,
  processes: 32,
};

/** A call of a function of the module, other than by the program's own entry call. */
export interface FunctionCall {
  readonly name: string;
  /** Arguments by name, as Python literals. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Whether the module's code runs with the name `__main__`. */
  readonly asMain: boolean;
}

/** A change to a run: what a debugger's user can do to a program that stands still. */
export interface RunEdit {
  /** The state that is changed, a call or a line state: its index among the main thread's, from 0. */
  readonly at: number;
  /** Locals of the frame that get other values, as Python literals. */
  readonly locals: ReadonlyMap<string, string>;
  /**
   * The line from which the frame goes on, or null for the state's own. Of several lines the state's own is
   * meant, else the one that is part of the frame's code.
   */
  readonly lines: readonly number[] | null;
}

/** A text that equal edits have in common, and no others. */
export function editsKey(edits: readonly RunEdit[]): string {
  return JSON.stringify(edits.map(({ at, locals, lines }) => [at, [...locals].sort(), lines]));
}

export interface TraceOptions {
  /** What runs it; `python3` by default. */
  readonly python?: Python;
  readonly limits?: Partial<RunLimits>;
  /** Called instead of what the program says: its frame is the first. */
  readonly call?: FunctionCall;
  /** Changes that are made on the way; the states from a changed one on are those that really follow. */
  readonly edits?: readonly RunEdit[];
}

/** A name's new text: all of it, what follows the first n characters of the text before, or null: it is gone. */
const changeSchema = z.union([z.string(), z.tuple([z.int().nonnegative(), z.string()]), z.null()]);
const number = z.int().nonnegative();

/** The arrays of the protocol that tracer.py describes, by their first part. */
const arraySchemas = {
  line: z.tuple([z.literal(0), number, number], changeSchema),
  call: z.tuple([z.literal(1), number, number, z.string(), z.string().nullable()], changeSchema),
  return: z.tuple(
    [z.literal(2), number, number, z.string(), z.union([z.literal(0), z.literal(1)])],
    changeSchema,
  ),
  exception: z.tuple([z.literal(3), number, number, z.string()], changeSchema),
  output: z.tuple([z.literal(4), z.string()]),
} as const;

type Change = z.infer<typeof changeSchema>;

const messageSchema = z.discriminatedUnion('k', [
  z.object({
    k: z.literal('start'),
    version: z.string(),
    /** The signal at which the events that are held back are told; null where there is none. */
    heldSignal: z.int().positive().nullable(),
  }),
  z.object({ k: z.literal('held') }),
  z.object({
    k: z.literal('failed'),
    reason: z.enum(['syntax', 'entrySyntax', 'setup', 'function', 'arguments', 'entry', 'edit']),
    message: z.string(),
    line: z.int().nullable(),
  }),
  z.object({
    k: z.literal('end'),
    how: z.enum(['returned', 'raised', 'exited', 'cut']),
    notes: z.array(z.string()),
    limit: z.enum(['events', 'output', 'memory', 'processes']).nullable(),
  }),
]);

/** What waiting for the next piece of the messages came to; a null piece is their end. */
type Waited = { readonly piece: string | null } | 'aborted' | 'late';

/** Seconds until a Python that has not started is given up. They do not count as the program's. */
const startPatience = 120;

/** Milliseconds after which a run that has told nothing holds events back, if it has any. */
const quietTime = 50;

/** Milliseconds that a run which is at its limit has for telling the events that it holds back. */
const heldPatience = 1_000;

/** How much is read ahead at most before a line must have ended, in characters. */
const maxLine = 1 << 24;

/** A frame whose events have come, by its number. */
interface TracedFrame {
  readonly function: string;
  readonly thread: string | null;
  locals: Locals;
}

const noLocals: Locals = new Map();

/** A real run of a program, under the tracer. It begins at once, and goes on as far as its states are read. */
export class TracedRun {
  /** The version of the Python that runs the program, such as `3.11.7`; null until it has said so. */
  version: string | null = null;
  readonly #program: Program;
  readonly #limits: RunLimits;
  readonly #process: PythonProcess;
  readonly #frames = new Map<number, TracedFrame>();
  #reading: Promise<string | null> | null = null;
  #rest = '';
  #output = '';
  #waited = 0;
  /** How long the newest piece was waited for, in milliseconds. */
  #quiet = 0;
  #ended = false;
  #heldSignal: number | null = null;
  /** Whether the events that were held back have been told. */
  #hasToldHeld = false;
  /** What went wrong after steps that are still to be given. */
  #failed: { readonly thrown: unknown } | null = null;

  constructor(
    program: Program,
    { python = defaultInterpreter, limits, call, edits = [] }: TraceOptions = {},
  ) {
    this.#program = program;
    this.#limits = { ...defaultRunLimits, ...limits };
    this.#process = new PythonProcess({
      python,
      script: resourcePath('tracer.py', './python/tracer.py'),
      input: JSON.stringify(jobOf(program, call, edits, this.#limits)),
      beside: program.path,
      memory: this.#limits.memory,
      processorTime: 2 * (this.#limits.seconds + startPatience),
    });
  }

  /**
   * The next steps, as many as have arrived; null after the ending. When the signal is aborted, an empty
   * batch: the run stays where it is, and can be read further.
   *
   * @throws CatalogueError when there is no such Python, the program cannot be run, or an edit cannot be made
   */
  async next(signal: AbortSignal): Promise<readonly Step[] | null> {
    if (this.#failed) throw this.#failed.thrown;
    while (!this.#ended) {
      this.#reading ??= this.#process.read();
      const waited = await this.#wait(this.#reading, signal);
      if (waited === 'aborted') return [];
      if (waited === 'late' && this.version === null) {
        throw this.#broken(`Python did not start within ${startPatience} seconds.`);
      }
      if (waited === 'late') {
        const held = await this.#held();
        return held.at(-1)?.kind === 'end' ? held : [...held, this.#end(this.#cut('seconds'))];
      }
      this.#reading = null;
      const { piece } = waited;
      const steps = piece === null ? [await this.#vanished()] : this.#steps(piece);
      if (steps.length > 0) return steps;
    }
    return null;
  }

  /** Ends the program, and what it has started. */
  close(): void {
    this.#ended = true;
    this.#process.kill();
  }

  /** The steps that a run at its limit still holds back, as one does that stays in C code. */
  async #held(): Promise<Step[]> {
    const steps: Step[] = [];
    if (this.#quiet < quietTime || this.#heldSignal === null) return steps;
    if (!this.#process.signal(this.#heldSignal)) return steps;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => {
        resolve(null);
      }, heldPatience);
    });
    try {
      while (!this.#hasToldHeld && !this.#ended) {
        const piece = await Promise.race([(this.#reading ??= this.#process.read()), late]);
        if (piece === null) break;
        this.#reading = null;
        steps.push(...this.#steps(piece));
      }
    } catch {
      // It was asked for in the middle of something: what came before is whole.
    } finally {
      clearTimeout(timer);
    }
    return steps;
  }

  /** Waits for a piece, within the time that the program has left. */
  async #wait(reading: Promise<string | null>, signal: AbortSignal): Promise<Waited> {
    if (signal.aborted) return 'aborted';
    const began = performance.now();
    let timer: NodeJS.Timeout | undefined;
    let abort = (): void => undefined;
    const others = new Promise<Waited>((resolve) => {
      abort = () => {
        resolve('aborted');
      };
      const late = () => {
        resolve('late');
      };
      const most = this.version === null ? startPatience : this.#limits.seconds;
      timer = setTimeout(late, Math.max(0, most * 1000 - this.#waited));
      signal.addEventListener('abort', abort);
    });
    try {
      return await Promise.race([reading.then((piece) => ({ piece })), others]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      this.#quiet = performance.now() - began;
      this.#waited += this.#quiet;
    }
  }

  #steps(piece: string): Step[] {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > maxLine) throw this.#broken('A line has no end.');
    const steps: Step[] = [];
    try {
      for (const line of lines) {
        const step = this.#step(line);
        if (step) steps.push(step);
        if (this.#ended) break;
      }
    } catch (thrown) {
      this.#failed = { thrown };
      if (steps.length === 0) throw thrown;
    }
    return steps;
  }

  #step(line: string): Step | null {
    let json: unknown;
    try {
      json = JSON.parse(line);
    } catch {
      throw this.#broken(`It wrote ${line.slice(0, 100)}`);
    }
    if (Array.isArray(json)) return this.#event(json);
    const parsed = messageSchema.safeParse(json);
    if (!parsed.success) throw this.#broken(parsed.error.message);
    const message = parsed.data;
    switch (message.k) {
      case 'start':
        this.version = message.version;
        this.#heldSignal = message.heldSignal;
        this.#waited = 0;
        return null;
      case 'held':
        this.#hasToldHeld = true;
        return null;
      case 'failed':
        this.close();
        throw this.#failure(message.reason, message.message, message.line);
      case 'end': {
        const cut = message.limit && this.#cut(message.limit);
        return this.#end({
          kind: 'end',
          how: message.how,
          notes: [...(cut?.notes ?? []), ...message.notes],
          text: null,
          output: this.#takeOutput(),
        });
      }
    }
  }

  /** An event as a step; null for output, which goes with the event after it. */
  #event(json: readonly unknown[]): Step | null {
    switch (json[0]) {
      case 0: {
        const [, number, line, ...changes] = this.#parsed(arraySchemas.line, json);
        return this.#prediction('line', number, line, null, changes);
      }
      case 1: {
        const [, number, line, name, thread, ...changes] = this.#parsed(arraySchemas.call, json);
        this.#frames.set(number, {
          function: name,
          thread,
          locals: this.#frames.get(number)?.locals ?? noLocals,
        });
        return this.#prediction('call', number, line, null, changes);
      }
      case 2: {
        const [, number, line, value, last, ...changes] = this.#parsed(arraySchemas.return, json);
        const step = this.#prediction('return', number, line, value, changes);
        if (last === 1) this.#frames.delete(number);
        return step;
      }
      case 3: {
        const [, number, line, exception, ...changes] = this.#parsed(arraySchemas.exception, json);
        return this.#prediction('exception', number, line, exception, changes);
      }
      default: {
        this.#output += this.#parsed(arraySchemas.output, json)[1];
        return null;
      }
    }
  }

  #parsed<T>(schema: z.ZodType<T>, json: unknown): T {
    const parsed = schema.safeParse(json);
    if (!parsed.success) throw this.#broken(parsed.error.message);
    return parsed.data;
  }

  #prediction(
    event: EventKind,
    number: number,
    line: number,
    argument: string | null,
    changes: readonly Change[],
  ): Prediction {
    const frame = this.#frames.get(number);
    if (!frame) throw this.#broken(`Frame ${number} was never entered.`);
    frame.locals = changedLocals(frame.locals, changes);
    return {
      kind: 'state',
      state: {
        event,
        function: frame.function,
        line,
        thread: frame.thread,
        locals: frame.locals,
        argument: argument === null ? null : { repr: argument, confidence: null },
      },
      activation: event === 'call' ? number : null,
      unwinds: 0,
      confidence: null,
      doubt: null,
      otherLines: [],
      text: null,
      output: this.#takeOutput(),
      tokens: 0,
    };
  }

  /** What was written since the state before: by sys.stdout, then what came by other ways. */
  #takeOutput(): string | null {
    const output = this.#output + this.#process.takeOutput();
    this.#output = '';
    return output === '' ? null : output;
  }

  /** The ending of a process that left without one. */
  async #vanished(): Promise<Ending> {
    const { code, signal } = await this.#process.exit;
    if (this.version === null) throw this.#broken(this.#process.takeErrors().trim().slice(-2000));
    const how = signal ? `was ended by the signal ${signal}` : `exited at once with code ${code ?? 0}`;
    return this.#end({
      kind: 'end',
      how: 'exited',
      notes: [`The process ${how}, without an end of the program: its last states may be missing.`],
      text: null,
      output: this.#takeOutput(),
    });
  }

  #end(ending: Ending): Ending {
    this.close();
    return ending;
  }

  #cut(limit: keyof RunLimits): Ending {
    const reached = limitTexts[limit](this.#limits[limit]);
    return {
      kind: 'end',
      how: 'cut',
      notes: [`The real run was cut: ${reached}. A higher limit "${limit}" lets it go on.`],
      text: null,
      output: this.#takeOutput(),
    };
  }

  #failure(
    reason: 'syntax' | 'entrySyntax' | 'setup' | 'function' | 'arguments' | 'entry' | 'edit',
    message: string,
    line: number | null,
  ): Error {
    const { path, entry } = this.#program;
    switch (reason) {
      case 'syntax':
        return errors.pythonSyntax(path, line, message);
      case 'entrySyntax':
        return errors.entrySyntax(entry ?? '', message);
      case 'setup':
        return errors.setUpRaised(path, line, message);
      case 'entry':
        return errors.entryRaised(entry ?? '', message);
      case 'function':
        return errors.noSuchFunction(path, message);
      case 'arguments':
        return errors.argumentsNotLiteral(message);
      case 'edit':
        return errors.editRefused((line ?? 0) + 1, message);
    }
  }

  #broken(detail: string): Error {
    this.close();
    return errors.tracerBroken(detail);
  }
}

const limitTexts: Record<keyof RunLimits, (limit: number) => string> = {
  seconds: (limit) => `it took more than ${limit} seconds`,
  events: (limit) => `it came to ${limit} states`,
  memory: (limit) => `it needed more than ${limit} MiB of memory`,
  output: (limit) => `it wrote more than ${limit} KiB to its standard output`,
  processes: (limit) => `it started more than ${limit} processes`,
};

/**
 * Runs a program really and gives its steps in batches, as they happen: the program waits while nobody asks.
 * Leaving the iteration, or aborting the signal, ends the program.
 *
 * @throws CatalogueError when there is no such Python, or the program cannot be run
 */
export async function* traceProgram(
  program: Program,
  options: TraceOptions = {},
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<readonly Step[]> {
  const run = new TracedRun(program, options);
  const end = () => {
    run.close();
  };
  signal.addEventListener('abort', end);
  try {
    for (;;) {
      const steps = await run.next(signal);
      if (steps === null || signal.aborted) return;
      yield steps;
    }
  } finally {
    signal.removeEventListener('abort', end);
    run.close();
  }
}

function jobOf(
  program: Program,
  call: FunctionCall | undefined,
  edits: readonly RunEdit[],
  limits: RunLimits,
) {
  const mode = call ? 'function' : program.entry === null ? 'script' : 'entry';
  return {
    source: program.source,
    path: program.path,
    args: program.args,
    mode,
    main: call ? call.asMain : mode === 'script',
    entry: program.entry,
    function: call?.name ?? null,
    arguments: call?.arguments ?? {},
    edits: edits.map(({ at, locals, lines }) => ({ at, locals: Object.fromEntries(locals), lines })),
    limits: {
      events: limits.events,
      memory: limits.memory * 1024 * 1024,
      output: limits.output * 1024,
      processes: limits.processes,
    },
  };
}

/** A frame's locals after what an event says of them. Values that stay are the same objects. */
function changedLocals(before: Locals, changes: readonly Change[]): Locals {
  if (changes.length === 0) return before;
  const changed = new Map<string, Value>();
  const removed: string[] = [];
  for (let at = 0; at + 1 < changes.length; at += 2) {
    const name = String(changes[at]);
    const change = changes[at + 1] ?? null;
    if (change === null) {
      removed.push(name);
    } else {
      const repr =
        typeof change === 'string' ? change : (before.get(name)?.repr ?? '').slice(0, change[0]) + change[1];
      changed.set(name, { repr, confidence: null });
    }
  }
  return new ChangedLocals(before, changed, removed);
}
