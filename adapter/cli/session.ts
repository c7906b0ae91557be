import { describeUsage, noUsage } from '../completion/usage';
import { type ConsoleLine, describeProblem, obeyConsole } from '../debugger/console';
import type { Opened } from '../debugger/open';
import type { Debugger } from '../debugger/debugger';
import type { Stop } from '../debugger/stop';
import { evaluateIn } from '../debugger/evaluateIn';
import { stepTargets } from '../debugger/stepTargets';
import { whatIfCommandOf } from '../debugger/whatIfCommands';
import { asCatalogueError } from '../errors';
import { shownText } from '../shownText';
import { describeWorld } from '../world/world';
import { type Command, commandHelp, parseCommand, splitCommands } from './commands';
import type { Reporter } from './reporter';
import { type BreakpointAnswer, SessionBreakpoints } from './sessionBreakpoints';

/** How long a command may take that moves nothing, in milliseconds. */
const consolePatience = 120_000;

/** A session that commands drive: from a terminal, a pipe or the command line. */
export class Session {
  /** Whether a command ended the session. */
  hasQuit = false;
  /** Whether something failed that the catalogue of errors names. */
  hasFailed = false;
  /** Whether a command was not understood. */
  hadProblem = false;
  readonly #breakpoints: SessionBreakpoints;
  /** The expressions that are told at stops, and what they were when they were told last. */
  readonly #displayed = new Map<string, string | null>();
  /** Which frame of the stack is looked at: 0 is the innermost. */
  #lookingAt = 0;

  constructor(
    private readonly opened: Opened,
    private readonly reporter: Reporter,
  ) {
    this.#breakpoints = new SessionBreakpoints(() => this.#debugger);
  }

