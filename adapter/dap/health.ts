import type { CatalogueError } from '../errors';
import { shownText } from '../shownText';
import type { World } from '../world/world';

/** How long an answer may stay away until that is told, in milliseconds. */
const patience = 4_000;

/** What was being done when what answers failed. */
export type Failed = 'start' | 'step' | 'question';

/** How what answers in a session does, as far as it was asked. */
export type HealthState =
  | { readonly state: 'unasked' | 'answers' | 'slow' }
  | {
      readonly state: 'failed';
      readonly code: number;
      readonly message: string;
      readonly wayOut: string;
      /** `start`: the session ends with it; `step`: the session stays where it was; `question`: an answer says it. */
      readonly during: Failed;
    };

/**
 * Follows whether what answers does so, and tells each change in the event `neuralDebug/health`. That it answers at all
 * is told only where that was in doubt: each stop shows it.
 */
export class Health {
  #now: HealthState = { state: 'unasked' };
  /** What was known before the wait that is told as slow. */
  #before: HealthState = this.#now;
  #waiting = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param send sends an event */
  constructor(private readonly send: (event: string, body: object) => void) {}

  get now(): HealthState {
    return this.#now;
  }

  /** Follows work that may ask the world. */
  async watch<Result>(world: World, work: () => Promise<Result>): Promise<Result> {
    const tokens = () => world.usage?.completionTokens ?? 0;
    const before = tokens();
    this.#waiting++;
    this.#wait();
    try {
      const result = await work();
      if (tokens() > before) this.arrived();
      return result;
    } finally {
      this.#waiting--;
      this.#wait();
      if (this.#waiting === 0 && this.#now.state === 'slow') this.#become(this.#before);
    }
  }

  /** Something was predicted. */
  arrived(): void {
    const wasInDoubt = this.#now.state === 'slow' || this.#now.state === 'failed';
    if (wasInDoubt) this.#become({ state: 'answers' });
    this.#now = { state: 'answers' };
    this.#wait();
  }

  /**
   * Notes a failure, if it is that of what answers and not that of a request.
   *
   * @returns whether it is
   */
  failed({ code, message, wayOut }: CatalogueError, during: Failed): boolean {
    if (!isOfWorld(code)) return false;
    this.#become({ state: 'failed', code, message: shownText(message), wayOut: shownText(wayOut), during });
    return true;
  }

  /** Something else answers from now on. */
  forget(): void {
    this.#now = { state: 'unasked' };
  }

  dispose(): void {
    this.#waiting = 0;
    this.#wait();
  }

  /** From now on an answer may stay away for so long. */
  #wait(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#waiting === 0) return;
    this.#timer = setTimeout(() => {
      if (this.#now.state === 'slow') return;
      this.#before = this.#now;
      this.#become({ state: 'slow' });
    }, patience);
  }

  #become(next: HealthState): void {
    this.#now = next;
    this.send('neuralDebug/health', next);
  }
}

/** Faults of servers, of what models answer, of real runs and recordings; that nothing was predicted; and our own. */
function isOfWorld(code: number): boolean {
  return (code >= 300 && code < 700) || code === 704 || code === 100;
}
