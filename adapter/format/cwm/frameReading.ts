import { errors } from '../../errors';
import type { CodeUnit } from '../../python/codeUnits';
import type { PythonSource } from '../../python/source';
import type { EventKind, Locals, State, Value } from '../../trajectory/state';
import type { AnswerFrame } from './answerText';
import type { CallPlace, CallPositions } from './callPositions';
import { advance, enter, openFrames, unwind, type EnteredFrame, type Execution } from './execution';
import type { OpenFrame } from './openFrame';
import { splitFrame, type FramePart, type RawFrame } from './frames';
import { readJsonString } from './json';
import type { Layout } from './layout';
import { findPlace, listing } from './linePositions';
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

/** What a frame may say, and where the execution stands after it. */
export interface FrameReading {
  readonly execution: Execution;
  /** Null for frames that are no part of the trajectory: those of the wrapper. */
  readonly shown: {
    readonly state: State;
    readonly activation: number | null;
    readonly unwinds: number;
    readonly otherLines: readonly number[];
    readonly doubts: readonly string[];
    /** Why this may not be the right one of several readings, or null where it is the only one. */
    readonly ambiguity: string | null;
  } | null;
  /** The confidence of the event and the line. */
  readonly confidence: number | null;
  /** How badly the frame fits the execution before it: 0 where it may well come next. */
  readonly misfit: number;
}

const emptyLocals: Locals = new Map();
const unknownName = '<unknown>';

/** The frame that the seeded call frame of an entry call opens. */
export function wrapperFrame(name: string): EnteredFrame {
  return {
    function: name,
    unit: null,
    isVisible: false,
    activation: -1,
    isResumed: false,
    line: 0,
    locals: emptyLocals,
  };
}

/** More readings of a frame than this are not told apart by what follows. */
const maxReadings = 8;

/**
 * Reads one frame's text. More than one reading comes back where nothing before tells them apart, the likelier
 * first.
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
): readonly [FrameReading, ...FrameReading[]] {
  const frame = splitFrame(answerFrame.text);
  const { line } = frame;
  if (!line) {
    if (frame.kind || frame.locals.text.trim() !== '') throw errors.unreadableFrame(answerFrame.text);
    return [{ execution, shown: null, confidence: null, misfit: 0 }];
  }
  return new FrameReader(execution, context, tokens, nextActivation, frame, line, answerFrame.at).read();
}

/** The reading of one frame. */
class FrameReader {
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

  read(): readonly [FrameReading, ...FrameReading[]] {
    const { kind, argument } = this.frame;
    if (!kind) this.#doubts.push('The model left out what kind of event this is.');
    const event = kind?.event ?? (argument ? 'return' : 'line');
    const [first, ...others] = event === 'call' ? this.#readCall() : this.#readOther(event);
    return [first, ...others.slice(0, maxReadings - 1)];
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

  #hidden(execution: Execution): [FrameReading] {
    return [{ execution, shown: null, confidence: this.#positionConfidence(), misfit: 0 }];
  }

  #readCall(): [FrameReading, ...FrameReading[]] {
    const { layout, calls, texts } = this.context;
    const { execution } = this;
    const { text } = this.line;
    const caller = execution.top;
    if (layout.isWrapperHeader(text) && (!caller || caller.newestEvent === 'call')) {
      // The seeded frame once more.
      return this.#hidden(caller ? execution : enter(execution, wrapperFrame(layout.wrapper)));
    }
    const written = this.#writtenLocals();
    const places = calls.find(execution, written, text);
    if (layout.isWrapperBody(text) && (places.length === 0 || !caller?.isVisible)) {
      // A comprehension or lambda of the entry call.
      return this.#hidden(enter(execution, wrapperFrame(layout.wrapper)));
    }
    const freshActivation = this.nextActivation();
    const [first, ...others] = places;
    if (!first) {
      this.#doubts.push(
        `The source defines no function on a line that reads ${JSON.stringify(text.trim())}.`,
      );
      const line = texts.find(text, null)[0] ?? caller?.line ?? 0;
      const unit = { unit: null, function: definedName(text), line, isResumed: false };
      return [this.#entered({ ...unit, activation: freshActivation }, written, null, [], null, 2)];
    }
    const readingOf = (place: CallPlace): FrameReading => {
      const { unit, line, resumed, isLikely } = place;
      const activation = resumed?.activation ?? freshActivation;
      const otherPlaces = places.filter((other) => other !== place);
      const lines = [...new Set(otherPlaces.map((other) => other.line))].filter((other) => other !== line);
      const entered = { unit, function: unit.name, line, activation, isResumed: resumed !== null };
      const ambiguity = otherPlaces.length > 0 ? callAmbiguity([line, ...lines]) : null;
      return this.#entered(entered, written, resumed?.locals ?? null, lines, ambiguity, isLikely ? 0 : 1);
    };
    return [readingOf(first), ...others.map(readingOf)];
  }

  #entered(
    frame: Omit<EnteredFrame, 'locals' | 'isVisible'>,
    written: WrittenLocals | null,
    before: Locals | null,
    otherLines: readonly number[],
    ambiguity: string | null,
    misfit: number,
  ): FrameReading {
    const { function: name, line, activation } = frame;
    const { locals, doubts } = this.#resolved(written, before);
    return {
      execution: enter(this.execution, { ...frame, locals, isVisible: true }),
      shown: {
        state: { event: 'call', function: name, line, thread: null, locals, argument: null },
        activation,
        unwinds: 0,
        otherLines,
        doubts,
        ambiguity,
      },
      confidence: this.#positionConfidence(),
      misfit,
    };
  }

