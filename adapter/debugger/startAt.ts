import { errors } from '../errors';
import { isLiteral } from '../python/repr';
import type { PythonSource } from '../python/source';

/** The state that a session starts at: a line, and the locals there as Python literals. */
export interface StartAt {
  readonly line: number;
  readonly locals: ReadonlyMap<string, string>;
}

/**
 * The call that leads to a state: null where the line is a script's own. A function is entered with the values that
 * the state gives its parameters.
 *
 * @param entry the call that was given, or null
 * @throws CatalogueError where no call leads there
 */
export function entryTo(
  source: PythonSource,
  { line, locals }: StartAt,
  entry: string | null,
): string | null {
  if (entry !== null) return entry;
  const unit = source.unitsOfLine(line).find(({ kind }) => kind === 'function' || kind === 'module');
  if (!unit) throw errors.startAtRefused(`execution cannot stop on line ${line}.`);
  if (unit.kind === 'module') return null;
  if (unit.parent?.kind !== 'module') {
    throw errors.startAtRefused(
      `${unit.qualifiedName} is not a function of the module: give a call that enters it as the entry.`,
    );
  }
  const values = unit.parameters.map((name) => {
    const value = locals.get(name);
    if (value === undefined)
      throw errors.startAtRefused(`the parameter ${name} of ${unit.name} has no value.`);
    if (!isLiteral(value)) throw errors.startAtRefused(`${name} = ${value} is no literal.`);
    return `${name}=${value}`;
  });
  return `${unit.name}(${values.join(', ')})`;
}
