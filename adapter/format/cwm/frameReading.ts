import { errors } from '../../errors';
import type { CodeUnit } from '../../python/codeUnits';
import type { PythonSource } from '../../python/source';
import type { EventKind, Locals, State, Value } from '../../trajectory/state';
import type { AnswerFrame } from './answerText';
import type { CallPositions } from './callPositions';
import {
  advance,
  enter,
  openFrames,
  unwind,
  type EnteredFrame,
  type Execution,
  type OpenFrame,
} from './execution';
import { splitFrame, type FramePart, type RawFrame } from './frames';
import { readJsonString } from './json';
import type { Layout } from './layout';
import { findPlace } from './linePositions';
import type { LineTexts } from './lineTexts';
import { readLocals, resolveLocals, type WrittenLocals } from './locals';
import { controlTokens, unchanged } from './tokens';
import { leastOf, type TokenSpans } from './tokenSpans';
import { exceptionRepr } from './values';

/** What the frames of a program are read with. */
export interface FrameContext {
  readonly source: PythonSource;
  readonly layout: Layout;
  readonly texts: LineTexts;
  readonly calls: CallPositions;
}

/** What a frame says, and where the execution stands after it. */
export interface FrameReading {
  readonly execution: Execution;
  /** Null for frames that are no part of the trajectory: those of the wrapper. */
  readonly shown: {
    readonly state: State;
    readonly activation: number | null;
    readonly unwinds: number;
    readonly otherLines: readonly number[];
    readonly doubts: readonly string[];
  } | null;
  /** The confidence of the event and the line. */
  readonly confidence: number | null;
}

const emptyLocals: Locals = new Map();
const unknownName = '<unknown>';

/** The frame that the seeded call frame of an entry call opens. */
export function wrapperFrame(name: string): EnteredFrame {
  return { function: name, unit: null, isVisible: false, activation: -1, line: 0, locals: emptyLocals };
}

/**
 * Reads one frame's text.
 *
 * @param execution where the execution stands before the frame
 * @throws CatalogueError for a text that has no source line, and so no place in the program
 */
export function readFrame(
  answerFrame: AnswerFrame,
  execution: Execution,
  context: FrameContext,
  tokens: TokenSpans,
  nextActivation: () => number,
): FrameReading {
  const frame = splitFrame(answerFrame.text);
  const { line } = frame;
  if (!line) {
    if (frame.kind || frame.locals.text.trim() !== '') throw errors.unreadableFrame(answerFrame.text);
    return { execution, shown: null, confidence: null };
  }
  return new Reader(execution, context, tokens, nextActivation, frame, line, answerFrame.at).read();
}

/** The reading of one frame. */
class Reader {
  readonly #doubts: string[] = [];

  constructor(
    private readonly execution: Execution,
    private readonly context: FrameContext,
    private readonly tokens: TokenSpans,
    private readonly nextActivation: () => number,
    private readonly frame: RawFrame,
    private readonly line: FramePart,
    private readonly at: number,
  ) {}

  read(): FrameReading {
    const { kind, argument } = this.frame;
    if (!kind) this.#doubts.push('The model left out what kind of event this is.');
    const event = kind?.event ?? (argument ? 'return' : 'line');
    const confidence = this.#positionConfidence();
    return { ...(event === 'call' ? this.#readCall() : this.#readOther(event)), confidence };
  }

  #positionConfidence(): number | null {
    const { kind } = this.frame;
    const { start, text } = this.line;
    const { action } = controlTokens;
    return leastOf(
      kind && this.#confidence(kind.start, controlTokens[kind.event].length),
      this.#confidence(start - action.length, action.length + text.length),
    );
  }

  /** The confidence of a span of the frame's text. */
  #confidence(start: number, length: number): number | null {
    return this.tokens.leastProbability(this.at + start, this.at + start + length);
  }

