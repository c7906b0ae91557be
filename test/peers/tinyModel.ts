import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { controlTokens } from '../../adapter/format/cwm/tokens';

const { beginOfText, endOfText, contextStart, frameEnd, line, action, argument } = controlTokens;

type Habits = Readonly<Record<string, Readonly<Record<string, number>>>>;

/**
 * What the model writes after each token, by probability. The likeliest course is the same frame for ever, such that
 * each of its tokens has a probability of its own; `~` leads to the end, the
 * token before the context to a character of two tokens.
 */
const follows: Habits = {
  [frameEnd]: { [line]: 0.6, [controlTokens.return]: 0.2, [endOfText]: 0.1 },
  [line]: { '{': 0.95 },
  '{': { '}': 0.8, '"': 0.15 },
  '}': { [action]: 0.7, '}': 0.2 },
  [action]: { '\t': 0.85 },
  '\t': { x: 0.5, y: 0.3 },
  x: { '=': 0.92 },
  y: { '=': 0.93 },
  '=': { '1': 0.75, '2': 0.2 },
  '1': { '\n': 0.9 },
  '2': { '\n': 0.91 },
  '\n': { [frameEnd]: 0.88 },
  [argument]: { '"': 0.9 },
  '~': { [endOfText]: 0.9 },
  [contextStart]: { '\u00c3': 0.9 },
  '\u00c3': { '\u00a9': 0.9 },
  '\u00a9': { [frameEnd]: 0.9 },
};

/** The probability of a token after another, named as in `follows`; characters from 128 on are bytes. */
export function probability(before: string, after: string): number {
  const told = follows[before]?.[after];
  if (told === undefined) throw new Error(`The model has no habit ${before}${after}.`);
  return told;
}

/** The frame that the model writes again and again, after a frame's end. */
export const frame = `${line}{}${action}\tx=1\n${frameEnd}`;

/** The tokens of that frame. */
export const frameTokens = [line, '{', '}', action, '\t', 'x', '=', '1', '\n', frameEnd];

/** How many tokens the model's prompts and answers may have together. */
export const contextTokens = 4_096;

/**
 * Writes the model, for llama.cpp as a file or in Hugging Face's format as a folder.
 *
 * @param path where it is written
 */
export function writeTinyModel(kind: 'gguf' | 'hf', path: string): void {
  const habits = {
    control: Object.values(controlTokens),
    begin: beginOfText,
    end: endOfText,
    follows,
    // Strings and objects are ended soon, and any of JSON is likelier than white space, of which vLLM's grammars allow
    // any amount, so that answers that are held to a schema come to an end.
    otherwise: {
      '"': 0.3,
      '}': 0.2,
      ']': 0.1,
      '[': 0.07,
      '{': 0.06,
      ':': 0.05,
      ',': 0.04,
      '0': 0.03,
      t: 0.02,
    },
  };
  const script = fileURLToPath(new URL('tinyModel.py', import.meta.url));
  execFileSync('python3', [script, kind, path], { input: JSON.stringify(habits) });
}
