import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { describeCause } from '../errors';
import { resourcePath } from '../resources';
import { defaultInterpreter, pyodide, type Python, spawnPython } from '../sandbox/python';
import type { Locals } from '../trajectory/state';
import { callName } from './repr';
import { readTape, type ReprTape } from './reprTape';

/** What an expression comes to. */
export type Evaluated =
  | { readonly kind: 'value'; readonly repr: string }
  /** The expression raises. */
  | { readonly kind: 'raises'; readonly type: string; readonly message: string }
  /** It cannot be known; the reason is a clause such as `x is not known here`. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** The names that can be evaluated. */
export interface Vocabulary {
  readonly builtins: readonly string[];
  /** The attributes and methods of builtin types, by the type's name. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

/**
 * Milliseconds until an evaluation that does not come back is given up, its process with it. An interpreter ends
 * long ones by itself; in Pyodide nothing else does.
 */
const patience = { interpreter: 15_000, pyodide: 5_000 };

/** Milliseconds until a process that has not started is given up. */
const startPatience = 120_000;

/** Memory that Python may have in Pyodide, in MiB; an interpreter limits itself. */
const memory = 512;

/** Seconds of processor time after which the system ends Pyodide, in case that nobody else does. */
const processorTime = 1200;

const outcomeSchema = z.object({
  value: z.string().optional(),
  error: z.object({ type: z.string(), message: z.string() }).optional(),
  unknown: z.string().optional(),
});

const answerSchema = outcomeSchema.extend({
  id: z.number(),
  text: z.string().optional(),
  each: z.array(outcomeSchema).optional(),
  names: z.record(z.string(), z.array(z.string())).optional(),
});

type Answer = z.infer<typeof answerSchema>;

/** An expression, and the locals that it is evaluated over. */
export interface Evaluation {
  readonly expression: string;
  readonly locals: Locals;
}

type Question =
  | { kind: 'evaluate'; expression: string; names: Names }
  | { kind: 'each'; evaluations: { expression: string; names: Names }[] }
  | { kind: 'names' }
  | { kind: 'print'; arguments: string; names: Names; calls: (string | null)[]; stable: boolean };

type Names = Record<string, string | null>;

/**
 * Evaluates pure Python expressions over known values, exactly, in a Python process of its own that runs only
 * our code within limits of time and memory. Expressions are evaluated one after another. The process starts
 * with the first one, and again after one that had to be stopped.
 */
export class ExpressionEvaluator {
  readonly #python: Python;
  #helper: Helper | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #closed = false;
  #vocabulary: Vocabulary | null = null;

