import { z } from 'zod';
import { errors } from '../errors';
import { readPromptIds, readPromptText, type ReadPrompt } from './promptIds';
import { Refusal } from './refusal';

/** OpenAI's and vLLM's limit where a request names none. */
const defaultMaxTokens = 16;

const field = <T extends z.ZodType>(type: T) => type.nullish();

/** `POST /v1/completions`; what is not named here is ignored. */
const completionBody = z.object({
  model: z.string().max(500),
  prompt: z.union([z.string(), z.array(z.unknown())]),
  max_tokens: field(z.int().min(0).max(1e9)),
  stop: field(z.union([z.string().max(1000), z.array(z.string().max(1000)).max(16)])),
  stream: field(z.boolean()),
  stream_options: field(z.object({ include_usage: field(z.boolean()) })),
  logprobs: field(z.int().min(0).max(20)),
  temperature: field(z.number().min(0)),
  seed: field(z.int()),
  n: field(z.int()),
  best_of: field(z.int()),
  echo: field(z.boolean()),
  suffix: field(z.string()),
  // vLLM's own.
  stop_token_ids: field(z.array(z.int().nonnegative()).max(100)),
  skip_special_tokens: field(z.boolean()),
  add_special_tokens: field(z.boolean()),
  return_token_ids: field(z.boolean()),
  // Ours.
  dropped_frames: field(z.int().min(0).max(1e9)),
  dropped_digest: field(z.string().regex(/^[0-9a-f]{64}$/)),
  dropped_others: field(z.array(z.tuple([z.int().min(1).max(1e9), z.string()])).max(10_000)),
});

/** Frames that a prompt leaves out after its first one. */
export interface Dropped {
  readonly count: number;
  /** The SHA-256 of those that the model wrote, in hexadecimal; null where nothing is said of what they are. */
  readonly digest: string | null;
  /** Those that the model did not write, by their index from 0. */
  readonly others: ReadonlyMap<number, string>;
}

/** What is asked of the model, in our own terms. */
export interface CompletionRequest {
  readonly prompt: ReadPrompt;
  /** The frames that the prompt leaves out after its first one; null where it leaves out none. */
  readonly dropped: Dropped | null;
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly stopIds: ReadonlySet<number>;
  readonly stream: boolean;
  /** Whether a stream ends with a chunk that tells the usage. */
  readonly includeUsage: boolean;
  /** Whether the answer carries the tokens and their log-probabilities. */
  readonly logprobs: boolean;
  /** Whether the answer carries the ids of its tokens. */
  readonly tokenIds: boolean;
  /** Whether control tokens add nothing to the answer's text. */
  readonly skipsControl: boolean;
  /** What tells this answer from other samples; null where the likeliest is asked for. */
  readonly sample: { readonly seed: number | null } | null;
}

/**
 * Reads the body of `POST /v1/completions`.
 *
 * @param model the one model of the server
 * @param skipsControl what is done with control tokens where the request does not say
 * @throws Refusal
 */
export function readCompletionRequest(
  body: unknown,
  model: string,
  skipsControl: boolean,
): CompletionRequest {
  const asked = readBody(completionBody, body);
  requireModel(asked.model, model);
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
    prompt: readPrompt(asked.prompt, asked.add_special_tokens ?? true),
    dropped: asked.dropped_frames
      ? {
          count: asked.dropped_frames,
          digest: asked.dropped_digest ?? null,
          others: new Map(asked.dropped_others),
        }
      : null,
    maxTokens: asked.max_tokens ?? defaultMaxTokens,
    stop: [asked.stop ?? []].flat().filter((text) => text !== ''),
    stopIds: new Set(asked.stop_token_ids),
    stream: asked.stream ?? false,
    includeUsage: asked.stream_options?.include_usage ?? false,
    logprobs: typeof asked.logprobs === 'number',
    tokenIds: asked.return_token_ids ?? false,
    skipsControl: asked.skip_special_tokens ?? skipsControl,
    sample: (asked.temperature ?? 0) > 0 ? { seed: asked.seed ?? null } : null,
  };
}

/**
 * Reads a request's body.
 *
 * @throws Refusal for one of another shape
 */
export function readBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue?.path.map(String).join('.') ?? '';
  const what = `The request ${path === '' ? 'body' : `field ${path}`} is wrong: ${issue?.message ?? 'not understood'}.`;
  const error = errors.requestBody(what, "Send what OpenAI's completions API describes.");
  throw new Refusal(400, 'invalid_request', error, path === '' ? null : path);
}

/** @throws Refusal unless a request is for the server's model, or names none */
export function requireModel(asked: string | null | undefined, model: string): void {
  if (typeof asked !== 'string' || asked === model) return;
  throw new Refusal(404, 'model_not_found', errors.modelUnknown(asked, model), 'model');
}

function readPrompt(prompt: string | readonly unknown[], addsBegin: boolean): ReadPrompt {
  if (typeof prompt === 'string') return readPromptText(prompt, addsBegin);
  const [first, ...more] = prompt;
  const isOne = more.length === 0;
  if (typeof first === 'string' && isOne) return readPromptText(first, addsBegin);
  const ids = z.array(z.int().nonnegative());
  const plain = prompt.length > 0 ? ids.safeParse(prompt) : null;
  if (plain?.success) return readPromptIds(plain.data);
  const inner = isOne ? ids.safeParse(first) : null;
  if (inner?.success && inner.data.length > 0) return readPromptIds(inner.data);
  throw unsupported(
    'prompt',
    'This server continues one prompt a request.',
    'Send one prompt, as a text or as token ids.',
  );
}

function unsupported(param: string, what: string, wayOut: string): Refusal {
  return new Refusal(400, 'unsupported', errors.requestUnsupported(what, wayOut), param);
}
