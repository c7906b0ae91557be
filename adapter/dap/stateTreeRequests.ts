import { z } from 'zod';
import type { ComparisonSummary } from '../debugger/comparison';
import type { Debugger } from '../debugger/debugger';
import { originOf } from '../debugger/provenance';
import { ancestorsOf, childrenBefore, childrenOf, nodeOf, type TreeNode } from '../debugger/stateTree';
import { errors } from '../errors';
import { shortText, shownText } from '../shownText';
import type { Client } from './client';
import { read } from './requests';
import { type WholeState, wholeState } from './wholeState';

/* Requests of our own, for views that show more than the protocol knows. */

const state = z.int().nonnegative();

const stateTreeArguments = z.object({
  parent: state.nullable().default(null),
  after: state.nullable().default(null),
  before: state.nullable().default(null),
  count: z.int().min(1).max(1000).default(200),
});

const stateArguments = z.object({ state });

const originArguments = z.object({
  state: state.nullable().default(null),
  /** A frame of the current state's stacks, where no state is given. */
  frameId: z.int().nullable().default(null),
  /** A local, or an expression that looks up a part of one. */
  name: z.string().min(1).max(100_000),
});

/** Answers `neuralDebug/stateTree`: some children of a node after or before one of them, or with no parent the roots. */
export function stateTree(session: Debugger, client: Client, args: unknown): object {
  const asked = read(stateTreeArguments, args);
  const { source, trajectory, cursor } = session;
  if (asked.parent !== null) requireState(session, asked.parent);
  if (asked.after !== null) requireState(session, asked.after);
  const { before, count } = asked;
  if (before !== null) requireState(session, before);
  const page =
    before === null
      ? childrenOf(source, trajectory, cursor, asked)
      : childrenBefore(source, trajectory, cursor, { before, count });
  return { nodes: page.nodes.map((node) => nodeBody(session, client, node)), hasMore: page.hasMore };
}

/** Answers `neuralDebug/treeNode`: a state as a node, and the calls around it, outermost first. */
export function treeNode(session: Debugger, client: Client, args: unknown): object {
  const { state: asked } = read(stateArguments, args);
  requireState(session, asked);
  const body = (at: number) =>
    nodeBody(session, client, nodeOf(session.source, session.trajectory, session.cursor, at));
  return { node: body(asked), ancestors: ancestorsOf(session.trajectory, asked).map(body) };
}

/** The state that `neuralDebug/goToState` names. */
export function stateToGoTo(session: Debugger, args: unknown): number {
  const { state: asked } = read(stateArguments, args);
  requireState(session, asked);
  return asked;
}

/** Answers `neuralDebug/wholeState`: all that is known of a state, as Python. */
export function stateAsPython(session: Debugger, args: unknown): WholeState {
  const { state: asked } = read(stateArguments, args);
  requireState(session, asked);
  return wholeState(session.trajectory, asked, session.world.description.isReal);
}

/** Answers `neuralDebug/origin`: why a local, or a part of it, has its value, at a state, in a frame, or at the current state. */
export function origin(session: Debugger, client: Client, args: unknown): object {
  const { state: asked, frameId, name } = read(originArguments, args);
  const at = asked ?? (frameId === null ? session.cursor : stateOfFrame(session, frameId));
  requireState(session, at);
  const found = originOf(session.source, session.trajectory, at, name);
  if (!found) throw errors.notPredicted(`${shortText(name, 200)} is not known here`);
  return {
    name: shortText(found.name, 200),
    value: shortText(found.value.repr ?? 'not predicted'),
    confidence: session.confidence.value(at, found.path.name),
    state: found.state,
    line: found.line === null ? null : client.lineOf(found.line),
    ran: found.ran < 0 ? null : found.ran,
    how: shownText(found.how),
    from: found.from.map((one) => ({
      name: shownText(one.name),
      value: shortText(one.value.repr ?? 'not predicted'),
      state: one.state,
      kind: one.kind,
    })),
  };
}

/** The body of the answer to `neuralDebug/compare`. */
export function comparisonBody(session: Debugger, client: Client, summary: ComparisonSummary): object {
  const { states, agreeing, firstDivergence, leftAt, realEnding, notes } = summary;
  return {
    with: shownText(session.comparison?.realName ?? ''),
    states,
    agreeing,
    firstDivergence: firstDivergence === null ? null : divergence(session, client, firstDivergence),
    leftAt,
    realEnding: realEnding?.how ?? null,
    notes: notes.map(shownText),
  };
}

function divergence(session: Debugger, client: Client, at: number): object {
  const compared = session.comparison?.at(at);
  const real = compared?.real ?? null;
  const values = [...(compared?.locals ?? [])]
    .filter(([, { verdict }]) => verdict === 'different')
    .map(([name, value]) => ({
      name: shownText(name),
      real: value.real === null ? null : shortText(value.real),
    }));
  return {
    state: at,
    line: client.lineOf(Math.max(1, session.trajectory.line(at))),
    position: compared?.position ?? 'different',
    realEvent: real?.event ?? null,
    realLine: real === null ? null : client.lineOf(Math.max(1, real.line)),
    values,
  };
}

function nodeBody(session: Debugger, client: Client, node: TreeNode): object {
  return {
    ...node,
    function: shownText(node.function),
    label: shownText(node.label),
    changes: node.changes.map(shownText),
    doubt: node.doubt === null ? null : shownText(node.doubt),
    edit: node.edit === null ? null : shownText(node.edit),
    line: client.lineOf(Math.max(1, node.line)),
    alternatives: node.alternatives.map(({ state: at, label }) => ({ state: at, label: shownText(label) })),
    verdict: verdictOf(session, node.state),
  };
}

/** What a real run says of all of a state; null where it was not compared. */
function verdictOf({ comparison }: Debugger, at: number): 'same' | 'different' | null {
  const compared = comparison?.at(at);
  if (!compared) return null;
  const values = [...compared.locals.values(), ...(compared.argument ? [compared.argument] : [])];
  const differs = compared.position === 'different' || values.some(({ verdict }) => verdict === 'different');
  return differs ? 'different' : 'same';
}

/** The state of a frame that is open at the current state. Frames are numbered as the call stack's are. */
function stateOfFrame({ trajectory, cursor }: Debugger, frameId: number): number {
  const at = frameId - 1;
  const tops = cursor < 0 ? [] : [...trajectory.threads(cursor).values()];
  const isOpen = tops.some((top) => trajectory.stack(top).some((entry) => entry.state === at));
  if (!isOpen) throw errors.requestArgument('frameId', 'it is not a frame of the current stop');
  return at;
}

function requireState({ trajectory }: Debugger, at: number): void {
  if (at < 0 || at >= trajectory.length) throw errors.noSuchState(at);
}
