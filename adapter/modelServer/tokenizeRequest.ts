import { z } from 'zod';
import { errors } from '../errors';
import { controlTokens } from '../format/cwm/tokens';
import { readBody, requireModel } from './completionRequest';
import { Refusal } from './refusal';
import { decode, tokenize } from './tokens';

const tokenizeBody = z.object({
  model: z.string().nullish(),
  prompt: z.string(),
  add_special_tokens: z.boolean().nullish(),
  return_token_strs: z.boolean().nullish(),
});

const detokenizeBody = z.object({ model: z.string().nullish(), tokens: z.array(z.int().nonnegative()) });

/**
 * Answers `POST /tokenize` in vLLM's shape. As there, control tokens in the text are read as such, and a
 * begin-of-text is put before the text unless `add_special_tokens` is false.
 *
 * @param maxModelLength the most tokens of a prompt and its answer; null for no limit
 * @throws Refusal
 */
export function answerTokenize(body: unknown, model: string, maxModelLength: number | null): object {
  const asked = readBody(tokenizeBody, body);
  requireModel(asked.model, model);
  const text = (asked.add_special_tokens ?? true) ? controlTokens.beginOfText + asked.prompt : asked.prompt;
  const tokens = tokenize(text);
  return {
    count: tokens.length,
    max_model_len: maxModelLength,
    tokens: tokens.map(({ id }) => id),
    token_strs: asked.return_token_strs ? tokens.map((token) => token.text) : null,
  };
}

/**
 * Answers `POST /detokenize` in vLLM's shape.
 *
 * @throws Refusal
 */
export function answerDetokenize(body: unknown, model: string): object {
  const asked = readBody(detokenizeBody, body);
  requireModel(asked.model, model);
  const parts = decode(asked.tokens);
  if (parts) return { prompt: parts.map(({ text }) => text).join('') };
  const error = errors.requestBody(
    'There are token ids that are not of the vocabulary.',
    'Send ids that POST /tokenize or an answer gave.',
  );
  throw new Refusal(400, 'invalid_token_ids', error, 'tokens');
}
