import type { ControlText } from './completion';

/** Asks a server for the token ids of a text in which control tokens are read as such. */
export type Tokenize = (text: string, signal: AbortSignal) => Promise<readonly number[]>;

/** The most text, in UTF-16 units, that is sent to be tokenized at once. */
const maxAtOnce = 1 << 20;

/** How many ids are kept for texts that were encoded before. */
const maxKept = 4_000_000;

/** What a tokenizer may take for a control token, cut where it no longer can. */
const controlLike = /(?<=<\|)(?=\w+\u200b*\|>)/g;

/**
 * Encodes prompts as token ids, control tokens apart from all other text: what the program itself holds can
 * then not be taken for one. Servers read control tokens in every text that they are given, so text that looks
 * like one is cut in two before. What is between two control tokens is encoded by itself, which tokenizers do
 * too, and is asked for once; what the model wrote keeps its own ids.
 */
export class TokenIds {
  readonly #idOf: ReadonlyMap<string, number>;
  readonly #textOf: ReadonlyMap<number, string>;
  readonly #split: RegExp;
  readonly #known = new Map<string, readonly number[]>();
  #kept = 0;

  private constructor(
    private readonly control: ControlText,
    private readonly tokenize: Tokenize,
    ids: readonly number[],
  ) {
    this.#idOf = new Map(control.tokens.map((text, index) => [text, ids[index] ?? -1]));
    this.#textOf = new Map(control.tokens.map((text, index) => [ids[index] ?? -1, text]));
    this.#split = new RegExp(
      `(${control.tokens.map((text) => text.replace(/[|\\^$.*+?()[\]{}]/g, '\\$&')).join('|')})`,
    );
  }

  /** Null where the tokenizer does not have the control tokens. */
  static async of(control: ControlText, tokenize: Tokenize, signal: AbortSignal): Promise<TokenIds | null> {
    const ids = await tokenize(control.tokens.join(''), signal);
    const isWhole = ids.length === control.tokens.length && new Set(ids).size === ids.length;
    return isWhole ? new TokenIds(control, tokenize, ids) : null;
  }

  /** The control token's text, or null for the id of another token. */
  controlText(id: number): string | null {
    return this.#textOf.get(id) ?? null;
  }

  /** Asks for what is not yet known of some texts, so that they can be encoded. */
  async prepare(texts: readonly string[], signal: AbortSignal): Promise<void> {
    const missing = new Set<string>();
    for (const text of texts) {
      for (const part of text.split(this.#split)) {
        if (part !== '' && !this.#idOf.has(part) && !this.#known.has(part)) missing.add(part);
      }
    }
    let batch: string[] = [];
    let length = 0;
    for (const part of missing) {
      if (length > 0 && length + part.length > maxAtOnce) {
        await this.#ask(batch, signal);
        batch = [];
        length = 0;
      }
      batch.push(part);
      length += part.length;
    }
    if (batch.length > 0) await this.#ask(batch, signal);
  }

  /** The ids of a text that was prepared. */
  encode(text: string): readonly number[] {
    return text.split(this.#split).flatMap((part): readonly number[] => {
      const id = this.#idOf.get(part);
      return id === undefined ? (this.#known.get(part) ?? []) : [id];
    });
  }

  /** Takes note of the ids that the model itself gave a text between two control tokens. */
  learn(text: string, ids: readonly number[]): void {
    if (text !== '') this.#keep(text, ids);
  }

  async #ask(parts: readonly string[], signal: AbortSignal): Promise<void> {
    const pieces = parts.map((part) => this.control.unescape(part).split(controlLike));
    const all = pieces.flat();
    const [separator = ''] = this.control.tokens;
    const ids = await this.tokenize(all.join(separator), signal);
    let divided = divide(ids, this.#idOf.get(separator) ?? -1);
    if (divided.length !== all.length) {
      // A tokenizer that does not keep control tokens apart is asked for each text by itself.
      divided = [];
      for (const piece of all) divided.push([...(await this.tokenize(piece, signal))]);
    }
    let at = 0;
    for (const [index, part] of parts.entries()) {
      const count = pieces[index]?.length ?? 0;
      this.#keep(part, divided.slice(at, at + count).flat());
      at += count;
    }
  }

  #keep(part: string, ids: readonly number[]): void {
    this.#kept += ids.length - (this.#known.get(part)?.length ?? 0);
    this.#known.delete(part);
    this.#known.set(part, ids);
    for (const [oldest, { length }] of this.#known) {
      if (this.#kept <= maxKept || oldest === part) break;
      this.#known.delete(oldest);
      this.#kept -= length;
    }
  }
}

function divide(ids: readonly number[], separator: number): number[][] {
  const parts: number[][] = [[]];
  for (const id of ids) {
    if (id === separator) parts.push([]);
    else parts.at(-1)?.push(id);
  }
  return parts;
}
