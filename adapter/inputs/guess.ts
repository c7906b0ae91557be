import type { CompletionSource } from '../completion/completion';
import { findFunction } from '../python/functions';
import { type ClosestArguments, searchInputs, type WantedResult } from '../python/inputSearch';
import type { ReprEquality } from '../python/reprEquality';
import { PythonSource } from '../python/source';
import type { Python } from '../sandbox/python';
import type { Program } from '../trajectory/program';
import type { World } from '../world/world';
import { modelGuesses } from './modelGuesses';
import { isWanted, type Outcome, outcomeOf } from './outcome';
import { writtenCalls } from './writtenCalls';

/** Who makes guesses: a model that reasons backwards, or a search that really calls the function. */
export type GuessSource =
  | { readonly kind: 'model'; readonly completions: CompletionSource }
  | {
      readonly kind: 'search';
      readonly seconds: number;
      readonly python: Python;
    };

export interface GuessOptions {
  /** The program; its entry does not matter. */
  readonly program: Program;
  readonly function: string;
  readonly wanted: WantedResult;
  readonly count: number;
  readonly source: GuessSource;
  /** Makes the world that checks a guess, for the program with the guessed call as its entry; null: no check. */
  readonly checker: ((program: Program) => Promise<World>) | null;
}

/** How a guess was checked, and what that came to. */
export interface Check {
  /** The name of the world that checked it. */
  readonly by: string;
  readonly isReal: boolean;
  readonly outcome: Outcome;
  readonly verdict: ReprEquality;
}

export interface Guess {
  readonly arguments: readonly string[];
  /** The call, as Python source. */
  readonly call: string;
  readonly by: 'model' | 'search';
  /** Null where nothing checked it. The search has really made the call; that is a check too. */
  readonly check: Check | null;
}

export type GuessNews =
  | { readonly kind: 'guess'; readonly guess: Guess }
  | { readonly kind: 'progress'; readonly tried: number; readonly closest: ClosestArguments | null };

/** How many calls a search makes at most. */
const maxCalls = 1_000_000;

/** How many states of a checked call are followed. */
const maxStates = 10_000;

/**
 * Guesses arguments with which a function gives a wanted result, and checks each by following the call forwards.
 *
 * @throws CatalogueError when there is no such function, or the model, the check or the search fails
 */
export async function* guessInputs(options: GuessOptions, signal: AbortSignal): AsyncGenerator<GuessNews> {
  const { program, function: name, wanted, count, source } = options;
  if (source.kind === 'model') {
    const of = { source: program.source, function: name, wanted, count };
    for (const given of await modelGuesses(of, source.completions, signal)) {
      if (signal.aborted) return;
      yield { kind: 'guess', guess: await checked(options, given, null, signal) };
    }
    return;
  }
  const examples = await callsWritten(program, name);
  const search = searchInputs(
    { ...source, ...program, function: name, wanted, examples, count, calls: maxCalls },
    signal,
  );
  for await (const news of search) {
    if (news.kind === 'progress') yield news;
    else {
      const made: Check = {
        by: 'the search',
        isReal: true,
        outcome: outcomeSeen(wanted, news.gives),
        verdict: 'same',
      };
      yield { kind: 'guess', guess: await checked(options, news.arguments, made, signal) };
    }
  }
}

/** The calls of a function that its file and its tests show. */
async function callsWritten({ path, source }: Program, name: string): Promise<readonly string[]> {
  const parsed = await PythonSource.parse(source);
  const definition = findFunction(parsed, name);
  return definition ? (await writtenCalls(parsed, path, definition)).map(({ call }) => call) : [];
}

/**
 * Checks a guess by following its call forwards.
 *
 * @param open makes the world that checks it, for the program with the call as its entry
 * @throws CatalogueError when the world fails
 */
export async function checkCall(
  { program, wanted }: Pick<GuessOptions, 'program' | 'wanted'>,
  call: string,
  open: (program: Program) => Promise<World>,
  signal: AbortSignal,
): Promise<Check> {
  const of = { ...program, entry: call };
  const world = await open(of);
  try {
    const outcome = await outcomeOf(of, world, maxStates, signal);
    const { name: by, isReal } = world.description;
    return { by, isReal, outcome, verdict: isWanted(outcome, wanted) };
  } finally {
    await world.close();
  }
}

async function checked(
  options: GuessOptions,
  given: readonly string[],
  made: Check | null,
  signal: AbortSignal,
): Promise<Guess> {
  const { function: name, source, checker } = options;
  const call = `${name}(${given.join(', ')})`;
  const check = checker ? await checkCall(options, call, checker, signal) : made;
  return { arguments: given, call, by: source.kind, check };
}

/** What a search has seen: a value, or an exception, whichever is wanted. */
function outcomeSeen({ kind }: WantedResult, gives: string): Outcome {
  const seen = { repr: gives, confidence: null };
  return kind === 'returns' ? { kind, value: seen } : { kind, exception: seen };
}
