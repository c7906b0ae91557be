import type { CodeLens } from 'vscode-languageserver';
import { type FunctionDefinition, functionsOf, nestedFunctionsOf } from '../python/functions';
import type { PythonSource } from '../python/source';

/** A command of the client that is offered above functions. */
export interface LensCommand {
  readonly title: string;
  /** The command's name. It is given the document's URI and the function's qualified name. */
  readonly command: string;
  /** Whether it is for functions of the module only that a plain call runs. */
  readonly onlyFunctions?: boolean | undefined;
}

/** More lenses than this are not made for one file. */
const maxLenses = 2_000;

/**
 * The lenses above every function that can be called, and above those within functions: nothing outside can call them,
 * so that a call of the function around them is offered.
 */
export function functionLenses(
  uri: string,
  source: PythonSource,
  commands: readonly LensCommand[],
): CodeLens[] {
  const lenses = functionsOf(source).flatMap((definition) =>
    commands
      .filter(({ onlyFunctions }) => onlyFunctions !== true || isPlainFunction(definition))
      .map(({ title, command }) => lens(definition, title, command, [uri, definition.qualifiedName])),
  );
  const nested = nestedFunctionsOf(source).flatMap((definition) =>
    commands
      .filter(({ onlyFunctions }) => onlyFunctions !== true)
      .map(({ title, command }) => {
        const around = definition.within.qualifiedName;
        return lens(definition, `${title}: called within ${around}`, command, [uri, around]);
      }),
  );
  return [...lenses, ...nested]
    .sort((one, other) => one.range.start.line - other.range.start.line)
    .slice(0, maxLenses);
}

function isPlainFunction({ kind, runs }: FunctionDefinition): boolean {
  return kind === 'function' && runs === 'called';
}

function lens(
  { line, startColumn, endColumn }: Pick<FunctionDefinition, 'line' | 'startColumn' | 'endColumn'>,
  title: string,
  command: string,
  given: readonly string[],
): CodeLens {
  return {
    range: {
      start: { line: line - 1, character: startColumn },
      end: { line: line - 1, character: Math.max(startColumn, endColumn) },
    },
    command: { title, command, arguments: [...given] },
  };
}
