/** A command of the interactive session, as it was typed. */
export type Command =
  | { readonly name: 'step' | 'next' | 'return' | 'continue' | 'back' | 'reverseContinue' | 'restart' }
  | { readonly name: 'break'; readonly line: number | null; readonly condition: string | null }
  | { readonly name: 'clear'; readonly line: number | null }
  | { readonly name: 'print'; readonly expression: string }
  | { readonly name: 'where' | 'list' | 'locals' | 'up' | 'down' | 'info' | 'help' | 'quit' }
  /** Without filters: a question. */
  | { readonly name: 'exceptions'; readonly filters: readonly ('raised' | 'uncaught')[] | null };

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
  step: { words: ['step', 's'], help: 'step into: to the next line, in a function that is called too' },
  next: { words: ['next', 'n'], help: 'step over: to the next line of this function or its caller' },
  return: { words: ['return', 'r'], help: 'step out: to the line that the caller goes on with' },
  continue: { words: ['continue', 'cont', 'c'], help: 'go on to the next breakpoint or the end' },
  back: { words: ['back', 'sb'], help: 'step back: to where a step over would have come from' },
  reverseContinue: { words: ['rc'], help: 'go back to the last breakpoint or the beginning' },
  restart: { words: ['restart', 'run'], help: 'go back to the beginning' },
  break: { words: ['break', 'b'], help: 'b LINE or b LINE:CONDITION: set a breakpoint; b: list them' },
  clear: { words: ['clear', 'cl'], help: 'cl LINE: remove a breakpoint; cl: remove all' },
  exceptions: {
    words: ['exceptions', 'ex'],
    help: 'ex raised uncaught, or ex none: which exceptions to stop at; ex: tell',
  },
  print: {
    words: ['print', 'pp', 'p'],
    help: 'p EXPRESSION: a value, or a pure expression over known values',
  },
  locals: { words: ['locals', 'args', 'a'], help: 'all locals of the frame' },
  where: { words: ['where', 'bt', 'w'], help: 'the call stack' },
  up: { words: ['up', 'u'], help: 'look at the caller' },
  down: { words: ['down', 'd'], help: 'look at the callee' },
  list: { words: ['list', 'l'], help: 'the source around the line' },
  info: { words: ['info', 'i'], help: 'what answers, and what it has cost' },
  help: { words: ['help', 'h', '?'], help: 'this text' },
  quit: { words: ['quit', 'exit', 'q'], help: 'end the session' },
} as const satisfies Record<Command['name'], Words>;

/** All words that begin a command. */
export const commandWords: readonly string[] = Object.values(vocabulary).flatMap(({ words }) => words);

/** One line for each command. */
export const commandHelp: string = Object.values(vocabulary)
  .map(({ words, help }) => `${words.join(', ').padEnd(20)}${help}`)
  .join('\n');

/** Reads one command; null for an empty one. */
export function parseCommand(text: string): Command | CommandProblem | null {
  const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(text) ?? [];
  if (word === '') return null;
  const found = Object.entries(vocabulary).find(([, { words }]) =>
    (words as readonly string[]).includes(word),
  );
  if (!found) return { problem: `There is no command "${word}": "help" lists them.` };
  const name = found[0] as Command['name'];
  switch (name) {
    case 'print':
      return rest === '' ? { problem: 'p needs an expression.' } : { name, expression: rest };
    case 'break': {
      const breakpoint = rest === '' ? { line: null, condition: null } : parseBreakpoint(rest);
      return breakpoint
        ? { name, ...breakpoint }
        : { problem: `b takes LINE or LINE:CONDITION, not "${rest}".` };
    }
    case 'clear':
      if (rest === '') return { name, line: null };
      return /^\d+$/.test(rest)
        ? { name, line: Number(rest) }
        : { problem: `cl takes a line, not "${rest}".` };
    case 'exceptions': {
      const filters = rest.split(/[\s,]+/).filter((filter) => filter !== '');
      if (filters.length === 0) return { name, filters: null };
      if (rest === 'none') return { name, filters: [] };
      const known = filters.filter((filter) => filter === 'raised' || filter === 'uncaught');
      if (known.length < filters.length) return { problem: 'ex takes raised, uncaught or none.' };
      return { name, filters: known };
    }
    default:
      return rest === '' ? { name } : { problem: `${word} takes no argument.` };
  }
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
