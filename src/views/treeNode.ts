import { z } from 'zod';

/** A state of the state tree, as the debug adapter tells it (`neuralDebug/stateTree`). */
export const treeNodeShape = z.object({
  state: z.int(),
  event: z.enum(['call', 'line', 'return', 'exception']),
  function: z.string(),
  line: z.int(),
  label: z.string(),
  changes: z.array(z.string()),
  confidence: z.number().nullable(),
  doubt: z.string().nullable(),
  edit: z.string().nullable(),
  isCurrent: z.boolean(),
  isPast: z.boolean(),
  hasChildren: z.boolean(),
  alternatives: z.array(z.object({ state: z.int(), label: z.string() })),
  verdict: z.enum(['same', 'different']).nullable(),
});

export type TreeNode = z.infer<typeof treeNodeShape>;

export const treePageShape = z.object({ nodes: z.array(treeNodeShape), hasMore: z.boolean() });

export const treePlaceShape = z.object({ node: treeNodeShape, ancestors: z.array(treeNodeShape) });

/** Below this a state is shown as one that is likelier wrong than right. */
const unsureBelow = 0.5;

/** The name of a theme icon for a state. What is known of it goes before what kind it is. */
export function iconOf({ isCurrent, verdict, doubt, confidence, edit, event }: TreeNode): string {
  if (isCurrent) return 'debug-stackframe';
  if (verdict === 'different') return 'error';
  if (verdict === 'same') return 'pass';
  if (edit !== null) return 'edit';
  if (doubt !== null || (confidence !== null && confidence < unsureBelow)) return 'question';
  return icons[event];
}

const icons = {
  call: 'symbol-method',
  line: 'circle-small-filled',
  return: 'debug-step-out',
  exception: 'flame',
} as const;

/** What stands beside a state's label: first what is seldom there, for views are narrow. */
export function describeNode({ line, changes, confidence, edit, verdict, alternatives }: TreeNode): string {
  const parts = [`line ${line}`];
  if (edit !== null) parts.push(edit);
  if (verdict === 'different') parts.push('not so in the real run');
  parts.push(...changes);
  if (confidence !== null) parts.push(`${Math.round(confidence * 100)}%`);
  if (alternatives.length > 0) parts.push(`${alternatives.length + 1} branches`);
  return parts.join(' · ');
}

/** A state in words, for screen readers. */
export function sayNode(node: TreeNode): string {
  const { event, label, isCurrent, isPast, doubt } = node;
  const place = isCurrent ? ', current' : isPast ? ', before the current state' : '';
  return `${event}: ${label}, ${describeNode(node)}${place}${doubt === null ? '' : `, doubtful: ${doubt}`}`;
}
