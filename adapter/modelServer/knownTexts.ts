import type { HistoryEnd } from './history';
import { countTokens } from './tokens';

/** Frames that a run's prompts had, or that were written after them. */
export interface KnownText {
  readonly text: string;
  /** Where the text's complete frames end in the run. */
  readonly end: HistoryEnd;
  /** How many tokens the complete frames are. */
  readonly completeTokens: number;
  /** How many tokens the whole text is. */
  readonly tokens: number;
}

const nothingKnown: KnownText = {
  text: '',
  end: { next: 0, length: 0, frames: 0 },
  completeTokens: 0,
  tokens: 0,
};

/** How many texts of a run are kept, and how long they may be together, in UTF-16 units. */
const maxTexts = 6;
const maxLength = 1 << 24;

/** The newest histories of a run, so that of a longer one only what is new has to be followed and counted. */
export class KnownTexts {
  /** The newest first. */
  #texts: readonly KnownText[] = [];

  /** About how much memory the texts take, in bytes. */
  get size(): number {
    return this.#texts.reduce((sum, { text }) => sum + 2 * text.length, 0);
  }

  /** The longest known text that a history begins with. */
  beginningOf(history: string): KnownText {
    let longest = nothingKnown;
    for (const known of this.#texts) {
      if (known.text.length > longest.text.length && history.startsWith(known.text)) longest = known;
    }
    return longest;
  }

  /**
   * How many tokens at a history's beginning were in a prompt or an answer before.
   *
   * @param tokens the tokens of the whole history
   */
  cachedTokens(history: string, tokens: number): number {
    if (this.#texts.some(({ text }) => text.startsWith(history))) return tokens;
    return this.beginningOf(history).tokens;
  }

  add(known: KnownText): void {
    let length = 0;
    this.#texts = [known, ...this.#texts.filter(({ text }) => text !== known.text)].filter(
      ({ text }, index) => {
        length += text.length;
        return index === 0 || (index < maxTexts && length <= maxLength);
      },
    );
  }
}

/** A history that was followed to its end, from what was known of it. */
export function followedText(history: string, end: HistoryEnd, known: KnownText): KnownText {
  const complete = history.slice(known.end.length, end.length);
  const completeTokens = known.completeTokens + countTokens(complete);
  const tokens = completeTokens + countTokens(history.slice(end.length));
  return { text: history, end, completeTokens, tokens };
}
