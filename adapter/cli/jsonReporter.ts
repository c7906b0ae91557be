import type { Logged } from '../debugger/breakpoints';
import { uncaughtException } from '../debugger/ending';
import type { Debugger } from '../debugger/debugger';
import type { Stop } from '../debugger/stop';
import { type CatalogueError, errorText } from '../errors';
import type { Reporter } from './reporter';

/** Tells each stop as one JSON object a line on standard output; all else goes to standard error. */
export class JsonReporter implements Reporter {
  /** @param session the debugger, once there is one */
  constructor(private readonly session: () => Debugger) {}

  stop({ reason, state, notes, why, hits }: Stop): void {
    const { trajectory, world, confidence: sureness } = this.session();
    const isSomewhere = state >= 0;
    const locals = isSomewhere ? trajectory.state(state).locals : null;
    const { confidence = null, doubt = null } = isSomewhere ? trajectory.prediction(state) : {};
    this.#write({
      reason,
      event: isSomewhere ? trajectory.event(state) : null,
      function: isSomewhere ? trajectory.frame(state).function : null,
      line: isSomewhere ? trajectory.line(state) : null,
      depth: isSomewhere ? trajectory.frame(state).depth : null,
      locals: locals && Object.fromEntries([...locals].map(([name, { repr }]) => [name, repr])),
      arg: isSomewhere ? (trajectory.argument(state)?.repr ?? null) : null,
      confidence,
      pathConfidence: sureness.path(state),
      world: world.description.kind,
      ...(reason === 'end' && isSomewhere
        ? { exception: uncaughtException(trajectory, state) ?? undefined }
        : {}),
      ...(isSomewhere && trajectory.frame(state).thread !== null
        ? { thread: trajectory.frame(state).thread }
        : {}),
      ...(doubt === null ? {} : { doubt }),
      ...(why === null ? {} : { why }),
      ...(hits.length > 0 ? { breakpoints: hits } : {}),
      ...(notes.length > 0 ? { notes } : {}),
    });
  }

  value(expression: string, result: { readonly value: string } | { readonly problem: string }): void {
    this.#write({ expression, ...result });
  }

  displayed(expression: string, result: { readonly value: string } | { readonly problem: string }): void {
    this.#write({ display: expression, ...result });
  }

  logged({ text, line }: Logged): void {
    this.#write({ log: text, line, predicted: !this.session().world.description.isReal });
  }

  output(text: string, isDerived: boolean): void {
    process.stderr.write(isDerived ? text.replace(/^(?=.)/gm, 'predicted output: ') : text);
  }

  text(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  listing(_lines: readonly string[], rows: readonly object[]): void {
    for (const row of rows) this.#write(row);
  }

  problem(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  error(error: CatalogueError): void {
    process.stderr.write(`error ${error.code}: ${errorText(error)}\n`);
  }

  #write(row: object): void {
    process.stdout.write(`${JSON.stringify(row)}\n`);
  }
}
