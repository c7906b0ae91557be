import { noUsage, usageSince } from '../completion/usage';
import type { World } from '../world/world';

/** Tells a client what predictions cost, in the event `neuralDebug/usage`. */
export class UsageEvents {
  #told = noUsage;
  #world: World | null = null;

  constructor(private readonly send: (event: string, body: object) => void) {}

  /** A request has ended: tells what was used since the event before, if it was anything. */
  tell(world: World): void {
    if (world !== this.#world) this.#told = noUsage;
    this.#world = world;
    const now = world.usage ?? noUsage;
    const { requests, promptTokens, cachedTokens, completionTokens, seconds } = usageSince(this.#told, now);
    if (requests === 0 && completionTokens === 0) return;
    this.#told = now;
    this.send('neuralDebug/usage', {
      promptTokens,
      cachedTokens,
      completionTokens,
      seconds: rounded(seconds),
    });
  }
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
