import type { Logged } from '../debugger/breakpoints';
import type { Stop } from '../debugger/stop';
import type { CatalogueError } from '../errors';

/** Tells what happens in a session: to people, or to scripts. */
export interface Reporter {
  /** The session stopped. */
  stop(stop: Stop): void;
  /** An expression's value, or why there is none. */
  value(expression: string, result: { readonly value: string } | { readonly problem: string }): void;
  /** An expression that is told at stops; `before` is what it was when it was told last. */
  displayed(
    expression: string,
    result: { readonly value: string } | { readonly problem: string },
    before: string | null,
  ): void;
  /** What the program wrote; derived text was worked out, not written. */
  output(text: string, isDerived: boolean): void;
  /** A log point was passed. */
  logged(logged: Logged): void;
  /** An answer in words, such as a call stack. */
  text(text: string): void;
  /** A list: lines for people, and an object each for scripts. */
  listing(lines: readonly string[], rows: readonly object[]): void;
  /** What a person did wrong. */
  problem(text: string): void;
  error(error: CatalogueError): void;
}
