import type OpenAI from 'openai';
import type { Prompt } from './completion';
import type { Concessions } from './concessions';

/**
 * What kind of server it is, for the fields that are not OpenAI's: `generic` and `hosted` servers are sent
 * none; `hosted` ones want the newer name of the token limit.
 */
export type ServerProfile = 'generic' | 'vllm' | 'llama.cpp' | 'hosted';

/** Fields of servers' own. */
export type ServerFields = Readonly<Record<string, unknown>>;

export interface RequestOptions {
  readonly model: string;
  readonly maxTokens: number;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly profile: ServerProfile;
  readonly extraBody: ServerFields;
}

/** What makes special tokens pass through the text of a prompt and its answer unchanged. */
const textFields: Readonly<Record<ServerProfile, ServerFields>> = {
  generic: {},
  hosted: {},
  vllm: { skip_special_tokens: false, spaces_between_special_tokens: false, add_special_tokens: false },
  'llama.cpp': { cache_prompt: true },
};

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
  return withServerFields(body, { ...textFields[options.profile], ...options.extraBody });
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
    ...(concessions.logprobs ? { logprobs: true } : {}),
    ...responseFormat(prompt, concessions),
    ...streamingFields(options, concessions),
  };
  return withServerFields(body, options.extraBody);
}

function streamingFields(options: RequestOptions, concessions: Concessions) {
  return {
    ...(concessions.usage ? { stream_options: { include_usage: true } } : {}),
    ...(concessions.sampling && options.temperature !== null ? { temperature: options.temperature } : {}),
    ...(concessions.sampling && options.topP !== null ? { top_p: options.topP } : {}),
  };
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
