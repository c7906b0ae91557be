import { editsKey, type RunEdit, type RunLimits, TracedRun } from '../python/tracer';
import { defaultInterpreter, describeRun, type Python } from '../sandbox/python';
import type { ActionName } from '../trajectory/action';
import type { Program } from '../trajectory/program';
import type { State, Step } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import { editAt, EditedPaths, furtherChange } from './editedPath';
import { FollowedRun } from './followedRun';
import type { PredictRequest, World, WorldDescription } from './world';

export interface ReferenceOptions {
  /** What runs the program; `python3` by default. */
  readonly python?: Python;
  readonly limits?: Partial<RunLimits>;
}

/** How many runs are kept for branches that may be returned to: each is a process that waits. */
const maxRuns = 4;

/**
 * The world that really runs the program. The run begins when it is first asked, and goes on only as far as
 * its states are read. It follows one trajectory; asked for another, it runs the program anew. So it does on a
 * branch with what-ifs: there the program is run with these changes. States that are in the trajectory already
 * are checked against the run, not believed.
 */
export class ReferenceWorld implements World {
  readonly actions: ReadonlySet<ActionName> = new Set<ActionName>(['step_into', 'what_if']);
  readonly canBeEdited = true;
  readonly samplingTemperature = null;
  readonly questions = { kind: 'none', why: 'a real run answers, and guesses nothing' } as const;
  #version: string | null = null;
  #trajectory: Trajectory | null = null;
  #paths: EditedPaths | null = null;
  /** By the key of their edits, in the order in which they were last used. */
  readonly #runs = new Map<string, FollowedRun>();

  constructor(
    private readonly program: Program,
    private readonly options: ReferenceOptions = {},
  ) {}

  get description(): WorldDescription {
    const name = describeRun(this.options.python ?? defaultInterpreter, this.#version);
    return { kind: 'reference', name, isReal: true };
  }

  /**
   * For `what_if`, the one step is the edited version of the state that it is asked from.
   *
   * @throws CatalogueError when the run fails, an edit is impossible, or the trajectory's states are not those
   *   of the run
   */
  async *predict({ trajectory, from, action, signal }: PredictRequest): AsyncGenerator<readonly Step[]> {
    if (trajectory !== this.#trajectory) this.#closeRuns();
    this.#trajectory = trajectory;
    this.#paths ??= new EditedPaths(trajectory);
    if (action.name !== 'what_if') {
      yield* this.#after(trajectory, this.#paths.to(from).edits, from, signal);
      return;
    }
    const before = trajectory.previous(from);
    const { edits, mainStates } = this.#paths.to(before);
    const edit = editAt(mainStates, trajectory, from, furtherChange(trajectory.action(from), action));
    const steps = this.#after(trajectory, [...edits, edit], before, signal);
    for await (const [edited] of steps) {
      if (edited) yield [edited];
      return;
    }
  }

  /** Everything. */
  project(state: State): State {
    return state;
  }

  /** What Python itself refuses, such as a jump into a loop, the run says when it gets there. */
  whatIfProblem(trajectory: Trajectory, state: number): string | null {
    if (trajectory.frame(state).thread !== null) return 'Other threads than the main one cannot be changed.';
    const event = trajectory.event(state);
    return event === 'line' || event === 'call'
      ? null
      : 'A real run can be changed only at a call, or where a line is about to run.';
  }

  close(): Promise<void> {
    this.#closeRuns();
    this.#trajectory = null;
    return Promise.resolve();
  }

  async *#after(
    trajectory: Trajectory,
    edits: readonly RunEdit[],
    from: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Step[]> {
    const run = this.#runWith(edits, trajectory);
    for await (const steps of run.after(from, signal)) {
      this.#version = run.version ?? this.#version;
      yield steps;
    }
  }

  #runWith(edits: readonly RunEdit[], trajectory: Trajectory): FollowedRun {
    const key = editsKey(edits);
    const kept = this.#runs.get(key);
    const run =
      kept && !kept.isBroken
        ? kept
        : new FollowedRun(new TracedRun(this.program, { ...this.options, edits }), trajectory);
    this.#runs.delete(key);
    this.#runs.set(key, run);
    const [oldest] = this.#runs;
    if (this.#runs.size > maxRuns && oldest) {
      oldest[1].close();
      this.#runs.delete(oldest[0]);
    }
    return run;
  }

  #closeRuns(): void {
    for (const run of this.#runs.values()) run.close();
    this.#runs.clear();
    this.#paths = null;
  }
}
