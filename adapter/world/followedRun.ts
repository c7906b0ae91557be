import { errors } from '../errors';
import type { TracedRun } from '../python/tracer';
import type { Prediction, State, Step, Value } from '../trajectory/state';
import { IntColumn } from '../trajectory/intColumn';
import type { Trajectory } from '../trajectory/trajectory';

/** How many states are given again at a time. */
const replayBatch = 256;

/**
 * A real run, and the states of a trajectory that are known to be its own. States that are in the trajectory
 * already are checked against the run, not believed.
 */
export class FollowedRun {
  /** The trajectory's index of each of the run's first states: those that are known to be in it. */
  readonly #indices: number[] = [];
  /** Where in the run each state of the trajectory is, or -1; the inverse of `#indices`, and more. */
  readonly #positions = new IntColumn();
  /** The run's steps that follow the known ones. */
  readonly #steps: Step[] = [];
  #isBroken = false;

  constructor(
    private readonly run: TracedRun,
    private readonly trajectory: Trajectory,
  ) {}

  /** The version of the Python that runs the program; null until it has said so. */
  get version(): string | null {
    return this.run.version;
  }

  /** Whether the run failed, so that it has to be begun anew. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  close(): void {
    this.run.close();
  }

  /**
   * The steps that follow a state of the trajectory.
   *
   * @throws CatalogueError when the run fails, or the trajectory's states are not those of the run
   */
  async *after(from: number, signal: AbortSignal): AsyncGenerator<readonly Step[]> {
    const { trajectory } = this;
    const position = await this.#find(from, signal);
    if (position === null) return;
    for (let at = position; at < this.#indices.length; at += replayBatch) {
      const indices = this.#indices.slice(at, at + replayBatch);
      yield indices.map((index) => recorded(trajectory, index));
    }
    let given = 0;
    for (let last = from; this.#steps[given - 1]?.kind !== 'end';) {
      if (given === this.#steps.length && !(await this.#read(signal))) return;
      const steps = this.#steps.slice(given);
      const newFrom = trajectory.length;
      yield steps;
      // What has been recorded is in the trajectory: it need not be kept here too.
      if (given === 0) last = this.#knowRecorded(last, newFrom);
      given = this.#steps.length;
    }
  }

  /** Takes in that the next steps were recorded, as states from an index on that follow a known one. */
  #knowRecorded(after: number, newFrom: number): number {
    const { trajectory } = this;
    let last = after;
    for (let step = this.#steps[0]; step?.kind === 'state'; step = this.#steps[0]) {
      const next = trajectory.next(last);
      if (next === null || next < newFrom) break;
      if (trajectory.event(next) !== step.state.event || trajectory.line(next) !== step.state.line) break;
      this.#know(next);
      last = next;
    }
    return last;
  }

  /** Takes in which state of the trajectory the next step is. */
  #know(index: number): void {
    this.#setPosition(index, this.#indices.push(index) - 1);
    this.#steps.shift();
  }

  #position(index: number): number {
    return index < this.#positions.length ? this.#positions.get(index) : -1;
  }

  #setPosition(index: number, position: number): void {
    while (this.#positions.length <= index) this.#positions.push(-1);
    this.#positions.set(index, position);
  }

  /** Reads more steps of the run; false when there are none, or the signal was aborted. */
  async #read(signal: AbortSignal): Promise<boolean> {
    let steps: readonly Step[];
    try {
      steps = (await this.run.next(signal)) ?? [];
    } catch (thrown) {
      this.#isBroken = true;
      throw thrown;
    }
    this.#steps.push(...steps);
    return steps.length > 0;
  }

  /**
   * How many states of the run there are up to a state of the trajectory, once it is sure that the
   * trajectory's states up to there are the run's; null when the signal was aborted.
   */
  async #find(from: number, signal: AbortSignal): Promise<number | null> {
    const { trajectory } = this;
    const unknown: number[] = [];
    let known = from;
    for (; known >= 0 && this.#position(known) < 0; known = trajectory.previous(known)) unknown.push(known);
    let position = known < 0 ? 0 : this.#position(known) + 1;
    for (const index of unknown.reverse()) {
      const step = await this.#stepAt(position, signal);
      if (signal.aborted) return null;
      const action = trajectory.action(index);
      const written = action.name === 'what_if' ? action.locals : null;
      if (!step || !isSame(step, trajectory.state(index), written)) throw errors.notOfTheRun(position + 1);
      if (position === this.#indices.length) this.#know(index);
      else this.#setPosition(index, position);
      position++;
    }
    return position;
  }

  /** One of the known steps of the run, or the one that follows them; null where the run gives none. */
  async #stepAt(position: number, signal: AbortSignal): Promise<Step | null> {
    const index = this.#indices[position];
    if (index !== undefined) return recorded(this.trajectory, index);
    if (this.#steps.length === 0) await this.#read(signal);
    return this.#steps[0] ?? null;
  }
}

/** A state of the trajectory as the step that it was. */
function recorded(trajectory: Trajectory, index: number): Prediction {
  const activation = trajectory.event(index) === 'call' ? trajectory.frame(index).activation : null;
  return { ...trajectory.prediction(index), state: trajectory.state(index), activation, unwinds: 0 };
}

/**
 * Whether a step of the run is what a state says, as far as the state says it.
 *
 * @param written locals that a person wrote, perhaps not as their repr
 */
function isSame(step: Step, state: State, written: ReadonlyMap<string, string> | null): boolean {
  if (step.kind !== 'state') return false;
  const { event, function: name, line, thread, locals, argument } = step.state;
  if (event !== state.event || name !== state.function || line !== state.line || thread !== state.thread) {
    return false;
  }
  if (state.argument && !isSameValue(argument, state.argument)) return false;
  if (!state.locals || state.locals === locals) return true;
  if (state.locals.size !== locals?.size) return false;
  for (const [local, value] of state.locals) {
    if (!written?.has(local) && !isSameValue(locals.get(local) ?? null, value)) return false;
  }
  return true;
}

function isSameValue(value: Value | null, said: Value): boolean {
  return value === said || said.repr === null || value?.repr === said.repr;
}
