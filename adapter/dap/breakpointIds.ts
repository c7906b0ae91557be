/** Numbers breakpoints: one that is set again in the same place keeps its number. */
export class BreakpointIds {
  readonly #ids = new Map<string, number>();

  /**
   * @param kind what it sits on
   * @param place where, as its client named it
   */
  idOf(kind: 'line' | 'function' | 'data', place: string | number): number {
    const key = `${kind} ${place}`;
    const id = this.#ids.get(key) ?? this.#ids.size + 1;
    this.#ids.set(key, id);
    return id;
  }
}
