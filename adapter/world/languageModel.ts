import type { CompletionChunk, CompletionSource, Prompt } from '../completion/completion';
import { quoted } from '../completion/quoted';
import type { UsageTotals } from '../completion/usage';
import type { Format, FormatName } from '../format/format';
import type { ActionName, WhatIf } from '../trajectory/action';
import type { State, Step } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';
import type { PredictRequest, Questions, World, WorldDescription } from './world';

/** The most tokens that one answer may take, where one step is wanted and where many are. */
export interface AnswerTokens {
  readonly one: number;
  readonly many: number;
}

/**
 * The limits by format. A trace takes about 23 tokens a state, so that a loop of a thousand turns is one answer; a
 * chat answers with few states at a time. A server that cannot give so many says so, and is asked for less.
 */
export const answerTokens: Readonly<Record<FormatName, AnswerTokens>> = {
  cwm: { one: 4_096, many: 100_000 },
  chat: { one: 2_048, many: 8_192 },
};

/** How much of an answer to a question is read, in characters. */
const longestAnswer = 100_000;

/** Freely enough that samples differ where a model is not sure. */
export const defaultSamplingTemperature = 0.6;

/** A language model behind a completion source, in one format, as a world. */
export class LanguageModelWorld implements World {
  readonly actions: ReadonlySet<ActionName> = new Set<ActionName>(['step_into']);
  readonly canBeEdited = true;
  readonly questions: Questions;

  constructor(
    private readonly format: Format,
    private readonly source: CompletionSource,
    readonly samplingTemperature: number = defaultSamplingTemperature,
  ) {
    const { questions } = format;
    this.questions =
      questions.kind === 'trace'
        ? {
            kind: 'trace',
            another: async (program, python) =>
              new LanguageModelWorld(await questions.formatFor(program, python), source),
          }
        : {
            kind: 'words',
            ask: async (question, signal) => {
              const answer = await this.#answer(questions.prompt(question), signal);
              return quoted(source, () => questions.read(answer));
            },
          };
  }

  /** The model's name may be known only once the server has answered. */
  get description(): WorldDescription {
    return { kind: 'server', name: this.source.name, isReal: false };
  }

  get notes(): readonly string[] {
    return this.source.notes;
  }

  get usage(): UsageTotals {
    return this.source.usage;
  }

  async *predict({
    trajectory,
    from,
    wanted,
    signal,
    isSample,
  }: PredictRequest): AsyncGenerator<readonly Step[]> {
    // What the source can carry decides how the program is put to it.
    await this.source.ready(signal);
    let at = from;
    if (from < 0 && this.format.opening.length > 0) {
      yield this.format.opening;
      at = newestAfter(trajectory, from);
    }
    const temperature = isSample ? this.samplingTemperature : undefined;
    for (; ; at = newestAfter(trajectory, from)) {
      const prompt = this.format.prompt(trajectory, at, wanted);
      const reader = this.format.reader(trajectory, at);
      const maxTokens = answerTokens[this.format.name][wanted];
      let isEmpty = true;
      for await (const chunk of this.source.complete(prompt, { maxTokens, signal, temperature })) {
        const steps = quoted(this.source, () => reader.read(chunk));
        if (steps.length === 0) continue;
        isEmpty = false;
        yield steps;
        if (steps.at(-1)?.kind === 'end') return;
      }
      if (isEmpty || wanted === 'one') return;
    }
  }

  async #answer(prompt: Prompt, signal: AbortSignal): Promise<CompletionChunk[]> {
    await this.source.ready(signal);
    const chunks: CompletionChunk[] = [];
    let length = 0;
    const maxTokens = answerTokens[this.format.name].one;
    for await (const chunk of this.source.complete(prompt, { maxTokens, signal })) {
      chunks.push(chunk);
      if (chunk.kind === 'text') length += chunk.text.length;
      if (length > longestAnswer) break;
    }
    return chunks;
  }

  project(state: State): State | null {
    return this.format.project(state);
  }

  whatIfProblem(trajectory: Trajectory, state: number, change: WhatIf): string | null {
    return this.format.whatIfProblem(trajectory, state, change);
  }

  close(): Promise<void> {
    this.source.close();
    return Promise.resolve();
  }
}

/** The last state recorded on the way that goes on from a state: what was yielded is recorded by then. */
function newestAfter(trajectory: Trajectory, from: number): number {
  let at = from;
  for (let next = trajectory.next(at); next !== null; next = trajectory.next(at)) at = next;
  return at;
}
