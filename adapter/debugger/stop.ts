import type { BreakpointReason } from './breakpoints';
import type { Returned } from './returned';

/** Why a request stopped. */
export type StopReason =
  | 'entry'
  | 'step'
  | BreakpointReason
  /** A step reached the entry point's return. */
  | 'return'
  | 'budget'
  | 'pause'
  /** The cursor was put there: by an edit, to another branch, or to a frame's beginning. */
  | 'goto'
  /** The program is over: nothing follows. */
  | 'end';

/** Where, and why, a request stopped. */
export interface Stop {
  readonly reason: StopReason;
  /** The state that is current now; -1 where the program has none. */
  readonly state: number;
  /** What the calls returned that a step completed, the newest last. */
  readonly returned: readonly Returned[];
  /** What people should know about the stop, in sentences. */
  readonly notes: readonly string[];
  /** What happened, as a clause: how a watched variable changed, what is doubtful. */
  readonly why: string | null;
  /** The ids of the breakpoints that stopped. */
  readonly hits: readonly number[];
}
