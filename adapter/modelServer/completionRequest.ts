import { z } from 'zod';
import { errors } from '../errors';
import { Refusal } from './refusal';

/** OpenAI's and vLLM's limit where a request names none. */
const defaultMaxTokens = 16;

const field = <T extends z.ZodType>(type: T) => type.nullish();

/** `POST /v1/completions`; what is not named here is ignored, as sampling has no meaning for a real run. */
const completionBody = z.object({
  model: z.string().max(500),
  prompt: z.union([z.string(), z.array(z.unknown())]),
  max_tokens: field(z.int().min(0).max(1e9)),
  stop: field(z.union([z.string().max(1000), z.array(z.string().max(1000)).max(16)])),
  stream: field(z.boolean()),
  stream_options: field(z.object({ include_usage: field(z.boolean()) })),
  logprobs: field(z.int().min(0).max(20)),
  n: field(z.int()),
  best_of: field(z.int()),
  echo: field(z.boolean()),
  suffix: field(z.string()),
});

/** What is asked of the model, in our own terms. */
export interface CompletionRequest {
  readonly prompt: string;
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly stream: boolean;
  /** Whether a stream ends with a chunk that tells the usage. */
  readonly includeUsage: boolean;
  /** Whether the answer carries the tokens and their log-probabilities. */
  readonly logprobs: boolean;
}

/**
 * Reads the body of `POST /v1/completions`.
 *
 * @param model the one model of the server
 * @throws Refusal
 */
export function readCompletionRequest(body: unknown, model: string): CompletionRequest {
  const result = completionBody.safeParse(body);
  if (!result.success) {
    const issue = result.error.issues[0];
    const path = issue?.path.map(String).join('.') ?? '';
    const what = `The request ${path === '' ? 'body' : `field ${path}`} is wrong: ${issue?.message ?? 'not understood'}.`;
    const error = errors.requestBody(what, "Send what OpenAI's completions API describes.");
    throw new Refusal(400, 'invalid_request', error, path === '' ? null : path);
  }
  const asked = result.data;
  if (asked.model !== model) {
    throw new Refusal(404, 'model_not_found', errors.modelUnknown(asked.model, model), 'model');
  }
  for (const name of ['n', 'best_of'] as const) {
    if ((asked[name] ?? 1) !== 1) {
      throw unsupported(name, 'A program has one run: this server gives one answer.', `Leave out ${name}.`);
    }
  }
  if (asked.echo) throw unsupported('echo', 'This server does not repeat the prompt.', 'Leave out echo.');
  if (asked.suffix) {
    throw unsupported('suffix', 'This server does not fill in the middle of a text.', 'Leave out suffix.');
  }
  return {
    prompt: promptText(asked.prompt),
    maxTokens: asked.max_tokens ?? defaultMaxTokens,
    stop: [asked.stop ?? []].flat().filter((text) => text !== ''),
    stream: asked.stream ?? false,
    includeUsage: asked.stream_options?.include_usage ?? false,
    logprobs: typeof asked.logprobs === 'number',
  };
}

function promptText(prompt: string | readonly unknown[]): string {
  if (typeof prompt === 'string') return prompt;
  const [first, ...more] = prompt;
  if (typeof first === 'string' && more.length === 0) return first;
  if (prompt.length > 0 && prompt.every((part) => typeof part === 'string')) {
    throw unsupported('prompt', 'This server continues one prompt a request.', 'Send each prompt by itself.');
  }
  throw unsupported(
    'prompt',
    'This server does not take token ids: it has no vocabulary.',
    'Send the prompt as text, with its control tokens written out.',
  );
}

function unsupported(param: string, what: string, wayOut: string): Refusal {
  return new Refusal(400, 'unsupported', errors.requestUnsupported(what, wayOut), param);
}
