import type { Prompt } from './completion';

type TextPrompt = Extract<Prompt, { kind: 'text' }>;

/** How prompts are written into the bodies of requests. */
export interface PromptEncoding {
  /** What stands around the prompt in the body. */
  readonly brackets: readonly [string, string];
  /** What stands at the end of each piece, but not at the end of the prompt. */
  readonly separator: string;
  /** A piece of the prompt as JSON, to be put after the pieces before it, and how many parts it has. */
  encode(text: string): { readonly json: string; readonly parts: number };
}

/**
 * The prompt as a JSON string.
 *
 * @param added what the server puts before every prompt by itself, so that it is not sent
 */
export function textEncoding(added: string | null = null): PromptEncoding {
  return {
    brackets: ['"', '"'],
    separator: '',
    encode: (text) => {
      const sent = added !== null && text.startsWith(added) ? text.slice(added.length) : text;
      return { json: JSON.stringify(sent).slice(1, -1), parts: sent.length };
    },
  };
}

/**
 * The prompt as an array of token ids.
 *
 * @param idsOf the ids of a piece of the prompt
 */
export function idEncoding(idsOf: (text: string) => readonly number[]): PromptEncoding {
  const separator = ',';
  return {
    brackets: ['[', ']'],
    separator,
    encode: (text) => {
      const ids = idsOf(text);
      return { json: ids.map((id) => `${id}${separator}`).join(''), parts: ids.length };
    },
  };
}

/**
 * Writes the bodies of requests with long prompts, as JSON in UTF-8. A prompt mostly goes on from the one before:
 * what was written of that is kept, so that a step costs its own text and not the whole history's.
 */
export class PromptBodyWriter {
  #prompt: string | null = null;
  /** The prompt's bytes inside its brackets; valid up to `#length`. */
  #bytes = Buffer.alloc(1 << 12);
  #length = 0;
  #parts = 0;

  constructor(private readonly encoding: PromptEncoding = textEncoding()) {}

  /** How many parts the prompt has that was written last: UTF-16 units, or ids. */
  get parts(): number {
    return this.#parts;
  }

  /** The pieces that `write` will encode for a prompt. */
  pieces(prompt: TextPrompt): readonly string[] {
    return this.#addedTo(prompt) ?? [prompt.text];
  }

  /**
   * @param fields the body's other fields; none is called `prompt`
   * @returns the body's bytes, which are not kept
   */
  write(prompt: TextPrompt, fields: object): Uint8Array {
    const added = this.#addedTo(prompt);
    if (added === null) {
      this.#length = 0;
      this.#parts = 0;
      this.#add(prompt.text);
    } else {
      for (const text of added) this.#add(text);
    }
    this.#prompt = prompt.text;
    const [open, close] = this.encoding.brackets;
    const before = Buffer.from(`{"prompt":${open}`);
    const rest = JSON.stringify(fields).slice(1);
    const after = Buffer.from(rest === '}' ? `${close}}` : `${close},${rest}`);
    const end = Math.max(0, this.#length - this.encoding.separator.length);
    return Buffer.concat([before, this.#bytes.subarray(0, end), after]);
  }

  /** What a prompt adds to the one that was written last, piece by piece; null where it does not go on from it. */
  #addedTo({ history }: TextPrompt): string[] | null {
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
    const { json, parts } = this.encoding.encode(text);
    const most = this.#length + json.length * 3;
    if (most > this.#bytes.length) {
      const larger = Buffer.alloc(most * 2);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#length += this.#bytes.write(json, this.#length);
    this.#parts += parts;
  }
}
