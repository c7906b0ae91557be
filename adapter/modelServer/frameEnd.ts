import { controlTokens } from '../format/cwm/tokens';

/** The index in a text after the end of the frame that holds an index; -1 where that frame does not end. */
export function frameEndAfter(text: string, from: number): number {
  const { frameEnd } = controlTokens;
  const at = text.indexOf(frameEnd, from);
  return at < 0 ? -1 : at + frameEnd.length;
}
