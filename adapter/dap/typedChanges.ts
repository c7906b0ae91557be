import { parseConsoleLine } from '../debugger/console';
import type { Stop } from '../debugger/stop';
import type { Opened } from '../debugger/open';
import { describeChange } from '../debugger/whatIf';
import { whatIfCommandOf, whatIfCommands } from '../debugger/whatIfCommands';
import { asCatalogueError, errorText } from '../errors';
import { shownText } from '../shownText';
import { evaluateArguments, read } from './requests';

/** A command of the debug console that changes the state, or goes to another one, as it was typed. */
export interface TypedChange {
  readonly word: string;
  readonly argument: string;
  readonly frameId: number | undefined;
  /** Whether the world is asked for something that takes its time. */
  readonly isAsked: boolean;
  /** Whether what is shown changes where it stands. */
  readonly staysInPlace: boolean;
}

/** Reads an `evaluate` request as such a command; null where it is none. */
export function typedChange(args: unknown): TypedChange | null {
  const { expression, frameId, context } = read(evaluateArguments, args);
  const line = context === 'repl' ? parseConsoleLine(expression) : null;
  const command = line && whatIfCommandOf(line.word);
  if (!line || !command) return null;
  const { word, argument } = line;
  const { sample, alternatives, set } = whatIfCommands;
  const isAsked = command === sample || command === alternatives;
  return { word, argument, frameId, isAsked, staysInPlace: command === set };
}

/**
 * Obeys such a command. Never rejects: what went wrong is told, as with all that is typed there.
 *
 * @param state the state of the frame that is looked at
 */
export async function obeyTyped(
  { word, argument }: TypedChange,
  opened: Opened,
  state: number,
): Promise<{ readonly result: string; readonly stop: Stop | null }> {
  const command = whatIfCommandOf(word);
  if (!command || (command.argument === '' && argument !== ''))
    return { result: `.${word} takes no argument.`, stop: null };
  try {
    const { lines, stop } = await command.run(opened, state, argument);
    const told = stop ? [placeOf(opened, stop)] : lines;
    return { result: told.map(shownText).join('\n'), stop };
  } catch (thrown) {
    return { result: shownText(errorText(asCatalogueError(thrown))), stop: null };
  }
}

/** Where a command led, in words. */
function placeOf({ debugger: { trajectory } }: Opened, { state }: Stop): string {
  const change = describeChange(trajectory, state);
  const place = `line ${trajectory.line(state)} of ${trajectory.frame(state).function}`;
  return change === null ? `at ${place}` : `${change}: at ${place}`;
}
