import type { DebugProtocol } from '@vscode/debugprotocol';
import type { ComparedValue } from '../debugger/comparison';
import { percent } from '../debugger/confidence';
import type { Answer } from '../debugger/modelQuestion';
import type { DerivedPart, GlobalName } from '../debugger/objects/derived';
import { type Child, type Children, childrenOf, isLiteral, typeName } from '../python/repr';
import { valueSize } from '../python/valueSize';
import type { Value } from '../trajectory/state';
import { shortText, shownText } from '../shownText';

/** What a variables reference stands for: rows, and the text of the value that they are parts of. */
interface Container {
  /** The rows from one on; at most so many, or all. */
  readonly rows: (
    start: number,
    count: number,
    filter: 'indexed' | 'named' | undefined,
    signal: AbortSignal,
  ) => DebugProtocol.Variable[] | Promise<DebugProtocol.Variable[]>;
  /** Of which value a row's name is a part; null where it is none. */
  readonly part: (name: string) => string | null;
  readonly text: string | null;
  /** The expression that means a row's value; null where there is none. */
  readonly path: (name: string) => string | null;
  /** The state in whose frame expressions mean it, or null. */
  readonly state: number | null;
}

/** Which rows are wanted: from one on, at most so many (0: all), of a kind or of both. */
export interface Page {
  readonly filter: 'indexed' | 'named' | undefined;
  readonly start: number;
  readonly count: number;
}

/** How the values of a scope are shown. */
export interface NamedValues {
  readonly values: ReadonlyMap<string, Value>;
  /** The expression that means a value, where there is one. */
  readonly expressionOf: (name: string) => string | null;
  /** How sure a value is, or null. */
  readonly sureness?: (name: string) => number | null;
  /** The state in whose frame the expressions mean the values. */
  readonly state?: number;
  /** What a real run says of a value, where it was compared. */
  readonly marks?: (name: string) => ComparedValue | null;
  /** Opens a value that is, or holds, an object of the program's; null for others. */
  readonly open?: (name: string, value: Value) => Opening | null;
}

/** What a value's parts are, as far as they follow from the trajectory; null where nothing does. */
export type Opening = () => Promise<readonly DerivedPart[] | null>;

/** How a value is shown that nothing predicted. */
export const notPredicted = 'not predicted';

/** A string longer than this is shown in part, with its size. */
const longString = 1_000;

/** The variables that the editor can open at one stop. References are not valid beyond it. */
export class VariableStore {
  readonly #containers: Container[] = [];

  /**
   * @param styled how a value that is so sure looks, and whether it can be set
   * @param isPast whether the values of a state's frame can no longer be set
   */
  constructor(
    private readonly styled: (text: string, sureness: number, canBeSet: boolean) => string,
    private readonly isPast: (state: number) => boolean,
  ) {}

  /** A reference to named values, and how many rows it has. */
  named({ values, expressionOf, sureness, state: at, marks, open }: NamedValues): {
    reference: number;
    size: number;
  } {
    const state = at ?? null;
    const numbers = new Map<string, number>();
    for (const name of sureness ? values.keys() : []) {
      const number = sureness?.(name) ?? null;
      if (number !== null) numbers.set(name, number);
    }
    const size = values.size + (numbers.size > 0 ? 1 : 0);
    const reference = this.#reference({
      rows: (start, count, filter) => {
        if (filter === 'indexed') return [];
        const end = count > 0 ? start + count : size;
        const rows = [...values].slice(start, end).map(([name, value]) => {
          const row = this.variable(name, value, expressionOf(name), numbers.get(name) ?? null, state);
          const opening = open?.(name, value);
          const shown = opening ? this.#openable(row, value.repr, expressionOf(name), opening) : row;
          const compared = marks?.(name) ?? null;
          // What a real run has confirmed, or refuted, is not in doubt.
          const isKnown = compared?.verdict === 'same' || compared?.verdict === 'different';
          const doubt = isKnown ? null : (numbers.get(name) ?? null);
          return marked(this.#styled(shown, doubt), compared);
        });
        if (numbers.size > 0 && start <= values.size && end > values.size)
          rows.push(this.#confidence(numbers));
        return rows;
      },
      part: (name) => values.get(name)?.repr ?? null,
      text: null,
      path: (name) => (values.has(name) ? expressionOf(name) : null),
      state,
    });
    return { reference, size };
  }

  /** What a reference stands for; null where it is not, or no longer, known. */
  variables(
    reference: number,
    { filter, start, count }: Page,
    signal: AbortSignal,
  ): DebugProtocol.Variable[] | Promise<DebugProtocol.Variable[]> | null {
    return this.#containers[reference - 1]?.rows(start, count, filter, signal) ?? null;
  }

  /** The text of the value that a reference opens, or of one of its parts; null where there is none. */
  textOf(reference: number, part: string | undefined): string | null {
    const container = this.#containers[reference - 1];
    return (part === undefined ? container?.text : container?.part(part)) ?? null;
  }