  get #debugger(): Debugger {
    return this.opened.debugger;
  }

  /** Goes to the program's beginning. */
  start(): Promise<void> {
    return this.#move(() => this.#debugger.start(true));
  }

  /** Obeys the commands of a line, one after the other. */
  async execute(line: string): Promise<void> {
    for (const text of splitCommands(line)) {
      if (this.hasQuit) return;
      const command = parseCommand(text);
      if (!command) continue;
      if ('problem' in command) this.#problem(command.problem);
      else await this.#obey(command);
    }
  }

  /** Sets a breakpoint, and says where it really sits. */
  setBreakpoint(line: number, condition: string | null): void {
    const answer = this.#breakpoints.setLine(line, condition);
    if ('problem' in answer) this.#problem(answer.problem);
    else if (answer.text.includes('Moved')) this.reporter.text(shownText(answer.text));
  }

  async #obey(command: Command): Promise<void> {
    switch (command.name) {
      case 'step':
        return this.#stepInto(command.argument);
      case 'next':
        return this.#move(() => this.#debugger.forward('next'));
      case 'return':
        return this.#move(() => this.#debugger.forward('stepOut'));
      case 'continue':
        return this.#move(() => this.#debugger.forward('continue'));
      case 'back':
        return this.#move(() => this.#debugger.back('stepBack'));
      case 'reverseContinue':
        return this.#move(() => this.#debugger.back('reverseContinue'));
      case 'restart':
        return this.start();
      case 'break':
        this.#tell(this.#breakpoints.set(command.argument, false));
        return;
      case 'temporary':
        this.#tell(this.#breakpoints.set(command.argument, true));
        return;
      case 'condition':
        this.#tell(this.#breakpoints.condition(command.argument));
        return;
      case 'ignore':
        this.#tell(await this.#breakpoints.ignore(command.argument, this.#debugger.cursor));
        return;
      case 'clear':
        this.#tell(this.#breakpoints.clear(command.argument));
        return;
      case 'watch':
        this.#tell(this.#breakpoints.watch(command.argument, this.#state));
        return;
      case 'log':
        this.#tell(this.#breakpoints.log(command.argument));
        return;
      case 'catch':
        this.#tell(this.#breakpoints.catch(command.argument));
        return;
      case 'display':
        if (command.argument !== '') this.#displayed.set(command.argument, null);
        return this.#display(command.argument === '');
      case 'undisplay':
        if (command.argument === '') this.#displayed.clear();
        else if (!this.#displayed.delete(command.argument))
          this.#problem(`${command.argument} is not displayed.`);
        return;
      case 'exceptions':
        this.#stopAtExceptions(command.filters);
        return;
      case 'print':
        return this.#print(command.argument);
      case 'console':
        return this.#console(command);
      case 'up':
        return this.#look(command.argument, 1);
      case 'down':
        return this.#look(command.argument, -1);
      case 'info':
        this.#info();
        return;
      case 'whatIf':
        return this.#whatIf(command.word, command.argument);
      case 'help':
        this.#help(command.argument);
        return;
      case 'quit':
        this.hasQuit = true;
    }
  }

  async #move(work: () => Promise<Stop>): Promise<void> {
    try {
      // Where the beginning was never reached, any step tries to get there.
      const stop = await (this.#debugger.cursor < 0 ? this.#debugger.start(true) : work());
      this.#lookingAt = 0;
      this.reporter.stop(stop);
      this.#breakpoints.stoppedAt(stop.hits);
      await this.#display(false);
    } catch (thrown) {
      this.hasFailed = true;
      this.reporter.error(asCatalogueError(thrown));
    }
  }

  async #whatIf(word: string, argument: string): Promise<void> {
    const state = this.#stack[this.#lookingAt]?.state ?? -1;
    try {
      const answer = await whatIfCommandOf(word)?.run(this.opened, state, argument);
      if (!answer) return;
      this.reporter.listing(answer.lines, answer.rows);
      if (!answer.stop) return;
      this.#lookingAt = 0;
      this.reporter.stop(answer.stop);
    } catch (thrown) {
      this.hasFailed = true;
      this.reporter.error(asCatalogueError(thrown));
    }
  }

  /** Steps into the call of a name on the line, or into whichever comes first. */
  async #stepInto(argument: string): Promise<void> {
    const { source, trajectory, cursor } = this.#debugger;
    if (argument === '') return this.#move(() => this.#debugger.forward('stepIn'));
    const [, name = argument, number = '1'] = /^(.*\S)\s+(\d+)$/s.exec(argument) ?? [];
    const all = stepTargets(source, trajectory, cursor);
    const named = all.filter(({ call }) => call.text === name || call.name === name);
    const target = named[Number(number) - 1];
    if (!target) {
      const texts = [...new Set(all.map(({ call }) => call.text))];
      const offered =
        texts.length === 0 ? 'There is no call to step into.' : `There are ${texts.join(', ')}.`;
      this.#problem(`The line has no such call of ${name}. ${offered}`);
      return;
    }
    return this.#move(() => this.#debugger.forward('stepIn', target));
  }

  async #print(expression: string): Promise<void> {
    this.reporter.value(expression, await this.#valueOf(expression));
  }

  async #valueOf(expression: string): Promise<{ readonly value: string } | { readonly problem: string }> {
    const { evaluator } = this.opened;
    const result = await evaluateIn(
      this.#debugger,
      evaluator,
      expression,
      this.#debugger.cursor,
      this.#state,
    );
    return result.kind === 'value' ? { value: result.repr } : { problem: describeProblem(result) };
  }

  /** Tells the displayed expressions whose values changed, or all of them. */
  async #display(isAsked: boolean): Promise<void> {
    for (const [expression, before] of this.#displayed) {
      const result = await this.#valueOf(expression);
      const now = 'value' in result ? result.value : result.problem;
      if (!isAsked && now === before) continue;
      this.#displayed.set(expression, now);
      this.reporter.displayed(expression, result, isAsked ? null : before);
    }
  }

  /** Obeys a command that debug consoles have too. */
  async #console(line: ConsoleLine): Promise<void> {
    const { evaluator } = this.opened;
    const context = { session: this.#debugger, evaluator, state: this.#state, stack: this.#stack };
    const signal = AbortSignal.timeout(consolePatience);
    const answer = await obeyConsole(line, { ...context, signal }, '');
    if (!('text' in answer)) this.#problem(answer.problem);
    else if (answer.text !== '') this.reporter.text(shownText(answer.text));
  }

  #help(about: string): void {
    const help = commandHelp(about);
    if (help === null) this.#problem(`There is no command "${about}": "help" lists them.`);
    else this.reporter.text(help);
  }

  #tell(answer: BreakpointAnswer): void {
    if ('problem' in answer) this.#problem(answer.problem);
    else this.reporter.text(shownText(answer.text));
  }

  /** The state of the frame that is looked at; -1 where there is none. */
  get #state(): number {
    return this.#stack[this.#lookingAt]?.state ?? -1;
  }

  get #stack() {
    const { trajectory, cursor } = this.#debugger;
    return cursor < 0 ? [] : trajectory.stack(cursor);
  }

  async #look(count: string, direction: 1 | -1): Promise<void> {
    if (!/^\d*$/.test(count)) {
      this.#problem(`A number of frames is wanted, not "${count}".`);
      return;
    }
    const last = this.#stack.length - 1;
    const to = this.#lookingAt + direction * Number(count === '' ? 1 : count);
    if ((direction > 0 && this.#lookingAt >= last) || (direction < 0 && this.#lookingAt === 0)) {
      this.#problem(direction > 0 ? 'This is the outermost frame.' : 'This is the innermost frame.');
      return;
    }
    this.#lookingAt = Math.min(Math.max(0, to), last);
    return this.#console({ word: 'where', argument: '' });
  }

  #stopAtExceptions(filters: readonly ('raised' | 'uncaught')[] | null): void {
    const { breakpoints } = this.#debugger;
    if (filters) {
      breakpoints.raised = filters.includes('raised');
      breakpoints.uncaught = filters.includes('uncaught');
    }
    const set = (['raised', 'uncaught'] as const).filter((filter) => breakpoints[filter]);
    this.reporter.text(`Stopping at exceptions: ${set.length > 0 ? set.join(', ') : 'none'}.`);
  }

  #info(): void {
    const { world, trajectory } = this.#debugger;
    this.reporter.text(`${describeWorld(world.description)}; ${trajectory.length} states are recorded.`);
    for (const note of world.notes ?? []) this.reporter.text(shownText(note));
    const used = describeUsage(world.usage ?? noUsage);
    if (used !== null) this.reporter.text(used);
  }

  #problem(text: string): void {
    this.hadProblem = true;
    this.reporter.problem(text);
  }
}
