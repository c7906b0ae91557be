import type OpenAI from 'openai';
import type { AnswerConstraint, ControlText, DroppedFrames, Prompt } from './completion';
import type { Concessions } from './concessions';
import { constraintFields } from './constraint';
import type { ServerProfile } from './profile';

/** Fields of servers' own. */
export type ServerFields = Readonly<Record<string, unknown>>;

export interface RequestOptions {
  readonly model: string;
  readonly maxTokens: number;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly profile: ServerProfile;
  /** Whether the prompt is of token ids. */
  readonly asIds: boolean;
  /** The control tokens of text prompts, or null. */
  readonly control: ControlText | null;
  /** Whether answers are held to what can follow, where the server can do that. */
  readonly constrain: boolean;
  readonly extraBody: ServerFields;
}

/**
 * What makes control tokens pass through a prompt and its answer unchanged, and lets the server tell early what
 * it reused of the prompt.
 *
 * @param asIds whether the prompt is of token ids, and those of the answer are wanted
 */
export function textFields(profile: ServerProfile, asIds: boolean): ServerFields {
  switch (profile) {
    case 'vllm':
    case 'neural-debug':
      return {
        skip_special_tokens: false,
        spaces_between_special_tokens: false,
        add_special_tokens: false,
        ...(asIds ? { return_token_ids: true } : {}),
      };
    case 'llama.cpp':
      return { cache_prompt: true, timings_per_token: true };
    default:
      return {};
  }
}

/** The body for `/completions`, less the prompt. */
export function textBody(
  prompt: Extract<Prompt, { kind: 'text' }>,
  options: RequestOptions,
  concessions: Concessions,
) {
  const body: Omit<OpenAI.CompletionCreateParamsStreaming, 'prompt'> = {
    model: options.model,
    stream: true,
    max_tokens: Math.min(options.maxTokens, concessions.mostTokens),
    ...(prompt.stop.length > 0 ? { stop: [...prompt.stop] } : {}),
    ...(concessions.logprobs ? { logprobs: 1 } : {}),
    ...streamingFields(options, concessions),
  };
  return withServerFields(body, {
    ...textFields(options.profile, options.asIds),
    ...(options.profile === 'neural-debug' ? droppedFields(prompt.droppedFrames) : {}),
    ...constraintOf(prompt.constraint, options),
    ...options.extraBody,
  });
}

/** What our own server is told of the frames that a prompt leaves out. */
function droppedFields(dropped: DroppedFrames | undefined): ServerFields {
  if (!dropped) return {};
  const { count, digest, others } = dropped;
  return { dropped_frames: count, dropped_digest: digest, dropped_others: others };
}

function constraintOf(
  constraint: (() => AnswerConstraint | null) | undefined,
  { constrain, profile, asIds, control }: RequestOptions,
): ServerFields {
  const held = constrain ? (constraint?.() ?? null) : null;
  const shown = (text: string) =>
    // What is a control token itself is no escaped text.
    asIds && control && !control.tokens.some((token) => text.includes(token)) ? control.unescape(text) : text;
  return held ? constraintFields(held, profile, shown) : {};
}

/** The body for `/chat/completions`. */
export function chatBody(
  prompt: Extract<Prompt, { kind: 'chat' }>,
  options: RequestOptions,
  concessions: Concessions,
) {
  const body: OpenAI.ChatCompletionCreateParamsStreaming = {
    model: options.model,
    messages: prompt.messages.map(({ role, content }) => ({ role, content })),
    stream: true,
    [concessions.tokenLimit]: Math.min(options.maxTokens, concessions.mostTokens),
    ...(concessions.logprobs ? { logprobs: true, ...alternatives(options.profile) } : {}),
    ...responseFormat(prompt, concessions),
    ...streamingFields(options, concessions),
  };
  return withServerFields(body, options.extraBody);
}

/** llama.cpp sends twenty alternatives for each token of a chat unless it is told how many. */
function alternatives(profile: ServerProfile): { top_logprobs?: number } {
  return profile === 'llama.cpp' ? { top_logprobs: 1 } : {};
}

function streamingFields(options: RequestOptions, concessions: Concessions) {
  return {
    ...(concessions.usage ? { stream_options: usageOptions(options.profile) } : {}),
    ...(concessions.sampling && options.temperature !== null ? { temperature: options.temperature } : {}),
    ...(concessions.sampling && options.topP !== null ? { top_p: options.topP } : {}),
  };
}

/** vLLM can tell the usage with each piece of an answer: most answers are left before they end. */
function usageOptions(profile: ServerProfile): { include_usage: true } {
  const continuous = profile === 'vllm' || profile === 'neural-debug';
  return { include_usage: true, ...(continuous ? { continuous_usage_stats: true } : {}) };
}

function responseFormat(
  { schema }: Extract<Prompt, { kind: 'chat' }>,
  { responseFormat: format }: Concessions,
): Pick<OpenAI.ChatCompletionCreateParamsStreaming, 'response_format'> {
  switch (format) {
    case 'json_schema':
      return {
        response_format: {
          type: 'json_schema',
          json_schema: { name: schema.name, schema: { ...schema.schema }, strict: true },
        },
      };
    case 'json_object':
      return { response_format: { type: 'json_object' } };
    case 'none':
      return {};
  }
}

/** A body with fields of the server's own, which cannot change what is asked and how the answer is read. */
function withServerFields<Body extends object>(body: Body, fields: ServerFields): Body & ServerFields {
  return { ...fields, ...body };
}
