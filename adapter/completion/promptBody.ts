import type { Prompt } from './completion';

/**
 * Writes the bodies of requests with long prompts, as JSON in UTF-8. A prompt mostly goes on from the one before:
 * what was written of that is kept, so that a step costs its own text and not the whole history's.
 */
export class PromptBodyWriter {
  #prompt: string | null = null;
  /** The prompt's bytes inside its quotation marks; valid up to `#length`. */
  #bytes = Buffer.alloc(1 << 12);
  #length = 0;

  /**
   * @param fields the body's other fields; none is called `prompt`
   * @returns the body's bytes, which are not kept
   */
  write(prompt: Extract<Prompt, { kind: 'text' }>, fields: object): Uint8Array {
    const added = this.#addedTo(prompt);
    if (added === null) {
      this.#length = 0;
      this.#add(prompt.text);
    } else {
      for (const text of added) this.#add(text);
    }
    this.#prompt = prompt.text;
    const before = Buffer.from('{"prompt":"');
    const rest = JSON.stringify(fields).slice(1);
    const after = Buffer.from(rest === '}' ? '"}' : `",${rest}`);
    return Buffer.concat([before, this.#bytes.subarray(0, this.#length), after]);
  }

  /** What a prompt adds to the one that was written last, piece by piece; null where it does not go on from it. */
  #addedTo({ history }: Extract<Prompt, { kind: 'text' }>): string[] | null {
    if (this.#prompt === null) return null;
    const added: string[] = [];
    for (let at = history ?? null; at; at = at.before) {
      // Texts of another length are told apart at once, without a look at what may be a megabyte.
      if (at.text === this.#prompt) return added.reverse();
      if (at.text.length < this.#prompt.length) return null;
      added.push(at.added);
    }
    return null;
  }

  #add(text: string): void {
    const escaped = JSON.stringify(text).slice(1, -1);
    const most = this.#length + escaped.length * 3;
    if (most > this.#bytes.length) {
      const larger = Buffer.alloc(most * 2);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#length += this.#bytes.write(escaped, this.#length);
  }
}
