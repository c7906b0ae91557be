import type { CodeLens } from 'vscode-languageserver';
import { functionsOf } from '../python/functions';
import type { PythonSource } from '../python/source';

/** A command of the client that is offered above functions. */
export interface LensCommand {
  readonly title: string;
  /** The command's name. It is given the document's URI and the function's qualified name. */
  readonly command: string;
  /** Whether it is for functions of the module only, not for methods. */
  readonly onlyFunctions?: boolean | undefined;
}

/** More lenses than this are not made for one file. */
const maxLenses = 2_000;

/** The lenses above every function that can be called. */
export function functionLenses(
  uri: string,
  source: PythonSource,
  commands: readonly LensCommand[],
): CodeLens[] {
  return functionsOf(source)
    .flatMap(({ line, startColumn, endColumn, qualifiedName, kind }) =>
      commands
        .filter(({ onlyFunctions }) => onlyFunctions !== true || kind === 'function')
        .map(({ title, command }) => ({
          range: {
            start: { line: line - 1, character: startColumn },
            end: { line: line - 1, character: Math.max(startColumn, endColumn) },
          },
          command: { title, command, arguments: [uri, qualifiedName] },
        })),
    )
    .slice(0, maxLenses);
}
