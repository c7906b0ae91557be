import type { CodeUnit } from '../../python/codeUnits';
import { withoutLineEnd, withoutMarker } from './tokens';

/** The lines of a program by the text that they have in the source context. */
export class LineTexts {
  readonly #exact = new Map<string, number[]>();
  readonly #stripped = new Map<string, number[]>();

  /** @param texts the texts of the file's lines as they stand in the context, from the first line on */
  constructor(private readonly texts: readonly string[]) {
    texts.forEach((text, index) => {
      const exact = exactKey(text);
      add(this.#exact, exact, index + 1);
      add(this.#stripped, strippedKey(exact), index + 1);
    });
  }

  /** Whether a line reads like a frame's text, its indentation aside. */
  reads(line: number, text: string): boolean {
    return strippedKey(exactKey(this.texts[line - 1] ?? '')) === strippedKey(exactKey(text));
  }

  /**
   * The lines that read like a frame's text, in order, within a code unit or anywhere; those with another
   * indentation only if there are no others.
   */
  find(text: string, unit: CodeUnit | null): readonly number[] {
    const exact = exactKey(text);
    const within = (lines: readonly number[] = []) =>
      unit === null ? lines : lines.filter((line) => unit.lines.has(line));
    const found = within(this.#exact.get(exact));
    return found.length > 0 ? found : within(this.#stripped.get(strippedKey(exact)));
  }
}

/** A line's text as two texts of one line are compared: without line end and marker. */
export function exactKey(text: string): string {
  return withoutMarker(withoutLineEnd(text));
}

function strippedKey(exact: string): string {
  return exact.replace(/^[ \t\f]+|[ \t\f]+$/g, '');
}

function add(lines: Map<string, number[]>, key: string, line: number): void {
  const known = lines.get(key);
  if (known) known.push(line);
  else lines.set(key, [line]);
}
