import type { DebugProtocol } from '@vscode/debugprotocol';
import { branchesOf } from '../debugger/branches';
import type { Debugger } from '../debugger/debugger';
import type { Stop } from '../debugger/stop';
import { maxSamples, type Samples } from '../debugger/samples';
import { sampleRows } from '../debugger/whatIfCommands';
import { errors } from '../errors';
import { shortText } from '../shownText';
import type { World } from '../world/world';
import type { Client } from './client';
import type { OpenedText } from './launchedText';
import { gotoTargetsArguments, read, runBackToArguments } from './requests';

/** What a session can do in a world beyond what it can do in all. */
export function capabilitiesIn({ canBeEdited }: World): DebugProtocol.Capabilities {
  return {
    supportsSetVariable: canBeEdited,
    supportsSetExpression: canBeEdited,
    supportsGotoTargetsRequest: canBeEdited,
  };
}

/** The places that execution can be put on, for a line of the editor. */
export function gotoTargets(opened: OpenedText, client: Client, args: unknown): object {
  const { source, line } = read(gotoTargetsArguments, args);
  const { debugger: session, text } = opened;
  const then = launchedLine(opened, client, source, line);
  const own = then === null ? null : session.source.breakpointLine(then);
  if (own === null) return { targets: [] };
  session.checkWhatIf({ locals: new Map(), line: own });
  const target: DebugProtocol.GotoTarget = {
    id: own,
    label: `What if execution went on at line ${own}`,
    line: source.sourceReference
      ? client.lineOf(own)
      : client.lineOf(text.lineNow(own) ?? client.ownLine(line)),
  };
  return { targets: [target] };
}

/** Goes back to when a line of the editor was about to run last, for `neuralDebug/runBackTo`. */
export async function runBackTo(opened: OpenedText, client: Client, args: unknown): Promise<Stop> {
  const { source, line } = read(runBackToArguments, args);
  const { debugger: session } = opened;
  const own = launchedLine(opened, client, source, line);
  if (own === null) throw errors.lineNotRunBefore(client.ownLine(line));
  return session.backTo(session.source.breakpointLine(own) ?? own);
}

/** The line of the launched text that an editor's line is; null where that is not in it, or of something else. */
function launchedLine(
  { debugger: session, text }: OpenedText,
  client: Client,
  source: { readonly path?: string | undefined; readonly sourceReference?: number | undefined },
  line: number,
): number | null {
  const told = client.ownLine(line);
  // The editor shows the launched text, or that of an earlier start, of which nothing is known any more.
  if (source.sourceReference) return source.sourceReference === text.reference ? told : null;
  if (client.ownPath(source) !== session.trajectory.program.path) return null;
  text.check();
  return text.lineThen(told);
}

/** All branches of the record, for `neuralDebug/branches`. */
export function branches({ trajectory, cursor }: Debugger, client: Client): object {
  return {
    branches: branchesOf(trajectory, cursor).map(({ number, first, length, label, isCurrent }) => ({
      branch: number,
      label: shortText(label, 200),
      function: shortText(trajectory.frame(first).function, 200),
      line: client.lineOf(trajectory.line(first)),
      length,
      isCurrent,
    })),
  };
}

/** What samples came to, for `neuralDebug/sampleAgain`. */
export function samplesAnswer({ trajectory }: Debugger, client: Client, samples: Samples): object {
  return {
    drawn: samples.drawn,
    notes: samples.notes,
    groups: sampleRows(trajectory, samples).map((row) => ({
      ...row,
      line: row.line === null ? null : client.lineOf(row.line),
    })),
  };
}

/** How many samples are asked for. */
export function checkedCount(count: number): number {
  if (count > maxSamples)
    throw errors.requestArgument('count', `at most ${maxSamples} samples are drawn at once`);
  return count;
}
