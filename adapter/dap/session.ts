import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeUsage, noUsage } from '../completion/usage';
import { type Configuration, parseConfiguration } from '../debugger/configuration';
import type { Logged } from '../debugger/breakpoints';
import type { Debugger } from '../debugger/debugger';
import type { Stop } from '../debugger/stop';
import { type KeyFor, openDebugger, type Opened, openReference } from '../debugger/open';
import { jump, restartFrame, setValue, switchBranch } from '../debugger/moving';
import type { ForwardRequest } from '../debugger/stepping';
import { describeChange } from '../debugger/whatIf';
import { asCatalogueError, type CatalogueError, errors, errorText } from '../errors';
import { shownText } from '../shownText';
import type { Trajectory } from '../trajectory/trajectory';
import { describeWorld } from '../world/world';
import { alternatives } from './alternativesRequest';
import { BreakpointIds } from './breakpointIds';
import {
  type BreakpointContext,
  breakpointLocations,
  setBreakpoints,
  setDataBreakpoints,
  setFunctionBreakpoints,
} from './breakpointRequests';
import { capabilitiesFor } from './capabilities';
import { Client } from './client';
import { setExceptionBreakpoints } from './exceptionFilters';
import { type Failed, Health } from './health';
import { inlineValuesOf } from './inlineValues';
import { Introduction } from './introduction';
import { LaunchedText, type OpenedText } from './launchedText';
import { OutputEvents } from './outputEvents';
import { carriesToken } from './peer';
import { Progress } from './progress';
import { reconnected } from './reconnect';
import { quietRequests } from './quietRequests';
import { recording, type RecordingAnswer } from './recordingRequest';
import {
  cancelArguments,
  editorTextArguments,
  gotoArguments,
  read,
  reconnectArguments,
  restartFrameArguments,
  sampleAgainArguments,
  setExpressionArguments,
  setVariableArguments,
  stepInArguments,
  switchBranchArguments,
} from './requests';
import { AnswerFirst, type Handler, Router } from './router';
import { comparisonBody, origin, stateAsPython, stateToGoTo, stateTree, treeNode } from './stateTreeRequests';
import { kindOfValues, StopView } from './stopView';
import { Threads } from './threads';
import { UsageEvents } from './usageEvents';
import { obeyTyped, type TypedChange, typedChange } from './typedChanges';
import {
  branches,
  capabilitiesIn,
  checkedCount,
  gotoTargets,
  runBackTo,
  samplesAnswer,
} from './whatIfRequests';

export interface SessionOptions {
  /** The key for an origin, or null. Without it no key is ever sent. */
  readonly keyFor?: KeyFor;
  /** What `launch` has to carry as `token`; null where whoever speaks to the session may. */
  readonly token?: string | null;
  /** Whether who made the session shows people what failed, from the event `neuralDebug/health`. */
  readonly showsFailures?: boolean;
}

/** Milliseconds between two events of which an editor has to have taken in the first one before the other. */
const momentBetweenEvents = 30;

/** Where the session is in its life. */
type Phase = 'new' | 'initialized' | 'launching' | 'launched' | 'debugging' | 'ended';

/**
 * A debug session over the Debug Adapter Protocol. It routes requests; what they mean is the debugger's
 * business, and everything that is shown is read from the trajectory.
 */
