import type { CompletionChunk } from '../../completion/completion';
import type { Ending, Step } from '../../trajectory/state';
import type { StepReader } from '../format';
import { AnswerText, type AnswerFrame } from './answerText';
import { openFrames, type Execution } from './execution';
import { readFrame, type FrameContext } from './frameReading';
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
  #isDone = false;
  #failure: { readonly thrown: unknown } | null = null;

  constructor(
    private readonly context: FrameContext,
    start: ReaderStart,
  ) {
    this.#execution = start.execution;
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
    } catch (thrown) {
      if (steps.length === 0) throw thrown;
      this.#failure = { thrown };
    }
    return steps;
  }

  #read(frame: AnswerFrame, steps: Step[]): void {
    const { tokens } = this.#answer;
    const reading = readFrame(frame, this.#execution, this.context, tokens, this.#nextActivation);
    const text = this.#hidden.text + frame.text;
    const confidence = leastOf(this.#hidden.confidence, reading.confidence);
    const tokenCount = this.#hidden.tokens + tokens.dropBefore(frame.at + frame.text.length);
    this.#execution = reading.execution;
    if (!reading.shown) {
      this.#hidden = { text, tokens: tokenCount, confidence };
      return;
    }
    const { state, activation, unwinds, otherLines, doubts } = reading.shown;
    const said = this.#note === null ? doubts : [this.#note, ...doubts];
    this.#note = null;
    this.#hidden = nothingHidden;
    steps.push({
      kind: 'state',
      state,
      activation,
      unwinds,
      confidence,
      doubt: said.length > 0 ? said.join(' ') : null,
      otherLines,
      text,
      output: null,
      tokens: tokenCount,
    });
  }

  #end(steps: Step[]): void {
    this.#isDone = true;
    const { rest } = this.#answer;
    const isEmpty = rest.text.trim() === '';
    const isWhole = !isEmpty && isWholeFrame(rest.text);
    if (isWhole) this.#read(rest, steps);
    steps.push(this.#ending(!isEmpty && !isWhole));
  }

  #ending(isCut: boolean): Ending {
    const { top, lastLeft, outcome } = this.#execution;
    const ending = { kind: 'end', text: this.#hidden.text || null, output: null } as const;
    if (isCut) return { ...ending, how: 'cut', notes: ['The model ended its answer within a frame.'] };
    const left = outcome ?? lastLeft;
    const raised = left ? left.raised : (top?.raised ?? null);
    if (raised !== null) {
      return { ...ending, how: exceptionType(raised) === 'SystemExit' ? 'exited' : 'raised', notes: [] };
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