  /** @param options `python`: what evaluates, by default the interpreter of this computer */
  constructor(options: { readonly python?: Python } = {}) {
    this.#python = options.python ?? defaultInterpreter;
    // Pyodide takes seconds to start: it does so before it is needed.
    if (this.#python === pyodide) this.#start();
  }

  /** What an expression comes to over a frame's locals. Never rejects. */
  async evaluate(expression: string, locals: Locals, signal?: AbortSignal): Promise<Evaluated> {
    const names = namesFor(expression, locals);
    return evaluated(await this.#ask({ kind: 'evaluate', expression, names }, signal));
  }

  /**
   * What many expressions come to, in their order: far quicker than one after the other, since the process is
   * asked once. Never rejects.
   */
  async evaluateEach(evaluations: readonly Evaluation[], signal?: AbortSignal): Promise<Evaluated[]> {
    const results: Evaluated[] = [];
    let most = evaluations.length;
    while (results.length < evaluations.length) {
      const asked = evaluations.slice(results.length, results.length + most);
      const answer = await this.#ask(
        {
          kind: 'each',
          evaluations: asked.map(({ expression, locals }) => ({
            expression,
            names: namesFor(expression, locals),
          })),
        },
        signal,
      );
      const each = answer.each?.slice(0, asked.length) ?? [];
      if (each.length > 0) results.push(...each.map(evaluated));
      else if (asked.length === 1) results.push(evaluated(answer));
      // One of them ended the process: one by one it is known which.
      else most = 1;
    }
    return results;
  }

  /** What can be evaluated; nothing where the process does not start. Never rejects. */
  async vocabulary(): Promise<Vocabulary> {
    if (this.#vocabulary) return this.#vocabulary;
    const { names } = await this.#ask({ kind: 'names' });
    if (!names) return { builtins: [], attributes: new Map() };
    const attributes = new Map(Object.entries(names));
    this.#vocabulary = { builtins: attributes.get('') ?? [], attributes };
    return this.#vocabulary;
  }

  /**
   * What a call of `print` writes, or null where that cannot be known. Never rejects.
   *
   * @param argumentsSource the source between the brackets of the call
   * @param locals the frame's locals before the line
   * @param callValues the reprs of what the program's functions returned that the line called, in order;
   *   frames of comprehensions and lambdas are no such calls, what is called from within them is
   * @param after the frame's locals after the line, where they are known: since a call may have changed
   *   what it can reach, only values that are the same afterwards count as known
   */
  async evaluatePrint(
    argumentsSource: string,
    locals: Locals,
    callValues: readonly string[],
    after: Locals | null = null,
  ): Promise<string | null> {
    const names = namesFor(argumentsSource, locals);
    const stable = after !== null;
    if (after && callValues.length > 0) {
      for (const name of Object.keys(names)) {
        if (after.get(name)?.repr !== locals.get(name)?.repr) names[name] = null;
      }
    }
    const calls = callValues.map(evaluable);
    const answer = await this.#ask({ kind: 'print', arguments: argumentsSource, names, calls, stable });
    return answer.text ?? null;
  }

  /** Ends the process. What is still asked stays unknown. */
  async close(): Promise<void> {
    this.#closed = true;
    const helper = this.#helper;
    this.#helper = null;
    await helper?.stop();
    await this.#queue;
  }

  async #ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    const turn = this.#queue.then(() => this.#answer(question, signal));
    this.#queue = turn;
    return turn;
  }

  async #answer(question: Question, signal?: AbortSignal): Promise<Answer> {
    if (this.#closed) return unknown('the evaluation has ended');
    if (signal?.aborted === true) return unknown('the evaluation was cancelled');
    const helper = this.#helper?.isRunning === true ? this.#helper : this.#start();
    const answer = await helper.ask(question, signal);
    if (this.#python === pyodide && !helper.isRunning && this.#helper === helper) this.#start();
    return answer;
  }

  #start(): Helper {
    this.#helper = new Helper(this.#python);
    return this.#helper;
  }
}

function evaluated({ value, error, unknown: reason }: z.infer<typeof outcomeSchema>): Evaluated {
  if (value !== undefined) return { kind: 'value', repr: value };
  if (error) return { kind: 'raises', ...error };
  return { kind: 'unknown', reason: reason ?? 'the evaluation gave no answer' };
}

function unknown(reason: string): Answer {
  return { id: 0, unknown: reason };
}

/** The locals that an expression can mean, written so that Python can read them. */
function namesFor(expression: string, locals: Locals): Names {
  const source = expression.normalize('NFKC');
  // Not an object literal's prototype: a local may be called `__proto__`.
  const names = Object.create(null) as Names;
  for (const [name, { repr }] of locals) {
    if (source.includes(name)) names[name] = repr === null ? null : evaluable(repr);
  }
  return names;
}

/** Calls that the evaluation reads as values of builtin types. */
const builtinCalls = new Set(['range']);

/**
 * A value's text as Python syntax, with what is described or left out replaced: `__object__(x=1)` stands for
 * an object, `__type__()` for a class, `__unknown__` for what may be anything.
 */
function evaluable(text: string): string {
  const tape = readTape(text);
  const pieces: string[] = [];
  let written = 0;
  for (let node = 0; node < tape.length;) {
    const substitute = substituteFor(tape, node);
    if (substitute === null) {
      node++;
      continue;
    }
    pieces.push(text.slice(written, tape.start(node)), substitute.text);
    written = substitute.end;
    node = substitute.isWhole ? tape.after(node) : node + 1;
  }
  pieces.push(text.slice(written));
  return pieces.join('');
}

/** What stands for a node, up to an offset, and whether its parts are gone with it; null: the node itself. */
function substituteFor(tape: ReprTape, node: number): { text: string; end: number; isWhole: boolean } | null {
  if (tape.is(node, 'keyword')) return null;
  const whole = (text: string) => ({ text, end: tape.end(node), isWhole: true });
  switch (tape.kind(node)) {
    case 'opaque':
      return whole(tape.text.startsWith('<class ', tape.start(node)) ? '__type__()' : '__object__()');
    case 'cycle':
      return whole('__object__()');
    case 'malformed':
    case 'cut':
      return whole('__unknown__');
    case 'number':
    case 'string':
    case 'bytes':
      return tape.hidden(node) > 0 ? whole('__object__()') : null;
    case 'list':
    case 'tuple':
    case 'set':
    case 'frozenset':
    case 'dict':
      return hasGap(tape, node) ? whole('__object__()') : null;
    case 'call': {
      const name = callName(tape, node);
      if (builtinCalls.has(name)) return null;
      return { text: '__object__', end: tape.start(node) + name.length, isWhole: false };
    }
    case 'constant':
      return null;
  }
}

/** Whether a container leaves items out, or has an entry that cannot be read. */
function hasGap(tape: ReprTape, node: number): boolean {
  const container = tape.itemsOf(node);
  const isDict = tape.is(container, 'dict');
  for (
    let entry = container + 1;
    entry < tape.after(container);
    entry = tape.after(tape.valueOf(container, entry))
  ) {
    if (tape.is(entry, 'cut') || (isDict && tape.is(entry, 'malformed'))) return true;
  }
  return false;
}

/** The process that evaluates, for as long as it lasts. It is asked one thing at a time. */
class Helper {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #patience: number;
  #resolve: ((answer: Answer) => void) | null = null;
  #timer: NodeJS.Timeout | undefined;
  #id = 0;
  #isReady = false;
  #isRunning = true;

