import { basename } from 'node:path';
import { writtenCalls } from '../inputs/writtenCalls';
import { canBeMade, entryWriting } from '../python/entryCall';
import { findFunction, type FunctionDefinition } from '../python/functions';
import type { PythonSource } from '../python/source';
import { shownText } from '../shownText';
import type { ExampleCalls } from './protocol';

/** More suggestions than this are no list to choose from. */
const maxSuggestions = 100;

/**
 * Calls of a function to offer: of its doctests, of its file, of the tests beside it, and without arguments where
 * the function takes none. Nothing is run.
 *
 * @param path the file's path, or null for a text without a file
 */
export async function suggestCalls(
  source: PythonSource,
  path: string | null,
  qualifiedName: string,
): Promise<ExampleCalls> {
  const definition = findFunction(source, qualifiedName);
  if (!definition) return null;
  const signature = signatureOf(source, definition);
  const own = path === null ? 'this file' : basename(path);
  const { before, after, callee } = entryWriting(source, definition);
  const calls = (await writtenCalls(source, path, definition)).map(({ call, origin, line, test }) => {
    return { call, origin, line, file: test === null ? own : basename(test) };
  });
  const plain = plainCall(source, definition, callee);
  if (plain !== null) {
    // Behind the calls of its own file.
    const at = calls.findIndex(({ file }) => file !== own);
    const { line } = definition;
    calls.splice(at < 0 ? calls.length : at, 0, { call: plain, origin: 'call', line, file: own });
  }
  const seen = new Set<string>();
  return {
    signature,
    writing: { before, after, callee },
    calls: calls
      .filter(({ call }) => call === shownText(call) && !seen.has(call) && seen.add(call))
      .slice(0, maxSuggestions)
      .map((found) => ({ ...found, call: before + found.call + after })),
  };
}

/** The call without arguments, where that is allowed. */
function plainCall(
  source: PythonSource,
  definition: FunctionDefinition,
  callee: string | null,
): string | null {
  const { kind, className, name, needsNoArguments } = definition;
  if (kind === 'property' && className !== null)
    return canBeMade(source, definition) ? `${className}().${name}` : null;
  return needsNoArguments && callee !== null ? `${callee}()` : null;
}

function signatureOf(
  source: PythonSource,
  { qualifiedName, className, kind, name, parameters }: FunctionDefinition,
) {
  const given = kind === 'property' ? '' : `(${parameters.join(', ').replace(/\s+/g, ' ')})`;
  if ((kind !== 'method' && kind !== 'property') || className === null) return qualifiedName + given;
  const constructor = findFunction(source, `${className}.__init__`);
  return `${className}(${(constructor?.parameters ?? []).join(', ').replace(/\s+/g, ' ')}).${name}${given}`;
}
