import { tokenize } from '../../adapter/modelServer/tokens';
import type { Continuation, Model } from '../../adapter/modelServer/model';

/** A model that continues every prompt with the same texts, one batch each. */
export class MemoryModel implements Model {
  readonly id = 'memory';
  /** Signals of the requests so far. */
  readonly signals: AbortSignal[] = [];
  readonly written: string[] = [];
  closed = false;

  constructor(private readonly texts: () => AsyncIterable<string> | Iterable<string>) {}

  continue(prompt: string, signal: AbortSignal): Promise<Continuation> {
    this.signals.push(signal);
    const { texts, written } = this;
    async function* text(): AsyncGenerator<readonly string[]> {
      for await (const piece of texts()) yield [piece];
    }
    return Promise.resolve({
      promptTokens: tokenize(prompt).length,
      cachedTokens: 0,
      text: text(),
      remember: (more: string) => void written.push(more),
    });
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}
