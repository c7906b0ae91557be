#!/usr/bin/env node
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { profileNames } from '../completion/profile';
import { asCatalogueError, errorText } from '../errors';
import { shownText } from '../shownText';
import { parseBreakpoint } from './commands';
import { dap, type DapOptions } from './dap';
import { guess, type GuessCliOptions } from './guess';
import { evalNextState, type EvalOptions } from './eval';
import { type ProbeOptions, probeServer } from './probe';
import { type BreakpointOption, exitCodes, run, type RunOptions } from './run';
import { serve, type ServeOptions } from './serve';
import { trace, type TraceOptions } from './trace';

const description = 'Debug Python programs without running them: a model predicts every state.';

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function number(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be a number, such as 0.5.');
  return Number(text);
}

function port(text: string): number {
  const number = wholeNumber(text);
  if (number > 65_535) throw new InvalidArgumentError('A port is at most 65535.');
  return number;
}

function breakpoint(text: string, before: readonly BreakpointOption[]): BreakpointOption[] {
  const parsed = parseBreakpoint(text);
  if (!parsed)
    throw new InvalidArgumentError('It must be LINE or LINE:CONDITION, with lines counted from 1.');
  return [...before, parsed];
}

function local(text: string, before: readonly (readonly [string, string])[]) {
  const [, name, value] = /^\s*([^\W\d]\w*)\s*=(?!=)\s*(.*\S)\s*$/su.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('It must be NAME=VALUE, such as "x = 3".');
  }
  return [...before, [name, value] as const];
}

