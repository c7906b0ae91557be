import { asCatalogueError, errors, errorText } from '../errors';
import type { Evaluated, ExpressionEvaluator } from '../python/expressions';
import { prettyRepr } from '../python/prettyRepr';
import { typeName } from '../python/repr';
import type { Locals } from '../trajectory/state';
import type { StackEntry } from '../trajectory/trajectory';
import type { Debugger } from './debugger';
import { type EvaluatedIn, evaluateIn } from './evaluateIn';
import { isFrameOf } from './functionBreakpoints';
import { answerInWords } from './modelQuestion';
import { whatIfCommandOf, whatIfCommands } from './whatIfCommands';

/** What the commands of a console look at. */
export interface ConsoleContext {
  readonly session: Debugger;
  readonly evaluator: ExpressionEvaluator;
  /** The state of the frame that is looked at; -1 where the program has none. */
  readonly state: number;
  /** The frames that are open, innermost first. */
  readonly stack: readonly StackEntry[];
  readonly signal: AbortSignal;
}

/** A command that tells something and changes nothing: of the debug console, and of a terminal's session. */
interface ConsoleCommand {
  /** Its words; the last is pdb's short one, where there is one. */
  readonly words: readonly string[];
  /** What stands after the word, for people; empty where nothing may. */
  readonly argument: string;
  readonly help: string;
  readonly run: (context: ConsoleContext, argument: string) => string | Promise<string>;
}

/** How many source lines are listed before and after the current one. */
const listed = 5;

/** The commands, by what they are called here. A terminal writes them plainly, a debug console after a dot. */
export const consoleCommands = {
  where: {
    words: ['where', 'bt', 'w'],
    argument: '',
    help: 'the call stack, the newest frame last',
    run: where,
  },
  args: { words: ['args', 'a'], argument: '', help: "the function's arguments, as they are now", run: args },
  locals: { words: ['locals'], argument: '', help: 'all locals of the frame', run: locals },
  list: { words: ['list', 'l'], argument: '', help: 'the source around the line', run: list },
  longList: {
    words: ['longlist', 'll'],
    argument: '',
    help: 'the source of the whole function',
    run: longList,
  },
  pretty: {
    words: ['pp'],
    argument: 'EXPRESSION',
    help: 'a value over as many lines as it takes',
    run: pretty,
  },
  whatis: { words: ['whatis'], argument: 'EXPRESSION', help: 'the type of a value', run: whatis },
  ask: {
    words: ['ask'],
    argument: 'EXPRESSION',
    help: 'what the model guesses that an expression gives here; it is marked as a guess, and nothing else changes',
    run: ({ session, evaluator, state, signal }, expression) =>
      answerInWords(session, evaluator, state, expression, signal),
  },
  sure: { words: ['sure'], argument: '', help: 'how sure the state and its values are', run: sure },
} as const satisfies Readonly<Record<string, ConsoleCommand>>;

export type ConsoleCommandName = keyof typeof consoleCommands;

/** All words that begin a command that changes nothing, without a dot. */
export const consoleWords: readonly string[] = Object.values(consoleCommands).flatMap(({ words }) => words);

/** All words that begin a command of a debug console, without their dots. */
export const debugConsoleWords: readonly string[] = [
  ...consoleWords,
  ...Object.values(whatIfCommands).flatMap(({ words }) => words),
  'help',
];

/** A command, as it was typed. */
export interface ConsoleLine {
  readonly word: string;
  readonly argument: string;
}

/** Reads a line that was typed into a debug console; null for one that is no command: `.5` is a number. */
export function parseConsoleLine(line: string): ConsoleLine | null {
  const [, word, argument = ''] = /^\s*\.([a-z?]\S*)\s*(.*?)\s*$/is.exec(line) ?? [];
  return word === undefined ? null : { word, argument };
}

/**
 * Obeys a command. Never rejects: what went wrong is told.
 *
 * @param mark what stands before the words of commands where it was typed: a dot, or nothing
 */
export async function obeyConsole(
  { word, argument }: ConsoleLine,
  context: ConsoleContext,
  mark: '.' | '',
): Promise<{ readonly text: string } | { readonly problem: string }> {
  if (word === 'help' || word === 'h' || word === '?') return consoleHelp(argument, mark);
  const [command] = commandsOf(word);
  if (!command) return { problem: `There is no command ${mark}${word}: ${mark}help lists them.` };
  if (command.argument === '' && argument !== '') return { problem: `${mark}${word} takes no argument.` };
  if (command.argument !== '' && argument === '')
    return { problem: `${mark}${word} needs ${command.argument}.` };
  try {
    return { text: await command.run(context, argument) };
  } catch (thrown) {
    return { problem: errorText(asCatalogueError(withoutAbort(thrown))) };
  }
}

/** A request that was ended in words: its time was up, or the session was closed. */
function withoutAbort(thrown: unknown): unknown {
  if (!(thrown instanceof DOMException)) return thrown;
  if (thrown.name === 'TimeoutError') return errors.questionEnded('it took too long');
  return thrown.name === 'AbortError' ? errors.questionEnded('the session is over') : thrown;
}

