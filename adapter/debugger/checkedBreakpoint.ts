import type { Evaluated, Evaluation, ExpressionEvaluator } from '../python/expressions';
import type { Locals } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { HitCondition } from './hitCondition';

/** What has to hold so that a breakpoint stops. */
export interface Checks {
  /** A Python expression that must be true; null: none. */
  readonly condition: string | null;
  /** Which of the hits stop; null or left out: all. A hit is a visit at which the condition is true. */
  readonly hitCondition?: HitCondition | null;
}

/** What an expression can see in the frame of a state. */
export type NamesOf = (expression: string, state: number) => Promise<Locals>;

/** Which way states are looked at: those ahead are likely to be asked next. */
export type Direction = 'forward' | 'backward';

/** The most states that a condition is evaluated for at once, and those that are looked through for them. */
const mostAtOnce = 256;
const mostLookedThrough = 4_096;

/**
 * One breakpoint over a trajectory: where it is, whether its condition holds, and how often it was hit on the
 * way to a state. All of it depends on the path to the state alone, and is kept once it is known.
 */
export class CheckedBreakpoint {
  readonly #holds = new Map<number, boolean | string>();
  /** The hits up to a state, for the states that were counted. */
  readonly #hits = new Map<number, number>();
  #atOnce = 1;

  /**
   * @param name what it is called in messages: `the breakpoint on line 3`
   * @param isAt whether a state is where the breakpoint is
   */
  constructor(
    readonly name: string,
    readonly checks: Checks,
    readonly isAt: (trajectory: Trajectory, index: number) => boolean,
    private readonly evaluator: ExpressionEvaluator,
    private readonly namesOf: NamesOf,
  ) {}

  /**
   * Whether it stops at a state that it is at: null if not, else what to tell. A condition that cannot be
   * evaluated stops and says so; passing over it in silence would hide the place that was looked for.
   *
   * @param first the first state of which visits count
   */
  async stopsAt(
    trajectory: Trajectory,
    index: number,
    first: number,
    direction: Direction,
  ): Promise<readonly string[] | null> {
    const { hitCondition = null } = this.checks;
    const holds = await this.#conditionHolds(trajectory, index, direction);
    if (holds === false) return null;
    if (hitCondition && !hitCondition.holds(await this.hitsUpTo(trajectory, index, first))) return null;
    return holds === true ? [] : [holds];
  }

  /** How often it was hit on the way to a state, the state included. */
  async hitsUpTo(trajectory: Trajectory, index: number, first: number): Promise<number> {
    const visits: number[] = [];
    let at = index;
    while (at >= first && !this.#hits.has(at)) {
      if (this.isAt(trajectory, at)) visits.push(at);
      at = trajectory.previous(at);
    }
    visits.reverse();
    if (this.checks.condition !== null) await this.#evaluate(visits);
    let hits = at >= first ? (this.#hits.get(at) ?? 0) : 0;
    for (const visit of visits) {
      if ((await this.#conditionHolds(trajectory, visit, 'forward')) !== false) hits++;
      this.#hits.set(visit, hits);
    }
    return hits;
  }

  /** Whether the condition holds, or why that is not known. */
  async #conditionHolds(
    trajectory: Trajectory,
    index: number,
    direction: Direction,
  ): Promise<boolean | string> {
    if (this.checks.condition === null) return true;
    if (!this.#holds.has(index)) {
      await this.#evaluate(this.#visitsFrom(trajectory, index, direction));
      this.#atOnce = Math.min(mostAtOnce, this.#atOnce * 4);
    }
    const holds = this.#holds.get(index) ?? false;
    // Where it holds one stops, and what is ahead may never be asked.
    if (holds !== false) this.#atOnce = 1;
    return holds;
  }

  /** A state and recorded ones after it, or before it, that it is at: they are likely to be asked next. */
  #visitsFrom(trajectory: Trajectory, index: number, direction: Direction): number[] {
    const visits: number[] = [];
    let at: number | null = index;
    for (let seen = 0; seen < mostLookedThrough && visits.length < this.#atOnce; seen++) {
      if (at === null || at < 0) break;
      if (at === index || this.isAt(trajectory, at)) visits.push(at);
      at = direction === 'forward' ? trajectory.next(at) : trajectory.previous(at);
    }
    return visits;
  }

  async #evaluate(visits: readonly number[]): Promise<void> {
    const { condition } = this.checks;
    const unknown = visits.filter((visit) => !this.#holds.has(visit));
    for (let start = 0; start < unknown.length; start += mostAtOnce) {
      const states = unknown.slice(start, start + mostAtOnce);
      const evaluations: Evaluation[] = [];
      for (const state of states) {
        evaluations.push({
          expression: `bool(${condition}\n)`,
          locals: await this.namesOf(condition ?? '', state),
        });
      }
      const results = await this.evaluator.evaluateEach(evaluations);
      for (const [position, state] of states.entries()) {
        const result = results[position];
        if (result) this.#holds.set(state, this.#outcome(result));
      }
    }
  }

  #outcome(result: Evaluated): boolean | string {
    if (result.kind === 'value') return result.repr === 'True';
    const why =
      result.kind === 'raises'
        ? `raises ${result.type}: ${result.message}`
        : `is not known: ${result.reason}`;
    return `The condition "${this.checks.condition}" of ${this.name} ${why}`;
  }
}