  constructor(python: Python) {
    this.#patience = python === pyodide ? patience.pyodide : patience.interpreter;
    this.#child = spawnPython(python, {
      script: resourcePath('expressions.py', './python/expressions.py'),
      options: ['-I'],
      folder: null,
      environment: environment(),
      memory,
      processorTime,
      errors: 'ignore',
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (cause) => {
        const name = python === pyodide ? 'Pyodide' : python;
        this.#end(`${name} could not be started: ${describeCause(cause)}`);
        resolve();
      });
      this.#child.once('close', () => {
        this.#end('the evaluation took too much time or memory');
        resolve();
      });
    });
    this.#child.stdin?.on('error', () => undefined);
    if (this.#child.stdout) {
      createInterface({ input: this.#child.stdout }).on('line', (line) => {
        this.#receive(line);
      });
    }
    // The answer shows that it has started, so that the time of the start is not that of the first question.
    this.#write({ kind: 'evaluate', expression: 'None', names: {} });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  async ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    const cancel = () => {
      this.#end('the evaluation was cancelled');
    };
    signal?.addEventListener('abort', cancel, { once: true });
    const answer = await new Promise<Answer>((resolve) => {
      this.#resolve = resolve;
      this.#id++;
      this.#write(question);
      this.#wait(this.#isReady ? this.#patience : startPatience);
    });
    clearTimeout(this.#timer);
    signal?.removeEventListener('abort', cancel);
    return answer;
  }

  async stop(): Promise<void> {
    this.#end('the evaluation has ended');
    await this.#ended;
  }

  #write(question: Question): void {
    this.#child.stdin?.write(`${JSON.stringify({ id: this.#id, ...question })}\n`);
  }

  #wait(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#end('the evaluation took too long');
    }, milliseconds);
  }

  #receive(line: string): void {
    const answer = parseAnswer(line);
    if (!this.#isReady && answer?.id === 0) {
      this.#isReady = true;
      if (this.#resolve) this.#wait(this.#patience);
      return;
    }
    if (answer?.id !== this.#id) {
      this.#end('the evaluation gave no answer');
      return;
    }
    this.#settle(answer);
  }

  #settle(answer: Answer): void {
    const resolve = this.#resolve;
    this.#resolve = null;
    resolve?.(answer);
  }

  /** Ends the process; a question that is open stays unknown, for this reason. */
  #end(reason: string): void {
    this.#isRunning = false;
    this.#child.kill('SIGKILL');
    this.#settle(unknown(reason));
  }
}

function parseAnswer(line: string): Answer | null {
  try {
    return answerSchema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}

/** Only what an interpreter needs to start. */
function environment(): NodeJS.ProcessEnv {
  const wanted = new Set([
    'PATH',
    'SYSTEMROOT',
    'TEMP',
    'TMP',
    'TMPDIR',
    'LD_LIBRARY_PATH',
    'DYLD_LIBRARY_PATH',
  ]);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => wanted.has(name.toUpperCase())));
}
