import type { DebugProtocol } from '@vscode/debugprotocol';
import { describeChange } from '../debugger/whatIf';
import { shortText } from '../shownText';
import type { StackEntry, Trajectory } from '../trajectory/trajectory';

/** Ids of labels begin here, above those of all frames. */
const firstId = 2 ** 30;

/**
 * The separators of a stack: a frame's state from before a what-if is as it was predicted, all in the frames above
 * it follows from what a person changed.
 *
 * @param stack the innermost frame first
 * @returns the labels, by the index of the frame that they stand above
 */
export function stackLabels(
  trajectory: Trajectory,
  stack: readonly StackEntry[],
): ReadonlyMap<number, DebugProtocol.StackFrame> {
  const labels = new Map<number, DebugProtocol.StackFrame>();
  const [top] = stack;
  if (!top) return labels;
  for (const edit of trajectory.branchBeginnings) {
    if (trajectory.action(edit).name !== 'what_if' || !trajectory.leadsTo(edit, top.state)) continue;
    const below = stack.findIndex(({ state }) => state < edit);
    if (below <= 0) continue;
    const before = labels.get(below);
    const change = describeChange(trajectory, edit) ?? 'what if';
    const name = shortText(before ? `${before.name}; ${change}` : `↑ ${change}`, 200);
    labels.set(below, { id: firstId + edit, name, line: 0, column: 0, presentationHint: 'label' });
  }
  return labels;
}
