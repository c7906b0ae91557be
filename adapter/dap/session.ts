import { basename, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { type Configuration, parseConfiguration } from '../debugger/configuration';
import type { ForwardRequest } from '../debugger/stepping';
import type { Stop } from '../debugger/debugger';
import { type KeyFor, openDebugger, type Opened } from '../debugger/open';
import { type CatalogueError, errors } from '../errors';
import { exceptionParts } from '../python/repr';
import { lookUp } from '../python/valuePath';
import type { Value } from '../trajectory/state';
import type { StackEntry, Trajectory } from '../trajectory/trajectory';
import { describeWorld } from '../world/world';
import { capabilities } from './capabilities';
import { Progress } from './progress';
import {
  breakpointLocationsArguments,
  cancelArguments,
  evaluateArguments,
  initializeArguments,
  read,
  scopesArguments,
  setBreakpointsArguments,
  setExceptionBreakpointsArguments,
  stackTraceArguments,
  variablesArguments,
} from './requests';
import { AnswerFirst, type Handler, Router } from './router';
import { shortText, shownText } from '../shownText';
import { notPredicted, VariableStore } from './variables';

export interface SessionOptions {
  /** The key for an origin, or null. Without it no key is ever sent. */
  readonly keyFor?: KeyFor;
}

/** Where the session is in its life. */
type Phase = 'new' | 'initialized' | 'launching' | 'launched' | 'debugging' | 'ended';

/** Thread ids: the main thread has 1. */
const mainThread = 1;

/**
 * A debug session over the Debug Adapter Protocol. It routes requests; what they mean is the debugger's
 * business, and everything that is shown is read from the trajectory.
 */
export class NeuralDebugSession extends Router {
  #phase: Phase = 'new';
  #client = read(initializeArguments, {});
  #configuration: Configuration | null = null;
  #opened: Opened | null = null;
  #stop: Stop | null = null;
  #variables = new VariableStore();
  readonly #threadIds = new Map<string | null, number>([[null, mainThread]]);
  readonly #progress = new Progress((event, body) => {
    this.emitEvent(event, body);
  });

  protected override readonly quiet: ReadonlySet<string> = new Set([
    'stackTrace',
    'scopes',
    'variables',
    'evaluate',
    'exceptionInfo',
    'breakpointLocations',
    'loadedSources',
    'cancel',
    'threads',
  ]);

  protected override readonly handlers: Readonly<Record<string, Handler>> = {
    initialize: (args) => this.#initialize(args),
    launch: (args) => this.#launch(args),
    setBreakpoints: (args) => this.#setBreakpoints(args),
    setExceptionBreakpoints: (args) => this.#setExceptionBreakpoints(args),
    breakpointLocations: (args) => this.#breakpointLocations(args),
    configurationDone: () => this.#configurationDone(),
    threads: () => this.#threads(),
    stackTrace: (args) => this.#stackTrace(args),
    scopes: (args) => this.#scopes(args),
    variables: (args) => this.#variablesOf(args),
    evaluate: (args) => this.#evaluate(args),
    exceptionInfo: () => this.#exceptionInfo(),
    loadedSources: () => ({ sources: [this.#source(this.#debugger.trajectory)] }),
    next: () => this.#forward('next'),
    stepIn: () => this.#forward('stepIn'),
    stepOut: () => this.#forward('stepOut'),
    continue: () => this.#forward('continue'),
    stepBack: () => this.#back('stepBack'),
    reverseContinue: () => this.#back('reverseContinue'),
    pause: () => this.#pause(),
    cancel: (args) => this.#cancel(args),
    restart: (args) => this.#restart(args),
    terminate: () => this.#end(),
    disconnect: () => this.#end(),
  };

  constructor(private readonly options: SessionOptions = {}) {
    super();
  }

  override dispose(): void {
    void this.#close();
  }

  get #debugger(): Opened['debugger'] {
    if (this.#phase === 'ended') throw errors.sessionEnded();
    if (!this.#opened) throw errors.notLaunched();
    return this.#opened.debugger;
  }

  #initialize(args: unknown): object {
    if (this.#phase !== 'new') throw errors.requestOrder('initialize', 'the session was initialized before');
    this.#client = read(initializeArguments, args);
    this.#phase = 'initialized';
    return capabilities;
  }

  async #launch(args: unknown): Promise<AnswerFirst> {
    if (this.#phase === 'ended') throw errors.sessionEnded();
    if (this.#phase === 'new') throw errors.requestOrder('launch', 'initialize comes first');
    if (this.#phase !== 'initialized') throw errors.requestOrder('launch', 'the session was launched before');
    this.#phase = 'launching';
    try {
      this.#configuration = parseConfiguration(args);
      this.#opened = await this.#open(this.#configuration, null);
      this.#phase = 'launched';
    } catch (thrown) {
      this.#phase = 'initialized';
      throw thrown;
    }
    return new AnswerFirst(undefined, () => {
      this.emitEvent('initialized');
      return Promise.resolve();
    });
  }

  #open(configuration: Configuration, recorded: Trajectory | null): Promise<Opened> {
    const keyFor = this.options.keyFor ?? (() => Promise.resolve(null));
    const listener = {
      output: (text: string, isDerived: boolean) => {
        this.#output(isDerived ? 'predicted' : 'stdout', text);
      },
      progress: (states: number) => {
        this.#progress.update(states);
      },
    };
    return openDebugger(configuration, keyFor, listener, recorded);
  }

  #setBreakpoints(args: unknown): object {
    const { source, breakpoints } = read(setBreakpointsArguments, args);
    const { breakpoints: set, source: python, trajectory } = this.#debugger;
    if (this.#path(source.path) !== trajectory.program.path) {
      const message = 'This file is not part of what is predicted: calls into it are stepped over.';
      return { breakpoints: breakpoints.map(({ line }) => ({ verified: false, line, message })) };
    }
    const answers = breakpoints.map((asked): DebugProtocol.Breakpoint => {
      const line = this.#fromClient(asked.line);
      const actual = python.breakpointLine(line);
      if (actual === null) {
        return {
          verified: false,
          line: asked.line,
          message: 'No code on this line or after it in its block.',
        };
      }
      const moved =
        actual === line ? {} : { message: `Moved to line ${actual}: execution cannot stop on line ${line}.` };
      return {
        id: actual,
        verified: true,
        line: this.#toClient(actual),
        source: this.#source(trajectory),
        ...moved,
      };
    });
    set.setLines(
      answers.flatMap(({ id }, index) =>
        id === undefined ? [] : [{ line: id, condition: breakpoints[index]?.condition?.trim() || null }],
      ),
    );
    return { breakpoints: answers };
  }

  #setExceptionBreakpoints(args: unknown): object {
    const { filters } = read(setExceptionBreakpointsArguments, args);
    const { breakpoints } = this.#debugger;
    breakpoints.raised = filters.includes('raised');
    breakpoints.uncaught = filters.includes('uncaught');
    const known = new Set(['raised', 'uncaught']);
    return {
      breakpoints: filters.map((filter) =>
        known.has(filter)
          ? { verified: true }
          : { verified: false, message: `There is no filter "${filter}".` },
      ),
    };
  }

  #breakpointLocations(args: unknown): object {
    const { source, line, endLine } = read(breakpointLocationsArguments, args);
    const { source: python, trajectory } = this.#debugger;
    if (this.#path(source.path) !== trajectory.program.path) return { breakpoints: [] };
    const first = this.#fromClient(line);
    const last = endLine === undefined ? first : this.#fromClient(endLine);
    return {
      breakpoints: [...python.breakableLines]
        .filter((at) => at >= first && at <= last)
        .sort((a, b) => a - b)
        .map((at) => ({ line: this.#toClient(at) })),
    };
  }

  #configurationDone(): AnswerFirst {
    const { world } = this.#debugger;
    if (this.#phase !== 'launched') throw errors.requestOrder('configurationDone', 'it came before');
    this.#phase = 'debugging';
    return new AnswerFirst(undefined, async () => {
      const described = describeWorld(world.description);
      this.#output('console', `${described}.\n`);
      await this.#start();
      // The beginning may have shown which model, or which Python, answers.
      const answering = describeWorld(world.description);
      if (answering !== described) this.#output('console', `${answering}.\n`);
    });
  }

  async #start(): Promise<void> {
    await this.#run((opened) => opened.debugger.start(this.#configuration?.stopOnEntry ?? false));
    // A program whose beginning was never reached has no state to stay at.
    if (this.#phase === 'debugging' && !this.#stop) this.#terminate();
  }

  #forward(request: ForwardRequest): AnswerFirst {
    this.#whileStopped(request);
    const body = request === 'continue' ? { allThreadsContinued: true } : undefined;
    return new AnswerFirst(body, async () => {
      if (this.#stop?.reason === 'end') {
        this.#terminate();
        return;
      }
      await this.#run((opened) => opened.debugger.forward(request));
    });
  }

  async #back(request: 'stepBack' | 'reverseContinue'): Promise<AnswerFirst> {
    const opened = this.#whileStopped(request);
    const stop = await opened.debugger.back(request);
    return new AnswerFirst(undefined, () => {
      this.#show(stop);
      return Promise.resolve();
    });
  }

  #whileStopped(request: string): Opened {
    const opened = this.#opened;
    if (this.#debugger.isRunning) throw errors.stillPredicting();
    if (!opened || this.#phase !== 'debugging')
      throw errors.requestOrder(request, 'configurationDone comes first');
    if (!this.#stop) throw errors.requestOrder(request, 'the program has not stopped yet');
    return opened;
  }

  /** Lets the debugger go on, and shows where it stopped. A failure leaves the session where it was. */
  async #run(work: (opened: Opened) => Promise<Stop>): Promise<void> {
    const opened = this.#opened;
    if (!opened) return;
    if (this.#client.supportsProgressReporting) {
      this.#progress.start(describeWorld(opened.debugger.world.description));
    }
    try {
      const stop = await work(opened);
      if (this.#opened === opened) this.#show(stop);
    } catch (thrown) {
      if (this.#opened !== opened) return;
      throw thrown;
    } finally {
      this.#progress.end();
    }
  }

  protected override failed(error: CatalogueError): void {
    this.#output('important', `${error.message} ${error.wayOut}\n`);
    if (this.#phase !== 'debugging') return;
    if (!this.#stop) {
      this.#terminate();
      return;
    }
    this.emitEvent('stopped', {
      reason: 'pause',
      description: 'Prediction failed',
      text: `${error.message} ${error.wayOut}`,
      threadId: this.#threadOf(this.#stop.state),
      allThreadsStopped: true,
    });
  }

  #show(stop: Stop): void {
    if (this.#phase !== 'debugging') return;
    this.#variables = new VariableStore();
    const isEnd = stop.reason === 'end';
    for (const note of stop.notes) this.#output('console', `${note}\n`);
    if (isEnd && (stop.state < 0 || !this.#configuration?.stopAtEnd)) {
      this.#stop = stop;
      this.#terminate();
      return;
    }
    this.#stop = stop;
    this.#tellThreads(stop.state);
    const description = this.#describe(stop);
    this.emitEvent('stopped', {
      reason: stopReasons[stop.reason],
      description,
      threadId: this.#threadOf(stop.state),
      allThreadsStopped: true,
      ...(stop.reason === 'breakpoint'
        ? { hitBreakpointIds: [this.#debugger.trajectory.line(stop.state)] }
        : {}),
      ...(stop.reason === 'exception' ? { text: this.#argumentText(stop.state) } : {}),
    });
  }

  /** The stop in words. Whether it was predicted comes first: editors cut what is long. */
  #describe({ reason, state }: Stop): string {
    const { trajectory } = this.#debugger;
    const { confidence, doubt } = trajectory.prediction(state);
    const sure = confidence === null ? '' : `, ${Math.round(confidence * 100)}% sure`;
    const text = {
      entry: 'beginning',
      step: 'step',
      breakpoint: 'breakpoint',
      return: `returned ${this.#argumentText(state)}`,
      exception: `exception ${this.#argumentText(state)}`,
      budget: 'budget used up',
      pause: 'paused',
      end: trajectory.ending(state)?.how === 'cut' ? 'nothing is known beyond here' : 'end of the program',
    }[reason];
    const doubtful = doubt === null ? '' : `. Doubtful: ${doubt}`;
    return shortText(`${this.#isReal ? 'Real run' : 'Predicted'}: ${text}${sure}${doubtful}`, 500);
  }

  #argumentText(state: number): string {
    const argument = this.#debugger.trajectory.argument(state);
    return shortText(argument?.repr ?? notPredicted, 200);
  }

  #threads(): object {
    if (this.#phase === 'ended') return { threads: [] };
    const label = this.#isReal ? 'real run' : 'predicted';
    return {
      threads: [...this.#threadIds].map(([name, id]) => ({
        id,
        name: `${shownText(name ?? 'MainThread')} (${label})`,
      })),
    };
  }

  #tellThreads(state: number): void {
    for (const name of this.#debugger.trajectory.threads(state).keys()) {
      if (this.#threadIds.has(name)) continue;
      const threadId = this.#threadIds.size + 1;
      this.#threadIds.set(name, threadId);
      this.emitEvent('thread', { reason: 'started', threadId });
    }
  }

  #threadOf(state: number): number {
    const thread = state < 0 ? null : this.#debugger.trajectory.frame(state).thread;
    return this.#threadIds.get(thread) ?? mainThread;
  }

  #stackTrace(args: unknown): object {
    const { threadId, startFrame, levels } = read(stackTraceArguments, args);
    const { trajectory } = this.#debugger;
    const stop = this.#stopped('stackTrace');
    const thread = [...this.#threadIds].find(([, id]) => id === threadId);
    if (!thread) throw errors.requestArgument('threadId', `there is no thread ${threadId}`);
    const state = trajectory.threads(stop.state).get(thread[0]);
    const stack = state === undefined ? [] : trajectory.stack(state);
    const shown = stack.slice(startFrame, levels > 0 ? startFrame + levels : undefined);
    return {
      totalFrames: stack.length,
      stackFrames: shown.map((entry) => this.#stackFrame(trajectory, entry)),
    };
  }

  #stackFrame(trajectory: Trajectory, { frame, state }: StackEntry): DebugProtocol.StackFrame {
    const { doubt } = trajectory.prediction(state);
    return {
      id: state + 1,
      name: shownText(frame.function),
      line: this.#toClient(Math.max(1, trajectory.line(state))),
      column: this.#client.columnsStartAt1 ? 1 : 0,
      source: this.#source(trajectory),
      ...(doubt === null ? {} : { presentationHint: 'subtle' }),
    };
  }

  #scopes(args: unknown): object {
    const state = this.#frameState(read(scopesArguments, args).frameId, 'scopes');
    const { trajectory } = this.#debugger;
    const stop = this.#stopped('scopes');
    const label = this.#isReal ? 'real run' : 'predicted';
    const scopes: DebugProtocol.Scope[] = [];
    const known = trajectory.locals(state);
    const isOuter = state !== stop.state;
    if (known) {
      const asOf = isOuter || known.state !== state ? ` as of line ${trajectory.line(known.state)}` : '';
      scopes.push({
        name: `Locals${asOf} (${label})`,
        presentationHint: 'locals',
        variablesReference: this.#variables.locals(known.locals),
        namedVariables: known.locals.size,
        expensive: false,
      });
    }
    const results = isOuter ? new Map<string, Value>() : this.#results(stop);
    if (results.size > 0) {
      scopes.push({
        name: `Return values (${label})`,
        presentationHint: 'returnValue',
        variablesReference: this.#variables.values(results),
        namedVariables: results.size,
        expensive: false,
      });
    }
    return { scopes };
  }

  /** The values that were returned on the way to a stop, by what returned them. */
  #results(stop: Stop): Map<string, Value> {
    const { trajectory } = this.#debugger;
    const results = new Map<string, Value>();
    const add = (name: string, value: Value) => {
      const label = `${name}()`;
      let unique = label;
      for (let number = 2; results.has(unique); number++) unique = `${label} #${number}`;
      results.set(unique, value);
    };
    for (const { function: name, value } of stop.returned) add(name, value);
    const own = trajectory.argument(stop.state);
    if (own && trajectory.event(stop.state) === 'return') add(trajectory.frame(stop.state).function, own);
    return results;
  }

  #variablesOf(args: unknown): object {
    const { variablesReference, filter, start, count } = read(variablesArguments, args);
    this.#stopped('variables');
    const variables = this.#variables.variables(variablesReference, filter, start ?? 0, count ?? 0);
    if (!variables) throw errors.requestArgument('variablesReference', 'it is not, or no longer, known');
    return { variables };
  }

  async #evaluate(args: unknown): Promise<object> {
    const { expression, frameId, context } = read(evaluateArguments, args);
    const stop = this.#stopped('evaluate');
    const state = frameId === undefined ? stop.state : this.#frameState(frameId, 'evaluate');
    const locals = this.#debugger.trajectory.locals(state)?.locals ?? new Map<string, Value>();
    const known = lookUp(expression, locals);
    if (known?.repr) return this.#result(known.repr, context);
    if (context === 'hover') throw errors.notPredicted('it is no known value');
    const result = await this.#opened?.evaluator.evaluate(expression, locals);
    if (result?.kind === 'value') return this.#result(result.repr, context);
    if (result?.kind === 'raises') throw errors.expressionRaises(result.type, result.message);
    throw errors.notPredicted(result?.reason ?? 'the session is over');
  }

  #result(repr: string, context: string): object {
    if (context === 'clipboard' || context === 'variables') return { result: repr, variablesReference: 0 };
    const { value, type, variablesReference, indexedVariables, namedVariables } = this.#variables.variable(
      '',
      { repr, confidence: null },
      null,
    );
    return { result: value, type, variablesReference, indexedVariables, namedVariables };
  }

  #exceptionInfo(): object {
    const { trajectory } = this.#debugger;
    const { state, reason } = this.#stopped('exceptionInfo');
    if (trajectory.event(state) !== 'exception') throw errors.noException();
    const repr = trajectory.argument(state)?.repr;
    const { type, message } = exceptionParts(repr ?? 'Exception');
    const how = this.#isReal ? 'really raised' : 'predicted';
    return {
      exceptionId: shownText(type),
      description: shortText(`${message ?? ''} (${how})`.trim()),
      breakMode: reason === 'exception' && !this.#debugger.breakpoints.raised ? 'unhandled' : 'always',
    };
  }

  #pause(): object | undefined {
    this.#debugger.pause();
    return undefined;
  }

  #cancel(args: unknown): object | undefined {
    const { progressId } = read(cancelArguments, args);
    if (progressId !== undefined && progressId === this.#progress.id) this.#debugger.pause();
    return undefined;
  }

  async #restart(args: unknown): Promise<AnswerFirst> {
    const before = this.#debugger;
    if (this.#phase !== 'debugging') throw errors.requestOrder('restart', 'the program was not started yet');
    const given = typeof args === 'object' && args !== null && 'arguments' in args ? args.arguments : null;
    const configuration = given ? parseConfiguration(given) : this.#configuration;
    if (!configuration) throw errors.notLaunched();
    const recorded = before.world.description.kind === 'reference' ? null : before.trajectory;
    const opened = await this.#open(configuration, recorded);
    if (this.#opened?.debugger !== before) {
      await close(opened);
      throw errors.sessionEnded();
    }
    const { raised, uncaught, lineBreakpoints } = before.breakpoints;
    opened.debugger.breakpoints.setLines(lineBreakpoints);
    Object.assign(opened.debugger.breakpoints, { raised, uncaught });
    await this.#close();
    this.#opened = opened;
    this.#configuration = configuration;
    this.#stop = null;
    return new AnswerFirst(undefined, () => this.#start());
  }

  /** Ends the session: what runs is stopped first, the rest is cleaned up after the answer. */
  #end(): AnswerFirst {
    const wasDebugging = this.#phase === 'debugging';
    this.#opened?.debugger.pause();
    this.#phase = 'ended';
    return new AnswerFirst(undefined, async () => {
      if (wasDebugging) this.emitEvent('terminated');
      await this.#close();
      this.emit('ended');
    });
  }

  #terminate(): void {
    this.#phase = 'ended';
    this.emitEvent('terminated');
    void this.#close();
  }

  async #close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    if (opened) await close(opened);
  }

  #stopped(request: string): Stop {
    if (this.#debugger.isRunning || !this.#stop)
      throw errors.requestOrder(request, 'the program is not stopped');
    return this.#stop;
  }

  #frameState(frameId: number, request: string): number {
    const stop = this.#stopped(request);
    const { trajectory } = this.#debugger;
    const state = frameId - 1;
    const isOpen = [...trajectory.threads(stop.state).values()].some((top) =>
      trajectory.stack(top).some((entry) => entry.state === state),
    );
    if (!isOpen) throw errors.requestArgument('frameId', 'it is not a frame of the current stop');
    return state;
  }

  /** Whether the values come from a real run. */
  get #isReal(): boolean {
    return this.#opened?.debugger.world.description.isReal ?? false;
  }

  #output(category: 'console' | 'stdout' | 'important' | 'predicted', text: string): void {
    const isPredicted = category === 'predicted';
    // What nobody wrote, but would have been written, must not look like output.
    const output = isPredicted ? text.replace(/^(?=.)/gm, 'predicted output: ') : text;
    const shown = output.split('\n').map(shownText).join('\n');
    this.emitEvent('output', {
      category: isPredicted ? 'stdout' : category,
      output: shown.endsWith('\n') || !isPredicted ? shown : `${shown}\n`,
    });
  }

  #source(trajectory: Trajectory): DebugProtocol.Source {
    const { path } = trajectory.program;
    return {
      name: basename(path),
      path: this.#client.pathFormat === 'uri' ? pathToFileURL(path).href : path,
    };
  }

  #path(given: string | undefined): string | null {
    if (given === undefined) return null;
    return resolve(given.startsWith('file:') ? fileURLToPath(given) : given);
  }

  #toClient(line: number): number {
    return this.#client.linesStartAt1 ? line : line - 1;
  }

  #fromClient(line: number): number {
    return this.#client.linesStartAt1 ? line : line + 1;
  }
}

async function close(opened: Opened): Promise<void> {
  await opened.debugger.close();
  await opened.evaluator.close();
}

const stopReasons: Readonly<Record<Stop['reason'], string>> = {
  entry: 'entry',
  step: 'step',
  breakpoint: 'breakpoint',
  return: 'step',
  exception: 'exception',
  budget: 'pause',
  pause: 'pause',
  end: 'pause',
};