  /** How a row below a reference is written as an expression, and the state in whose frame it means that. */
  pathOf(reference: number, name: string): { readonly state: number; readonly path: string } | null {
    const container = this.#containers[reference - 1];
    const path = container?.path(name) ?? null;
    const state = container?.state ?? null;
    return path === null || state === null ? null : { state, path };
  }

  /** One row for a value. */
  variable(
    name: string,
    value: Value,
    expression: string | null,
    sureness: number | null = null,
    state: number | null = null,
  ): DebugProtocol.Variable {
    if (value.repr === null) {
      return {
        name: shownText(name),
        value: notPredicted,
        variablesReference: 0,
        presentationHint: { attributes: ['readOnly'] },
      };
    }
    const row = this.#row(name, value.repr, expression, state);
    if (sureness === null) return row;
    return { ...row, type: [row.type, `${percent(sureness)} sure`].filter((word) => word).join(', ') };
  }

  /**
   * A reference to the module's names, which are worked out when they are asked for.
   *
   * @param ask puts a name that nothing tells to the model, once a person wants that; null where none answers
   */
  globals(
    names: () => Promise<readonly GlobalName[]>,
    ask: ((name: string, signal: AbortSignal) => Promise<Answer>) | null,
  ): number {
    let rows: Promise<DebugProtocol.Variable[]> | null = null;
    const toRows = async () =>
      (await names()).map(({ part, isOfSource }) =>
        part.repr === null && ask
          ? this.#lazy(part.name, (signal) => ask(part.name, signal))
          : this.derivedRow(part, part.name, isOfSource ? 'from the source' : 'derived'),
      );
    return this.#reference({
      rows: async (start, count) => {
        rows ??= toRows();
        return (await rows).slice(start, count > 0 ? start + count : undefined);
      },
      part: () => null,
      text: null,
      path: () => null,
      state: null,
    });
  }

  /** A row for what is not told, but follows. */
  derivedRow(part: DerivedPart, expression: string | null, how: string): DebugProtocol.Variable {
    const { name, repr, confidence } = part;
    const row = this.variable(name, { repr, confidence }, expression, confidence);
    const type = [row.type, how].filter((word) => word).join(', ');
    const presentationHint = { ...row.presentationHint, attributes: ['readOnly'] };
    const marked = { ...row, type, presentationHint };
    return part.open ? this.#openable(marked, part.repr, expression, part.open) : marked;
  }

  /**
   * A row, styled by how sure its value is. Only the value as a whole has a number: its parts have none of their
   * own, and are not styled. Nor is what cannot be evaluated again, as editors copy such a row's text as it stands.
   */
  #styled(row: DebugProtocol.Variable, sureness: number | null): DebugProtocol.Variable {
    const isCopiedClean = row.evaluateName !== undefined || isLiteral(row.value);
    if (sureness === null || !isCopiedClean) return row;
    const canBeSet = !row.presentationHint?.attributes?.includes('readOnly');
    return { ...row, value: this.styled(row.value, sureness, canBeSet) };
  }

  /** A row whose value is asked for by a click: it is then the only one below the row, and has no name. */
  #lazy(name: string, ask: (signal: AbortSignal) => Promise<Answer>): DebugProtocol.Variable {
    let asked: Promise<DebugProtocol.Variable[]> | null = null;
    const answer = async (signal: AbortSignal) => [this.#guess(await ask(signal))];
    return {
      name: shownText(name),
      value: `${notPredicted}: open to ask the model`,
      variablesReference: this.#reference({
        rows: (_start, _count, _filter, signal) => {
          asked ??= answer(signal).catch((thrown: unknown) => {
            // The next click asks again.
            asked = null;
            throw thrown;
          });
          return asked;
        },
        part: () => null,
        text: null,
        path: () => null,
        state: null,
      }),
      presentationHint: { lazy: true, attributes: ['readOnly'] },
    };
  }

  #guess({ repr, raises, confidence, assumed }: Answer): DebugProtocol.Variable {
    const row = this.variable('', { repr, confidence: null }, null);
    const type = [
      raises ? null : row.type,
      assumed.length > 0 ? "the model's guess of what the module's code gives" : "the model's guess",
      confidence === null ? null : `${percent(confidence)} sure`,
    ];
    const guessed = { ...row, type: type.filter((word) => word).join(', ') };
    return confidence === null ? raised(guessed, raises) : this.#styled(raised(guessed, raises), confidence);
  }

  #openable(
    row: DebugProtocol.Variable,
    repr: string | null,
    expression: string | null,
    open: Opening,
  ): DebugProtocol.Variable {
    const openable = { ...row, variablesReference: this.#derived(open, repr, expression) };
    // How many rows there will be is not known yet.
    delete openable.indexedVariables;
    delete openable.namedVariables;
    return openable;
  }

  #derived(open: Opening, repr: string | null, expression: string | null): number {
    let rows: Promise<DebugProtocol.Variable[]> | null = null;
    const toRows = async () => {
      const parts = (await open()) ?? [];
      if (parts.length > 0) {
        return parts.map((part) =>
          this.derivedRow(part, expression === null ? null : expression + part.suffix, 'derived'),
        );
      }
      const children = childrenOf(repr ?? '');
      const size = children.indexed + children.named;
      if (size > 0) return children.page(0, size).map((child) => this.#child(child, expression, null));
      return [virtualRow('attributes', notPredicted)];
    };
    return this.#reference({
      rows: async (start, count) => {
        rows ??= toRows();
        return (await rows).slice(start, count > 0 ? start + count : undefined);
      },
      part: () => null,
      text: repr,
      path: () => null,
      state: null,
    });
  }

  #confidence(numbers: ReadonlyMap<string, number>): DebugProtocol.Variable {
    const least = [...numbers].reduce((one, other) => (other[1] < one[1] ? other : one));
    return {
      ...virtualRow('confidence', `${percent(least[1])} for the least sure value, ${shownText(least[0])}`),
      variablesReference: this.#reference({
        rows: () => [...numbers].map(([name, number]) => virtualRow(shownText(name), percent(number))),
        part: () => null,
        text: null,
        path: () => null,
        state: null,
      }),
    };
  }

  #child(child: Child, parent: string | null, state: number | null): DebugProtocol.Variable {
    return this.#row(child.name, child.text, parent === null ? null : child.expression(parent), state);
  }

  #row(name: string, text: string, expression: string | null, state: number | null): DebugProtocol.Variable {
    const children = childrenOf(text);
    const { indexed, named } = children;
    const type = typeName(text);
    const size = indexed + named === 0 && /\d|more|'|"/.test(text.slice(-6)) ? longValue(text) : null;
    return {
      name: shortText(name, 200),
      value: size ? `${shortText(text, longString)} (${size.words})` : shortText(text),
      ...(type === null ? {} : { type }),
      ...(expression === null ? {} : { evaluateName: expression }),
      ...(expression === null || (state !== null && this.isPast(state))
        ? { presentationHint: { attributes: ['readOnly'] } }
        : {}),
      variablesReference:
        indexed + named > 0
          ? this.#value(text, expression, children, state)
          : size && size.hidden > 0
            ? this.#cutText(text, size.hidden, size.unit)
            : 0,
      ...(indexed > 0 ? { indexedVariables: indexed } : {}),
      ...(named > 0 ? { namedVariables: named } : {}),
    };
  }

  /** A reference to the parts of a value. They are read once, however often the editor asks for some. */
  #value(text: string, expression: string | null, children: Children, state: number | null): number {
    const all = () => children.page(0, children.indexed + children.named);
    return this.#reference({
      rows: (start, count, filter) => {
        const size = children.indexed + children.named;
        if (filter !== undefined && children[filter] === 0) return [];
        const page = children.page(start, count > 0 ? count : size);
        const rows = page.map((child) => this.#child(child, expression, state));
        if (children.hidden > 0 && start + page.length >= size) {
          const isCounted = Number.isFinite(children.hidden);
          rows.push(virtualRow('…', isCounted ? `${children.hidden} more, cut off` : 'more, cut off'));
        }
        return rows;
      },
      part: (name) => all().find((child) => child.name === name)?.text ?? null,
      text,
      path: (name) => {
        const child = expression === null ? undefined : all().find((one) => one.name === name);
        return expression === null || !child ? null : child.expression(expression);
      },
      state,
    });
  }

  /** A reference to what is missing from a text that was cut. */
  #cutText(text: string, hidden: number, unit: string): number {
    return this.#reference({
      rows: () => [virtualRow('…', `${hidden} more ${unit}, cut off`)],
      part: () => null,
      text,
      path: () => null,
      state: null,
    });
  }

  #reference(container: Container): number {
    return this.#containers.push(container);
  }
}

/** A row with what a real run says of it, as a comment, so that the value can be edited as it stands. */
function marked(row: DebugProtocol.Variable, compared: ComparedValue | null): DebugProtocol.Variable {
  if (!compared) return row;
  const { verdict, real } = compared;
  const mark = {
    same: '✓ really so',
    different: `✗ really ${real === null ? 'not there' : shortText(real, longString)}`,
    unknown: '? cannot be compared',
  }[verdict];
  return { ...row, value: `${row.value}  # ${mark}` };
}

function raised(row: DebugProtocol.Variable, raises: boolean): DebugProtocol.Variable {
  return raises ? { ...row, value: `raises ${row.value}` } : row;
}

function virtualRow(name: string, value: string): DebugProtocol.Variable {
  return {
    name,
    value,
    variablesReference: 0,
    presentationHint: { kind: 'virtual', attributes: ['readOnly'] },
  };
}

/** The size of a text that is shown, or was given, in part; null for one that is all there. */
function longValue(text: string): { words: string; hidden: number; unit: string } | null {
  if (text.length <= longString && !text.endsWith('more') && !text.endsWith('...')) return null;
  const size = valueSize(text);
  return size && { words: `${size.count} ${size.unit}`, hidden: size.hidden, unit: size.unit };
}
