import type { Evaluated, ExpressionEvaluator } from '../python/expressions';
import { lookUp } from '../python/valuePath';
import type { Locals, Value } from '../trajectory/state';
import type { Debugger } from './debugger';

/** What an expression comes to, and whether more than the states' own words was needed for it. */
export type EvaluatedIn =
  | { readonly kind: 'value'; readonly repr: string; readonly isDerived: boolean }
  | Exclude<Evaluated, { readonly kind: 'value' }>;

/**
 * What an expression comes to in a frame: a part of a value that the states tell, else of one that follows from
 * them, else what a pure expression over those gives.
 *
 * @param now the current state
 * @param frameState the newest state of the frame; -1: no frame
 * @param onlyKnown whether nothing is computed
 */
export async function evaluateIn(
  { trajectory, derived }: Debugger,
  evaluator: ExpressionEvaluator,
  expression: string,
  now: number,
  frameState: number,
  onlyKnown = false,
): Promise<EvaluatedIn> {
  const known = frameState < 0 ? null : trajectory.locals(frameState);
  const locals: Locals = known?.locals ?? new Map<string, Value>();
  const told = lookUp(expression, locals)?.repr;
  if (told) return { kind: 'value', repr: told, isDerived: false };
  const names = frameState < 0 ? locals : await derived.names(expression, now, frameState);
  const isDerived = [...names].some(([name, { repr }]) => locals.get(name)?.repr !== repr);
  const found = lookUp(expression, names)?.repr;
  if (found) return { kind: 'value', repr: found, isDerived };
  if (onlyKnown) return { kind: 'unknown', reason: 'it is no known value' };
  const result = await evaluator.evaluate(expression, names);
  return result.kind === 'value' ? { ...result, isDerived } : result;
}
