import type { DebugProtocol } from '@vscode/debugprotocol';
import type { LineBreakpoint } from '../debugger/breakpoints';
import type { Debugger } from '../debugger/debugger';
import type { Client } from './client';
import {
  breakpointLocationsArguments,
  read,
  setBreakpointsArguments,
  setExceptionBreakpointsArguments,
} from './requests';

/** Sets the breakpoints of a file, and tells where they really sit. */
export function setBreakpoints(session: Debugger, client: Client, args: unknown): object {
  const { source, breakpoints } = read(setBreakpointsArguments, args);
  if (client.ownPath(source) !== session.trajectory.program.path) {
    const message = 'This file is not part of what is predicted: calls into it are stepped over.';
    return { breakpoints: breakpoints.map(({ line }) => ({ verified: false, line, message })) };
  }
  const set: LineBreakpoint[] = [];
  const answers = breakpoints.map(({ line: asked, condition }): DebugProtocol.Breakpoint => {
    const own = client.ownLine(asked);
    const line = session.source.breakpointLine(own);
    if (line === null) {
      return { verified: false, line: asked, message: 'No code on this line or after it in its block.' };
    }
    set.push({ line, condition: condition?.trim() || null });
    const moved =
      line === own ? {} : { message: `Moved to line ${line}: execution cannot stop on line ${own}.` };
    const at = client.sourceOf(session.trajectory.program.path);
    return { id: line, verified: true, line: client.lineOf(line), source: at, ...moved };
  });
  session.breakpoints.setLines(set);
  return { breakpoints: answers };
}

/** Sets which exceptions are stops. */
export function setExceptionBreakpoints({ breakpoints }: Debugger, args: unknown): object {
  const { filters } = read(setExceptionBreakpointsArguments, args);
  breakpoints.raised = filters.includes('raised');
  breakpoints.uncaught = filters.includes('uncaught');
  return {
    breakpoints: filters.map((filter) =>
      filter === 'raised' || filter === 'uncaught'
        ? { verified: true }
        : { verified: false, message: `There is no filter "${filter}".` },
    ),
  };
}

/** Tells on which lines of a range breakpoints can sit. */
export function breakpointLocations(session: Debugger, client: Client, args: unknown): object {
  const { source, line, endLine } = read(breakpointLocationsArguments, args);
  if (client.ownPath(source) !== session.trajectory.program.path) return { breakpoints: [] };
  const first = client.ownLine(line);
  const last = endLine === undefined ? first : client.ownLine(endLine);
  return {
    breakpoints: [...session.source.breakableLines]
      .filter((at) => at >= first && at <= last)
      .sort((a, b) => a - b)
      .map((at) => ({ line: client.lineOf(at) })),
  };
}
