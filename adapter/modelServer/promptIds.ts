import { errors } from '../errors';
import { breakControlText, controlTokens, mendControlText } from '../format/cwm/tokens';
import { Refusal } from './refusal';
import { decode, isControl, type Token, tokenize, tokenizePlain } from './tokens';

/** A prompt as it was sent. */
export interface ReadPrompt {
  /** The text, with control tokens written out; what only looks like them is broken. */
  readonly text: string;
  /** How many ids were sent; null for a text. */
  readonly ids: number | null;
}

/**
 * Reads a prompt of token ids. Text between control tokens is not taken for one, whatever it looks like.
 *
 * @throws Refusal for an id that is not of the vocabulary
 */
export function readPromptIds(ids: readonly number[]): ReadPrompt {
  const parts = decode(ids);
  if (!parts) {
    const error = errors.requestBody(
      'The prompt has token ids that are not of the vocabulary.',
      'Ask this server for the ids of a text: POST /tokenize.',
    );
    throw new Refusal(400, 'invalid_token_ids', error, 'prompt');
  }
  const text = parts.map((part) => (part.isControl ? part.text : breakControlText(part.text))).join('');
  return { text, ids: ids.length };
}

/**
 * Reads a prompt that is a text.
 *
 * @param addsBegin whether the text's begin-of-text is added, where the text does not have it
 */
export function readPromptText(text: string, addsBegin: boolean): ReadPrompt {
  const { beginOfText } = controlTokens;
  const isAdded = addsBegin && !text.startsWith(beginOfText);
  return { text: isAdded ? beginOfText + text : text, ids: null };
}

/**
 * The tokens of a text that the model writes.
 *
 * @param asIds whether the reader goes by ids, so that broken text which looks like a control token is mended
 */
export function tokensToWrite(text: string, asIds: boolean): readonly Token[] {
  if (!asIds || !text.includes('<|')) return tokenize(text);
  const parts: Token[][] = [];
  let plain = '';
  for (const token of tokenize(text)) {
    if (!isControl(token.id)) {
      plain += token.text;
      continue;
    }
    parts.push(tokenizePlain(mendControlText(plain)), [token]);
    plain = '';
  }
  return [...parts, tokenizePlain(mendControlText(plain))].flat();
}
