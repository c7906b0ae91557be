import type { CompletionSource } from '../completion/completion';
import type { Format } from '../format/format';
import type { ActionName } from '../trajectory/action';
import type { Step } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { PredictRequest, World, WorldDescription } from './world';

export interface LanguageModelOptions {
  /** The most tokens that the model takes, prompt and answer together. */
  readonly contextTokens: number;
  /** The most tokens of one answer that is wanted for one step, and for many. */
  readonly answerTokens: { readonly one: number; readonly many: number };
}

export const defaultLanguageModelOptions: LanguageModelOptions = {
  contextTokens: 131_072,
  answerTokens: { one: 4_096, many: 100_000 },
};

/** Trace texts take at least this many characters a token: room is left rather than the context overrun. */
const fewestCharactersPerToken = 2.5;

/** The fewest tokens that are worth asking for. */
const fewestAnswerTokens = 256;

/** A language model behind a completion source, in one format, as a world. */
export class LanguageModelWorld implements World {
  readonly actions: ReadonlySet<ActionName> = new Set<ActionName>(['step_into']);
  readonly description: WorldDescription;

  constructor(
    private readonly format: Format,
    private readonly source: CompletionSource,
    private readonly options: LanguageModelOptions = defaultLanguageModelOptions,
  ) {
    this.description = { kind: 'server', name: source.name, isReal: false };
  }

  async *predict({ trajectory, from, wanted, signal }: PredictRequest): AsyncGenerator<readonly Step[]> {
    if (from < 0 && this.format.opening.length > 0) yield this.format.opening;
    for (;;) {
      const at = newestAfter(trajectory, from);
      const prompt = this.format.prompt(trajectory, at, wanted);
      const reader = this.format.reader(trajectory, at);
      const maxTokens = this.#maxTokens(prompt.kind === 'text' ? prompt.text.length : 0, wanted);
      let isEmpty = true;
      for await (const chunk of this.source.complete(prompt, { maxTokens, signal })) {
        const steps = reader.read(chunk);
        if (steps.length === 0) continue;
        isEmpty = false;
        yield steps;
        if (steps.at(-1)?.kind === 'end') return;
      }
      if (isEmpty || wanted === 'one') return;
    }
  }

  close(): Promise<void> {
    this.source.close();
    return Promise.resolve();
  }

  #maxTokens(promptLength: number, wanted: 'one' | 'many'): number {
    const left = this.options.contextTokens - Math.ceil(promptLength / fewestCharactersPerToken);
    return Math.max(fewestAnswerTokens, Math.min(left, this.options.answerTokens[wanted]));
  }
}

/** The last state recorded on the way that goes on from a state: what was yielded is recorded by then. */
function newestAfter(trajectory: Trajectory, from: number): number {
  let at = from;
  for (let next = trajectory.next(at); next !== null; next = trajectory.next(at)) at = next;
  return at;
}
