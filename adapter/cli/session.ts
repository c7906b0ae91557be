import { describeUsage, noUsage } from '../completion/usage';
import type { LineBreakpoint } from '../debugger/breakpoints';
import type { Opened } from '../debugger/open';
import type { Debugger, Stop } from '../debugger/debugger';
import { asCatalogueError } from '../errors';
import { lookUp } from '../python/valuePath';
import { shownText } from '../shownText';
import type { Locals } from '../trajectory/state';
import { describeWorld } from '../world/world';
import { type Command, commandHelp, parseCommand, splitCommands } from './commands';
import type { Reporter } from './reporter';

/** How many source lines are listed before and after the current one. */
const listed = 5;

/** A session that commands drive: from a terminal, a pipe or the command line. */
export class Session {
  /** Whether a command ended the session. */
  hasQuit = false;
  /** Whether something failed that the catalogue of errors names. */
  hasFailed = false;
  /** Whether a command was not understood. */
  hadProblem = false;
  readonly #breakpoints = new Map<number, LineBreakpoint>();
  /** Which frame of the stack is looked at: 0 is the innermost. */
  #lookingAt = 0;

  constructor(
    private readonly opened: Opened,
    private readonly reporter: Reporter,
  ) {}

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
    const actual = this.#debugger.source.breakpointLine(line);
    if (actual === null) {
      this.#problem(`There is no code on line ${line}, nor after it in its block.`);
      return;
    }
    this.#breakpoints.set(actual, { line: actual, condition });
    this.#debugger.breakpoints.setLines([...this.#breakpoints.values()]);
    if (actual !== line) this.reporter.text(`Breakpoint moved from line ${line} to line ${actual}.`);
  }

  async #obey(command: Command): Promise<void> {
    switch (command.name) {
      case 'step':
        return this.#move(() => this.#debugger.forward('stepIn'));
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
        if (command.line === null) this.#listBreakpoints();
        else this.setBreakpoint(command.line, command.condition);
        return;
      case 'clear':
        if (command.line === null) this.#breakpoints.clear();
        else if (!this.#breakpoints.delete(command.line)) {
          this.#problem(`There is no breakpoint on line ${command.line}.`);
        }
        this.#debugger.breakpoints.setLines([...this.#breakpoints.values()]);
        return;
      case 'exceptions':
        this.#stopAtExceptions(command.filters);
        return;
      case 'print':
        return this.#print(command.expression);
      case 'locals':
        for (const [name, value] of this.#locals) {
          this.reporter.text(`${shownText(name)} = ${shownText(value.repr ?? 'not predicted')}`);
        }
        return;
      case 'where':
        this.#where();
        return;
      case 'up':
        this.#look(1);
        return;
      case 'down':
        this.#look(-1);
        return;
      case 'list':
        this.#list();
        return;
      case 'info':
        this.#info();
        return;
      case 'help':
        this.reporter.text(commandHelp);
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
    } catch (thrown) {
      this.hasFailed = true;
      this.reporter.error(asCatalogueError(thrown));
    }
  }

  async #print(expression: string): Promise<void> {
    const known = lookUp(expression, this.#locals);
    if (known?.repr) {
      this.reporter.value(expression, { value: known.repr });
      return;
    }
    const result = await this.opened.evaluator.evaluate(expression, this.#locals);
    if (result.kind === 'value') this.reporter.value(expression, { value: result.repr });
    else if (result.kind === 'raises')
      this.reporter.value(expression, { problem: `${result.type}: ${result.message}` });
    else this.reporter.value(expression, { problem: `not predicted: ${result.reason}` });
  }

  get #stack() {
    const { trajectory, cursor } = this.#debugger;
    return cursor < 0 ? [] : trajectory.stack(cursor);
  }

  get #locals(): Locals {
    const entry = this.#stack[this.#lookingAt];
    return (entry && this.#debugger.trajectory.locals(entry.state)?.locals) ?? new Map();
  }

  #where(): void {
    const { trajectory } = this.#debugger;
    for (const [depth, { frame, state }] of [...this.#stack.entries()].reverse()) {
      const mark = depth === this.#lookingAt ? '>' : ' ';
      this.reporter.text(`${mark} ${shownText(frame.function)} at line ${trajectory.line(state)}`);
    }
  }

  #look(by: number): void {
    const to = this.#lookingAt + by;
    if (to < 0 || to >= this.#stack.length) {
      this.#problem(by > 0 ? 'This is the outermost frame.' : 'This is the innermost frame.');
      return;
    }
    this.#lookingAt = to;
    this.#where();
  }

  #list(): void {
    const { trajectory, source } = this.#debugger;
    const entry = this.#stack[this.#lookingAt];
    if (!entry) return;
    const current = trajectory.line(entry.state);
    const last = Math.min(source.lines.length, current + listed);
    for (let line = Math.max(1, current - listed); line <= last; line++) {
      const mark = `${this.#breakpoints.has(line) ? 'B' : ' '}${line === current ? '->' : '  '}`;
      this.reporter.text(`${String(line).padStart(5)} ${mark} ${shownText(source.lines[line - 1] ?? '')}`);
    }
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

  #listBreakpoints(): void {
    const breakpoints = [...this.#breakpoints.values()].sort((a, b) => a.line - b.line);
    if (breakpoints.length === 0) this.reporter.text('There are no breakpoints.');
    for (const { line, condition } of breakpoints) {
      this.reporter.text(
        `Breakpoint on line ${line}${condition === null ? '' : ` if ${shownText(condition)}`}.`,
      );
    }
  }

  #problem(text: string): void {
    this.hadProblem = true;
    this.reporter.problem(text);
  }
}
