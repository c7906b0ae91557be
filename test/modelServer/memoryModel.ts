import { countTokens } from '../../adapter/modelServer/tokens';
import type { Continuation, ContinueRequest, Model, WrittenText } from '../../adapter/modelServer/model';

/** A model that continues every prompt with the same texts, one batch each. */
export class MemoryModel implements Model {
  readonly id = 'memory';
  /** Signals of the requests so far. */
  readonly signals: AbortSignal[] = [];
  readonly written: string[] = [];
  closed = false;

  constructor(private readonly texts: () => AsyncIterable<string> | Iterable<string>) {}

  continue({ text }: ContinueRequest, signal: AbortSignal): Promise<Continuation> {
    this.signals.push(signal);
    const { texts, written } = this;
    async function* pieces(): AsyncGenerator<readonly WrittenText[]> {
      for await (const piece of texts()) yield [{ text: piece, odds: [] }];
    }
    return Promise.resolve({
      promptTokens: countTokens(text),
      cachedTokens: 0,
      place: { program: 'memory', frame: 0 },
      text: pieces(),
      remember: (more: string) => void written.push(more),
    });
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}
