import { type CatalogueError, asCatalogueError, errors } from '../errors';
import { traceProgram } from '../python/tracer';
import { navigate } from '../trajectory/navigation';
import type { Program } from '../trajectory/program';
import type { Ending, Prediction, State } from '../trajectory/state';
import { Trajectory } from '../trajectory/trajectory';
import { CarriedStates } from '../world/carriedStates';
import type { World } from '../world/world';
import { ask, type Answer, type EvaluatedAction } from './ask';
import type { EvaluatedProgram } from './programs';
import { score, type Score, wrong } from './score';
import { sample, seededRandom } from './statistics';

/** One asked state: what the world said of what follows it, and what really does. */
export interface AskedState {
  readonly program: string;
  readonly action: EvaluatedAction;
  /** The state's index in the real run. */
  readonly state: number;
  /** How many states of the real run the action leads over, with the one that it leads to. */
  readonly horizon: number;
  /** The state, what follows it, and what was predicted, as `event function:line`; `end` is the program's end. */
  readonly from: string;
  readonly real: string;
  readonly predicted: string | null;
  /** null where the world failed. */
  readonly right: Score | null;
  /** The world's confidence of the event and the line; null where it gives none. */
  readonly confidence: number | null;
  /** The least confidence of the values that were written anew; null where there are none. */
  readonly valueConfidence: number | null;
  /** How many answers could not be read, before one could be or it was given up. */
  readonly unreadable: number;
  /** The number of the error with which the world failed; null where it answered. */
  readonly error: number | null;
}

export interface NextStateOptions {
  readonly programs: readonly EvaluatedProgram[];
  readonly actions: readonly EvaluatedAction[];
  /** How many states are asked for each action, over all programs. */
  readonly limit: number;
  readonly seed: number;
  /** The interpreter of the real runs; `python3` by default. */
  readonly python?: string;
  /** Makes the world that is evaluated, for a program. */
  readonly openWorld: (program: Program) => Promise<World>;
  /** What was asked before, by `keyOf`: it is not asked again. */
  readonly known: ReadonlyMap<string, AskedState>;
  readonly signal: AbortSignal;
  /** A state was asked, or was known from before. */
  readonly onAsked: (asked: AskedState, isKnown: boolean) => Promise<void>;
  /** A program is left out, and why. */
  readonly onSkipped: (program: string, why: string) => void;
}

/** What tells an asked state from all others of an evaluation. */
export function keyOf({ program, action, state }: Pick<AskedState, 'program' | 'action' | 'state'>): string {
  return `${action} ${state} ${program}`;
}

/** A real run is followed so far, in states. */
const longestRun = 20_000;
/** Jumps over more states than this are not asked. */
const longestHorizon = 1_000;
/** After so many failures in a row the world is not asked any more. */
const mostFailures = 10;

/**
 * Scores a world state by state against real runs. The history is always the true one: the world is asked for
 * exactly one action from each of the states that are drawn.
 *
 * @throws CatalogueError when the world fails again and again
 */
export async function evaluateNextState(options: NextStateOptions): Promise<void> {
  const { programs, actions, limit, seed } = options;
  const random = seededRandom(seed);
  const order = programs
    .map((program) => ({ program, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ program }) => program);
  const asked = new Map(actions.map((action) => [action, 0]));
  const failures = new Failures();
  for (const [index, evaluated] of order.entries()) {
    const open = actions.filter((action) => (asked.get(action) ?? 0) < limit);
    if (open.length === 0) break;
    const run = await TrueRun.of(evaluated, options);
    if (!run) continue;
    for (const action of open) {
      // What a short program has too few of, those after it give.
      const remaining = limit - (asked.get(action) ?? 0);
      const quota = Math.ceil(remaining / (order.length - index));
      const count = await askProgram(evaluated, run, action, quota, options, failures);
      asked.set(action, (asked.get(action) ?? 0) + count);
    }
  }
}

/** Asks for one action at some states of a program; gives how many they were. */
async function askProgram(
  { id, program }: EvaluatedProgram,
  run: TrueRun,
  action: EvaluatedAction,
  quota: number,
  { openWorld, seed, known, signal, onAsked, onSkipped }: NextStateOptions,
  failures: Failures,
): Promise<number> {
  let world: World;
  try {
    world = await openWorld(program);
  } catch (thrown) {
    onSkipped(id, asCatalogueError(thrown).message);
    return 0;
  }
  try {
    const random = seededRandom(hash(`${seed} ${action} ${id}`));
    const questions = sample(run.questions(world, action), quota, random);
    const history = new Trajectory(program);
    for (const question of questions) {
      const before = known.get(keyOf({ program: id, action, state: question.from }));
      if (before) {
        await onAsked(before, true);
        continue;
      }
      const from = run.copyUpTo(question.from, history);
      const row = await askOne(world, history, from, run, question, action, signal);
      signal.throwIfAborted();
      await onAsked({ program: id, ...row.asked }, false);
      failures.count(row.failed);
    }
    return questions.length;
  } finally {
    await world.close();
  }
}

