import { describeWorld, type World } from '../world/world';

/**
 * Tells once what answers in a session. Which model it is, or which Python, is known in full only once it has begun
 * to answer: until then it is waited for, but nothing else of the session is told before.
 */
export class Introduction {
  #waiting: { readonly world: World; readonly atFirst: string } | null = null;

  /** @param tell writes a line where people read it */
  constructor(private readonly tell: (text: string) => void) {}

  /** A world is about to be asked. */
  begin(world: World): void {
    this.#waiting = { world, atFirst: describeWorld(world.description) };
  }

  /** Something has arrived: tells what answers if that is known better now. */
  arrived(): void {
    if (this.#waiting && describeWorld(this.#waiting.world.description) !== this.#waiting.atFirst) this.end();
  }

  /** Tells what answers as far as it is known, unless that was told. */
  end(): void {
    if (!this.#waiting) return;
    const { world } = this.#waiting;
    this.#waiting = null;
    this.tell(`${describeWorld(world.description)}.\n`);
    for (const note of world.notes ?? []) this.tell(`${note}\n`);
  }
}
