import type { Value } from '../trajectory/state';
import type { Trajectory } from '../trajectory/trajectory';

/** Below this confidence a state is a doubt, where nothing else is set. */
export const defaultDoubtThreshold = 0.5;

/** How many doubtful values are named. */
const mostNamed = 3;

/** Reads a threshold, such as `0.8` or `80%`; null for what is none. */
export function parseThreshold(text: string): number | null {
  const [, digits, percent] = /^\s*(\d*\.?\d+)\s*(%?)\s*$/.exec(text) ?? [];
  if (digits === undefined) return null;
  const threshold = Number(digits) / (percent === '%' ? 100 : 1);
  return threshold > 0 && threshold <= 1 ? threshold : null;
}

/**
 * Why a state is in doubt, with what else it may be: its event or line, a value that is new in it, or what it
 * returns is less sure than a threshold, or its legality is in question. Null where nothing speaks against it.
 */
export function doubtAt(trajectory: Trajectory, index: number, threshold: number): string | null {
  const { confidence, doubt, otherLines } = trajectory.prediction(index);
  const reasons: string[] = [];
  if (confidence !== null && confidence < threshold) {
    const event = trajectory.event(index);
    const what = event === 'line' ? '' : `the ${event} on `;
    reasons.push(`${what}line ${trajectory.line(index)} is ${percent(confidence)} sure`);
  }
  if (doubt !== null) reasons.push(doubt.replace(/[.\s]+$/, ''));
  if (reasons.length > 0 && otherLines.length > 0) {
    reasons.push(`it may also be on line ${otherLines.join(' or ')}`);
  }
  const values = doubtfulValues(trajectory, index, threshold);
  reasons.push(...values.slice(0, mostNamed));
  if (values.length > mostNamed) reasons.push(`${values.length - mostNamed} more values are as doubtful`);
  return reasons.length > 0 ? reasons.join('; ') : null;
}

function doubtfulValues(trajectory: Trajectory, index: number, threshold: number): string[] {
  const isLow = ({ confidence }: Value) => confidence !== null && confidence < threshold;
  const found: { readonly text: string; readonly confidence: number }[] = [];
  const add = (name: string, value: Value) => {
    const sure = value.confidence ?? 1;
    found.push({ text: `${name} = ${value.repr ?? 'not known'} is ${percent(sure)} sure`, confidence: sure });
  };
  const known = trajectory.locals(index);
  if (known?.state === index) {
    const before = trajectory.previousInFrame(index);
    const old = before === null ? null : trajectory.locals(before)?.locals;
    for (const [name, value] of known.locals) {
      if (isLow(value) && old?.get(name)?.repr !== value.repr) add(name, value);
    }
  }
  const argument = trajectory.argument(index);
  if (argument && isLow(argument))
    add(trajectory.event(index) === 'return' ? 'the result' : 'the exception', argument);
  return found.sort((a, b) => a.confidence - b.confidence).map(({ text }) => text);
}

function percent(confidence: number): string {
  return `${Math.round(confidence * 100)}%`;
}
