import { errors } from '../errors';
import type { Agreement } from '../trajectory/agreement';
import type { Ending, Prediction, State, Step } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { World } from '../world/world';

/** The most samples that one request draws. */
export const maxSamples = 50;

/** Samples that say the same of what comes next. */
export interface SampleGroup {
  /** The state that they predict, in the record; null where they predict the end. */
  readonly state: number | null;
  readonly count: number;
  /** Their part of all samples, 0 to 1. */
  readonly share: number;
}

/** What a world says, asked several times, of what comes next. */
export interface Samples {
  /** How many samples were drawn. */
  readonly drawn: number;
  /** The largest group first. */
  readonly groups: readonly SampleGroup[];
  /** What people should know, in sentences. */
  readonly notes: readonly string[];
}

/**
 * Asks a world again, several times, for the state after one. Each state that is predicted is recorded as a branch
 * of its own, unless it is there already; what was followed is followed still.
 *
 * @param signal ends the drawing: what was drawn counts
 * @throws CatalogueError where the world always says the same, or fails before it gave a sample
 */
export async function drawSamples(
  world: World,
  trajectory: Trajectory,
  from: number,
  count: number,
  signal: AbortSignal,
): Promise<Samples> {
  const temperature = world.samplingTemperature;
  if (temperature === null) throw errors.cannotSample(world.description.name);
  const notes: string[] = [];
  if (temperature === 0) {
    notes.push('At temperature 0 a model says the same each time: that samples agree means nothing then.');
  }
  const steps: Step[] = [];
  try {
    while (steps.length < count) {
      const step = await nextStep(world, trajectory, from, signal);
      if (signal.aborted) break;
      if (!step) throw errors.noPrediction(world.description.name);
      steps.push(step);
    }
  } catch (thrown) {
    if (!signal.aborted && steps.length === 0) throw thrown;
    if (!signal.aborted && thrown instanceof Error) notes.push(thrown.message);
  }
  if (steps.length < count) notes.push(`${steps.length} of ${count} samples were drawn.`);
  return { drawn: steps.length, groups: record(trajectory, from, steps), notes };
}

async function nextStep(
  world: World,
  trajectory: Trajectory,
  from: number,
  signal: AbortSignal,
): Promise<Step | null> {
  const request = { trajectory, from, action: { name: 'step_into' }, wanted: 'one', signal } as const;
  for await (const [step] of world.predict({ ...request, isSample: true })) if (step) return step;
  return null;
}

function record(trajectory: Trajectory, from: number, steps: readonly Step[]): SampleGroup[] {
  const groups = new Map<string, { readonly step: Step; count: number }>();
  for (const step of steps) {
    const key = keyOf(step);
    const group = groups.get(key);
    if (group) group.count++;
    else groups.set(key, { step, count: 1 });
  }
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
  const followed = trajectory.next(from);
  const isKnown = followed !== null || trajectory.ending(from) !== null;
  const states = steps.filter((step) => step.kind === 'state');
  const recorded = sorted.map(({ step, count }): SampleGroup => {
    const state = step.kind === 'state' ? stateOf(trajectory, from, step) : null;
    if (state !== null) trajectory.agree(state, agreementOf(trajectory, state, states, steps.length));
    return { state, count, share: count / steps.length };
  });
  const likeliest = recorded.find(({ state }) => state !== null)?.state ?? null;
  const end = steps.find((step): step is Ending => step.kind === 'end');
  if (isKnown) trajectory.prefer(from, followed);
  else if (likeliest !== null) trajectory.prefer(from, likeliest);
  else if (end) trajectory.end(from, end);
  return recorded;
}

/** The recorded state that says what a sample says; recorded now where there is none. */
function stateOf(trajectory: Trajectory, from: number, sample: Prediction): number {
  const key = keyOf(sample);
  const known = trajectory.children(from).find((child) => {
    const isPredicted = trajectory.action(child).name !== 'what_if';
    return isPredicted && keyOf({ kind: 'state', state: trajectory.state(child) }) === key;
  });
  return known ?? trajectory.append(from, { name: 'step_into' }, sample);
}

/** A text that is equal for steps that say the same. */
function keyOf(step: { kind: 'state'; state: State } | Ending): string {
  if (step.kind === 'end') return 'end';
  const { event, function: name, line, thread, locals, argument } = step.state;
  const values = [...(locals ?? [])].map(([local, { repr }]) => [local, repr]);
  return JSON.stringify([event, name, line, thread, values.sort(byName), argument?.repr ?? null]);
}

function byName([a = null]: (string | null)[], [b = null]: (string | null)[]): number {
  return a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1;
}

function agreementOf(
  trajectory: Trajectory,
  index: number,
  samples: readonly Prediction[],
  drawn: number,
): Agreement {
  const { event, function: name, line, locals, argument } = trajectory.state(index);
  const there = samples
    .map(({ state }) => state)
    .filter((state) => state.event === event && state.function === name && state.line === line);
  const shareOf = (agrees: (state: State) => boolean) => there.filter(agrees).length / drawn;
  const previous = trajectory.previousInFrame(index);
  const before = previous === null ? null : trajectory.locals(previous)?.locals;
  const changed = [...(locals ?? [])].filter(([local, { repr }]) => before?.get(local)?.repr !== repr);
  return {
    samples: drawn,
    share: there.length / drawn,
    locals: new Map(
      changed.map(([local, { repr }]) => [
        local,
        shareOf((state) => state.locals?.get(local)?.repr === repr),
      ]),
    ),
    argument: argument && shareOf((state) => state.argument?.repr === argument.repr),
  };
}
