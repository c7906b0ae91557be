import { errors } from '../errors';
import { TracedRun, type RunLimits } from '../python/tracer';
import type { ActionName } from '../trajectory/action';
import type { Program } from '../trajectory/program';
import type { Prediction, State, Step, Value } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { PredictRequest, World, WorldDescription } from './world';

export interface ReferenceOptions {
  /** The interpreter; `python3` by default. */
  readonly python?: string;
  readonly limits?: Partial<RunLimits>;
}

/** How many states are given again at a time. */
const replayBatch = 256;

/**
 * The world that really runs the program. The run begins when it is first asked, and goes on only as far as
 * its states are read. It follows one trajectory; asked for another, it runs the program anew. States that
 * are in the trajectory already are checked against the run, not believed.
 */
export class ReferenceWorld implements World {
  readonly actions: ReadonlySet<ActionName> = new Set<ActionName>(['step_into']);
  #run: TracedRun | null = null;
  #version: string | null = null;
  #trajectory: Trajectory | null = null;
  /** The trajectory's index of each of the run's first states: those that are known to be in it. */
  #indices: number[] = [];
  /** Where in the run a state of the trajectory is, by its index; the inverse of `#indices`, and more. */
  #positions = new Map<number, number>();
  /** The run's steps that follow the known ones. */
  #steps: Step[] = [];

  constructor(
    private readonly program: Program,
    private readonly options: ReferenceOptions = {},
  ) {}

  get description(): WorldDescription {
    const python = this.#version === null ? 'Python' : `Python ${this.#version}`;
    return { kind: 'reference', name: `${python}, which really runs the program`, isReal: true };
  }

  /** @throws CatalogueError when the run fails, or the trajectory's states are not those of the run */
  async *predict({ trajectory, from, signal }: PredictRequest): AsyncGenerator<readonly Step[]> {
    if (trajectory !== this.#trajectory) this.#restart(trajectory);
    const position = await this.#find(trajectory, from, signal);
    if (position === null) return;
    for (let at = position; at < this.#indices.length; at += replayBatch) {
      const indices = this.#indices.slice(at, at + replayBatch);
      yield indices.map((index) => recorded(trajectory, index));
    }
    for (let given = 0; this.#steps[given - 1]?.kind !== 'end';) {
      if (given === this.#steps.length && !(await this.#read(signal))) return;
      const steps = this.#steps.slice(given);
      given = this.#steps.length;
      yield steps;
    }
  }

  /** Everything. */
  project(state: State): State {
    return state;
  }

  close(): Promise<void> {
    this.#run?.close();
    this.#run = null;
    this.#trajectory = null;
    return Promise.resolve();
  }

  #restart(trajectory: Trajectory): void {
    this.#run?.close();
    this.#run = new TracedRun(this.program, this.options);
    this.#trajectory = trajectory;
    this.#indices = [];
    this.#positions = new Map();
    this.#steps = [];
  }

  /** Reads more steps of the run; false when there are none, or the signal was aborted. */
  async #read(signal: AbortSignal): Promise<boolean> {
    let steps: readonly Step[];
    try {
      steps = (await this.#run?.next(signal)) ?? [];
    } catch (thrown) {
      // A run that failed is begun anew when it is asked again.
      this.#trajectory = null;
      throw thrown;
    }
    this.#version = this.#run?.version ?? this.#version;
    this.#steps.push(...steps);
    return steps.length > 0;
  }

  /**
   * How many states of the run there are up to a state of the trajectory, once it is sure that the
   * trajectory's states up to there are the run's; null when the signal was aborted.
   */
  async #find(trajectory: Trajectory, from: number, signal: AbortSignal): Promise<number | null> {
    const unknown: number[] = [];
    let known = from;
    for (; known >= 0 && !this.#positions.has(known); known = trajectory.previous(known)) unknown.push(known);
    let position = known < 0 ? 0 : (this.#positions.get(known) ?? 0) + 1;
    for (const index of unknown.reverse()) {
      const step = await this.#stepAt(position, trajectory, signal);
      if (signal.aborted) return null;
      if (!step || !isSame(step, trajectory.state(index))) throw errors.notOfTheRun(position + 1);
      if (position === this.#indices.length) {
        this.#indices.push(index);
        this.#steps.shift();
      }
      this.#positions.set(index, position++);
    }
    return position;
  }

  /** One of the known steps of the run, or the one that follows them; null where the run gives none. */
  async #stepAt(position: number, trajectory: Trajectory, signal: AbortSignal): Promise<Step | null> {
    const index = this.#indices[position];
    if (index !== undefined) return recorded(trajectory, index);
    if (this.#steps.length === 0) await this.#read(signal);
    return this.#steps[0] ?? null;
  }
}

/** A state of the trajectory as the step that it was. */
function recorded(trajectory: Trajectory, index: number): Prediction {
  const activation = trajectory.event(index) === 'call' ? trajectory.frame(index).activation : null;
  return { ...trajectory.prediction(index), state: trajectory.state(index), activation, unwinds: 0 };
}

/** Whether a step of the run is what a state says, as far as the state says it. */
function isSame(step: Step, state: State): boolean {
  if (step.kind !== 'state') return false;
  const { event, function: name, line, thread, locals, argument } = step.state;
  if (event !== state.event || name !== state.function || line !== state.line || thread !== state.thread) {
    return false;
  }
  if (state.argument && !isSameValue(argument, state.argument)) return false;
  if (!state.locals || state.locals === locals) return true;
  if (state.locals.size !== locals?.size) return false;
  for (const [local, value] of state.locals) {
    if (!isSameValue(locals.get(local) ?? null, value)) return false;
  }
  return true;
}

function isSameValue(value: Value | null, said: Value): boolean {
  return value === said || said.repr === null || value?.repr === said.repr;
}
