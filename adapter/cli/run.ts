import { createInterface } from 'node:readline/promises';
import { stdin, stdout } from 'node:process';
import pc from 'picocolors';
import { describeUsage, noUsage } from '../completion/usage';
import { type Configuration, parseConfiguration } from '../debugger/configuration';
import type { Debugger } from '../debugger/debugger';
import { openDebugger } from '../debugger/open';
import { errors } from '../errors';
import { describeWorld } from '../world/world';
import { commandWords } from './commands';
import { JsonReporter } from './jsonReporter';
import { environment, environmentKey } from './keys';
import type { Reporter } from './reporter';
import { Session } from './session';
import { TextReporter } from './textReporter';

/** A breakpoint that was asked for. */
export interface BreakpointOption {
  readonly line: number;
  readonly condition: string | null;
}

/** The options of `run`, as they were given. */
export interface RunOptions {
  readonly entry?: string;
  readonly arg: readonly string[];
  readonly break: readonly BreakpointOption[];
  readonly world?: string;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly format?: string;
  readonly profile?: string;
  readonly mode?: string;
  readonly context?: number;
  readonly constrain?: true;
  readonly temperature?: number;
  readonly samplingTemperature?: number;
  readonly firstByteSeconds?: number;
  readonly stallSeconds?: number;
  readonly python?: string;
  readonly sandbox?: string;
  readonly at?: number;
  readonly local: readonly (readonly [string, string])[];
  readonly commands?: string;
  readonly json?: true;
  readonly showDefinitions?: true;
  readonly allStates?: true;
  readonly prefetch?: true;
  readonly maxStates?: number;
  readonly maxTokens?: number;
  readonly maxSeconds?: number;
}

/** Exit codes that scripts rely on. */
export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/**
 * Debugs a file in the terminal.
 *
 * @returns the exit code
 */
export async function run(file: string, options: RunOptions): Promise<number> {
  const configuration = await configure(file, options);
  let running: Debugger | null = null;
  const session = (): Debugger => {
    if (!running) throw errors.notStarted();
    return running;
  };
  const reporter: Reporter = options.json ? new JsonReporter(session) : new TextReporter(session);
  const opened = await openDebugger(configuration, environmentKey(configuration.server?.baseUrl ?? null), {
    output: (text, isDerived) => {
      reporter.output(text, isDerived);
    },
    logged: (logged) => {
      reporter.logged(logged);
    },
  });
  running = opened.debugger;
  try {
    const driver = new Session(opened, reporter);
    const { world } = opened.debugger;
    const nameAtFirst = world.description.name;
    if (!options.json) reporter.text(pc.dim(`${describeWorld(world.description)}.`));
    for (const note of opened.notes) reporter.problem(note);
    for (const { line, condition } of options.break) driver.setBreakpoint(line, condition);
    await driver.start();
    // A script has no use for a session that did not begin; a person can try again.
    if (driver.hasFailed && !isConversation(options)) return exitCodes.failed;
    // The beginning may have shown which model, or which Python, answers.
    const { name } = world.description;
    if (!options.json && name !== nameAtFirst) reporter.text(pc.dim(`That is ${name}.`));
    for (const note of world.notes ?? []) reporter.problem(note);
    await followCommands(driver, opened.debugger, options);
    const used = describeUsage(opened.debugger.world.usage ?? noUsage);
    if (!options.json && used !== null) reporter.text(pc.dim(used));
    if (driver.hasFailed) return exitCodes.failed;
    return driver.hadProblem ? exitCodes.usage : exitCodes.ok;
  } finally {
    await opened.debugger.close();
    await opened.evaluator.close();
  }
}

/** Whether a person types the commands. */
function isConversation(options: RunOptions): boolean {
  return options.commands === undefined && stdin.isTTY && stdout.isTTY && !options.json;
}

async function followCommands(driver: Session, session: Debugger, options: RunOptions): Promise<void> {
  if (options.commands !== undefined) {
    await driver.execute(options.commands);
  } else if (isConversation(options)) {
    await converse(driver, session);
  } else {
    for await (const line of createInterface({ input: stdin })) {
      await driver.execute(line);
      if (driver.hasQuit) break;
    }
  }
}

