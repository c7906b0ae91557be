import { compareReprs, type ReprEquality } from '../python/reprEquality';
import type { Ending, State, Step, Value } from '../trajectory/state';
import { Trajectory } from '../trajectory/trajectory';
import { CarriedStates } from '../world/carriedStates';
import type { World } from '../world/world';
import { recordSteps } from './record';
import { versionOf } from './whatIf';

/** What a real run says of something predicted; `unknown` where it cannot say. */
export type Verdict = ReprEquality;

/** A value beside what it really was. */
export interface ComparedValue {
  readonly verdict: Verdict;
  /** The real run's repr; null where it has none. */
  readonly real: string | null;
}

/** A predicted state beside the real run's. */
export interface ComparedState {
  /** Of the event, the function, the line and the depth of the stack. */
  readonly position: Verdict;
  /** The real state, where there is one: its position is another where `position` is `different`. */
  readonly real: State | null;
  /** The locals that either of them has. */
  readonly locals: ReadonlyMap<string, ComparedValue>;
  /** A return's value or an exception, where there is one. */
  readonly argument: ComparedValue | null;
}

/** What a comparison came to. */
export interface ComparisonSummary {
  /** How many predicted states were compared, and how many of them agree in all that is known of both. */
  readonly states: number;
  readonly agreeing: number;
  /** The first state that differs, in whatever; null where none does. */
  readonly firstDivergence: number | null;
  /** The first state whose position differs: what follows it has no counterpart. */
  readonly leftAt: number | null;
  /** How the real run ended, where it was followed to its end. */
  readonly realEnding: Ending | null;
  /** What people should know, in sentences. */
  readonly notes: readonly string[];
}

/**
 * A prediction beside a real run of the same program: both are walked in step, as far as the predicting world can
 * carry a state. From the first state whose position differs on, the two have nothing to do with each other.
 */
export class Comparison {
  /** The real run's states. */
  readonly real: Trajectory;
  /** Where the real run's state is, by the index of the predicted one; -1 where it has none. */
  readonly #counterparts = new Map<number, number>();
  readonly #carried: CarriedStates;
  readonly #reallyCarried: CarriedStates;

  /**
   * @param predicting the world that predicted the trajectory
   * @param reference the world that really runs the program; the comparison closes it
   */
  constructor(
    private readonly predicted: Trajectory,
    private readonly predicting: World,
    private readonly reference: World,
  ) {
    this.real = new Trajectory(predicted.program);
    this.#carried = new CarriedStates(predicting, predicted);
    this.#reallyCarried = new CarriedStates(predicting, this.real);
  }

  /** The world that really runs the program, for people. */
  get realName(): string {
    return this.reference.description.name;
  }

