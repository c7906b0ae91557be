/** What one request may cost before it stops. */
export interface Budget {
  /** Predicted states. */
  readonly states: number;
  /** Generated tokens. */
  readonly tokens: number;
  /** Wall time, in seconds. */
  readonly seconds: number;
}

export const defaultBudget: Budget = { states: 20_000, tokens: 400_000, seconds: 300 };

/** What one request has cost so far. */
export class Spending {
  readonly #start = Date.now();
  #states = 0;
  #tokens = 0;

  constructor(readonly budget: Budget) {}

  /** The predicted states so far. */
  get states(): number {
    return this.#states;
  }

  add(states: number, tokens: number): void {
    this.#states += states;
    this.#tokens += tokens;
  }

  /** How long the request may still take, in milliseconds. */
  get remainingMilliseconds(): number {
    return Math.max(0, this.budget.seconds * 1000 - (Date.now() - this.#start));
  }

  /** Which part of the budget is used up, for people; null while none is. */
  get exhausted(): string | null {
    if (this.#states >= this.budget.states) return `${this.budget.states} states`;
    if (this.#tokens >= this.budget.tokens) return `${this.budget.tokens} tokens`;
    if (this.remainingMilliseconds === 0) return `${this.budget.seconds} seconds`;
    return null;
  }
}
