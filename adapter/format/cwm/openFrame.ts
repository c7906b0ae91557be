import type { CodeUnit } from '../../python/codeUnits';
import type { EventKind, Locals } from '../../trajectory/state';

/** A frame that has been entered and not left. */
export interface OpenFrame {
  readonly outer: OpenFrame | null;
  /** The code's name, as the trajectory has it. */
  readonly function: string;
  /** The code that the frame runs; null for frames of the wrapper, and where it is not known. */
  readonly unit: CodeUnit | null;
  /** Frames of an entry call's wrapper are no part of the trajectory. */
  readonly isVisible: boolean;
  /** The trajectory's number of the Python frame; -1 for frames that are not visible. */
  readonly activation: number;
  /** Whether its call event resumed it. */
  readonly isResumed: boolean;
  /** The line that the frame stands on. */
  readonly line: number;
  /** Other lines that it may as well stand on, since they read the same. */
  readonly otherLines: readonly number[];
  /** The lines of its two line events before that, the newer one first; 0 where there was none. */
  readonly trail: readonly [number, number];
  /** The locals of the frame's newest call or line event, or null where they are not known. */
  readonly locals: Locals | null;
  /** The code that was entered from the frame since its newest event, the last few of it. */
  readonly entered: readonly CodeUnit[];
  readonly newestEvent: EventKind;
  /** The exception that the frame's newest event raised, or null where that event was another. */
  readonly raised: string | null;
}
