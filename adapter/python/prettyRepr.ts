import { callName, entries } from './repr';
import { readTape, type ReprTape } from './reprTape';

/** Values that fit in this many columns stay on one line. */
const columns = 88;
const indent = '    ';

/**
 * A value's repr over several lines, as Python source is formatted: a container that does not fit in a line has one
 * item a line, with a comma after each. It means what the repr means; where that is no Python, neither is this.
 */
export function prettyRepr(text: string): string {
  const tape = readTape(text);
  if (tape.is(0, 'malformed')) return text;
  const pieces: string[] = [];
  new Printer(tape, pieces).print(0, '', 0);
  return pieces.join('');
}

class Printer {
  constructor(
    private readonly tape: ReprTape,
    private readonly pieces: string[],
  ) {}

  /** @param taken how many columns of the line are taken besides the value */
  print(node: number, margin: string, taken: number): void {
    const { tape, pieces } = this;
    const length = tape.end(node) - tape.start(node);
    const container = tape.itemsOf(node);
    const hasItems = tape.after(container) > container + 1;
    if (!hasItems || margin.length + taken + length <= columns) {
      pieces.push(tape.slice(node));
      return;
    }
    const [open, close] = this.#brackets(node, container);
    const inner = margin + indent;
    pieces.push(open);
    for (const entry of entries(tape, node)) {
      const value = tape.valueOf(container, entry);
      const label = value === entry ? '' : `${tape.slice(entry)}${tape.is(entry, 'keyword') ? '=' : ': '}`;
      pieces.push('\n', inner, label);
      this.print(value, inner, label.length + 1);
      pieces.push(',');
    }
    pieces.push('\n', margin, close);
  }

  #brackets(node: number, container: number): readonly [string, string] {
    switch (this.tape.kind(node)) {
      case 'list':
        return ['[', ']'];
      case 'tuple':
        return ['(', ')'];
      case 'frozenset':
        return container === node ? ['frozenset(', ')'] : ['frozenset({', '})'];
      case 'call':
        return [`${callName(this.tape, node)}(`, ')'];
      default:
        return ['{', '}'];
    }
  }
}
