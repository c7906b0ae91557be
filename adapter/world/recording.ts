import type { ActionName } from '../trajectory/action';
import type { Recording } from '../trajectory/recording';
import type { State, Step } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { PredictRequest, World, WorldDescription } from './world';

/** How many steps are given at a time. */
const batchSize = 256;

/** What was recorded before, as a world: it gives its steps again, to one trajectory. */
export class RecordingWorld implements World {
  readonly description: WorldDescription;
  readonly actions: ReadonlySet<ActionName> = new Set<ActionName>(['step_into']);
  readonly canBeEdited = false;
  readonly samplingTemperature = null;
  readonly questions = { kind: 'none', why: 'a recording has no model that could be asked' } as const;

  #counted: { readonly trajectory: Trajectory; readonly state: number; readonly position: number } | null =
    null;

  constructor(private readonly recording: Recording) {
    this.description = {
      kind: 'recording',
      name: `a recording of ${recording.world.name}`,
      isReal: recording.world.isReal,
    };
  }

  async *predict({ trajectory, from }: PredictRequest): AsyncGenerator<readonly Step[]> {
    const { steps } = this.recording;
    let position = this.#positionAfter(trajectory, from);
    for (; position < steps.length; position += batchSize) yield steps.slice(position, position + batchSize);
    if (steps.at(-1)?.kind !== 'end') {
      yield [{ kind: 'end', how: 'cut', notes: ['The recording ends here.'], text: null, output: null }];
    }
    await Promise.resolve();
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
