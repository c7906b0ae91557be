import type { DebugProtocol } from '@vscode/debugprotocol';
import { shownText } from '../shownText';

/** The main thread's id. */
const mainThread = 1;

/** The threads that a session has seen, by the ids that its client knows them by. */
export class Threads {
  readonly #ids = new Map<string | null, number>([[null, mainThread]]);
  #newest = mainThread;

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
      this.#ids.set(name, ++this.#newest);
      added.push(this.#newest);
    }
    return added;
  }

  /** Forgets all threads but the main one: their ids are not given again. @returns those ids */
  forget(): number[] {
    const ids = [...this.#ids.values()].filter((id) => id !== mainThread);
    for (const [name] of [...this.#ids]) if (name !== null) this.#ids.delete(name);
    return ids;
  }

  /** @param label what is said of each thread: whether it is predicted */
  list(label: string): DebugProtocol.Thread[] {
    return [...this.#ids].map(([name, id]) => ({
      id,
      name: `${shownText(name ?? 'MainThread')} (${label})`,
    }));
  }
}
