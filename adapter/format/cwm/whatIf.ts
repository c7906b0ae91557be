import type { WhatIf } from '../../trajectory/action';
import type { State } from '../../trajectory/state';
import type { Layout } from './layout';

/**
 * Why the format cannot carry an edit of a state, as a sentence; null where it can.
 *
 * @param project what the format can carry of a state
 */
export function whatIfProblem(
  layout: Layout,
  project: (state: State) => State | null,
  state: State,
  { locals, line }: WhatIf,
): string | null {
  if (state.thread !== null) return 'The format cwm has no other threads than the main one.';
  if (state.event === 'return' || state.event === 'exception') {
    return `Frames of ${state.event} events carry no locals in the format cwm: go to a line before or after it.`;
  }
  const isModule = state.function === '<module>';
  if (isModule && state.event === 'call') return 'The call of the module is no frame in the format cwm.';
  if (!project(state)) return 'What a script does before its beginning is not put to the model.';
  const missing = isModule ? [...locals.keys()].find((name) => !layout.carriedNames.has(name)) : undefined;
  if (missing !== undefined) {
    return `${missing} is a global that functions share, or defined before the script's beginning: the format cwm does not carry its value.`;
  }
  if (line !== null && isModule && line < (layout.beginning ?? 0)) {
    return `Line ${line} is before the script's beginning, which is not put to the model.`;
  }
  return null;
}