/** Reads commands from a person, with line editing, history and completion; Ctrl+C pauses a prediction. */
async function converse(driver: Session, session: Debugger): Promise<void> {
  const terminal = createInterface({
    input: stdin,
    output: stdout,
    prompt: pc.bold('(neural) '),
    historySize: 1_000,
    completer: (line: string): [string[], string] => [
      commandWords.filter((word) => word.length > 1 && word.startsWith(line)),
      line,
    ],
  });
  let wantsToLeave = false;
  terminal.on('SIGINT', () => {
    if (session.isRunning) {
      session.pause();
    } else if (wantsToLeave) {
      terminal.close();
    } else {
      wantsToLeave = true;
      stdout.write('\nPress Ctrl+C again, or q, to leave.\n');
      terminal.prompt();
    }
  });
  let last = '';
  terminal.prompt();
  for await (const line of terminal) {
    // As in pdb, an empty line repeats the last command.
    last = line.trim() === '' ? last : line;
    wantsToLeave = false;
    await driver.execute(last);
    if (driver.hasQuit) break;
    terminal.prompt();
  }
  terminal.close();
}

async function configure(file: string, options: RunOptions): Promise<Configuration> {
  const baseUrl = options.baseUrl ?? (process.env[environment.baseUrl] || undefined);
  const isRecording = options.world === 'recording';
  const choice =
    options.world === undefined && baseUrl === undefined
      ? await chooseWorld()
      : { world: options.world, baseUrl };
  return parseConfiguration({
    program: isRecording ? undefined : file,
    recording: isRecording ? file : undefined,
    entry: options.entry,
    args: options.arg,
    world: choice.world,
    server:
      choice.baseUrl === undefined
        ? undefined
        : withoutUndefined({
            baseUrl: choice.baseUrl,
            model: options.model ?? process.env[environment.model],
            format: options.format,
            profile: options.profile,
            mode: options.mode,
            context: options.context,
            constrain: options.constrain,
            temperature: options.temperature,
            samplingTemperature: options.samplingTemperature,
            timeouts: withoutUndefined({
              firstByte: options.firstByteSeconds,
              stall: options.stallSeconds,
            }),
          }),
    budget: withoutUndefined({
      states: options.maxStates,
      tokens: options.maxTokens,
      seconds: options.maxSeconds,
    }),
    showDefinitions: options.showDefinitions,
    allStates: options.allStates,
    prefetch: options.prefetch,
    startAt:
      options.at === undefined ? undefined : { line: options.at, locals: Object.fromEntries(options.local) },
    python: options.python,
    sandbox: options.sandbox,
  });
}

/** Asks a person what should answer; nobody there to ask is an error that names the choices. */
async function chooseWorld(): Promise<{ world: string; baseUrl: string | undefined }> {
  if (!stdin.isTTY || !stdout.isTTY) throw errors.noWorld();
  const terminal = createInterface({ input: stdin, output: stdout });
  try {
    stdout.write(
      'Nothing is set that could predict the program. What should answer?\n' +
        '  1  a server with a model (OpenAI-compatible)\n' +
        '  2  the reference: Python really runs the program on this computer\n' +
        '  3  nothing: leave\n',
    );
    const ask = async (question: string) => (await terminal.question(question)).trim();
    for (;;) {
      const choice = await ask('Choice: ');
      if (choice === '1')
        return { world: 'server', baseUrl: await ask('Base URL (such as http://127.0.0.1:8000/v1): ') };
      if (choice === '2') return { world: 'reference', baseUrl: undefined };
      if (choice === '3') throw errors.noWorld();
      stdout.write('Please answer 1, 2 or 3.\n');
    }
  } catch (thrown) {
    // Ctrl+C and the end of the input choose nothing.
    throw thrown instanceof Error && thrown.name === 'AbortError' ? errors.noWorld() : thrown;
  } finally {
    terminal.close();
  }
}

function withoutUndefined(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
