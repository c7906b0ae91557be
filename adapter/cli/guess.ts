import { type Configuration, parseConfiguration } from '../debugger/configuration';
import { openWorldFor, readProgram } from '../debugger/open';
import { connect } from '../debugger/server';
import { errors } from '../errors';
import { type Guess, guessInputs, type GuessSource } from '../inputs/guess';
import { describeOutcome } from '../inputs/outcome';
import { describeWanted, wantedException, wantedValue } from '../inputs/wantedResult';
import { choosePython } from '../sandbox/python';
import { shortText } from '../shownText';
import type { Program } from '../trajectory/program';
import type { World } from '../world/world';
import { environment, environmentKey } from './keys';
import { exitCodes } from './run';

/** The options of `guess`, as they were given. */
export interface GuessCliOptions {
  readonly function: string;
  readonly output?: string;
  readonly raises?: string;
  readonly count: number;
  readonly by?: 'model' | 'search';
  readonly verify: 'none' | 'predict' | 'reference';
  readonly seconds: number;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly format?: string;
  readonly python?: string;
  readonly sandbox?: string;
  readonly json?: true;
}

/**
 * Guesses inputs of a function from its output.
 *
 * @returns the exit code: it is no failure to find nothing
 */
export async function guess(file: string, options: GuessCliOptions): Promise<number> {
  const wanted = wantedOf(options);
  const configuration = configure(file, options);
  const program = await readProgram({ program: file, entry: null, args: [] });
  const source = await guessSource(configuration, options);
  const name = options.function;
  if (source.kind === 'search' || options.verify === 'reference') {
    process.stderr.write(`Really running ${program.path}, and calling ${name} with what is guessed.\n`);
  }
  const stop = new AbortController();
  const interrupt = () => {
    stop.abort();
  };
  process.once('SIGINT', interrupt);
  let found = 0;
  let tried = 0;
  try {
    const of = { program, function: name, wanted, count: options.count, source };
    const checker = checkerOf(options, configuration);
    for await (const news of guessInputs({ ...of, checker }, stop.signal)) {
      if (news.kind === 'guess') {
        found++;
        process.stdout.write(`${options.json ? jsonLine(news.guess) : textLine(news.guess)}\n`);
        continue;
      }
      tried = news.tried;
      if (!process.stderr.isTTY || !news.closest) continue;
      const { arguments: given, gives } = news.closest;
      const nearest = shortText(`${name}(${given.join(', ')}) gives ${gives}`, 100);
      process.stderr.write(`\r\u001b[K${news.tried} calls; nearest: ${nearest}`);
    }
  } finally {
    process.off('SIGINT', interrupt);
    if (source.kind === 'model') source.completions.close();
    if (tried > 0 && process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  }
  if (found === 0) {
    const where = source.kind === 'model' ? 'The model gave no guess' : 'No input was found';
    process.stderr.write(`${where} with which ${name} ${describeWanted(wanted)}.\n`);
  }
  return exitCodes.ok;
}

function wantedOf({ output, raises }: GuessCliOptions) {
  if (output !== undefined && raises === undefined) return wantedValue(output);
  if (raises !== undefined && output === undefined) return wantedException(raises);
  throw errors.guessNeedsResult();
}

function configure(file: string, options: GuessCliOptions): Configuration {
  const baseUrl = options.baseUrl ?? (process.env[environment.baseUrl] || undefined);
  const model = options.model ?? process.env[environment.model];
  const named = Object.entries({ baseUrl, model, format: options.format });
  return parseConfiguration({
    program: file,
    server: baseUrl === undefined ? undefined : Object.fromEntries(named.filter(([, value]) => value)),
    python: options.python,
    sandbox: options.sandbox,
  });
}

/** Who makes the guesses. Nothing is really run unless that was asked for. */
async function guessSource(
  { server, python, sandbox }: Configuration,
  { by, verify, seconds }: GuessCliOptions,
): Promise<GuessSource> {
  const isChat = server?.format === 'chat';
  // Who lets guesses be really run has agreed to what a search does.
  if (by === 'search' || (by === undefined && !isChat && verify === 'reference')) {
    return { kind: 'search', seconds, python: await choosePython(sandbox, python) };
  }
  if (!server || !isChat) throw errors.guessNeedsModel();
  return {
    kind: 'model',
    completions: connect(server, await environmentKey(server.baseUrl)(new URL(server.baseUrl).origin)),
  };
}

function checkerOf({ verify }: GuessCliOptions, configuration: Configuration) {
  if (verify === 'none' || (verify === 'predict' && !configuration.server)) return null;
  const world = verify === 'predict' ? ('server' as const) : ('reference' as const);
  return (program: Program): Promise<World> =>
    openWorldFor({ ...configuration, world }, program, environmentKey(configuration.server?.baseUrl ?? null));
}

function textLine({ call, check }: Guess): string {
  if (!check) return `${shortText(call, 2_000)}  # not checked`;
  const said = check.isReal ? 'really' : 'as predicted';
  const mark = { same: '', different: 'wrong: ', unknown: 'unknown: ' }[check.verdict];
  return `${shortText(call, 2_000)}  # ${mark}${shortText(describeOutcome(check.outcome), 200)}, ${said}`;
}

function jsonLine({ arguments: given, call, by, check }: Guess): string {
  const outcome = check?.outcome;
  return JSON.stringify({
    call,
    arguments: given,
    by,
    check: check && {
      by: check.by,
      real: check.isReal,
      verdict: check.verdict,
      returns: outcome?.kind === 'returns' ? outcome.value.repr : null,
      raises: outcome?.kind === 'raises' ? outcome.exception.repr : null,
      reason: outcome?.kind === 'unknown' ? outcome.reason : null,
    },
  });
}
