import type { DebugProtocol } from '@vscode/debugprotocol';
import { defaultDoubtThreshold, doubtAt } from '../debugger/doubt';
import type { Logged } from '../debugger/breakpoints';
import type { Debugger } from '../debugger/debugger';
import type { Stop } from '../debugger/stop';
import { shownText } from '../shownText';
import type { Client } from './client';
import { dimmed } from './styling';

/** Below this confidence what is shown of a session counts as doubtful: the filter's threshold, where one is set. */
export function doubtThreshold({ breakpoints }: Debugger): number {
  return breakpoints.doubtBelow ?? defaultDoubtThreshold;
}

/** Writes into the client's debug console. Where the client shows styles, what nobody wrote or knows is dimmed. */
export class OutputEvents {
  /**
   * @param send sends an `output` event
   * @param client who reads it: it is known from `initialize` on
   * @param sourceOf the program's text, as the client is to show it, by the program's path
   */
  constructor(
    private readonly send: (body: object) => void,
    private readonly client: () => Client,
    private readonly sourceOf: (path: string) => DebugProtocol.Source,
  ) {}

  /** Tells people something. */
  tell(category: 'console' | 'stderr' | 'important', text: string): void {
    this.send({ category, output: shownLines(text) });
  }

  /**
   * What a program writes.
   *
   * @param isReal whether it really wrote that
   * @param isDerived whether the text is predicted, by a model or from predicted values
   */
  printed(text: string, isReal: boolean, isDerived: boolean): void {
    // What nobody wrote, but would have been written, must not look like output.
    const marked = isDerived ? text.replace(/^(?=.)/gm, 'predicted output: ') : text;
    const shown = shownLines(marked);
    const output = shown.endsWith('\n') || !isDerived ? shown : `${shown}\n`;
    this.send({ category: 'stdout', output: isReal ? output : this.#dim(output) });
  }

  /** A log point's message, where it was written. */
  logged({ text, line, state }: Logged, session: Debugger): void {
    const message = `${session.world.description.isReal ? '' : 'predicted: '}${shownLines(text)}`;
    this.send({
      category: 'console',
      output: `${isDoubtful(session, state) ? this.#dim(message) : message}\n`,
      source: this.sourceOf(session.trajectory.program.path),
      line: this.client().lineOf(line),
    });
  }

  /** Notes down a stop at a doubt, which would be forgotten with the next stop. */
  doubted({ state, why }: Stop, { trajectory }: Debugger): void {
    const place = `line ${trajectory.line(state)} of ${trajectory.frame(state).function}`;
    this.send({
      category: 'console',
      output: `${this.#dim(shownLines(`Doubtful at ${place}: ${why ?? 'it may not be possible'}`))}\n`,
      source: this.sourceOf(trajectory.program.path),
      line: this.client().lineOf(trajectory.line(state)),
    });
  }

  #dim(text: string): string {
    return this.client().showsStyling ? dimmed(text) : text;
  }
}

/** Whether a state, or the way to it, is less sure than what counts as a doubt. */
function isDoubtful(session: Debugger, state: number): boolean {
  const threshold = doubtThreshold(session);
  const path = session.confidence.path(state);
  return (path !== null && path < threshold) || doubtAt(session.trajectory, state, threshold) !== null;
}

function shownLines(text: string): string {
  return text.split('\n').map(shownText).join('\n');
}
