import { consoleCommands, type ConsoleCommandName, consoleWords } from '../debugger/console';
import { whatIfCommandOf, whatIfCommands } from '../debugger/whatIfCommands';

/** A command of the interactive session, as it was typed. */
export type Command =
  | { readonly name: 'next' | 'return' | 'continue' | 'back' | 'reverseContinue' | 'restart' }
  | { readonly name: 'info' | 'quit' }
  | { readonly name: TextCommand; readonly argument: string }
  /** A what-if or a way from branch to branch. */
  | { readonly name: 'whatIf'; readonly word: string; readonly argument: string }
  /** Without filters: a question. */
  | { readonly name: 'exceptions'; readonly filters: readonly ('raised' | 'uncaught')[] | null }
  /** A command that debug consoles have too. */
  | { readonly name: 'console'; readonly word: string; readonly argument: string };

/** Commands that read what stands after them themselves. */
type TextCommand =
  | 'step'
  | 'break'
  | 'temporary'
  | 'condition'
  | 'ignore'
  | 'clear'
  | 'watch'
  | 'log'
  | 'catch'
  | 'display'
  | 'undisplay'
  | 'print'
  | 'up'
  | 'down'
  | 'help';

/** What is wrong with a command, for people. */
export interface CommandProblem {
  readonly problem: string;
}

interface Words {
  readonly words: readonly string[];
  readonly help: string;
}

/** Every command: its words, shortest last as in pdb, and what it does. */
const vocabulary = {
  step: {
    words: ['step', 's'],
    help: 's: step into, to the next line, in a function that is called too; s NAME: into the call of NAME on this line, over the others (s NAME 2: the second)',
  },
  next: { words: ['next', 'n'], help: 'step over: to the next line of this function or its caller' },
  return: { words: ['return', 'r'], help: 'step out: to the line that the caller goes on with' },
  continue: { words: ['continue', 'cont', 'c'], help: 'go on to the next breakpoint or the end' },
  back: { words: ['back', 'sb'], help: 'step back: to where a step over would have come from' },
  reverseContinue: { words: ['rc'], help: 'go back to the last breakpoint or the beginning' },
  restart: { words: ['restart', 'run'], help: 'go back to the beginning' },
  break: {
    words: ['break', 'b'],
    help: 'b LINE or b FUNCTION, with ", CONDITION" after it: set a breakpoint; b: list them',
  },
  temporary: { words: ['tbreak'], help: 'as b, but it stops once' },
  condition: {
    words: ['condition'],
    help: 'condition NUMBER CONDITION: change a condition; without one: none',
  },
  ignore: { words: ['ignore'], help: 'ignore NUMBER COUNT: pass over the next hits of a breakpoint' },
  clear: {
    words: ['clear', 'cl'],
    help: 'cl NUMBER, LINE or FUNCTION: remove breakpoints (a number that none has is a line); cl: remove all',
  },
  watch: {
    words: ['watch'],
    help: 'watch NAME: stop where a variable, or NAME.attribute or NAME[item], has changed',
  },
  log: { words: ['log'], help: 'log LINE, MESSAGE: write a message there, with {expressions} in it' },
  catch: {
    words: ['catch'],
    help: 'catch raised or catch uncaught, with names of types after it: stop at exceptions; catch doubt 0.8: at states less sure than that; catch none; catch: tell',
  },
  exceptions: {
    words: ['exceptions', 'ex'],
    help: 'ex raised uncaught, or ex none: which exceptions to stop at; ex: tell',
  },
  print: { words: ['print', 'p'], help: 'p EXPRESSION: a value, or a pure expression over known values' },
  display: {
    words: ['display'],
    help: 'display EXPRESSION: tell its value at each stop where it changed; display: tell all',
  },
  undisplay: {
    words: ['undisplay'],
    help: 'undisplay EXPRESSION: do not tell it any longer; undisplay: none',
  },
  up: { words: ['up', 'u'], help: 'look at the caller; u COUNT: so many frames up' },
  down: { words: ['down', 'd'], help: 'look at the callee; d COUNT: so many frames down' },
  info: { words: ['info', 'i'], help: 'what answers, and what it has cost' },
  help: { words: ['help', 'h', '?'], help: 'this text; help COMMAND: of one command' },
  quit: { words: ['quit', 'exit', 'q'], help: 'end the session' },
} as const satisfies Record<Exclude<Command['name'], 'console' | 'whatIf'>, Words>;

