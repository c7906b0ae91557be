import type { Trajectory } from '../trajectory/trajectory';
import type { World } from '../world/world';
import { Spending } from './budget';
import type { DebuggerOptions } from './options';
import { recordSteps } from './record';
import type { StopReason } from './stop';
import { type ForwardRequest, stepEnd } from './stepping';
import { StepStream } from './stepStream';

/** After stops for these reasons a step over is likely. */
const likely: ReadonlySet<StopReason> = new Set<StopReason>(['entry', 'step', 'breakpoint']);

/**
 * Predicts what a step over will need while a person looks at a stop. What arrives is recorded as any prediction
 * is. It is bounded by the budget of a request, and given up as soon as something else is asked for; a failure is
 * kept quiet, since the request that needs the states will meet it too.
 */
export class Prefetch {
  #soon: NodeJS.Immediate | null = null;
  #running: Running | null = null;

  constructor(
    private readonly trajectory: Trajectory,
    private readonly world: World,
    private readonly options: DebuggerOptions,
  ) {}

  /** Whether a request goes on with what is predicted for a step over. */
  static serves(request: ForwardRequest): boolean {
    return request === 'next' || request === 'stepIn';
  }

  /** The cursor has arrived somewhere: where the record ends there, the prediction begins soon. */
  after(reason: StopReason, state: number): void {
    this.cancel();
    const isWanted = this.options.prefetch && this.world.description.kind === 'server' && likely.has(reason);
    if (!isWanted || !this.#isOpen(state)) return;
    // Not at once: a start that does not stop at the beginning goes on from there.
    this.#soon = setImmediate(() => {
      this.#running = new Running(this.trajectory, this.world, this.options, state);
    });
  }

  cancel(): void {
    if (this.#soon) clearImmediate(this.#soon);
    this.#soon = null;
    this.#running?.stop();
    this.#running = null;
  }

  /**
   * Waits for the states after the newest one.
   *
   * @returns false where none are on their way; true also where the signal ends the wait
   */
  async brings(state: number, signal: AbortSignal): Promise<boolean> {
    while (this.#running && this.#isOpen(state)) {
      if (!(await this.#running.more(signal))) return signal.aborted;
    }
    return !this.#isOpen(state);
  }

  #isOpen(state: number): boolean {
    return this.trajectory.next(state) === null && this.trajectory.ending(state) === null;
  }
}

/** One prediction in advance. */
class Running {
  readonly #stopping = new AbortController();
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(
    private readonly trajectory: Trajectory,
    private readonly world: World,
    private readonly options: DebuggerOptions,
    from: number,
  ) {
    void this.#run(from)
      .catch(() => undefined)
      .then(() => {
        this.#hasEnded = true;
        this.#wake();
      });
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Waits until more is recorded; false once nothing more will be, or when the signal is aborted. */
  async more(signal: AbortSignal): Promise<boolean> {
    if (this.#hasEnded || signal.aborted) return false;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      signal.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
    });
    return !signal.aborted;
  }

  async #run(from: number): Promise<void> {
    const { trajectory, world } = this;
    const { signal } = this.#stopping;
    const ends = stepEnd(trajectory, from, 'next', this.options.allStates);
    const spending = new Spending(this.options.budget);
    const timer = setTimeout(() => {
      this.stop();
    }, spending.remainingMilliseconds);
    let stream: StepStream | null = null;
    try {
      for (let index = from; ;) {
        const next = trajectory.next(index);
        if (next !== null) {
          index = next;
          spending.add(1, trajectory.prediction(index).tokens);
          if (ends(index)) return;
          continue;
        }
        if (trajectory.ending(index) || spending.exhausted !== null) return;
        const action = { name: 'step_into' } as const;
        stream ??= new StepStream(world.predict({ trajectory, from: index, action, wanted: 'one', signal }));
        const batch = await stream.next(signal);
        if (signal.aborted) return;
        if (batch === null && stream.isEmpty) return;
        if (batch === null) stream = null;
        else recordSteps(trajectory, index, batch);
        this.#wake();
      }
    } finally {
      clearTimeout(timer);
      stream?.leave();
    }
  }
}
