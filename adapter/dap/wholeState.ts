import { shownText } from '../shownText';
import type { Trajectory } from '../trajectory/trajectory';
import { wholeValue } from './wholeValue';

/** The body of the answer to `neuralDebug/wholeState`. */
export interface WholeState {
  /** What the state is called: its function and line. */
  readonly name: string;
  /** All that is known of it as Python source, which sets the locals; what Python cannot read stands in comments. */
  readonly value: string;
  /** Whether all that is known of it is set by the source. */
  readonly isLiteral: boolean;
}

const identifier = /^[\p{ID_Start}_]\p{ID_Continue}*$/u;

/** A state as Python, for a document or the clipboard. Neither shows marks, so it says itself whether it is real. */
export function wholeState(trajectory: Trajectory, state: number, isReal: boolean): WholeState {
  const name = `${shownText(trajectory.frame(state).function)}, line ${trajectory.line(state)}`;
  const lines = [comment(`${name}, ${isReal ? 'as in a real run' : 'predicted'}`)];
  let isLiteral = true;
  const remark = (text: string) => {
    isLiteral = false;
    lines.push(comment(text));
  };
  for (const [local, { repr }] of trajectory.locals(state)?.locals ?? []) {
    const whole = repr === null ? null : wholeValue(repr);
    if (whole?.isLiteral && identifier.test(local)) lines.push(`${local} = ${whole.value}`);
    else remark(`${shownText(local)} ${whole ? `= ${whole.value}` : 'is not known'}`);
  }
  const argument = trajectory.argument(state);
  if (argument) {
    const whole = argument.repr === null ? null : wholeValue(argument.repr);
    const isReturn = trajectory.event(state) === 'return';
    if (isReturn && whole?.isLiteral) lines.push('# returned:', whole.value);
    else remark(`${isReturn ? 'returned' : 'raised'} ${whole?.value ?? 'what is not known'}`);
  }
  return { name, value: `${lines.join('\n')}\n`, isLiteral };
}

function comment(text: string): string {
  return text.replace(/^/gm, '# ');
}