/** The commands that take any text, and of which it may be left out. */
const textCommands: ReadonlySet<string> = new Set<TextCommand>([
  'step',
  'break',
  'temporary',
  'condition',
  'ignore',
  'clear',
  'watch',
  'log',
  'catch',
  'display',
  'undisplay',
  'print',
  'up',
  'down',
  'help',
]);

/** All words that begin a command. */
export const commandWords: readonly string[] = [
  ...Object.values(vocabulary).flatMap(({ words }) => words),
  ...consoleWords,
  ...Object.values(whatIfCommands).flatMap(({ words }) => words),
];

/** What each command does, or one of them; null for a word that begins none. */
export function commandHelp(about: string): string | null {
  const all: readonly Words[] = [
    ...Object.values(vocabulary),
    ...Object.values(consoleCommands).map(asWords),
    ...Object.values(whatIfCommands).map(asWords),
  ];
  const chosen = about === '' ? all : all.filter(({ words }) => words.includes(about));
  if (chosen.length === 0) return null;
  return chosen.map(({ words, help }) => `${words.join(', ').padEnd(20)}${help}`).join('\n');
}

/** A command of a table of its own. */
type AnyCommand =
  (typeof consoleCommands)[ConsoleCommandName] | (typeof whatIfCommands)[keyof typeof whatIfCommands];

function asWords({ words, argument, help }: AnyCommand): Words {
  return { words, help: argument === '' ? help : `${words.at(-1) ?? ''} ${argument}: ${help}` };
}

/** Reads one command; null for an empty one. */
export function parseCommand(text: string): Command | CommandProblem | null {
  const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(text) ?? [];
  if (word === '') return null;
  const found = Object.entries(vocabulary).find(([, { words }]) =>
    (words as readonly string[]).includes(word),
  );
  const change = whatIfCommandOf(word);
  if (change && change.argument === '' && rest !== '') return { problem: `${word} takes no argument.` };
  if (change) return { name: 'whatIf', word, argument: rest };
  if (!found) {
    if (consoleWords.includes(word)) return { name: 'console', word, argument: rest };
    return { problem: `There is no command "${word}": "help" lists them.` };
  }
  const name = found[0] as keyof typeof vocabulary;
  if (isTextCommand(name)) {
    return name === 'print' && rest === '' ? { problem: 'p needs an expression.' } : { name, argument: rest };
  }
  if (name === 'exceptions') {
    const filters = rest.split(/[\s,]+/).filter((filter) => filter !== '');
    if (filters.length === 0) return { name, filters: null };
    if (rest === 'none') return { name, filters: [] };
    const known = filters.filter((filter) => filter === 'raised' || filter === 'uncaught');
    if (known.length < filters.length) return { problem: 'ex takes raised, uncaught or none.' };
    return { name, filters: known };
  }
  return rest === '' ? { name } : { problem: `${word} takes no argument.` };
}

function isTextCommand(name: keyof typeof vocabulary): name is TextCommand {
  return textCommands.has(name);
}

/** Reads `LINE`, `LINE:CONDITION` or, as in pdb, `LINE, CONDITION`; null if it is none of them. */
export function parseBreakpoint(text: string): { line: number; condition: string | null } | null {
  const [, line, condition] = /^\s*(\d+)\s*(?:[:,]\s*(\S.*?))?\s*$/s.exec(text) ?? [];
  return line === undefined || Number(line) < 1 ? null : { line: Number(line), condition: condition ?? null };
}

/** Splits a line of commands at semicolons, but not inside quotes and brackets. */
export function splitCommands(line: string): string[] {
  const parts: string[] = [];
  let part = '';
  let quote = '';
  let depth = 0;
  for (let index = 0; index < line.length; index++) {
    const character = line.charAt(index);
    if (quote !== '') {
      if (character === '\\') part += line.charAt(index++);
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) depth--;
    if (character === ';' && quote === '' && depth <= 0) {
      parts.push(part);
      part = '';
    } else part += line.charAt(index);
  }
  return [...parts, part].map((text) => text.trim()).filter((text) => text !== '');
}
