import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Breakpoints } from '../debugger/breakpoints';
import type { Debugger } from '../debugger/debugger';
import { defaultDoubtThreshold, parseThreshold } from '../debugger/doubt';
import { parseExceptionTypes } from '../debugger/exceptionTypes';
import { read, setExceptionBreakpointsArguments } from './requests';

const types = 'names of exception types, such as "ValueError, KeyError"';

/** The filters of exceptions, and of doubts, which are stopped at in the same way. */
export const exceptionBreakpointFilters: DebugProtocol.ExceptionBreakpointsFilter[] = [
  {
    filter: 'raised',
    label: 'Raised Exceptions',
    description: 'Stop where an exception is raised, caught or not.',
    default: false,
    supportsCondition: true,
    conditionDescription: types,
  },
  {
    filter: 'uncaught',
    label: 'Uncaught Exceptions',
    description: 'Stop where an exception was raised that ends the program.',
    default: true,
    supportsCondition: true,
    conditionDescription: types,
  },
  {
    filter: 'doubt',
    label: 'Doubtful Predictions',
    description: 'Stop at the first state whose confidence is low, or that may not be possible at all.',
    default: false,
    supportsCondition: true,
    conditionDescription: `the least confidence, such as 0.8 (else ${defaultDoubtThreshold})`,
  },
];

/** Sets which exceptions, and which doubts, are stops. */
export function setExceptionBreakpoints({ breakpoints }: Debugger, args: unknown): object {
  const { filters, filterOptions } = read(setExceptionBreakpointsArguments, args);
  Object.assign(breakpoints, { raised: false, raisedTypes: null, uncaught: false, uncaughtTypes: null });
  breakpoints.doubtBelow = null;
  const asked = [...filters.map((filterId) => ({ filterId, condition: undefined })), ...filterOptions];
  return {
    breakpoints: asked.map(({ filterId, condition }) => {
      const problem = setFilter(breakpoints, filterId, condition?.trim() ?? '');
      return problem === null ? { verified: true } : { verified: false, message: problem };
    }),
  };
}

/** Sets one filter. @returns what is wrong with it, or null */
function setFilter(breakpoints: Breakpoints, filter: string, condition: string): string | null {
  if (filter === 'doubt') {
    const threshold = condition === '' ? defaultDoubtThreshold : parseThreshold(condition);
    if (threshold === null) return 'The least confidence is a number above 0 and up to 1, such as 0.8.';
    breakpoints.doubtBelow = threshold;
    return null;
  }
  const wanted = condition === '' ? null : parseExceptionTypes(condition);
  if (condition !== '' && wanted === null) return `The condition is not ${types}.`;
  if (filter === 'raised') Object.assign(breakpoints, { raised: true, raisedTypes: wanted });
  else if (filter === 'uncaught') Object.assign(breakpoints, { uncaught: true, uncaughtTypes: wanted });
  else return `There is no filter "${filter}".`;
  return null;
}
