import type { PythonSource } from '../python/source';
import type { EventKind } from '../trajectory/state';
import { navigate } from '../trajectory/navigation';
import type { Trajectory } from '../trajectory/trajectory';
import { branchesOf } from './branches';
import { describeChange } from './whatIf';

/** A state as a node of the state tree. A call state's children are the states of the frame that it opens. */
export interface TreeNode {
  readonly state: number;
  readonly event: EventKind;
  readonly function: string;
  readonly line: number;
  /** What happens there: the line's text, a call with its arguments, what is returned or raised. */
  readonly label: string;
  /** The locals that became something else, as `name = repr`. */
  readonly changes: readonly string[];
  /** The probability of the event and the line, or null. */
  readonly confidence: number | null;
  readonly doubt: string | null;
  /** What a person changed there, in words, or null. */
  readonly edit: string | null;
  readonly isCurrent: boolean;
  /** Whether the way to the current state leads through it. */
  readonly isPast: boolean;
  readonly hasChildren: boolean;
  /** Other states that are recorded in its place, each the beginning of, or a state on, another branch. */
  readonly alternatives: readonly Alternative[];
}

/** A state on another branch that stands where a node of the followed one does. */
export interface Alternative {
  readonly state: number;
  readonly label: string;
}

export interface TreePage {
  readonly nodes: readonly TreeNode[];
  /** Whether there are more on the side to which they were asked for. */
  readonly hasMore: boolean;
}

/** How many changed locals a node tells of at most, and how long each may be, in characters. */
const maxChanges = 3;
const maxChangeLength = 60;

/**
 * Some children of a node of the state tree, in order, on the branch that is followed.
 *
 * @param parent a call state; null: the first states, and those with which other threads begin
 * @param after the child after which they begin; null: from the first one on
 */
export function childrenOf(
  source: PythonSource,
  trajectory: Trajectory,
  cursor: number,
  { parent, after, count }: { parent: number | null; after: number | null; count: number },
): TreePage {
  const nodes: TreeNode[] = [];
  for (
    let at = after === null ? first(trajectory, parent) : nextOf(trajectory, parent, after);
    at !== null;
  ) {
    if (nodes.length === count) return { nodes, hasMore: true };
    nodes.push(nodeOf(source, trajectory, cursor, at));
    at = nextOf(trajectory, parent, at);
  }
  return { nodes, hasMore: false };
}

/**
 * Some children of a node of the state tree before another one, in order, on the branch that is followed.
 *
 * @param before the child that follows the last of them
 */
export function childrenBefore(
  source: PythonSource,
  trajectory: Trajectory,
  cursor: number,
  { before, count }: { before: number; count: number },
): TreePage {
  const nodes: TreeNode[] = [];
  for (
    let at = navigate(trajectory, before, 'inv_step_over');
    at !== null;
    at = navigate(trajectory, at, 'inv_step_over')
  ) {
    if (nodes.length === count) return { nodes: nodes.reverse(), hasMore: true };
    nodes.push(nodeOf(source, trajectory, cursor, at));
  }
  return { nodes: nodes.reverse(), hasMore: false };
}

/** The call states that enclose a state, outermost first. */
export function ancestorsOf(trajectory: Trajectory, state: number): number[] {
  const ancestors: number[] = [];
  for (
    let at = navigate(trajectory, state, 'inv_step_call');
    at !== null;
    at = navigate(trajectory, at, 'inv_step_call')
  ) {
    ancestors.unshift(at);
  }
  return ancestors;
}

/** One node of the tree. */
export function nodeOf(
  source: PythonSource,
  trajectory: Trajectory,
  cursor: number,
  state: number,
): TreeNode {
  const { confidence, doubt } = trajectory.prediction(state);
  const event = trajectory.event(state);
  const inside = event === 'call' ? trajectory.next(state) : null;
  return {
    state,
    event,
    function: trajectory.frame(state).function,
    line: trajectory.line(state),
    label: labelOf(source, trajectory, state),
    changes: event === 'call' ? [] : changesAt(trajectory, state),
    confidence,
    doubt,
    edit: describeChange(trajectory, state),
    isCurrent: state === cursor,
    isPast: state < cursor && trajectory.leadsTo(state, cursor),
    hasChildren: inside !== null && trajectory.isWithin(trajectory.frame(inside), trajectory.frame(state)),
    alternatives: alternativesTo(source, trajectory, state),
  };
}

function first(trajectory: Trajectory, parent: number | null): number | null {
  if (parent === null) return trajectory.next(-1);
  if (trajectory.event(parent) !== 'call') return null;
  const inside = trajectory.nextInThread(parent);
  const isInside = inside !== null && trajectory.isWithin(trajectory.frame(inside), trajectory.frame(parent));
  return isInside ? inside : null;
}

/** The child after another one. The roots are the first states of frames that nothing that is recorded called. */
function nextOf(trajectory: Trajectory, parent: number | null, at: number): number | null {
  if (parent !== null) return navigate(trajectory, at, 'step_over');
  const last = trajectory.lastFollowed(at);
  for (let id = trajectory.frame(at).id + 1; id < trajectory.frames.length; id++) {
    const frame = trajectory.frames[id];
    if (frame?.parent === null && trajectory.leadsTo(frame.firstState, last)) return frame.firstState;
  }
  return null;
}

function labelOf(source: PythonSource, trajectory: Trajectory, state: number): string {
  const { event, function: name, locals, argument } = trajectory.state(state);
  const value = argument?.repr ?? 'not predicted';
  switch (event) {
    case 'call': {
      const given = [...(locals ?? [])].map(([local, { repr }]) => `${local}=${cut(repr ?? '?')}`);
      return name === '<module>' ? name : `${name}(${given.join(', ')})`;
    }
    case 'line':
      return (source.lines[trajectory.line(state) - 1] ?? '').trim();
    case 'return':
      return `return ${cut(value)}`;
    case 'exception':
      return cut(value);
  }
}

function changesAt(trajectory: Trajectory, state: number): string[] {
  const before = trajectory.previousInFrame(state);
  const now = trajectory.state(state).locals;
  const then = before === null ? null : trajectory.locals(before)?.locals;
  const changes: string[] = [];
  for (const [name, { repr }] of now ?? []) {
    if (then?.get(name)?.repr === repr || repr === null) continue;
    if (changes.length === maxChanges) return [...changes, '…'];
    changes.push(cut(`${name} = ${repr}`));
  }
  return changes;
}

function alternativesTo(source: PythonSource, trajectory: Trajectory, state: number): Alternative[] {
  const siblings = trajectory.children(trajectory.previous(state));
  if (siblings.length < 2) return [];
  const branches = branchesOf(trajectory, state);
  return siblings
    .filter((sibling) => sibling !== state)
    .map((sibling) => ({
      state: sibling,
      label:
        branches.find(({ first: begins }) => begins === sibling)?.label ??
        labelOf(source, trajectory, sibling),
    }));
}

function cut(text: string): string {
  return text.length > maxChangeLength ? `${text.slice(0, maxChangeLength)}…` : text;
}