export class NeuralDebugSession extends Router {
  #phase: Phase = 'new';
  /** Whether a step was accepted that begins once it is answered. */
  #isAboutToRun = false;
  /** Whether someone paused what was only about to run. */
  #isPausedBefore = false;
  /** Whether the client was told of the end: nothing happens after that. */
  #hasToldEnd = false;
  /** Whether the client was told that the world can be edited. */
  #canBeEdited = false;
  /** Whether the thread was told to go on by a request that shows a stop, and none was shown since. */
  #owesStop = false;
  #client = new Client({});
  #configuration: Configuration | null = null;
  /** World and server as the editor gave them last. */
  #asGiven = '';
  #opened: OpenedText | null = null;
  /** How many texts were launched: a restart may have another one. */
  #texts = 0;
  /** What was opened last, for what is asked once it was closed. */
  #newest: Opened['debugger'] | null = null;
  /** The newest stop. */
  #view: StopView | null = null;
  readonly #threads = new Threads();
  readonly #breakpointIds = new BreakpointIds();
  readonly #progress = new Progress((event, body) => {
    this.emitEvent(event, body);
  });
  readonly #outputs = new OutputEvents(
    (body) => {
      this.emitEvent('output', body);
    },
    () => this.#client,
    (path) => this.#opened?.text.sourceFor(this.#client) ?? this.#client.sourceOf(path),
  );
  readonly #introduction = new Introduction((text) => {
    this.#outputs.tell('console', text);
  });
  readonly #usage = new UsageEvents((event, body) => {
    this.emitEvent(event, body);
  });
  readonly #health = new Health((event, body) => {
    this.emitEvent(event, body);
  });

  protected override readonly quiet = quietRequests;

  protected override readonly handlers: Readonly<Record<string, Handler>> = {
    initialize: (args) => this.#initialize(args),
    launch: (args) => this.#launch(args),
    setBreakpoints: (args) => setBreakpoints(this.#breakpointContext, args),
    setFunctionBreakpoints: (args) => setFunctionBreakpoints(this.#breakpointContext, args),
    setDataBreakpoints: (args) => setDataBreakpoints(this.#breakpointContext, args),
    dataBreakpointInfo: (args) => this.#stopped('dataBreakpointInfo').dataBreakpointInfo(args),
    setExceptionBreakpoints: (args) => setExceptionBreakpoints(this.#debugger, args),
    breakpointLocations: (args) => breakpointLocations(this.#debugger, this.#client, args),
    configurationDone: () => this.#configurationDone(),
    threads: () => ({
      threads: this.#phase === 'ended' ? [] : this.#threads.list(kindOfValues(this.#debugger)),
    }),
    stackTrace: (args) => this.#stopped('stackTrace').stackTrace(args),
    scopes: (args) => this.#stopped('scopes').scopes(args),
    variables: (args, signal) => {
      const view = this.#stopped('variables');
      return this.#questioned(() => view.variables(args, signal));
    },
    evaluate: (args, signal) => this.#evaluate(args, signal),
    'neuralDebug/value': (args) => this.#stopped('neuralDebug/value').wholeValue(args),
    'neuralDebug/stateTree': (args) => stateTree(this.#known('neuralDebug/stateTree'), this.#client, args),
    'neuralDebug/treeNode': (args) => treeNode(this.#known('neuralDebug/treeNode'), this.#client, args),
    'neuralDebug/wholeState': (args) => stateAsPython(this.#known('neuralDebug/wholeState'), args),
    'neuralDebug/origin': (args) => origin(this.#known('neuralDebug/origin'), this.#client, args),
    'neuralDebug/inlineValues': (args) =>
      inlineValuesOf(this.#known('neuralDebug/inlineValues'), this.#client, args),
    'neuralDebug/about': () => this.#about(),
    'neuralDebug/goToState': (args) =>
      this.#moveTo('neuralDebug/goToState', ({ debugger: session }) =>
        session.goTo(stateToGoTo(session, args)),
      ),
    'neuralDebug/compare': () => this.#compare(),
    'neuralDebug/recording': (args) => this.#recording(args),
    'neuralDebug/reconnect': (args) => this.#reconnect(args),
    exceptionInfo: () => this.#stopped('exceptionInfo').exceptionInfo(),
    loadedSources: () => ({ sources: [this.#text.sourceFor(this.#client)] }),
    source: () => this.#text.content,
    'neuralDebug/editorText': (args) => this.#edited(args),
    next: () => this.#forward('next'),
    stepIn: (args) => this.#forward('stepIn', read(stepInArguments, args).targetId),
    stepInTargets: (args) => this.#stopped('stepInTargets').stepInTargets(args),
    completions: (args) => this.#stopped('completions').completions(args),
    stepOut: () => this.#forward('stepOut'),
    setVariable: (args) => this.#setVariable(args),
    setExpression: (args) => this.#setExpression(args),
    gotoTargets: (args) => gotoTargets(this.#whileStopped('gotoTargets'), this.#client, args),
    goto: (args) =>
      this.#moveTo('goto', ({ debugger: session }) => jump(session, read(gotoArguments, args).targetId)),
    'neuralDebug/runBackTo': (args) =>
      this.#moveTo('neuralDebug/runBackTo', (opened) => runBackTo(opened, this.#client, args)),
    restartFrame: (args) =>
      this.#moveTo('restartFrame', ({ debugger: session }, view) =>
        restartFrame(session, view.stateOf(read(restartFrameArguments, args).frameId)),
      ),
    'neuralDebug/branches': () => branches(this.#whileStopped('neuralDebug/branches').debugger, this.#client),
    'neuralDebug/switchBranch': (args) =>
      this.#moveTo('neuralDebug/switchBranch', ({ debugger: session }) =>
        switchBranch(session, read(switchBranchArguments, args).branch),
      ),
    'neuralDebug/sampleAgain': (args) => this.#sampleAgain(args),
    'neuralDebug/alternatives': (args) =>
      this.#sampling('neuralDebug/alternatives', ({ debugger: session }) =>
        alternatives(session, this.#stopped('neuralDebug/alternatives'), this.#client, args),
      ),
    continue: () => this.#forward('continue'),
    stepBack: () => this.#back('stepBack'),
    reverseContinue: () => this.#back('reverseContinue'),
    pause: () => this.#pause(),
    cancel: (args) => this.#cancel(args),
    restart: (args) => this.#restart(args),
    terminate: () => this.#end(),
    disconnect: () => {
      const { body, work } = this.#end();
      return new AnswerFirst(body, () => work().finally(() => this.emit('ended')));
    },
  };

  constructor(private readonly options: SessionOptions = {}) {
    super();
  }

  override dispose(): void {
    void this.#close();
  }

  /** What the request `neuralDebug/recording` does, for whoever has the session in its own process. */
  record(path: string, mostStates: number): Promise<RecordingAnswer> {
    return this.#recording({ path, mostStates });
  }

  get #debugger(): Opened['debugger'] {
    return this.#openedNow.debugger;
  }

  get #openedNow(): OpenedText {
    if (this.#phase === 'ended') throw errors.sessionEnded();
    if (!this.#opened) throw errors.notLaunched();
    return this.#opened;
  }

  get #breakpointContext(): BreakpointContext {
    return { session: this.#debugger, client: this.#client, ids: this.#breakpointIds, text: this.#text };
  }

  /** The text that is predicted. */
  get #text(): LaunchedText {
    if (!this.#opened) throw errors.notLaunched();
    return this.#opened.text;
  }

  /** An editor tells what it has of the program that is not saved. What is predicted stays as it is. */
  #edited(args: unknown): object {
    this.#text.edited(read(editorTextArguments, args).text);
    this.#tellChange();
    return { hasChanged: this.#text.hasChanged };
  }

  /** Says once that the program's text is not what it was, and what that means. */
  #tellChange(): void {
    const text = this.#opened?.text;
    if (!text?.tellsChange()) return;
    const { path } = this.#debugger.trajectory.program;
    this.#outputs.tell(
      'console',
      `${basename(path)} has changed since the session began. What is shown is the text as of launch; a restart takes the new one.\n`,
    );
  }

  #initialize(args: unknown): object {
    if (this.#phase !== 'new') throw errors.requestOrder('initialize', 'the session was initialized before');
    this.#client = new Client(args);
    this.#phase = 'initialized';
    return capabilitiesFor(this.#client);
  }

  async #launch(args: unknown): Promise<AnswerFirst> {
    if (this.#phase === 'ended') throw errors.sessionEnded();
    if (this.#phase === 'new') throw errors.requestOrder('launch', 'initialize comes first');
    if (this.#phase !== 'initialized') throw errors.requestOrder('launch', 'the session was launched before');
    const { token } = this.options;
    if (token && !carriesToken(args, token)) throw errors.adapterToken();
    this.#phase = 'launching';
    let opened: OpenedText;
    try {
      this.#configuration = parseConfiguration(args);
      this.#asGiven = JSON.stringify([this.#configuration.world, this.#configuration.server]);
      opened = await this.#open(this.#configuration, null);
    } catch (thrown) {
      if (this.#isLaunching) this.#phase = 'initialized';
      throw thrown;
    }
    if (!this.#isLaunching) {
      await close(opened);
      throw errors.sessionEnded();
    }
    this.#opened = opened;
    this.#phase = 'launched';
    return new AnswerFirst(undefined, () => {
      this.#tellCapabilities(opened);
      this.emitEvent('initialized');
      return Promise.resolve();
    });
  }

  /** Whether nothing has ended the session since it was launched. */
  get #isLaunching(): boolean {
    return this.#phase === 'launching';
  }

  async #open(configuration: Configuration, recorded: Trajectory | null): Promise<OpenedText> {
    const keyFor = this.options.keyFor ?? (() => Promise.resolve(null));
    const listener = {
      output: (text: string, isDerived: boolean) => {
        this.#introduction.end();
        this.#outputs.printed(text, opened.debugger.world.description.isReal, isDerived);
      },
      logged: (logged: Logged) => {
        this.#introduction.end();
        this.#outputs.logged(logged, opened.debugger);
      },
      progress: (states: number) => {
        this.#health.arrived();
        this.#introduction.arrived();
        this.#progress.update(states);
      },
    };
    const opened: Opened = await openDebugger(configuration, keyFor, listener, recorded);
    this.#newest = opened.debugger;
    return { ...opened, text: new LaunchedText(opened.debugger.trajectory.program, ++this.#texts) };
  }

  #configurationDone(): AnswerFirst {
    const { world } = this.#debugger;
    if (this.#phase !== 'launched') throw errors.requestOrder('configurationDone', 'it came before');
    this.#phase = 'debugging';
    return new AnswerFirst(undefined, async () => {
      this.#introduction.begin(world);
      for (const note of this.#opened?.notes ?? []) this.#outputs.tell('console', `${note}\n`);
      await this.#start();
    });
  }

  async #start(): Promise<void> {
    const begun = this.#opened;
    const stopOnEntry = this.#takePause() || (this.#configuration?.stopOnEntry ?? false);
    await this.#run((opened) => opened.debugger.start(stopOnEntry));
    // A program whose beginning was never reached has no state to stay at. One that was restarted meanwhile may reach it.
    if (this.#opened === begun && this.#phase === 'debugging' && !this.#view) this.#terminate();
  }

  #forward(request: ForwardRequest, targetId?: number): AnswerFirst {
    this.#whileStopped(request);
    const target = targetId === undefined ? null : (this.#view?.stepTarget(targetId) ?? null);
    const body = request === 'continue' ? { allThreadsContinued: true } : undefined;
    // Another request may be there before this one is answered.
    this.#isAboutToRun = true;
    return new AnswerFirst(body, async () => {
      this.#isAboutToRun = false;
      if (this.#view?.stop.reason === 'end') {
        this.#terminate();
        return;
      }
      if (this.#takePause()) this.#showCursor();
      else await this.#run((opened) => opened.debugger.forward(request, target));
    });
  }

  async #back(request: 'stepBack' | 'reverseContinue'): Promise<AnswerFirst> {
    const opened = this.#whileStopped(request);
    const stop = await opened.debugger.back(request);
    return new AnswerFirst(undefined, () => this.#showIfStillThere(opened, stop));
  }

  /** The debugger, once there is something to look at. Looking does not wait for a prediction. */
  #known(request: string): Debugger {
    if (!this.#view) throw errors.requestOrder(request, 'the program has not stopped yet');
    return this.#debugger;
  }

  /** What answers, for people, and where the session stands. A name may be known in full only after an answer. */
  #about(): object {
    const { world, cursor } = this.#debugger;
    const { kind, name, isReal } = world.description;
    const words = shownText(describeWorld({ kind, name, isReal }));
    return { kind, isReal, words, name: shownText(name), state: cursor, health: this.#health.now };
  }

  /** Answers a request that puts the cursor somewhere else. */
  async #moveTo(
    request: string,
    move: (opened: OpenedText, view: StopView) => Promise<Stop>,
  ): Promise<AnswerFirst> {
    const opened = this.#whileStopped(request);
    const stop = await move(opened, this.#stopped(request));
    if (request.startsWith('neuralDebug/')) await this.#tellContinued(opened, stop);
    return new AnswerFirst(undefined, () => this.#showIfStillThere(opened, stop));
  }

  /** Really runs the program beside the prediction: the request itself is the consent, which its sender asked for. */
  async #compare(): Promise<AnswerFirst> {
    const opened = this.#whileStopped('neuralDebug/compare');
    const session = opened.debugger;
    const configuration = this.#configuration;
    if (!configuration) throw errors.notLaunched();
    const { program } = session.trajectory;
    this.#outputs.tell('console', `Really running ${program.path}, to compare the prediction with it.\n`);
    const compare = () => session.compare(() => openReference(configuration, program));
    const summary = await compare().finally(() => {
      this.#settle();
    });
    const body = comparisonBody(session, this.#client, summary);
    // The stop's text says how sure the state is, too.
    const stop = this.#view && { ...this.#view.stop, notes: [] };
    if (stop) await this.#tellContinued(opened, stop);
    return new AnswerFirst(body, () => (stop ? this.#showIfStillThere(opened, stop) : Promise.resolve()));
  }

  async #setVariable(args: unknown): Promise<AnswerFirst> {
    const { variablesReference, name, value } = read(setVariableArguments, args);
    const view = this.#stopped('setVariable');
    const { state, path } = view.placeOfRow(variablesReference, name);
    return this.#setValue('setVariable', state, path, value);
  }

  async #setExpression(args: unknown): Promise<AnswerFirst> {
    const { expression, value, frameId } = read(setExpressionArguments, args);
    return this.#setValue(
      'setExpression',
      this.#stopped('setExpression').stateOf(frameId),
      expression,
      value,
    );
  }

  async #setValue(request: string, state: number, target: string, value: string): Promise<AnswerFirst> {
    const opened = this.#whileStopped(request);
    const stop = await setValue(opened, state, target, value);
    const view = new StopView(opened, stop, this.#client, this.#threads);
    const answer = await view.valueSet(target);
    this.#view = view;
    return new AnswerFirst(answer, () => {
      this.#outputs.tell(
        'console',
        `${describeChange(opened.debugger.trajectory, stop.state) ?? 'unchanged'}\n`,
      );
      this.#invalidate(view);
      return Promise.resolve();
    });
  }

  /** Commands of the debug console that change something are the session's, all else is the stop's to answer. */
  #evaluate(args: unknown, signal: AbortSignal): Promise<object> {
    const view = this.#stopped('evaluate');
    const typed = typedChange(args);
    return typed ? this.#obey(typed, view) : this.#questioned(() => view.evaluate(args, signal));
  }

  async #obey(typed: TypedChange, before: StopView): Promise<AnswerFirst> {
    const opened = this.#whileStopped('evaluate');
    if (typed.isAsked && this.#client.showsProgress)
      this.#progress.start(describeWorld(opened.debugger.world.description));
    const obey = () => obeyTyped(typed, opened, before.stateOf(typed.frameId));
    const { result, stop } = await this.#questioned(obey).finally(() => {
      this.#progress.end();
      if (typed.isAsked) this.#usage.tell(opened.debugger.world);
    });
    if (stop && !typed.staysInPlace) await this.#tellContinued(opened, stop);
    return new AnswerFirst({ result, variablesReference: 0 }, () => {
      if (stop && !typed.staysInPlace) return this.#showIfStillThere(opened, stop);
      if (stop) {
        this.#view = new StopView(opened, stop, this.#client, this.#threads);
        this.#invalidate(this.#view);
      } else if (typed.isAsked && this.#view) this.#invalidate(this.#view);
      return Promise.resolve();
    });
  }

  #sampleAgain(args: unknown): Promise<AnswerFirst> {
    const count = checkedCount(read(sampleAgainArguments, args).count);
    return this.#sampling('neuralDebug/sampleAgain', async ({ debugger: session }) =>
      samplesAnswer(session, this.#client, await session.sampleAgain(count)),
    );
  }

  /** Answers a request that asks the world for samples, of which what is shown may become surer. */
  async #sampling(request: string, sample: (opened: Opened) => Promise<object>): Promise<AnswerFirst> {
    const opened = this.#whileStopped(request);
    const { world } = opened.debugger;
    if (this.#client.showsProgress) this.#progress.start(describeWorld(world.description));
    const answer = await this.#questioned(() => sample(opened)).finally(() => {
      this.#progress.end();
      this.#usage.tell(world);
    });
    return new AnswerFirst(answer, () => {
      if (this.#view) this.#invalidate(this.#view);
      return Promise.resolve();
    });
  }

  /** Follows work whose failure is the request's, and what it says of what answers. */
  async #questioned<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#health.watch(this.#debugger.world, work);
    } catch (thrown) {
      this.#health.failed(asCatalogueError(thrown), 'question');
      throw thrown;
    } finally {
      this.#settle();
    }
  }

  /** Lets another server, or the same one with another key, go on from the current state. */
  async #reconnect(args: unknown): Promise<AnswerFirst> {
    const before = this.#whileStopped('neuralDebug/reconnect');
    const { server } = parseConfiguration(read(reconnectArguments, args));
    if (!this.#configuration) throw errors.notLaunched();
    const configuration: Configuration = { ...this.#configuration, world: 'server', server };
    const opened = await reconnected(before, configuration, (one, recorded) => this.#open(one, recorded));
    await this.#replace(before, opened, configuration);
    return new AnswerFirst(undefined, () => {
      this.#outputs.tell('console', `${describeWorld(opened.debugger.world.description)}.\n`);
      this.#showCursor();
      return Promise.resolve();
    });
  }

  /** Goes on with what was opened, unless the session has ended meanwhile. */
  async #replace(before: OpenedText, opened: OpenedText, configuration: Configuration): Promise<void> {
    if (this.#opened !== before) {
      await close(opened);
      throw errors.sessionEnded();
    }
    this.#opened = opened;
    this.#configuration = configuration;
    this.#view = null;
    this.#isAboutToRun = false;
    this.#isPausedBefore = false;
    this.#health.forget();
    await close(before);
  }

  /** Tells that what is shown has changed where the program stands. */
  #invalidate(view: StopView): void {
    if (this.#client.takesInvalidated) this.emitEvent('invalidated', { areas: ['all'] });
    else this.#tellStopped(view.event);
  }

  #whileStopped(request: string): OpenedText {
    const opened = this.#opened;
    if (this.#debugger.isRunning || this.#isAboutToRun) throw errors.stillPredicting();
    if (!opened || this.#phase !== 'debugging')
      throw errors.requestOrder(request, 'configurationDone comes first');
    if (!this.#view) throw errors.requestOrder(request, 'the program has not stopped yet');
    return opened;
  }

  /** Lets the debugger go on, and shows where it stopped. A failure leaves the session where it was. */
  async #run(work: (opened: Opened) => Promise<Stop>): Promise<void> {
    const opened = this.#opened;
    if (!opened) return;
    if (this.#client.showsProgress) {
      this.#progress.start(describeWorld(opened.debugger.world.description));
    }
    try {
      const stop = await this.#health.watch(opened.debugger.world, () => work(opened));
      if (this.#opened === opened) this.#show(stop);
    } catch (thrown) {
      if (this.#opened !== opened) return;
      throw thrown;
    } finally {
      this.#progress.end();
      this.#usage.tell(opened.debugger.world);
    }
  }

  protected override failed(error: CatalogueError): void {
    // The beginning may have been reached before, also by the session that this one was restarted from.
    if (this.#phase === 'debugging') this.#view ??= this.#viewOfCursor();
    this.#introduction.end();
    const during: Failed = this.#view ? 'step' : 'start';
    const isShown = this.#health.failed(error, during) && this.options.showsFailures;
    this.#outputs.tell(isShown ? 'stderr' : 'important', `${errorText(error)}\n`);
    if (this.#phase !== 'debugging') return;
    if (!this.#view) {
      this.#terminate();
      return;
    }
    this.#tellStopped({
      reason: 'pause',
      description: 'Prediction failed',
      text: shownText(errorText(error)),
      threadId: this.#view.threadId,
      allThreadsStopped: true,
    });
  }

  #show(stop: Stop): void {
    const opened = this.#opened;
    if (!opened || this.#phase !== 'debugging') return;
    this.#introduction.end();
    for (const note of stop.notes) this.#outputs.tell('console', `${note}\n`);
    if (stop.reason === 'doubt') this.#outputs.doubted(stop, opened.debugger);
    opened.text.check();
    this.#tellChange();
    this.#view = new StopView(opened, stop, this.#client, this.#threads);
    if (stop.state < 0) {
      this.#outputs.tell('console', 'The program’s beginning was not reached: the session ends.\n');
    }
    if (stop.state < 0 || (stop.reason === 'end' && !this.#configuration?.stopAtEnd)) {
      this.#terminate();
      return;
    }
    this.#tellThreads(opened, stop.state);
    this.#tellStopped(this.#view.event);
  }

  /**
   * Tells that the thread goes on, before the answer to a request of which the protocol does not say so. Editors keep
   * the last stop's text until they hear that, and VS Code does not when the next stop comes in the same moment.
   */
  async #tellContinued(opened: OpenedText, stop: Stop): Promise<void> {
    if (this.#opened?.debugger !== opened.debugger || this.#phase !== 'debugging') return;
    const threadId = this.#view?.threadId ?? 1;
    // What is asked for from now on is about the state where the debugger is.
    this.#view = new StopView(opened, stop, this.#client, this.#threads);
    this.#owesStop = true;
    this.emitEvent('continued', { threadId, allThreadsContinued: true });
    await sleep(momentBetweenEvents);
  }

  #tellStopped(body: object): void {
    this.#owesStop = false;
    this.emitEvent('stopped', body);
  }

  /** Shows a stop, or where the debugger is where another request has gone somewhere else meanwhile. */
  #showIfStillThere({ debugger: session }: Opened, stop: Stop): Promise<void> {
    if (this.#opened?.debugger === session && !session.isRunning) {
      if (session.cursor === stop.state) this.#show(stop);
      else this.#settle();
    }
    return Promise.resolve();
  }

  /** Shows where the debugger is, if the thread was told to go on and no stop was shown since. */
  #settle(): void {
    if (this.#owesStop && this.#opened?.debugger.isRunning === false) this.#showCursor();
  }

  /** Shows where the debugger is. */
  #showCursor(): void {
    if (this.#phase !== 'debugging') return;
    this.#view = this.#viewOfCursor();
    if (this.#view) this.#tellStopped(this.#view.event);
  }

  #tellThreads({ debugger: { trajectory } }: Opened, state: number): void {
    for (const threadId of this.#threads.add(trajectory.threads(state).keys())) {
      this.emitEvent('thread', { reason: 'started', threadId });
    }
  }

  /** The stop at the state where the debugger is; null before the program's beginning. */
  #viewOfCursor(): StopView | null {
    const opened = this.#opened;
    const state = opened?.debugger.cursor ?? -1;
    if (!opened || state < 0) return null;
    this.#tellThreads(opened, state);
    const stop: Stop = { reason: 'pause', state, returned: [], notes: [], why: null, hits: [] };
    return new StopView(opened, stop, this.#client, this.#threads);
  }

  /** Also after the end, for what was predicted is worth keeping then. */
  async #recording(args: unknown): Promise<RecordingAnswer> {
    if (!this.#newest) throw errors.notLaunched();
    return recording(this.#newest, args);
  }

  #pause(): object | undefined {
    this.#debugger.pause();
    this.#isPausedBefore = this.#isAboutToRun || this.#isAboutToStart;
    this.#settle();
    return undefined;
  }

  /** Whether the program's beginning is about to be predicted. */
  get #isAboutToStart(): boolean {
    return this.#phase === 'debugging' && !this.#view && !this.#debugger.isRunning;
  }

  /** Whether what begins now was paused before it did. */
  #takePause(): boolean {
    const isPaused = this.#isPausedBefore;
    this.#isPausedBefore = false;
    return isPaused;
  }

  #cancel(args: unknown): object | undefined {
    const { progressId, requestId } = read(cancelArguments, args);
    if (requestId !== undefined) this.cancelRequest(requestId);
    if (progressId !== undefined && progressId === this.#progress.id) this.#debugger.pause();
    return undefined;
  }

  async #restart(args: unknown): Promise<AnswerFirst> {
    const before = this.#openedNow;
    const { text } = before;
    text.check();
    if (this.#phase !== 'debugging') throw errors.requestOrder('restart', 'the program was not started yet');
    const given = typeof args === 'object' && args !== null && 'arguments' in args ? args.arguments : null;
    const configuration = given ? this.#configurationAgain(parseConfiguration(given)) : this.#configuration;
    if (!configuration) throw errors.notLaunched();
    const { kind } = before.debugger.world.description;
    const wanted = configuration.world ?? (configuration.server ? 'server' : null);
    const isSameRecording = configuration.recording === this.#configuration?.recording;
    // A real run, or a recording, shows its own states only; another model may go on with a record.
    const isKept = kind !== 'reference' && kind === wanted && isSameRecording;
    const opened = await this.#open(configuration, isKept ? before.debugger.trajectory : null);
    const { breakpoints } = before.debugger;
    opened.debugger.breakpoints.takeOver(breakpoints);
    opened.debugger.breakpoints.setLines(text.inTextNow(breakpoints.lineBreakpoints));
    await this.#replace(before, opened, configuration);
    for (const threadId of this.#threads.forget()) this.emitEvent('thread', { reason: 'exited', threadId });
    this.#tellCapabilities(opened);
    return new AnswerFirst(undefined, () => this.#start());
  }

  /** Tells what can be done in the world that answers, where that is not what the client knows. */
  #tellCapabilities({ debugger: { world } }: Opened): void {
    if (world.canBeEdited === this.#canBeEdited) return;
    this.#canBeEdited = world.canBeEdited;
    this.emitEvent('capabilities', { capabilities: capabilitiesIn(world) });
  }

  /** Editors restart with what they launched: where another server was connected since, that one stays. */
  #configurationAgain(given: Configuration): Configuration {
    const asked = JSON.stringify([given.world, given.server]);
    const isAsLaunched = asked === this.#asGiven;
    this.#asGiven = asked;
    const now = this.#configuration;
    return now && isAsLaunched ? { ...given, world: now.world, server: now.server } : given;
  }

  /** Ends the session: what runs is stopped first, the rest is cleaned up after the answer. */
  #end(): AnswerFirst {
    const wasDebugging = this.#phase === 'debugging';
    this.#opened?.debugger.pause();
    this.#phase = 'ended';
    return new AnswerFirst(undefined, async () => {
      if (wasDebugging) this.#tellEnd();
      await this.#close();
    });
  }

  #terminate(): void {
    this.#phase = 'ended';
    this.#tellEnd();
    void this.#close();
  }

  #tellEnd(): void {
    this.#progress.end();
    const world = this.#opened?.debugger.world;
    if (world) this.#usage.tell(world);
    const used = describeUsage(world?.usage ?? noUsage);
    if (used !== null) this.#outputs.tell('console', `${used}\n`);
    this.emitEvent('terminated');
    this.#hasToldEnd = true;
  }

  protected override emitEvent(event: string, body?: object): void {
    if (!this.#hasToldEnd) super.emitEvent(event, body);
  }

  async #close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    this.#health.dispose();
    if (opened) await close(opened);
  }

  #stopped(request: string): StopView {
    if (this.#debugger.isRunning || !this.#view) {
      throw errors.requestOrder(request, 'the program is not stopped');
    }
    return this.#view;
  }
}

async function close(opened: Opened): Promise<void> {
  await opened.debugger.close();
  await opened.evaluator.close();
}
