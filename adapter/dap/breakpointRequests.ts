import type { DebugProtocol } from '@vscode/debugprotocol';
import type { DataBreakpoint, FunctionBreakpoint, LineBreakpoint } from '../debugger/breakpoints';
import type { Checks } from '../debugger/checkedBreakpoint';
import type { WatchedVariable } from '../debugger/dataBreakpoints';
import type { Debugger } from '../debugger/debugger';
import { functionsNamed } from '../debugger/functionBreakpoints';
import { hitConditionHelp, parseHitCondition } from '../debugger/hitCondition';
import { parseLogMessage } from '../debugger/logMessage';
import type { BreakpointIds } from './breakpointIds';
import type { Client } from './client';
import type { LaunchedText } from './launchedText';
import {
  breakpointLocationsArguments,
  dataId,
  read,
  setBreakpointsArguments,
  setDataBreakpointsArguments,
  setFunctionBreakpointsArguments,
} from './requests';

/** What breakpoints are set in: the debugger, how its client counts, and the numbers of breakpoints. */
export interface BreakpointContext {
  readonly session: Debugger;
  readonly client: Client;
  readonly ids: BreakpointIds;
  readonly text: LaunchedText;
}

const changedLine = 'This line has changed since the session began: a restart takes it.';

/** Sets the breakpoints of a file, and tells where they really sit. */
export function setBreakpoints({ session, client, ids, text }: BreakpointContext, args: unknown): object {
  const { source, breakpoints } = read(setBreakpointsArguments, args);
  if (client.ownPath(source) !== session.trajectory.program.path) {
    const message = 'This file is not part of what is predicted: calls into it are stepped over.';
    return { breakpoints: breakpoints.map(({ line }) => ({ verified: false, line, message })) };
  }
  text.check();
  // Lines of the file as it is now, or of the text that was launched, where the editor shows that.
  const isOfLaunch = source.sourceReference === text.reference;
  const set: LineBreakpoint[] = [];
  const answers = breakpoints.map((asked): DebugProtocol.Breakpoint => {
    const told = client.ownLine(asked.line);
    const own = isOfLaunch ? told : text.lineThen(told);
    if (own === null) return unverified(ids.idOf('line', -told), changedLine, asked.line);
    const id = ids.idOf('line', own);
    const line = session.source.breakpointLine(own);
    const checks = readChecks(asked);
    if (line === null) return unverified(id, 'No code on this line or after it in its block.', asked.line);
    if (checks === null) return unverified(id, hitConditionHelp, asked.line);
    const message = asked.logMessage ?? '';
    set.push({ ...checks, id, line, logMessage: message === '' ? null : parseLogMessage(message) });
    const moved =
      line === own ? {} : { message: `Moved to line ${line}: execution cannot stop on line ${own}.` };
    if (isOfLaunch)
      return { id, verified: true, line: client.lineOf(line), source: text.sourceFor(client), ...moved };
    const now = text.lineNow(line) ?? told;
    const at = client.sourceOf(session.trajectory.program.path);
    return { id, verified: true, line: client.lineOf(now), source: at, ...moved };
  });
  session.breakpoints.setLines(text.breakpoints(isOfLaunch, set));
  return { breakpoints: answers };
}

/** Sets the breakpoints on functions, and tells which functions they mean. */
export function setFunctionBreakpoints(
  { session, client, ids, text }: BreakpointContext,
  args: unknown,
): object {
  const { breakpoints } = read(setFunctionBreakpointsArguments, args);
  const set: FunctionBreakpoint[] = [];
  const answers = breakpoints.map(({ name, ...asked }): DebugProtocol.Breakpoint => {
    const id = ids.idOf('function', name.trim());
    const [unit, ...more] = functionsNamed(session.source, name);
    const checks = readChecks(asked);
    if (!unit) return unverified(id, `The file has no function ${name.trim()}.`);
    if (checks === null) return unverified(id, hitConditionHelp);
    set.push({ ...checks, id, function: name });
    const source = text.sourceFor(client);
    const [line = unit.headerLine] = unit.entryLines;
    return more.length > 0
      ? { id, verified: true, message: `${more.length + 1} functions are called ${name.trim()}: all stop.` }
      : { id, verified: true, source, line: client.lineOf(line) };
  });
  session.breakpoints.setFunctions(set);
  return { breakpoints: answers };
}

/** Sets which variables are watched for changes. */
export function setDataBreakpoints({ session, ids }: BreakpointContext, args: unknown): object {
  const { breakpoints } = read(setDataBreakpointsArguments, args);
  const set: DataBreakpoint[] = [];
  const answers = breakpoints.map(({ dataId: asked, accessType, ...more }): DebugProtocol.Breakpoint => {
    const id = ids.idOf('data', asked);
    const variable = readDataId(asked);
    const checks = readChecks(more);
    if (!variable) return unverified(id, 'This variable is not known: set the breakpoint anew.');
    if (accessType !== undefined && accessType !== 'write') {
      return unverified(id, 'Only changes are known, not where a variable is read.');
    }
    if (checks === null) return unverified(id, hitConditionHelp);
    set.push({ ...checks, id, variable });
    return { id, verified: true };
  });
  session.breakpoints.setData(set);
  return { breakpoints: answers };
}

/** A watched variable as clients name it, until the session ends. */
export function dataIdOf({ activation, function: name, path }: WatchedVariable): string {
  return JSON.stringify([activation, name, path]);
}

function readDataId(text: string): WatchedVariable | null {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = dataId.safeParse(given);
  if (!parsed.success) return null;
  const [activation, name, path] = parsed.data;
  return { activation, function: name, path };
}

/** Tells on which lines of a range breakpoints can sit. Columns are left out: a line is one place. */
export function breakpointLocations(session: Debugger, client: Client, args: unknown): object {
  const { source, line, endLine } = read(breakpointLocationsArguments, args);
  if (client.ownPath(source) !== session.trajectory.program.path) return { breakpoints: [] };
  const first = client.ownLine(line);
  const last = Math.min(endLine === undefined ? first : client.ownLine(endLine), session.source.lines.length);
  const breakpoints: object[] = [];
  for (let at = first; at <= last; at++) {
    if (session.source.isBreakable(at)) breakpoints.push({ line: client.lineOf(at) });
  }
  return { breakpoints };
}

/** What has to hold at a breakpoint; null for a hit count that cannot be read. */
function readChecks(asked: {
  readonly condition?: string | undefined;
  readonly hitCondition?: string | undefined;
}): Checks | null {
  const condition = asked.condition?.trim() || null;
  const hits = asked.hitCondition?.trim() ?? '';
  if (hits === '') return { condition };
  const hitCondition = parseHitCondition(hits);
  return hitCondition && { condition, hitCondition };
}

function unverified(id: number, message: string, line?: number): DebugProtocol.Breakpoint {
  return { id, verified: false, message, ...(line === undefined ? {} : { line }) };
}