  /**
   * Compares the path that leads to a state. The program is run as far as that needs.
   *
   * @param upTo a state of the predicted trajectory
   * @throws CatalogueError when the run fails
   */
  async compare(upTo: number, signal: AbortSignal): Promise<ComparisonSummary> {
    const { predicted } = this;
    const path = pathTo(predicted, upTo);
    // What-ifs of the path are made anew; without one the run is the program's own.
    const [unchanged] = this.real.branchBeginnings;
    if (unchanged !== undefined) this.real.follow(unchanged);
    const run = new Walk(this.real, this.reference, signal);
    const notes: string[] = [];
    let states = 0;
    let agreeing = 0;
    let firstDivergence: number | null = null;
    let leftAt: number | null = null;
    let realEnding: Ending | null = null;
    for (const index of path) {
      if (!this.#carried.has(index)) continue;
      let counterpart = await this.#nextCarried(run);
      const action = predicted.action(index);
      if (counterpart !== null && action.name === 'what_if') {
        // What a person changed is changed in the real run too.
        counterpart = await versionOf(this.reference, this.real, counterpart, action, signal);
        run.goOnFrom(counterpart);
      }
      if (signal.aborted) break;
      this.#counterparts.set(index, counterpart ?? -1);
      states++;
      const compared = this.at(index);
      if (!compared) break;
      if (agrees(compared)) agreeing++;
      else firstDivergence ??= index;
      if (compared.position === 'different') {
        leftAt = index;
        break;
      }
      if (counterpart === null) break;
    }
    run.leave();
    if (run.ending) {
      realEnding = run.ending;
      notes.push(...run.ending.notes);
    }
    return { states, agreeing, firstDivergence, leftAt, realEnding, notes };
  }

  /** What the real run says of a predicted state; null where it was not compared. */
  at(index: number): ComparedState | null {
    const counterpart = this.#counterparts.get(index);
    if (counterpart === undefined) return null;
    const said = this.predicting.project(this.predicted.state(index));
    if (counterpart < 0 || !said) {
      return { position: 'different', real: null, locals: new Map(), argument: null };
    }
    const whole = this.real.state(counterpart);
    const does = this.predicting.project(whole);
    const isThere =
      does !== null &&
      said.event === does.event &&
      said.function === does.function &&
      said.line === does.line &&
      this.predicted.frame(index).depth === this.real.frame(counterpart).depth;
    if (!isThere) return { position: 'different', real: whole, locals: new Map(), argument: null };
    const locals = new Map<string, ComparedValue>();
    for (const name of new Set([...(said.locals?.keys() ?? []), ...(does.locals?.keys() ?? [])])) {
      locals.set(name, compareValues(said.locals?.get(name), does.locals?.get(name)));
    }
    const argument = said.argument || does.argument ? compareValues(said.argument, does.argument) : null;
    return { position: 'same', real: whole, locals, argument };
  }

  /** Ends the real run. */
  close(): Promise<void> {
    return this.reference.close();
  }

  /** The run's next state that the predicting world could carry; null at the run's end. */
  async #nextCarried(run: Walk): Promise<number | null> {
    for (let next = await run.next(); next !== null; next = await run.next()) {
      if (this.#reallyCarried.has(next)) return next;
    }
    return null;
  }
}

/** A world's states one after the other, recorded as they come. */
class Walk {
  #at = -1;
  #steps: AsyncIterator<readonly Step[]> | null = null;

  constructor(
    private readonly trajectory: Trajectory,
    private readonly world: World,
    private readonly signal: AbortSignal,
  ) {}

  /** The end, once the walk is there. */
  get ending(): Ending | null {
    return this.trajectory.ending(this.#at);
  }

  /** The next state, or null at the end and once the signal was aborted. */
  async next(): Promise<number | null> {
    for (;;) {
      const next = this.trajectory.next(this.#at);
      if (next !== null) {
        this.#at = next;
        return next;
      }
      if (this.ending || this.signal.aborted || !(await this.#read())) return null;
    }
  }

  /** Goes on from another recorded state. */
  goOnFrom(state: number): void {
    if (state === this.#at) return;
    this.leave();
    this.#steps = null;
    this.#at = state;
  }

  /** Lets the world rest: what was recorded stays. */
  leave(): void {
    this.#steps?.return?.().catch(() => undefined);
  }

  async #read(): Promise<boolean> {
    const { trajectory, world, signal } = this;
    if (!this.#steps) {
      const action = { name: 'step_into' } as const;
      const steps = world.predict({ trajectory, from: this.#at, action, wanted: 'many', signal });
      this.#steps = steps[Symbol.asyncIterator]();
    }
    const batch = await this.#steps.next();
    if (batch.done) return false;
    recordSteps(trajectory, this.#at, batch.value);
    return batch.value.length > 0;
  }
}

function pathTo(trajectory: Trajectory, index: number): number[] {
  const path: number[] = [];
  for (let at = index; at >= 0; at = trajectory.previous(at)) path.push(at);
  return path.reverse();
}

function compareValues(said: Value | null | undefined, does: Value | null | undefined): ComparedValue {
  const real = does?.repr ?? null;
  // A name that only one of them has tells them apart; a value that was not predicted tells nothing.
  if (!said || !does) return { verdict: 'different', real };
  return { verdict: compareReprs(said.repr, real), real };
}

/** Whether a predicted state is not known to differ from the real run's in anything. */
export function agrees({ position, locals, argument }: ComparedState): boolean {
  return (
    position === 'same' &&
    argument?.verdict !== 'different' &&
    [...locals.values()].every(({ verdict }) => verdict !== 'different')
  );
}
