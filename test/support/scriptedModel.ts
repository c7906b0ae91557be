import { noUsage } from '../../adapter/completion/usage';
import type { CompletionChunk, CompletionSource, Prompt } from '../../adapter/completion/completion';

/** A model whose answer to each prompt a test works out, and that remembers what it was asked. */
export class ScriptedModel implements CompletionSource {
  readonly name = 'a model';
  readonly traits = { contextTokens: null, charactersPerToken: 3, separatesControl: false };
  readonly notes = [];
  readonly usage = noUsage;
  readonly prompts: Prompt[] = [];
  readonly temperatures: (number | undefined)[] = [];

  constructor(private readonly answer: (prompt: string, asked: number) => string) {}

  async *complete(
    prompt: Prompt,
    { temperature }: { readonly temperature?: number | undefined },
  ): AsyncGenerator<CompletionChunk> {
    this.prompts.push(prompt);
    this.temperatures.push(temperature);
    await Promise.resolve();
    const text = this.answer(promptText(prompt), this.prompts.length);
    yield { kind: 'text', text, tokens: [] };
    const reason = text.endsWith('<|end_of_text|>') || text.startsWith('{') ? 'stop' : 'length';
    yield { kind: 'end', reason, stopString: null, usage: null };
  }

  ready(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    // Nothing is held.
  }
}

export function promptText(prompt: Prompt | undefined): string {
  if (!prompt) return '';
  return prompt.kind === 'text' ? prompt.text : prompt.messages.map(({ content }) => content).join('\n');
}
