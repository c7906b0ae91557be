/** What can follow a prompt, from something that writes traces. */
export interface Continuation {
  readonly promptTokens: number;
  /** The tokens at the prompt's beginning that earlier requests had too. */
  readonly cachedTokens: number;
  /**
   * The text that follows, in pieces that are cut into tokens one by one, in batches as they become known; it
   * ends where the text does.
   *
   * @throws Refusal when the text cannot be completed
   */
  readonly text: AsyncIterable<readonly string[]>;
  /** Takes note of what was written of the text, as a part of prompts to come. */
  remember(written: string): void;
}

/** What the server serves. */
export interface Model {
  readonly id: string;
  /**
   * Reads a prompt and begins to continue it.
   *
   * @throws Refusal when no answer to the prompt can be right
   */
  continue(prompt: string, signal: AbortSignal): Promise<Continuation>;
  /** Ends all work. */
  close(): Promise<void>;
}