  #readCall(): Omit<FrameReading, 'confidence'> {
    const { layout, calls, texts } = this.context;
    const { execution } = this;
    const { text } = this.line;
    const caller = execution.top;
    if (layout.isWrapperHeader(text) && (!caller || caller.newestEvent === 'call')) {
      // The seeded frame once more.
      return { execution: caller ? execution : enter(execution, wrapperFrame(layout.wrapper)), shown: null };
    }
    if (!caller?.isVisible && layout.isWrapperBody(text)) {
      // A comprehension or lambda of the entry call.
      return { execution: enter(execution, wrapperFrame(layout.wrapper)), shown: null };
    }
    const written = this.#writtenLocals();
    const { unit, resumed, line, otherLines, doubt } = calls.find(execution, written, text);
    if (doubt !== null) this.#doubts.push(doubt);
    const position = unit ? line : (texts.find(text, null)[0] ?? caller?.line ?? 0);
    const name = unit?.name ?? definedName(text);
    const activation = resumed?.activation ?? this.nextActivation();
    const locals = this.#resolve(written, resumed?.locals ?? null);
    return {
      execution: enter(execution, {
        function: name,
        unit,
        isVisible: true,
        activation,
        line: position,
        locals,
      }),
      shown: {
        state: { event: 'call', function: name, line: position, thread: null, locals, argument: null },
        activation,
        unwinds: 0,
        otherLines,
        doubts: this.#doubts,
      },
    };
  }

  #readOther(event: Exclude<EventKind, 'call'>): Omit<FrameReading, 'confidence'> {
    const { layout, texts } = this.context;
    const { text } = this.line;
    if (event === 'line' && layout.isScript && layout.isWrapperBody(text)) {
      // The declaration of globals is no statement that runs.
      return { execution: this.execution, shown: null };
    }
    const place = findPlace(this.execution, event, text, texts, layout);
    const { line, otherLines, isInFrame } = place;
    const unwound = unwind(this.execution, place.left);
    const argument = event === 'line' ? null : this.#argument(event);
    if (isInFrame && unwound.top && !unwound.top.isVisible) {
      const said = { event, unit: null, line, text, locals: emptyLocals, argument: argument?.repr ?? null };
      return { execution: advance(unwound, said), shown: null };
    }
    if (place.doubt !== null) this.#doubts.push(place.doubt);
    const { execution, top, activation } = this.#visibleTop(unwound, line);
    const locals = event === 'line' ? this.#resolve(this.#writtenLocals(), top.locals) : null;
    const unit = isInFrame && top.unit ? top.unit : unitAt(this.context.source, line);
    const said = { event, unit, line, text, locals, argument: argument?.repr ?? null };
    return {
      execution: advance(execution, said),
      shown: {
        state: { event, function: top.function, line, thread: null, locals, argument },
        activation,
        unwinds: visibleAmong(this.execution, place.left),
        otherLines,
        doubts: this.#doubts,
      },
    };
  }

  /** The visible frame on top; one is entered where none is, as the trajectory does for such a state. */
  #visibleTop(
    execution: Execution,
    line: number,
  ): { readonly execution: Execution; readonly top: OpenFrame; readonly activation: number | null } {
    if (execution.top?.isVisible) return { execution, top: execution.top, activation: null };
    const unit = unitAt(this.context.source, line);
    const activation = this.nextActivation();
    const name = unit?.name ?? unknownName;
    const entered = enter(execution, {
      function: name,
      unit,
      isVisible: true,
      activation,
      line,
      locals: null,
    });
    return { execution: entered, top: entered.top, activation };
  }

  #writtenLocals(): WrittenLocals | null {
    const { text, start } = this.frame.locals;
    return readLocals(
      text,
      (span) => this.#confidence(start + span.start, span.end - span.start),
      (value) => this.context.layout.valueOf(value),
    );
  }

  #resolve(written: WrittenLocals | null, before: Locals | null): Locals | null {
    if (written) return resolveLocals(written, before);
    this.#doubts.push('The locals could not be read.');
    return null;
  }

  #argument(event: 'return' | 'exception'): Value {
    const part = this.frame.argument;
    const value = part && readJsonString(part.text);
    if (!value) {
      this.#doubts.push(`The ${event === 'return' ? 'returned value' : 'exception'} could not be read.`);
      return { repr: null, confidence: null };
    }
    const confidence = this.#confidence(part.start + value.start, value.end - value.start);
    if (value.text === unchanged) return { repr: null, confidence };
    const text = this.context.layout.valueOf(value.text);
    return { repr: event === 'exception' ? exceptionRepr(text) : text, confidence };
  }
}

/** The innermost code that has a line. */
function unitAt(source: PythonSource, line: number): CodeUnit | null {
  return source.unitsOfLine(line).at(-1) ?? null;
}

/** The name that a call frame's line defines. */
function definedName(text: string): string {
  return /\b(?:def|class)\s+(\w+)/u.exec(text)?.[1] ?? unknownName;
}

/** How many of the innermost open frames are visible. */
function visibleAmong(execution: Execution, frames: number): number {
  let visible = 0;
  let left = frames;
  for (const frame of openFrames(execution)) {
    if (left-- <= 0) break;
    if (frame.isVisible) visible++;
  }
  return visible;
}
