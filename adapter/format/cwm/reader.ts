import type { CompletionChunk } from '../../completion/completion';
import type { Ending, Step } from '../../trajectory/state';
import type { StepReader } from '../format';
import { AnswerText, type AnswerFrame } from './answerText';
import { openFrames, withOtherLines, type Execution } from './execution';
import { readFrame, type FrameContext, type FrameReading } from './frameReading';
import { splitFrame } from './frames';
import { leastOf } from './tokenSpans';
import { exceptionType } from './values';

/** Where a reader begins. */
export interface ReaderStart {
  /** Where the execution stands before the answer. */
  readonly execution: Execution;
  /** Gives a number for a new Python frame that no other frame of the trajectory has. */
  readonly nextActivation: () => number;
  /** What should be said with the first state, or null. */
  readonly note: string | null;
}

type Readings = readonly [FrameReading, ...FrameReading[]];

/** A frame that more than one reading fits, until the next one tells which. */
interface Held {
  readonly readings: Readings;
  readonly text: string;
  readonly tokens: number;
}

/** Frames that are no states, to be sent back with the next state. */
interface Hidden {
  readonly text: string;
  readonly tokens: number;
  readonly confidence: number | null;
}

const nothingHidden: Hidden = { text: '', tokens: 0, confidence: null };

/** Reads a model's answer, in pieces of any size, into steps. */
export class CwmReader implements StepReader {
  readonly #answer = new AnswerText();
  readonly #nextActivation: () => number;
  #execution: Execution;
  #note: string | null;
  #hidden = nothingHidden;
  #held: Held | null = null;
  #isDone = false;
  #failure: { readonly thrown: unknown } | null = null;
  /** Whether there is any state of the program, from this answer or before. */
  #hasState: boolean;

  constructor(
    private readonly context: FrameContext,
    start: ReaderStart,
  ) {
    this.#execution = start.execution;
    this.#hasState = start.execution.top?.isVisible === true || start.execution.lastLeft !== null;
    this.#note = start.note;
    this.#nextActivation = start.nextActivation;
  }

  /** @throws CatalogueError where the answer cannot be read, after the steps before that place were returned */
  read(chunk: CompletionChunk): readonly Step[] {
    if (this.#failure) throw this.#failure.thrown;
    const steps: Step[] = [];
    if (this.#isDone) return steps;
    try {
      for (const frame of this.#answer.add(chunk)) this.#read(frame, steps);
      if (this.#answer.hasEnded) this.#end(steps);
      else if (chunk.kind === 'end') this.#releaseHeld(steps);
    } catch (thrown) {
      this.#releaseHeld(steps);
      if (steps.length === 0) throw thrown;
      this.#failure = { thrown };
    }
    return steps;
  }

  #read(frame: AnswerFrame, steps: Step[]): void {
    const { tokens } = this.#answer;
    const nextActivation = once(this.#nextActivation);
    const readings = this.#readings(frame, steps, nextActivation);
    const dropped = tokens.dropBefore(frame.at + frame.text.length);
    this.#held = { readings, text: frame.text, tokens: dropped };
    // What comes next may tell which of several readings is right.
    if (readings.length === 1) this.#release(readings[0], steps);
  }

  /** The readings of a frame; what is held is released by the reading that the frame fits best. */
  #readings(frame: AnswerFrame, steps: Step[], nextActivation: () => number): Readings {
    const readAfter = (execution: Execution) =>
      readFrame(frame, execution, this.context, this.#answer.tokens, nextActivation);
    if (!this.#held) return readAfter(this.#execution);
    const following = this.#held.readings.map((reading) => {
      const [best, ...others] = readAfter(reading.execution);
      return { reading, next: [best, ...others] as const, misfit: best.misfit };
    });
    const least = Math.min(...following.map(({ misfit }) => misfit));
    const [fitting, ...others] = following.filter(({ misfit }) => misfit === least);
    if (!fitting) return readAfter(this.#execution);
    this.#release(fitting.reading, steps, others.length === 0);
    return fitting.next;
  }

  /** Gives the held frame out as one of its readings. */
  #release({ execution, shown, confidence }: FrameReading, steps: Step[], isSure = false): void {
    const held = this.#held;
    if (!held) return;
    this.#held = null;
    this.#execution = execution;
    const text = this.#hidden.text + held.text;
    const tokens = this.#hidden.tokens + held.tokens;
    const least = leastOf(this.#hidden.confidence, confidence);
    if (!shown) {
      this.#hidden = { text, tokens, confidence: least };
      return;
    }
    this.#hidden = nothingHidden;
    const { state, activation, unwinds, otherLines, doubts, ambiguity } = shown;
    if (ambiguity !== null && !isSure && (state.event === 'line' || state.event === 'exception')) {
      this.#execution = withOtherLines(execution, otherLines);
    }
    const said = [this.#note, ...doubts, isSure ? null : ambiguity].filter((doubt) => doubt !== null);
    this.#note = null;
    this.#hasState = true;
    steps.push({
      kind: 'state',
      state,
      activation,
      unwinds,
      confidence: least,
      doubt: said.length > 0 ? said.join(' ') : null,
      otherLines: isSure ? [] : otherLines,
      text,
      output: null,
      tokens,
    });
  }

  #releaseHeld(steps: Step[]): void {
    if (this.#held) this.#release(this.#held.readings[0], steps);
  }

  #end(steps: Step[]): void {
    this.#isDone = true;
    const { rest } = this.#answer;
    const isEmpty = rest.text.trim() === '';
    const isWhole = !isEmpty && isWholeFrame(rest.text);
    if (isWhole) this.#read(rest, steps);
    this.#releaseHeld(steps);
    steps.push(this.#ending(!isEmpty && !isWhole));
  }

  #ending(isCut: boolean): Ending {
    const { top, lastLeft, outcome } = this.#execution;
    const ending = { kind: 'end', text: this.#hidden.text || null, output: null } as const;
    if (isCut) return { ...ending, how: 'cut', notes: ['The model ended its answer within a frame.'] };
    const left = outcome ?? lastLeft;
    const raised = left ? left.raised : (top?.raised ?? null);
    if (raised !== null) {
      return {
        ...ending,
        how: exceptionType(raised) === 'SystemExit' ? 'exited' : 'raised',
        // Without a state of the program, nothing else tells of the exception.
        notes: this.#hasState ? [] : [`The entry call raised ${raised} before any line of the program.`],
      };
    }
    const [open] = [...openFrames(this.#execution)].filter(({ isVisible }) => isVisible);
    if (outcome || (!open && left)) return { ...ending, how: 'returned', notes: [] };
    const where = open ? open.function : 'the entry point';
    return { ...ending, how: 'cut', notes: [`The model ended the trace before ${where} returned.`] };
  }
}

/** Whether a text without the token that ends a frame is all of a frame otherwise. */
function isWholeFrame(text: string): boolean {
  const { kind, line, argument } = splitFrame(text);
  return kind !== null && line !== null && (argument !== null || line.text.endsWith('\n'));
}

/** The number that a function gives the first time it is asked. */
function once(next: () => number): () => number {
  let number: number | null = null;
  return () => (number ??= next());
}
