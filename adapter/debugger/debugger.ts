import { asCatalogueError, errors } from '../errors';
import type { ExpressionEvaluator } from '../python/expressions';
import type { PythonSource } from '../python/source';
import { scriptBeginning } from '../python/script';
import type { Trajectory } from '../trajectory/trajectory';
import type { World } from '../world/world';
import { type BreakpointMatch, Breakpoints, type Logged } from './breakpoints';
import { Spending } from './budget';
import { Comparison, type ComparisonSummary } from './comparison';
import { PathConfidence } from './confidence';
import { IndexSet } from './indexSet';
import { type DebuggerOptions, defaultOptions } from './options';
import { Prefetch } from './prefetch';
import { DerivedValues } from './objects/derived';
import { PrintedOutput } from './printedOutput';
import { recordSteps } from './record';
import { type Returned, returnedBetween } from './returned';
import { drawSamples, type Samples } from './samples';
import type { Stop, StopReason } from './stop';
import { type ForwardRequest, stateBefore, stepEnd } from './stepping';
import { type StepTarget, targetEnd } from './stepTargets';
import { type Change, checkChange, versionOf } from './whatIf';
import { StepStream } from './stepStream';

/** Why a walk ends at a state. */
type Match = Pick<Stop, 'reason' | 'notes' | 'why' | 'hits'>;

const nothingToTell = { notes: [], why: null, hits: [] } as const;

/** What a debugger tells while it works. */
export interface DebuggerListener {
  /**
   * The program wrote something.
   *
   * @param isDerived whether the text is predicted: a model told it, or it was worked out from predicted values
   */
  output?(text: string, isDerived: boolean): void;
  /** A log point was passed. */
  logged?(logged: Logged): void;
  /** Predictions have arrived: how many states this request has added so far. */
  progress?(states: number): void;
}

/**
 * Debugs one program: turns requests into actions, walks the trajectory, asks the world for what is not yet
 * recorded, and decides where to stop. The trajectory only grows; going back moves the cursor.
 */
export class Debugger {
  readonly breakpoints: Breakpoints;
  /** How sure what is shown is. */
  readonly confidence: PathConfidence;
  /** What follows from the states, beside what they say. */
  readonly derived: DerivedValues;
  #cursor = -1;
  #isClosed = false;
  /** The first state that is shown; null until the program's beginning was reached. */
  #first: number | null = null;
  #running: RunningRequest | null = null;
  #comparison: Comparison | null = null;
  /** The states whose output was told, and the state after which the end's was. */
  #told = new IndexSet();
  #toldEnd: number | null = null;
  readonly #printed: PrintedOutput;
  readonly #prefetch: Prefetch;

  constructor(
    readonly source: PythonSource,
    readonly trajectory: Trajectory,
    readonly world: World,
    evaluator: ExpressionEvaluator,
    readonly options: DebuggerOptions = defaultOptions,
    private readonly listener: DebuggerListener = {},
  ) {
    this.breakpoints = new Breakpoints(
      evaluator,
      source,
      () => this.#first ?? 0,
      (expression, state) => this.derived.names(expression, state, state),
    );
    this.confidence = new PathConfidence(source, trajectory, world.description.isReal);
    this.derived = new DerivedValues(source, trajectory, evaluator, this.confidence);
    this.#printed = new PrintedOutput(source, evaluator);
    this.#prefetch = new Prefetch(trajectory, world, options);
  }

  /** The current state: an index of the trajectory, or -1 before the first. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Whether a request is being predicted. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** The first state that people are shown; null before the beginning was reached. */
  get first(): number | null {
    return this.#first;
  }