  #readOther(event: Exclude<EventKind, 'call'>): [FrameReading, ...FrameReading[]] {
    const { source, layout, texts } = this.context;
    const { text } = this.line;
    if (event === 'line' && layout.isScript && layout.isWrapperBody(text)) {
      // The declaration of globals is no statement that runs.
      return this.#hidden(this.execution);
    }
    const place = findPlace(this.execution, event, text, texts, layout, source.units);
    const { lines, otherLines, isInFrame } = place;
    const unwound = unwind(this.execution, place.left);
    const argument = event === 'line' ? null : this.#argument(event);
    if (isInFrame && unwound.top && !unwound.top.isVisible) {
      const said = { event, unit: null, line: 0, otherLines: [], text, argument: argument?.repr ?? null };
      return this.#hidden(advance(unwound, { ...said, locals: emptyLocals }));
    }
    if (place.doubt !== null) this.#doubts.push(place.doubt);
    const [line, ...equalLines] = lines;
    const { execution, top, activation } = this.#visibleTop(unwound, line);
    const { locals, doubts } =
      event === 'line'
        ? this.#resolved(this.#writtenLocals(), top.locals)
        : { locals: null, doubts: this.#doubts };
    const isEarly = event !== 'line' && top.newestEvent === 'call' && !top.isResumed && top.unit !== null;
    const readingOf = (at: number): FrameReading => {
      const others = lines.length > 1 ? lines.filter((other) => other !== at) : otherLines;
      const unit = isInFrame && top.unit ? top.unit : unitAt(source, at);
      const said = {
        event,
        unit,
        line: at,
        // What follows is to tell whether it is this line.
        otherLines: lines.length > 1 ? [] : otherLines,
        text,
        locals,
        argument: argument?.repr ?? null,
      };
      return {
        execution: advance(execution, said),
        shown: {
          state: { event, function: top.function, line: at, thread: null, locals, argument },
          activation,
          unwinds: visibleAmong(this.execution, place.left),
          otherLines: others,
          doubts,
          ambiguity:
            lines.length > 1 ? `Lines ${listing(lines)} read the same, and each can come here.` : null,
        },
        confidence: this.#positionConfidence(),
        misfit: (place.isReachable ? 0 : isInFrame ? 1 : 2) + (isEarly ? 1 : 0),
      };
    };
    return [readingOf(line), ...equalLines.map(readingOf)];
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
      isResumed: false,
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

  #resolved(
    written: WrittenLocals | null,
    before: Locals | null,
  ): { readonly locals: Locals | null; readonly doubts: readonly string[] } {
    if (written) return { locals: resolveLocals(written, before), doubts: this.#doubts };
    return { locals: null, doubts: [...this.#doubts, 'The locals could not be read.'] };
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

function callAmbiguity(lines: readonly number[]): string {
  return lines.length > 1
    ? `The code on lines ${listing(lines)} may be entered here.`
    : 'A generator may be entered here anew, or one resumed.';
}
