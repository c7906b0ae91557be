import type { ActionName } from '../trajectory/action';
import type { RecordingHeader } from '../trajectory/recording';
import type { State, Step } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { PredictRequest, World, WorldDescription } from './world';

/** Where recorded steps come from: in batches, from the one on that as many others stand before. */
export type RecordedSteps = (position: number) => AsyncIterable<readonly Step[]>;

/** What was recorded before, as a world: it gives its steps again, to one trajectory. */
export class RecordingWorld implements World {
  readonly description: WorldDescription;
  readonly actions: ReadonlySet<ActionName> = new Set<ActionName>(['step_into']);
  readonly canBeEdited = false;
  readonly samplingTemperature = null;
  readonly questions = { kind: 'none', why: 'a recording has no model that could be asked' } as const;

  #counted: { readonly trajectory: Trajectory; readonly state: number; readonly position: number } | null =
    null;

  constructor(
    { world }: Pick<RecordingHeader, 'world'>,
    private readonly steps: RecordedSteps,
  ) {
    this.description = { kind: 'recording', name: `a recording of ${world.name}`, isReal: world.isReal };
  }

  async *predict({ trajectory, from }: PredictRequest): AsyncGenerator<readonly Step[]> {
    let newest: Step | undefined;
    for await (const batch of this.steps(this.#positionAfter(trajectory, from))) {
      newest = batch.at(-1);
      yield batch;
    }
    if (newest?.kind !== 'end') {
      yield [{ kind: 'end', how: 'cut', notes: ['The recording ends here.'], text: null, output: null }];
    }
  }

  /** How many steps lead to a state: counted from where it was counted last, so that a long record stays quick. */
  #positionAfter(trajectory: Trajectory, from: number): number {
    const known = this.#counted?.trajectory === trajectory ? this.#counted : null;
    let position = 0;
    let at = from;
    for (; at >= 0 && at !== known?.state; at = trajectory.previous(at)) position++;
    if (known && at === known.state) position += known.position;
    this.#counted = { trajectory, state: from, position };
    return position;
  }

  /** Everything. */
  project(state: State): State {
    return state;
  }

  whatIfProblem(): string {
    return 'A recording holds what was recorded and nothing else: nothing can follow from other values.';
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
