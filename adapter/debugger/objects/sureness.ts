import type { PathConfidence } from '../confidence';
import type { Origin } from './heap';

/**
 * How sure what follows from a trajectory is. Where it was worked out, it is as sure as the least sure of what it came
 * from: what the line read, of locals and of what was worked out before, and what its calls returned; times the path's
 * probability there. The least is taken for the reason that it is in `PathConfidence`, and numbers stay as the values do.
 */
export class DerivedSureness {
  #known = new Map<Origin, number>();
  #version = -1;

  constructor(private readonly confidence: PathConfidence) {}

  /** The least probability of what was worked out at several places; null where nothing says. */
  of(origins: Iterable<Origin>): number | null {
    if (this.#version !== this.confidence.version) {
      this.#known = new Map();
      this.#version = this.confidence.version;
    }
    let least: number | null = null;
    for (const origin of origins) {
      const path = this.confidence.path(origin.state);
      if (path === null) return null;
      least = Math.min(least ?? 1, path * this.#givenPath(origin));
    }
    return least;
  }

  /** Without recursion: what a loop adds to again and again has come a long way. */
  #givenPath(of: Origin): number {
    const pending = [of];
    for (let origin = pending.at(-1); origin; origin = pending.at(-1)) {
      const missing = [...origin.from].filter((from) => !this.#known.has(from));
      if (missing.length > 0 && !this.#known.has(origin)) {
        pending.push(...missing);
        continue;
      }
      pending.pop();
      if (this.#known.has(origin)) continue;
      const numbers = [...origin.from].map((from) => this.#known.get(from) ?? 1);
      for (const name of origin.locals) numbers.push(this.confidence.givenPath(origin.state, name) ?? 1);
      this.#known.set(origin, Math.min(this.confidence.sources(origin.state), ...numbers));
    }
    return this.#known.get(of) ?? 1;
  }
}
