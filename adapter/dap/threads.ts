import type { DebugProtocol } from '@vscode/debugprotocol';
import { shownText } from '../shownText';

/** The main thread's id. */
const mainThread = 1;

/** The threads that a session has seen, by the ids that its client knows them by. */
export class Threads {
  readonly #ids = new Map<string | null, number>([[null, mainThread]]);

  /** @param name null for the main thread */
  idOf(name: string | null): number {
    return this.#ids.get(name) ?? mainThread;
  }

  /** The name of a thread, null for the main thread; undefined for an id that no thread has. */
  nameOf(id: number): string | null | undefined {
    return [...this.#ids].find(([, known]) => known === id)?.[0];
  }

  /** Gives ids to threads that have none. @returns the new ids */
  add(names: Iterable<string | null>): number[] {
    const added: number[] = [];
    for (const name of names) {
      if (this.#ids.has(name)) continue;
      added.push(this.#ids.size + 1);
      this.#ids.set(name, this.#ids.size + 1);
    }
    return added;
  }

  /** @param label what is said of each thread: whether it is predicted */
  list(label: string): DebugProtocol.Thread[] {
    return [...this.#ids].map(([name, id]) => ({
      id,
      name: `${shownText(name ?? 'MainThread')} (${label})`,
    }));
  }
}