function oneMore(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

function profileOption(): Option {
  return new Option('--profile <name>', 'which server it is (default: it is asked)').choices([
    'auto',
    ...profileNames,
  ]);
}

function modeOption(): Option {
  return new Option('--mode <name>', 'how prompts go: as token ids or as text').choices([
    'auto',
    'ids',
    'text',
  ]);
}

function program(finish: (code: number) => void): Command {
  const cli = new Command('neural-debug')
    .description(description)
    .exitOverride()
    .showHelpAfterError('(add --help for what there is)');

  cli
    .command('run')
    .description('debug a Python file in the terminal')
    .argument('<file>', 'the Python file, or with --world recording the recording')
    .option('--entry <call>', `the call to debug, such as "f(3, 'x')"; without it the file is a script`)
    .option('--arg <text>', 'an argument of the script (repeatable)', oneMore, [])
    .option('--at <line>', 'start at a line, with the locals that are given', wholeNumber)
    .option('--local <name=value>', 'a local at that line, as a Python literal (repeatable)', local, [])
    .option('--break <line[:condition]>', 'a breakpoint (repeatable)', breakpoint, [])
    .addOption(new Option('--world <kind>', 'what answers').choices(['server', 'reference', 'recording']))
    .option('--base-url <url>', 'the OpenAI-compatible server; its key is in NEURAL_DEBUG_API_KEY')
    .option('--model <name>', 'the model (default: the first that the server lists)')
    .addOption(new Option('--format <name>', 'how states are written for the model').choices(['cwm', 'chat']))
    .addOption(profileOption())
    .addOption(modeOption())
    .option('--context <tokens>', 'how many tokens the server can see (default: what it tells)', wholeNumber)
    .option('--constrain', 'hold answers to the lines where control can go next, with servers that can')
    .option('--temperature <number>', 'how freely the model answers (default: 0)', number)
    .option('--sampling-temperature <number>', 'how freely other samples are drawn (default: 0.6)', number)
    .option('--first-byte-seconds <n>', 'how long the server may take to begin an answer', number)
    .option('--stall-seconds <n>', 'how long it may be silent in the middle of one', number)
    .option('--prefetch', 'predict the next step over while a stop is looked at')
    .option('--python <path>', 'the Python interpreter (default: python3)')
    .addOption(sandbox())
    .option('--commands <list>', 'commands separated by ";", instead of asking')
    .option('--json', 'one JSON object a line for each stop')
    .option('--show-definitions', "show a script's leading definitions and imports too")
    .option('--all-states', 'stop at states of every event, not at lines only')
    .option('--max-states <n>', 'predicted states one command may take', wholeNumber)
    .option('--max-tokens <n>', 'generated tokens one command may take', wholeNumber)
    .option('--max-seconds <n>', 'seconds one command may take', wholeNumber)
    .action(async (file: string, options: RunOptions) => {
      finish(await run(file, options));
    });

  cli
    .command('probe')
    .description('ask a server what it is and what it can do')
    .option('--base-url <url>', 'the OpenAI-compatible server; its key is in NEURAL_DEBUG_API_KEY')
    .option('--model <name>', 'the model (default: the first that the server lists)')
    .addOption(new Option('--format <name>', 'how states are written for the model').choices(['cwm', 'chat']))
    .addOption(profileOption())
    .addOption(modeOption())
    .action(async (options: ProbeOptions) => {
      await probeServer(options);
    });

  cli
    .command('trace')
    .description('really run a program, and record all its states')
    .argument('<file>', 'the Python file')
    .option('--entry <call>', 'the call to record; without it the file is a script')
    .option('--arg <text>', 'an argument of the script (repeatable)', oneMore, [])
    .requiredOption('-o, --output <file>', 'the recording, best PROGRAM.trace.jsonl; - for standard output')
    .option('--python <path>', 'the Python interpreter (default: python3)')
    .addOption(sandbox())
    .action(async (file: string, options: TraceOptions) => {
      await trace(file, options);
    });

  cli
    .command('guess')
    .description('guess inputs of a function from its output')
    .argument('<file>', 'the Python file')
    .requiredOption('--function <name>', 'the function, of the top level of the file')
    .option('--output <repr>', 'what it should return, as a Python literal')
    .option('--raises <exception>', 'what it should raise instead: ValueError, or "ValueError: a text in it"')
    .option('-n, --count <n>', 'how many inputs are wanted', wholeNumber, 1)
    .addOption(
      new Option(
        '--by <source>',
        'who guesses: a chat model, or a search that really calls the function many times',
      ).choices(['model', 'search']),
    )
    .addOption(
      new Option('--verify <how>', 'how guesses are checked: by predicting forwards, or by a real run')
        .choices(['none', 'predict', 'reference'])
        .default('predict'),
    )
    .option('--seconds <n>', 'how long a search may take', wholeNumber, 30)
    .option('--base-url <url>', 'the OpenAI-compatible server; its key is in NEURAL_DEBUG_API_KEY')
    .option('--model <name>', 'the model (default: the first that the server lists)')
    .addOption(new Option('--format <name>', 'how the model is asked').choices(['cwm', 'chat']))
    .option('--python <path>', 'the Python interpreter (default: python3)')
    .addOption(sandbox())
    .option('--json', 'one JSON object a line for each guess')
    .action(async (file: string, options: GuessCliOptions) => {
      finish(await guess(file, options));
    });

  cli
    .command('eval')
    .description('score a world against real runs')
    .command('next-state')
    .description('ask for one action from states of real runs, and count what is right')
    .argument('[files...]', 'Python files, folders of them, or data sets, as for --data')
    .option('--data <path>', 'the folder of QuixBugs or TheAlgorithms, or the file of CRUXEval')
    .addOption(new Option('--world <kind>', 'what answers').choices(['server', 'reference']))
    .option('--base-url <url>', 'the OpenAI-compatible server; its key is in NEURAL_DEBUG_API_KEY')
    .option('--model <name>', 'the model (default: the first that the server lists)')
    .addOption(
      new Option('--format <name>', 'how states are written for the model')
        .choices(['cwm', 'chat'])
        .default('cwm'),
    )
    .option('--python <path>', 'the Python interpreter of the real runs (default: python3)')
    .option('--limit <n>', 'how many states are asked for each action', wholeNumber, 200)
    .option('--seed <n>', 'chooses the states', wholeNumber, 0)
    .requiredOption('-o, --output <file>', 'the results, one line a state; the summary goes beside it')
    .action(async (files: string[], options: EvalOptions) => {
      if (files.length === 0 && options.data === undefined)
        cli.error('error: give files, or data with --data');
      await evalNextState(files, options);
    });

  cli
    .command('serve')
    .description('serve our stand-in model on this computer: it really runs the programs that it is sent')
    .addOption(new Option('--world <kind>', 'what answers').choices(['reference']).default('reference'))
    .addOption(new Option('--format <name>', 'the trace format').choices(['cwm']).default('cwm'))
    .option('--port <n>', 'the port; 0 for any free one', port, 0)
    .option('--python <path>', 'the Python interpreter (default: python3)')
    .addOption(
      new Option(
        '--on-divergence <what>',
        'what is done with a history that is not what the program does: refuse it, or inject it, which sets the locals and lines in the running program',
      )
        .choices(['refuse', 'inject'])
        .default('refuse'),
    )
    .addOption(sandbox())
    .option('--faults <list>', 'what goes wrong on purpose, for tests: wrong-value=0.1,malformed=0.01,cut@12')
    .option('--seed <n>', 'what tells the faults of one server from those of another', wholeNumber, 0)
    .option('--context <n>', 'the most tokens of a prompt and its answer (default: no limit)', wholeNumber)
    .option(
      '--skips-control',
      'leave control tokens out of the text of answers unless asked for them, as vLLM does',
    )
    .action(async (options: ServeOptions) => {
      await serve(options);
    });

  cli
    .command('dap')
    .description(
      'serve the Debug Adapter Protocol, on standard input and output or on a port of this computer',
    )
    .option('--port <n>', 'the port; 0 for any free one', port)
    .option('--token', 'on a port: let in only who gives the token that is printed')
    .action(async (options: DapOptions) => {
      await dap(options);
    });

  cli
    .command('lsp')
    .description('serve the Language Server Protocol for recordings, traces and Python, on standard streams')
    // Editors say how they talk to a server, and who they are.
    .option('--stdio', 'as always')
    .option('--clientProcessId <id>', 'the process with which the server ends')
    .action(async () => {
      // Loaded when it is wanted: no other command needs it.
      const { serveOnStandardStreams: serveLanguage } = await import('../lsp/server');
      serveLanguage();
      await new Promise(() => undefined);
    });

  return cli;
}

/** Which Python runs and evaluates. */
function sandbox(): Option {
  return new Option(
    '--sandbox <kind>',
    'python: an interpreter, with your rights; pyodide: in a sandbox, which needs none (default: python where there is one)',
  ).choices(['python', 'pyodide']);
}

async function main(): Promise<number> {
  let code: number = exitCodes.ok;
  try {
    await program((finished) => {
      code = finished;
    }).parseAsync();
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    const error = asCatalogueError(thrown);
    process.stderr.write(`error ${error.code}: ${shownText(errorText(error))}\n`);
    return exitCodes.failed;
  }
  return code;
}

// A reader that has seen enough, such as head, closes the pipe.
process.stdout.on('error', () => process.exit(exitCodes.ok));
void main().then((code) => {
  process.exitCode = code;
});