  /**
   * Goes to the program's beginning: the first line of the script or of the entry's function. Asked again, it
   * goes back there; what was recorded stays.
   *
   * @param stopOnEntry stop there; otherwise at the first breakpoint, which may be there too
   */
  async start(stopOnEntry: boolean): Promise<Stop> {
    const { entry } = this.trajectory.program;
    const [problem] = this.source.problems;
    if (problem) throw errors.syntaxProblem(this.trajectory.program.path, problem.line, problem.message);
    const beginning = scriptBeginning(this.source);
    if (entry === null && beginning === null && !this.options.showDefinitions) {
      throw errors.nothingToDebug(this.trajectory.program.path);
    }
    const isBeginning = (index: number): boolean => {
      const { trajectory } = this;
      if (trajectory.event(index) !== 'line') return false;
      if (entry !== null || this.options.showDefinitions) return true;
      const frame = trajectory.frame(index);
      return frame.depth === 0 && frame.thread === null && trajectory.line(index) >= (beginning ?? 0);
    };
    const stop = await this.#exclusively((running) => {
      this.#cursor = -1;
      // A program that begins anew begins without what a person changed in it.
      const [first, ...branches] = this.trajectory.branchBeginnings;
      if (first !== undefined && branches.length > 0) this.trajectory.follow(first);
      return this.#advance(
        (index) => Promise.resolve(isBeginning(index) ? { reason: 'entry', ...nothingToTell } : null),
        false,
        running,
      );
    });
    if (stop.reason !== 'entry') return stop;
    this.#first = Math.min(this.#first ?? stop.state, stop.state);
    this.#cursor = stop.state;
    if (this.options.startAt) return { ...(await this.whatIf(this.options.startAt)), reason: 'entry' };
    await this.#tellLogged(stop.state);
    if (stopOnEntry) return stop;
    const match = await this.breakpoints.match(this.trajectory, stop.state);
    if (match) return { ...stop, ...match };
    return this.forward('continue');
  }

  /**
   * Goes on until the request is satisfied, a breakpoint matches, the budget is used up or the program ends.
   *
   * @param target of a step into a call: which one of the line's
   * @throws CatalogueError when the world fails; the cursor is then where it was
   */
  forward(request: ForwardRequest, target: StepTarget | null = null): Promise<Stop> {
    return this.#exclusively((running) => {
      const { allStates } = this.options;
      const ends = target
        ? targetEnd(this.trajectory, this.#cursor, target, allStates)
        : stepEnd(this.trajectory, this.#cursor, request, allStates);
      const match = async (index: number): Promise<Match | null> => {
        await this.#tellLogged(index);
        if (!ends(index)) return this.breakpoints.match(this.trajectory, index);
        const telling = await this.breakpoints.match(this.trajectory, index, 'forward', 'telling');
        return telling ?? { reason: 'step', ...nothingToTell };
      };
      return this.#advance(match, request !== 'continue', running);
    }, Prefetch.serves(request));
  }

  /** Moves the cursor to where a step over would have come from, or to the stop before. Asks no world. */
  back(request: 'stepBack' | 'reverseContinue'): Promise<Stop> {
    return this.#exclusively(async (running) => {
      const first = this.#first ?? 0;
      if (this.#cursor < 0) throw errors.notStarted();
      if (request === 'stepBack') {
        const state = stateBefore(this.trajectory, this.#cursor, first, this.options.allStates);
        if (state === null) return this.#atBeginning(first, ['This is the beginning of the record.']);
        return this.#arrive(this.trajectory.previous(state) < first ? 'entry' : 'step', state);
      }
      let index = this.#cursor > first ? this.trajectory.previous(this.#cursor) : -1;
      for (; index >= first; index = this.trajectory.previous(index)) {
        const match = await this.breakpoints.match(this.trajectory, index, 'backward');
        if (match) return this.#arrive(match.reason, index, [], match.notes, match);
        if (running.isPaused) return this.#arrive('pause', index);
      }
      return this.#atBeginning(first, []);
    });
  }

  /**
   * Moves the cursor back to when a line was about to run last, in whichever call; breakpoints on the way are passed.
   * Asks no world.
   *
   * @throws CatalogueError where the line did not run before
   */
  backTo(line: number): Promise<Stop> {
    if (this.#running) return Promise.reject(errors.stillPredicting());
    if (this.#cursor < 0) return Promise.reject(errors.notStarted());
    const { trajectory } = this;
    const first = this.#first ?? 0;
    for (let at = trajectory.previous(this.#cursor); at >= first; at = trajectory.previous(at)) {
      if (trajectory.event(at) === 'line' && trajectory.line(at) === line)
        return Promise.resolve(this.#arrive('goto', at));
    }
    return Promise.reject(errors.lineNotRunBefore(line));
  }

  /**
   * Makes another version of the current state and goes to it: a branch begins there, and what follows is
   * predicted anew. A real run is asked for the version, no model is.
   *
   * @throws CatalogueError with the reason why the world could not go on from it
   */
  whatIf(change: Change): Promise<Stop> {
    return this.#exclusively(async ({ signal }) => {
      this.checkWhatIf(change);
      const version = await versionOf(this.world, this.trajectory, this.#cursor, change, signal);
      // What was written before it was told with the state that it is a version of.
      this.#told.add(version);
      return this.#arrive('goto', version);
    });
  }

  /**
   * Checks whether the current state can be changed so.
   *
   * @throws CatalogueError with the reason why it cannot
   */
  checkWhatIf(change: Change): void {
    if (this.#cursor < 0) throw errors.notStarted();
    checkChange(this.source, this.trajectory, this.world, this.#cursor, change);
  }

  /** Puts the cursor on a recorded state. */
  goTo(state: number, notes: readonly string[] = []): Promise<Stop> {
    return this.#exclusively(async () => {
      const { trajectory } = this;
      const last = trajectory.lastFollowed(trajectory.next(-1) ?? state);
      // From a state of another branch on, that branch is the one that is followed.
      if (state !== last && !trajectory.leadsTo(state, last)) trajectory.follow(state);
      await this.#tellOutput(state);
      return this.#arrive('goto', state, [], notes);
    });
  }

  /**
   * Asks the world again for the state after one; the cursor stays.
   *
   * @param from the state before; the current one where none is given
   * @throws CatalogueError where the world always says the same, or fails
   */
  sampleAgain(count: number, from = this.#cursor): Promise<Samples> {
    if (this.#cursor < 0) return Promise.reject(errors.notStarted());
    return this.#exclusively(async ({ signal }) => {
      const samples = await drawSamples(this.world, this.trajectory, from, count, signal);
      this.confidence.forget(Math.min(...samples.groups.map(({ state }) => state ?? Infinity)));
      return samples;
    });
  }

  /** The prediction beside a real run, once that was asked for. */
  get comparison(): Comparison | null {
    return this.#comparison;
  }

  /**
   * Really runs the program, as far as the current state, and compares what was predicted up to there.
   *
   * @param openReference makes the world that really runs it
   * @throws CatalogueError where the values are real already, or the run fails
   */
  compare(openReference: () => Promise<World>): Promise<ComparisonSummary> {
    return this.#exclusively(async ({ signal }) => {
      if (this.#cursor < 0) throw errors.notStarted();
      if (this.world.description.isReal) throw errors.comparesRealRun();
      this.#comparison ??= new Comparison(this.trajectory, this.world, await openReference());
      const comparison = this.#comparison;
      const summary = await comparison.compare(this.#cursor, signal);
      this.confidence.verify((state) => comparison.at(state));
      return summary;
    });
  }

  /**
   * Goes on for another debugger of the same record, of which only the world was another one: with its breakpoints, and
   * telling nothing that it has told.
   */
  takeOver(before: Debugger): void {
    this.breakpoints.takeOver(before.breakpoints);
    this.#told = before.#told;
    this.#toldEnd = before.#toldEnd;
  }

  /** Stops the running request at the newest known state. */
  pause(): void {
    this.#prefetch.cancel();
    this.#running?.pause();
  }

  /** Ends the debugger: a running request stops, the world is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.pause();
    await this.#comparison?.close();
    await this.world.close();
  }

  /** To the first state that is shown on the way to the cursor: the beginning may have been edited. */
  #atBeginning(first: number, notes: readonly string[]): Stop {
    let state = Math.max(first, this.#cursor);
    while (this.trajectory.previous(state) >= first) state = this.trajectory.previous(state);
    return this.#arrive('entry', state, [], notes);
  }

  /**
   * Lets one request work at a time.
   *
   * @param usesPrefetch whether what is being predicted in advance serves the request
   */
  async #exclusively<Result>(
    work: (request: RunningRequest) => Promise<Result>,
    usesPrefetch = false,
  ): Promise<Result> {
    if (this.#isClosed) throw errors.sessionEnded();
    if (this.#running) throw errors.stillPredicting();
    if (!usesPrefetch) this.#prefetch.cancel();
    const before = this.#cursor;
    this.#running = new RunningRequest();
    try {
      return await work(this.#running);
    } catch (thrown) {
      this.#cursor = before;
      throw asCatalogueError(thrown);
    } finally {
      this.#running = null;
    }
  }

  /**
   * Walks from the cursor until a state matches, recording what the world predicts where the record ends.
   *
   * @param isStep whether the request is a step: few states are wanted, and the entry point's return is a
   *   stop of its own
   */
  async #advance(
    match: (index: number) => Promise<Match | null>,
    isStep: boolean,
    request: RunningRequest,
  ): Promise<Stop> {
    const { trajectory } = this;
    const from = this.#cursor;
    /** States from here on were predicted for this request. */
    const newFrom = trajectory.length;
    const spending = new Spending(this.options.budget);
    const { signal } = request;
    const timer = setTimeout(() => {
      request.stop();
    }, spending.remainingMilliseconds);
    let stream: StepStream | null = null;
    try {
      for (let index = from; ;) {
        const next = trajectory.next(index);
        if (next !== null) {
          index = next;
          if (index >= newFrom) spending.add(1, trajectory.prediction(index).tokens);
          await this.#tellOutput(index);
          const found = await match(index);
          if (found) {
            const returned = isStep ? returnedBetween(this.source, trajectory, from, index) : [];
            return this.#arrive(found.reason, index, returned, found.notes, found);
          }
          continue;
        }
        if (trajectory.ending(index)) return this.#arriveAtEnd(from, index, isStep);
        if (request.isPaused) return this.#arrive('pause', index);
        const exhausted = spending.exhausted;
        if (exhausted !== null) {
          return this.#arrive(
            'budget',
            index,
            [],
            [`The budget of ${exhausted} for one request is used up. Continue to go on from here.`],
          );
        }
        if (!stream && (await this.#prefetch.brings(index, signal))) continue;
        stream ??= new StepStream(
          this.world.predict({
            trajectory,
            from: index,
            action: { name: 'step_into' },
            wanted: isStep ? 'one' : 'many',
            signal,
          }),
        );
        const batch = await stream.next(signal);
        if (batch === null && !signal.aborted) {
          // The world wants to be asked anew; one that had nothing to say would be asked for ever.
          if (stream.isEmpty) throw errors.noPrediction(this.world.description.name);
          stream = null;
        }
        if (batch === null) continue;
        recordSteps(trajectory, index, batch);
        this.listener.progress?.(trajectory.length - newFrom);
      }
    } finally {
      clearTimeout(timer);
      stream?.leave();
    }
  }

  #arriveAtEnd(from: number, last: number, isStep: boolean): Stop {
    const { trajectory } = this;
    const ending = trajectory.ending(last);
    if (ending?.output && this.#toldEnd !== last) {
      this.#toldEnd = last;
      this.listener.output?.(ending.output, false);
    }
    const notes = ending?.notes ?? [];
    const raised = this.breakpoints.uncaughtStop(trajectory, last);
    if (raised !== null && raised > from) return this.#arrive('exception', raised, [], notes);
    if (isStep && from !== last && ending?.how === 'returned') {
      return this.#arrive('return', last, [], notes);
    }
    return this.#arrive('end', last, [], notes);
  }

  #arrive(
    reason: StopReason,
    state: number,
    returned: readonly Returned[] = [],
    notes: readonly string[] = [],
    { why, hits }: Pick<BreakpointMatch, 'why' | 'hits'> = nothingToTell,
  ): Stop {
    this.#cursor = state;
    this.#prefetch.after(reason, state);
    return { reason, state, returned, notes, why, hits };
  }

  /** Tells what log points write at a state that is passed, or arrived at, on the way forward. */
  async #tellLogged(index: number): Promise<void> {
    if (!this.listener.logged) return;
    for (const logged of await this.breakpoints.logged(this.trajectory, index)) this.listener.logged(logged);
  }

  /** Tells what the program wrote since the state before, once. */
  async #tellOutput(index: number): Promise<void> {
    if (!this.listener.output || this.#told.has(index)) return;
    this.#told.add(index);
    const { output } = this.trajectory.prediction(index);
    if (output !== null) {
      // What a model says that the program wrote, nobody wrote either.
      if (output !== '') this.listener.output(output, !this.world.description.isReal);
      return;
    }
    if (this.world.description.isReal) return;
    const derived = await this.#printed.writtenBefore(this.trajectory, index);
    if (derived !== null) this.listener.output(derived, true);
  }
}

/** A request that is being predicted: it can be stopped, and knows whether a person paused it. */
class RunningRequest {
  readonly #controller = new AbortController();
  isPaused = false;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  pause(): void {
    this.isPaused = true;
    this.stop();
  }

  stop(): void {
    this.#controller.abort();
  }
}
