import type { ActionName } from '../trajectory/action';
import type { Recording } from '../trajectory/recording';
import type { Step } from '../trajectory/state';
import type { PredictRequest, World, WorldDescription } from './world';

/** How many steps are given at a time. */
const batchSize = 256;

/** What was recorded before, as a world: it gives its steps again, to one trajectory. */
export class RecordingWorld implements World {
  readonly description: WorldDescription;
  readonly actions: ReadonlySet<ActionName> = new Set<ActionName>(['step_into']);

  constructor(private readonly recording: Recording) {
    this.description = {
      kind: 'recording',
      name: `a recording of ${recording.world.name}`,
      isReal: recording.world.isReal,
    };
  }

  async *predict({ trajectory, from }: PredictRequest): AsyncGenerator<readonly Step[]> {
    const { steps } = this.recording;
    let position = 0;
    for (let at = from; at >= 0; at = trajectory.previous(at)) position++;
    for (; position < steps.length; position += batchSize) yield steps.slice(position, position + batchSize);
    if (steps.at(-1)?.kind !== 'end') {
      yield [{ kind: 'end', how: 'cut', notes: ['The recording ends here.'], text: null, output: null }];
    }
    await Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
