import type { CompletionRequest } from './completionRequest';
import type { FaultPlace } from './faults';

/** A piece of a text that a model writes, cut into tokens by itself. */
export interface WrittenText {
  readonly text: string;
  /** Where the model was not sure; the tokens of all other places have the probability 1. */
  readonly odds: readonly Odds[];
}

/** A place of a text where something else could have been written. */
export interface Odds {
  /** An index of the text: the token there has the probability. */
  readonly at: number;
  /** The natural logarithm of the probability of what was written. */
  readonly logprob: number;
}

/** What can follow a prompt, from something that writes traces. */
export interface Continuation {
  readonly promptTokens: number;
  /** The tokens at the prompt's beginning that earlier requests had too. */
  readonly cachedTokens: number;
  /** Where the answer begins. */
  readonly place: FaultPlace;
  /**
   * The text that follows, in batches as they become known; it ends where the text does.
   *
   * @throws Refusal when the text cannot be completed
   */
  readonly text: AsyncIterable<readonly WrittenText[]>;
  /** Takes note of what was written of the text, as a part of prompts to come. */
  remember(written: string): void;
}

/** What a model is asked to continue. */
export type ContinueRequest = Pick<CompletionRequest, 'dropped' | 'sample'> & {
  /** The prompt, with control tokens written out. */
  readonly text: string;
};

/** What the server serves. */
export interface Model {
  readonly id: string;
  /**
   * Reads a prompt and begins to continue it.
   *
   * @throws Refusal when no answer to the prompt can be right
   */
  continue(request: ContinueRequest, signal: AbortSignal): Promise<Continuation>;
  /** Ends all work. */
  close(): Promise<void>;
}
