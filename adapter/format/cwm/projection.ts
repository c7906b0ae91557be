import type { CodeUnit } from '../../python/codeUnits';
import type { PythonSource } from '../../python/source';
import type { Locals, State, Value } from '../../trajectory/state';
import type { Layout } from './layout';
import { plainRepr } from './values';

/**
 * What the format can carry of a program's states: none of other threads or of what a script does before its
 * beginning, no locals at returns and exceptions, and of a script's own only those that the wrapper function
 * has.
 */
export function projection(source: PythonSource, layout: Layout): (state: State) => State | null {
  const { beginning } = layout;
  const definitions =
    beginning === null
      ? []
      : source.units.filter((unit) => runsWithModule(unit) && unit.lastLine < beginning);
  const isDefinition = ({ function: name, line }: State) =>
    definitions.some((unit) => unit.name === name && unit.firstLine <= line && line <= unit.lastLine);

  return (state) => {
    const isModule = state.function === '<module>';
    if (state.thread !== null || (isModule && beginning === null) || isDefinition(state)) return null;
    if (isModule && state.line !== 0 && state.line < (beginning ?? 0)) return null;
    if (isModule && state.event === 'call') return { ...state, locals: new Map() };
    const hasLocals = state.event === 'call' || state.event === 'line';
    return {
      ...state,
      locals: hasLocals
        ? state.locals && carriedLocals(state.locals, isModule ? layout.carriedNames : null)
        : null,
      argument: state.argument && plainValue(state.argument),
    };
  };
}

function carriedLocals(locals: Locals, names: ReadonlySet<string> | null): Locals {
  const carried = new Map<string, Value>();
  for (const [name, value] of locals) if (!names || names.has(name)) carried.set(name, plainValue(value));
  return carried;
}

function plainValue(value: Value): Value {
  return value.repr === null ? value : { ...value, repr: plainRepr(value.repr) };
}

/** Whether code runs as a part of the module's own: class bodies, and comprehensions outside of functions. */
function runsWithModule(unit: CodeUnit): boolean {
  if (unit.kind === 'module' || isFunction(unit)) return false;
  for (let outer = unit.parent; outer; outer = outer.parent) if (isFunction(outer)) return false;
  return true;
}

function isFunction({ kind }: CodeUnit): boolean {
  return kind === 'function' || kind === 'lambda';
}
