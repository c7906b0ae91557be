import { z } from 'zod';
import { errors } from '../errors';
import { resourcePath } from '../resources';
import type { Python } from '../sandbox/python';
import { PythonProcess } from '../sandbox/pythonProcess';

/** What a call is wanted to come to. */
export type WantedResult =
  | { readonly kind: 'returns'; readonly repr: string }
  /** An exception's class, and a text that its message holds, or null for any. */
  | { readonly kind: 'raises'; readonly type: string; readonly message: string | null };

export interface InputSearchOptions {
  readonly path: string;
  readonly source: string;
  /** A function of the module's top level. */
  readonly function: string;
  readonly wanted: WantedResult;
  /** Calls of the function with literals, as Python source: they are tried first. */
  readonly examples: readonly string[];
  /** How many arguments are wanted. */
  readonly count: number;
  /** How many calls are made at most. */
  readonly calls: number;
  /** How many seconds it may take. */
  readonly seconds: number;
  readonly python: Python;
}

/** Arguments that come nearest to what is wanted so far. */
export interface ClosestArguments {
  readonly arguments: readonly string[];
  /** What the call gives: a repr, or an exception as `Type: message`. */
  readonly gives: string;
}

/** What a search tells while it goes on. */
export type SearchNews =
  | { readonly kind: 'progress'; readonly tried: number; readonly closest: ClosestArguments | null }
  /** Arguments, as literals, for which the call really gave what is wanted. */
  | {
      readonly kind: 'found';
      readonly arguments: readonly string[];
      /** What the call gave: a repr, or an exception as `Type(arguments)`. */
      readonly gives: string;
      readonly tried: number;
    };

const count = z.int().nonnegative();

const messageSchema = z.discriminatedUnion('k', [
  z.object({ k: z.literal('start'), version: z.string() }),
  z.object({
    k: z.literal('failed'),
    reason: z.enum(['syntax', 'setup', 'function', 'parameters']),
    message: z.string(),
    line: z.int().nullable(),
  }),
  z.object({
    k: z.literal('progress'),
    tried: count,
    closest: z.object({ arguments: z.array(z.string()), gives: z.string() }).nullable(),
  }),
  z.object({ k: z.literal('found'), arguments: z.array(z.string()), gives: z.string(), tried: count }),
  z.object({ k: z.literal('end'), tried: count, how: z.enum(['enough', 'calls']) }),
]);

/** The memory that a search may have, in MiB. */
const memory = 1024;

/** The most that is read before a line must have ended, in characters. */
const maxLine = 1 << 20;

/**
 * Searches arguments for which a function gives a wanted result, by really calling it many times in a process of
 * its own. How it searches is said in inputSearch.py.
 *
 * @throws CatalogueError when there is no such Python or function, or the module's code fails
 */
export async function* searchInputs(
  options: InputSearchOptions,
  signal: AbortSignal,
): AsyncGenerator<SearchNews> {
  const { path, source, function: name, wanted, examples, calls } = options;
  const job = {
    path,
    source,
    function: name,
    wanted: jobOf(wanted),
    examples,
    count: options.count,
    calls,
    memory,
  };
  const process = new PythonProcess({
    python: options.python,
    script: resourcePath('inputSearch.py', './python/inputSearch.py'),
    input: JSON.stringify(job),
    beside: path,
    memory,
    processorTime: 2 * options.seconds,
  });
  const kill = () => {
    process.kill();
  };
  signal.addEventListener('abort', kill);
  const timer = setTimeout(kill, options.seconds * 1000);
  try {
    if (signal.aborted) return;
    let rest = '';
    for (let piece = await process.read(); piece !== null; piece = await process.read()) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > maxLine) return;
      for (const line of lines) {
        const news = newsOf(line, path, name);
        if (news === 'end') return;
        if (news) yield news;
      }
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
    process.kill();
  }
}

function jobOf(wanted: WantedResult): object {
  if (wanted.kind === 'returns') return { returns: wanted.repr };
  return { raises: wanted.message === null ? wanted.type : `${wanted.type}: ${wanted.message}` };
}

/** A message's news; null where it has none. What the program itself may have written there is passed over. */
function newsOf(line: string, path: string, name: string): SearchNews | 'end' | null {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return null;
  }
  const parsed = messageSchema.safeParse(json);
  if (!parsed.success) return null;
  const message = parsed.data;
  switch (message.k) {
    case 'start':
      return null;
    case 'failed':
      throw failure(message.reason, message.message, message.line, path, name);
    case 'progress':
      return { kind: 'progress', tried: message.tried, closest: message.closest };
    case 'found':
      return { kind: 'found', arguments: message.arguments, gives: message.gives, tried: message.tried };
    case 'end':
      return 'end';
  }
}

function failure(
  reason: 'syntax' | 'setup' | 'function' | 'parameters',
  message: string,
  line: number | null,
  path: string,
  name: string,
): Error {
  switch (reason) {
    case 'syntax':
      return errors.pythonSyntax(path, line, message);
    case 'setup':
      return errors.setUpRaised(path, line, message);
    case 'function':
      return errors.noSuchFunction(path, name);
    case 'parameters':
      return errors.notSearchable(name, message);
  }
}