function commandsOf(word: string): ConsoleCommand[] {
  const commands: readonly ConsoleCommand[] = Object.values(consoleCommands);
  return commands.filter(({ words }) => word === '' || words.includes(word));
}

function consoleHelp(about: string, mark: string): { readonly text: string } | { readonly problem: string } {
  const word = about.replace(/^\./, '');
  const change = whatIfCommandOf(word);
  const commands = [
    ...commandsOf(word),
    ...(word === '' ? Object.values(whatIfCommands) : change ? [change] : []),
  ];
  if (commands.length === 0) return { problem: `There is no command ${about}: ${mark}help lists them.` };
  const row = (usage: string, help: string) => `${usage.padEnd(26)}${help}`;
  const lines = commands.map(({ words, argument, help }) =>
    row(`${words.map((word) => `${mark}${word}`).join(', ')} ${argument}`, help),
  );
  if (about !== '') return { text: lines.join('\n') };
  const intro = 'An expression is evaluated exactly over the known values. Commands begin with a dot:';
  return { text: [intro, ...lines, row(`${mark}help COMMAND`, 'what a command does')].join('\n') };
}

function localsOf({ session, state }: ConsoleContext): Locals {
  return (state < 0 ? null : session.trajectory.locals(state)?.locals) ?? new Map();
}

function where({ session: { trajectory }, stack, state }: ConsoleContext): string {
  return [...stack]
    .reverse()
    .map(
      (entry) =>
        `${entry.state === state ? '>' : ' '} ${entry.frame.function} at line ${trajectory.line(entry.state)}`,
    )
    .join('\n');
}

function args(context: ConsoleContext): string {
  const { session, state } = context;
  if (state < 0) return '';
  const frame = session.trajectory.frame(state);
  const unit = session.source.units.find((one) => isFrameOf(one, session.trajectory, frame));
  const known = localsOf(context);
  return describeValues(new Map([...known].filter(([name]) => unit?.parameters.includes(name))));
}

function locals(context: ConsoleContext): string {
  return describeValues(localsOf(context));
}

function describeValues(values: Locals): string {
  return [...values].map(([name, { repr }]) => `${name} = ${repr ?? 'not predicted'}`).join('\n');
}

function list({ session, state }: ConsoleContext): string {
  if (state < 0) return '';
  const current = session.trajectory.line(state);
  return sourceLines(session, Math.max(1, current - listed), current + listed, current);
}

function longList({ session, state }: ConsoleContext): string {
  if (state < 0) return '';
  const { trajectory, source } = session;
  const unit =
    source.units.find((one) => isFrameOf(one, trajectory, trajectory.frame(state))) ?? source.module;
  return sourceLines(session, unit.firstLine, unit.lastLine, trajectory.line(state));
}

function sourceLines(
  { source, breakpoints }: Debugger,
  first: number,
  last: number,
  current: number,
): string {
  const marked = new Set(breakpoints.lineBreakpoints.map(({ line }) => line));
  return source.lines
    .slice(first - 1, last)
    .map((text, offset) => {
      const line = first + offset;
      return `${String(line).padStart(5)} ${marked.has(line) ? 'B' : ' '}${line === current ? '->' : '  '} ${text}`;
    })
    .join('\n');
}

function valueOf({ session, evaluator, state }: ConsoleContext, expression: string): Promise<EvaluatedIn> {
  return evaluateIn(session, evaluator, expression, session.cursor, state);
}

/** Why an expression has no value, in words. */
export function describeProblem(result: Exclude<Evaluated, { kind: 'value' }>): string {
  return result.kind === 'raises' ? `${result.type}: ${result.message}` : `not predicted: ${result.reason}`;
}

async function pretty(context: ConsoleContext, expression: string): Promise<string> {
  const result = await valueOf(context, expression);
  return result.kind === 'value' ? prettyRepr(result.repr) : describeProblem(result);
}

async function whatis(context: ConsoleContext, expression: string): Promise<string> {
  const result = await valueOf(context, expression);
  if (result.kind !== 'value') return describeProblem(result);
  return typeName(result.repr) ?? 'not predicted: the value does not show its type';
}

async function sure({ session, state }: ConsoleContext): Promise<string> {
  if (state < 0) return '';
  const { confidence, trajectory } = session;
  const number = (value: number | null) => (value === null ? 'no number' : `${Math.round(value * 100)}%`);
  const locals = [...(trajectory.locals(state)?.locals ?? [])];
  const derived: string[] = [];
  for (const [name, { repr }] of locals) {
    if (repr === null || !session.derived.showsObject(repr)) continue;
    for (const part of (await session.derived.local(name, session.cursor, state)) ?? [])
      if (part.repr !== null) derived.push(`${name}${part.suffix}: ${number(part.confidence)}, derived`);
  }
  return [
    `event and line: ${number(confidence.step(state))}`,
    `the path to here: ${number(confidence.path(state))}`,
    ...locals.map(([name]) => `${name}: ${number(confidence.value(state, name))}`),
    ...derived,
  ].join('\n');
}