async function askOne(
  world: World,
  history: Trajectory,
  from: number,
  run: TrueRun,
  { from: state, target }: Question,
  action: EvaluatedAction,
  signal: AbortSignal,
): Promise<{ asked: Omit<AskedState, 'program'>; failed: CatalogueError | null }> {
  const horizon = (target ?? run.trajectory.length) - state;
  const asked = {
    action,
    state,
    horizon,
    from: textOf(run.trajectory, state),
    real: target === null ? 'end' : textOf(run.trajectory, target),
    predicted: null,
    right: null,
    confidence: null,
    valueConfidence: null,
    error: null,
  };
  let answer: Answer;
  let unreadable = 0;
  try {
    answer = await ask(world, history, from, action, 4 * horizon + 64, signal, () => unreadable++);
  } catch (thrown) {
    const failed = asCatalogueError(thrown);
    return { asked: { ...asked, unreadable, error: failed.code }, failed };
  }
  if (answer.kind === 'state') {
    const predicted = { trajectory: history, index: answer.index };
    return {
      asked: {
        ...asked,
        unreadable,
        predicted: textOf(history, answer.index),
        right:
          target === null ? wrong : score(world, predicted, { trajectory: run.trajectory, index: target }),
        confidence: history.prediction(answer.index).confidence,
        valueConfidence: leastConfidence(history.state(answer.index)),
      },
      failed: null,
    };
  }
  const isEnd = answer.kind === 'end' && target === null;
  const right = isEnd
    ? { event: true, line: true, stack: true, changed: null, values: null, exact: true }
    : wrong;
  const predicted = answer.kind === 'end' ? 'end' : null;
  return { asked: { ...asked, unreadable, predicted, right }, failed: null };
}

/** The least confidence of a state's values; those of the real history have none. */
function leastConfidence({ locals, argument }: State): number | null {
  const values = [...(locals?.values() ?? []), ...(argument ? [argument] : [])];
  const known = values.flatMap(({ confidence }) => (confidence === null ? [] : [confidence]));
  return known.length === 0 ? null : Math.min(...known);
}

/** Where a world is asked, and what really follows: null is the program's end. */
interface Question {
  readonly from: number;
  readonly target: number | null;
}

/** A real run that is over: all its states, on one path. */
class TrueRun {
  /** The predictions as the run gave them, by the states' indices. */
  readonly #steps: Prediction[] = [];
  readonly #ending: Ending | null = null;
  /** How many of the states a history has, and where the newest of them is in it. */
  readonly #copied = new WeakMap<Trajectory, { count: number; last: number }>();

  private constructor(
    readonly trajectory: Trajectory,
    steps: readonly Prediction[],
    ending: Ending | null,
  ) {
    this.#steps.push(...steps);
    this.#ending = ending;
  }

  /** Runs a program; null where it cannot be run, which is told. */
  static async of(
    { id, program }: EvaluatedProgram,
    { python, signal, onSkipped }: NextStateOptions,
  ): Promise<TrueRun | null> {
    const trajectory = new Trajectory(program);
    const steps: Prediction[] = [];
    let ending: Ending | null = null;
    try {
      const limits = { events: longestRun, seconds: 60 };
      for await (const batch of traceProgram(
        program,
        { limits, ...(python === undefined ? {} : { python }) },
        signal,
      )) {
        for (const step of batch) {
          if (step.kind === 'end') ending = step;
          else {
            trajectory.append(trajectory.length - 1, { name: 'step_into' }, step);
            steps.push(step);
          }
        }
      }
    } catch (thrown) {
      onSkipped(id, asCatalogueError(thrown).message);
      return null;
    }
    signal.throwIfAborted();
    if (ending) trajectory.end(trajectory.length - 1, ending);
    return new TrueRun(trajectory, steps, ending);
  }

  /** All questions that a world can be asked for an action: those whose states it can carry. */
  questions(world: World, action: EvaluatedAction): Question[] {
    const { trajectory } = this;
    const carried = new CarriedStates(world, trajectory);
    const questions: Question[] = [];
    let nextCarried: number | null = null;
    for (let from = trajectory.length - 1; from >= 0; from--) {
      if (!carried.has(from)) continue;
      if (action === 'step_into') {
        // After a run that was cut, nobody knows what follows.
        if (nextCarried !== null || this.#ending?.how !== 'cut')
          questions.push({ from, target: nextCarried });
        nextCarried = from;
        continue;
      }
      const target = navigate(trajectory, from, action);
      if (target !== null && carried.has(target) && target - from <= longestHorizon)
        questions.push({ from, target });
    }
    return questions.reverse();
  }

  /**
   * Records the run's states, up to one, in a history; those it has already stay.
   *
   * @returns where the state is in the history
   */
  copyUpTo(state: number, history: Trajectory): number {
    const copied = this.#copied.get(history) ?? { count: 0, last: -1 };
    for (; copied.count <= state; copied.count++) {
      const step = this.#steps[copied.count];
      if (step) copied.last = history.append(copied.last, { name: 'step_into' }, step);
    }
    this.#copied.set(history, copied);
    return copied.last;
  }
}

/** Counts failures in a row, and gives up when they are too many. */
class Failures {
  #inARow = 0;

  count(failed: CatalogueError | null): void {
    this.#inARow = failed ? this.#inARow + 1 : 0;
    if (failed && this.#inARow >= mostFailures) throw errors.evaluationFails(this.#inARow, failed);
  }
}

function textOf(trajectory: Trajectory, index: number): string {
  return `${trajectory.event(index)} ${trajectory.frame(index).function}:${trajectory.line(index)}`;
}

/** A number for a text: FNV-1a over its UTF-16 code units. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
