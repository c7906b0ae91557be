import { CatalogueError } from '../errors';
import type { CompletionSource } from './completion';

/**
 * Reads something of an answer; an error that quotes the answer says nothing that was given to the source in
 * confidence.
 *
 * @throws what the reading throws, with another message where that has to be
 */
export function quoted<T>(source: Pick<CompletionSource, 'hide'>, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof CatalogueError) || !source.hide) throw thrown;
    const { code, blame, message, wayOut, cause } = thrown;
    const shown = source.hide(message);
    throw shown === message ? thrown : new CatalogueError(code, blame, shown, wayOut, { cause });
  }
}
