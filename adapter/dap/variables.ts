import type { DebugProtocol } from '@vscode/debugprotocol';
import { type Child, childrenOf, typeName } from '../python/repr';
import type { Locals, Value } from '../trajectory/state';
import { shortText, shownText } from '../shownText';

/** What a variables reference stands for: named values, or the parts of one value. */
type Container =
  | { readonly values: ReadonlyMap<string, Value>; readonly areNames: boolean }
  | { readonly text: string; readonly expression: string | null };

/** How a value is shown that nothing predicted. */
export const notPredicted = 'not predicted';

/** The variables that the editor can open at one stop. References are not valid beyond it. */
export class VariableStore {
  readonly #containers: Container[] = [];

  /** A reference to a frame's locals. */
  locals(locals: Locals): number {
    return this.#reference({ values: locals, areNames: true });
  }

  /** A reference to values that have names, but are no variables. */
  values(values: ReadonlyMap<string, Value>): number {
    return this.#reference({ values, areNames: false });
  }

  /** What a reference stands for; null where it is not, or no longer, known. */
  variables(
    reference: number,
    filter: 'indexed' | 'named' | undefined,
    start: number,
    count: number,
  ): DebugProtocol.Variable[] | null {
    const container = this.#containers[reference - 1];
    if (!container) return null;
    if ('values' in container) {
      const entries = filter === 'indexed' ? [] : [...container.values];
      return entries
        .slice(start, count > 0 ? start + count : undefined)
        .map(([name, value]) => this.variable(name, value, container.areNames ? name : null));
    }
    const children = childrenOf(container.text);
    const size = children.indexed + children.named;
    const page = children.page(start, count > 0 ? count : size);
    const rows = page.map((child) => this.#child(child, container.expression));
    if (children.hidden > 0 && start + page.length >= size) {
      rows.push({
        name: '…',
        value: Number.isFinite(children.hidden) ? `${children.hidden} more, cut off` : 'more, cut off',
        variablesReference: 0,
        presentationHint: { kind: 'virtual', attributes: ['readOnly'] },
      });
    }
    return rows;
  }

  /** One row for a value. */
  variable(name: string, value: Value, expression: string | null): DebugProtocol.Variable {
    if (value.repr === null) {
      return {
        name: shownText(name),
        value: notPredicted,
        variablesReference: 0,
        presentationHint: { attributes: ['readOnly'] },
      };
    }
    return this.#row(name, value.repr, expression);
  }

  #child(child: Child, parent: string | null): DebugProtocol.Variable {
    return this.#row(child.name, child.text, parent === null ? null : child.expression(parent));
  }

  #row(name: string, text: string, expression: string | null): DebugProtocol.Variable {
    const { indexed, named } = childrenOf(text);
    const type = typeName(text);
    return {
      name: shortText(name, 200),
      value: shortText(text),
      ...(type === null ? {} : { type }),
      ...(expression === null ? {} : { evaluateName: expression }),
      variablesReference: indexed + named > 0 ? this.#reference({ text, expression }) : 0,
      ...(indexed > 0 ? { indexedVariables: indexed } : {}),
      ...(named > 0 ? { namedVariables: named } : {}),
    };
  }

  #reference(container: Container): number {
    return this.#containers.push(container);
  }
}
