import { basename } from 'node:path';
import pc from 'picocolors';
import type { Logged } from '../debugger/breakpoints';
import { describeConfidence } from '../debugger/confidence';
import { describeEnding } from '../debugger/ending';
import type { Debugger } from '../debugger/debugger';
import type { Stop } from '../debugger/stop';
import { describeChange } from '../debugger/whatIf';
import { type CatalogueError, errorText } from '../errors';
import { shownText } from '../shownText';
import type { Locals } from '../trajectory/state';
import type { Reporter } from './reporter';

/** How much of a value is shown in a stop's line of locals. */
const mostCharacters = 120;

/** Tells the session to a person at a terminal, in the manner of pdb. */
export class TextReporter implements Reporter {
  /** The locals that were shown last, and whose they were. */
  #shown: { readonly activation: number; readonly locals: Locals } | null = null;
  /** Whether the program's output ended within a line. */
  #isInLine = false;
  /** The end that was told last. */
  #toldEnd: number | null = null;

  constructor(private readonly session: () => Debugger) {}

  stop(stop: Stop): void {
    const { trajectory, source } = this.session();
    for (const note of stop.notes) this.text(pc.yellow(note));
    if (stop.state < 0 || (stop.reason === 'end' && stop.state === this.#toldEnd)) {
      this.text('The program is over.');
      return;
    }
    this.#toldEnd = stop.reason === 'end' ? stop.state : null;
    const frame = trajectory.frame(stop.state);
    const line = trajectory.line(stop.state);
    for (const { function: name, value } of stop.returned) {
      this.text(pc.dim(`  ${shownText(name)}() returned ${shorten(value.repr)}`));
    }
    const place = `${basename(trajectory.program.path)}:${line} ${shownText(frame.function)}`;
    this.text(`${pc.cyan(`> ${place}`)}  ${pc.dim(this.#why(stop))}`);
    const text = source.lines[line - 1];
    if (text !== undefined) this.text(`-> ${shorten(text.trim())}`);
    this.#tellChanges(stop.state);
  }

  value(_expression: string, result: { readonly value: string } | { readonly problem: string }): void {
    this.text('value' in result ? shownText(result.value) : pc.yellow(shownText(result.problem)));
  }

  output(text: string, isDerived: boolean): void {
    const safe = text.split('\n').map(shownText).join('\n');
    const lines = this.#isInLine ? /\n(?=.)/g : /^(?=.)/gm;
    process.stdout.write(
      isDerived ? pc.italic(safe.replace(lines, (found) => `${found}predicted output: `)) : safe,
    );
    this.#isInLine = !text.endsWith('\n');
  }

  displayed(
    expression: string,
    result: { readonly value: string } | { readonly problem: string },
    before: string | null,
  ): void {
    const old = before === null ? '' : pc.dim(`  [old: ${shorten(before)}]`);
    const now = 'value' in result ? shorten(result.value) : pc.yellow(shownText(result.problem));
    this.text(`display ${shownText(expression)}: ${now}${old}`);
  }

  logged({ text, line }: Logged): void {
    const how = this.session().world.description.isReal ? '' : ' (predicted)';
    this.text(pc.magenta(`log, line ${line}${how}: ${shownText(text)}`));
  }

  text(text: string): void {
    process.stdout.write(`${this.#isInLine ? '\n' : ''}${text}\n`);
    this.#isInLine = false;
  }

  listing(lines: readonly string[]): void {
    for (const line of lines) this.text(shownText(line));
  }

  problem(text: string): void {
    process.stderr.write(`${pc.yellow(shownText(text))}\n`);
  }

  error(error: CatalogueError): void {
    process.stderr.write(`${pc.red(`error ${error.code}:`)} ${shownText(errorText(error))}\n`);
  }

  #why({ reason, state, why, hits }: Stop): string {
    const { trajectory, world, confidence } = this.session();
    const { doubt } = trajectory.prediction(state);
    const argument = shorten(trajectory.argument(state)?.repr ?? null);
    const numbers = hits.length === 0 ? '' : ` ${hits.join(', ')}`;
    const text = {
      entry: 'beginning',
      step: '',
      breakpoint: `breakpoint${numbers}`,
      'function breakpoint': `breakpoint${numbers} on the function`,
      'data breakpoint': `data breakpoint${numbers}`,
      doubt: 'doubt',
      return: `returned ${argument}`,
      exception: `exception ${argument}`,
      budget: 'budget used up',
      pause: 'paused',
      goto: describeChange(trajectory, state) ?? 'moved here',
      end: shorten(describeEnding(trajectory, state)),
    }[reason];
    const told = why === null ? text : `${text}: ${shorten(why)}`;
    const how = world.description.isReal ? 'real run' : 'predicted';
    const sure = describeConfidence(confidence, state);
    const doubtful = doubt === null || reason === 'doubt' ? '' : `; doubtful: ${shownText(doubt)}`;
    return `[${told === '' ? '' : `${told}; `}${how}${sure}${doubtful}]`;
  }

  /** The locals that changed since the last stop in the frame. */
  #tellChanges(state: number): void {
    const { trajectory } = this.session();
    const known = trajectory.locals(state);
    if (!known) return;
    const { activation } = trajectory.frame(state);
    const before = this.#shown?.activation === activation ? this.#shown.locals : null;
    this.#shown = { activation, locals: known.locals };
    const changes = [...known.locals].filter(([name, value]) => before?.get(name)?.repr !== value.repr);
    const gone = [...(before?.keys() ?? [])].filter((name) => !known.locals.has(name));
    for (const [name, value] of changes)
      this.text(`   ${pc.green(shownText(name))} = ${shorten(value.repr)}`);
    for (const name of gone) this.text(`   ${pc.green(shownText(name))} ${pc.dim('is gone')}`);
  }
}

function shorten(repr: string | null): string {
  if (repr === null) return pc.dim('not predicted');
  return shownText(repr.length > mostCharacters ? `${repr.slice(0, mostCharacters)}…` : repr);
}
