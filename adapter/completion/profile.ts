/**
 * What kind of server answers, for the fields that are not OpenAI's. `neural-debug` is the stand-in of this
 * project, `hosted` a service such as OpenAI's, `generic` any other: it is sent OpenAI's fields only.
 */
export type ServerProfile =
  'vllm' | 'llama.cpp' | 'lm-studio' | 'ollama' | 'hosted' | 'fgserve' | 'neural-debug' | 'generic';

/** The profiles that people can choose. */
export const profileNames = [
  'vllm',
  'llama.cpp',
  'lm-studio',
  'ollama',
  'hosted',
  'fgserve',
  'generic',
] as const satisfies readonly ServerProfile[];

/** The servers' names as their makers write them. */
export const productNames: Readonly<Record<ServerProfile, string>> = {
  vllm: 'vLLM',
  'llama.cpp': 'llama.cpp',
  'lm-studio': 'LM Studio',
  ollama: 'Ollama',
  hosted: 'a hosted service',
  fgserve: 'fgserve',
  'neural-debug': 'Neural Debug’s stand-in',
  generic: 'a server of an unknown kind',
};

/** Whether prompts can go as token ids, with the ids of the answer told. */
export function mayTakeIds(profile: ServerProfile): boolean {
  return profile === 'vllm' || profile === 'llama.cpp' || profile === 'neural-debug';
}
