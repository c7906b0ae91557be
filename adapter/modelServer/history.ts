import { errors } from '../errors';
import { type RawFrame, splitFrame } from '../format/cwm/frames';
import { jsonString, readJsonObject, readJsonString } from '../format/cwm/json';
import { mendControlText, unchanged, withoutLineEnd, withoutMarker } from '../format/cwm/tokens';
import { exceptionRepr, plainRepr } from '../format/cwm/values';
import type { RunEdit } from '../python/tracer';
import { frameEndAfter } from './frameEnd';
import { Refusal } from './refusal';
import type { FrameSource, TraceFrame } from './traceFrame';

/** Where a history stands in the run that it is the beginning of. */
export interface HistoryEnd {
  /** The index of the run's frame that follows the history, or that its last, incomplete frame begins. */
  readonly next: number;
  /** How long the history is without its incomplete frame, in UTF-16 units. */
  readonly length: number;
  /** The history's number of complete frames. */
  readonly frames: number;
}

/** The locals of a frame, resolved; a value is null where it is not known. */
type ResolvedLocals = ReadonlyMap<string, string | null>;

/** What two frames tell differently, in words that follow "The prompt has" and "The program has". */
interface Difference {
  readonly said: string;
  readonly does: string;
}

/** The first frame of a history that is not the run's. */
export interface DifferentFrame extends Difference {
  /** The number of the history's frame, from 1. */
  readonly number: number;
  /** What would make the run's frame the history's, or why nothing can. */
  readonly edit: RunEdit | string;
}

/** A history that was followed as far as it is the run's. */
export interface Followed {
  readonly end: HistoryEnd;
  /** The frame that ends it, or null where all complete frames are the run's. */
  readonly different: DifferentFrame | null;
}

/** What a history is compared with. */
export interface RunFrames {
  readonly frames: FrameSource;
  /** The lines of the source context with their line ends; a frame may be moved to one of them. */
  readonly lines: readonly string[];
  /** The changes that the run was made with: what they set need not be written as the run writes it. */
  readonly edits: readonly RunEdit[];
}

/** The longest part of a value that an error shows. */
const maxShown = 200;

/**
 * Follows the frames of a prompt along the run that they should be the beginning of, by what they mean: `..`
 * is resolved along the scopes on both sides, the spacing of JSON does not count, and what is not known is
 * equal to everything. After an exception frame the `return None` that follows it may be missing.
 */
export class HistoryCheck {
  /** Locals of the newest frames of each scope that were needed so far, by index. */
  readonly #resolved = new Map<number, ResolvedLocals>();

  readonly #edits: ReadonlyMap<number, RunEdit>;
  readonly #frames: FrameSource;

  constructor(
    private readonly history: string,
    private readonly run: RunFrames,
  ) {
    this.#frames = run.frames;
    this.#edits = new Map(run.edits.map((edit) => [edit.at, edit]));
  }

  /**
   * Follows all complete frames, to the first that differs.
   *
   * @param known a beginning of the history that was followed before
   * @throws Refusal where the run ended before its trace did
   */
  async follow(known: HistoryEnd, signal: AbortSignal): Promise<Followed> {
    const { history } = this;
    let { next, length, frames } = known;
    const followed = (): Followed => ({ end: { next, length, frames }, different: null });
    if (length === history.length) return followed();
    for await (const batch of this.#frames.from(next, signal)) {
      for (const frame of batch) {
        if (history.startsWith(frame.text, length)) {
          length += frame.text.length;
        } else {
          const end = frameEndAfter(history, length);
          if (end < 0) return followed();
          const said = splitFrame(history.slice(length, end));
          const difference = this.#difference(said, next, frame);
          if (!difference) length = end;
          else if (this.#mayBeMissing(next, frame)) frames--;
          else {
            const edit = this.#edit(said, next, frame);
            return { ...followed(), different: { ...difference, number: frames + 1, edit } };
          }
        }
        next++;
        frames++;
        if (length === history.length) return followed();
      }
    }
    const end = frameEndAfter(history, length);
    if (end < 0) return followed();
    const said = describe(splitFrame(history.slice(length, end)));
    const edit = 'the program has ended there';
    return { ...followed(), different: { said, does: 'ended.', number: frames + 1, edit } };
  }

  /**
   * What follows the incomplete frame at a history's end.
   *
   * @param end the end of the complete frames
   * @param frame the run's frame there, or null if the run has ended
   * @throws Refusal if the run does not agree with what the frame says so far
   */
  rest(end: HistoryEnd, frame: TraceFrame | null): string {
    const begun = this.history.slice(end.length);
    if (frame?.text.startsWith(begun)) return frame.text.slice(begun.length);
    const said = splitFrame(begun);
    if (!frame) throw differs({ number: end.frames + 1, said: describe(said), does: 'ended.' });
    const rest = this.#restByMeaning(said, end.next, frame);
    if (rest !== null) return rest;
    const does = splitFrame(frame.text);
    const difference = this.#difference(said, end.next, frame);
    const words = difference ?? { said: describe(said), does: describe(does) };
    throw differs({ number: end.frames + 1, ...words });
  }

  #restByMeaning(said: RawFrame, index: number, frame: TraceFrame): string | null {
    const does = splitFrame(frame.text);
    if (!does.line || said.kind?.event !== does.kind?.event) return null;
    if (!said.line) return restAfterSpacing(said.locals.text, frame.text.slice(does.locals.start));
    if (this.#localsDifference(said, does, index, frame)) return null;
    const [saidPart, doesPart] = said.argument ? [said.argument, does.argument] : [said.line, does.line];
    if (!doesPart || (said.argument && !equalLines(said.line.text, does.line.text))) return null;
    const rest = frame.text.slice(doesPart.start);
    return rest.startsWith(saidPart.text) ? rest.slice(saidPart.text.length) : null;
  }

  /** How the meaning of a frame differs from that of the run's frame with an index, or null. */
  #difference(said: RawFrame, index: number, frame: TraceFrame): Difference | null {
    const does = splitFrame(frame.text);
    const whole = { said: describe(said), does: describe(does) };
    if (!said.kind || !said.line || said.kind.event !== does.kind?.event) return whole;
    if (!equalLines(said.line.text, does.line?.text ?? '')) return whole;
    return this.#localsDifference(said, does, index, frame) ?? argumentDifference(said, does);
  }

  #localsDifference(said: RawFrame, does: RawFrame, index: number, frame: TraceFrame): Difference | null {
    if (!carriesLocals(said)) return null;
    const saidLocals = readJsonObject(said.locals.text);
    if (!saidLocals) return { said: 'locals that are not a JSON object.', does: describe(does) };
    const before = frame.localsBefore < 0 ? null : this.#resolve(frame.localsBefore);
    const runs = this.#resolve(index);
    for (const [name, value] of runs) {
      const given = saidLocals.get(name)?.text;
      if (given === undefined) {
        return { said: `no local ${shown(name)} there.`, does: `${shown(name)} = ${shown(value)}.` };
      }
      const meant = given === unchanged ? (before?.get(name) ?? null) : plainRepr(given);
      const set = this.#edits.get(index)?.locals.get(mendControlText(name));
      if (meant !== null && mendControlText(meant) === set) continue;
      if (meant !== null && value !== null && meant !== value) {
        return { said: `${shown(name)} = ${shown(meant)}.`, does: `${shown(name)} = ${shown(value)}.` };
      }
    }
    for (const [name, { text }] of saidLocals) {
      if (!runs.has(name)) {
        return { said: `${shown(name)} = ${shown(text)}.`, does: `no local ${shown(name)} there.` };
      }
    }
    return null;
  }

  /** What would make the run's frame with an index what a frame says that differs from it, or why nothing can. */
  #edit(said: RawFrame, index: number, frame: TraceFrame): RunEdit | string {
    const does = splitFrame(frame.text);
    const written = readJsonObject(said.locals.text);
    if (!said.kind || !said.line) return 'it is no frame of a trace';
    if (said.kind.event !== does.kind?.event) return 'what a program does next cannot be set';
    if (!carriesLocals(said))
      return `what a frame ${said.kind.event === 'return' ? 'returns' : 'raises'} cannot be set`;
    if (!written) return 'its locals are no JSON object';
    const earlier = this.#edits.get(index);
    const locals = new Map(earlier?.locals);
    let isDifferent = false;
    const runs = this.#resolve(index);
    const before = frame.localsBefore < 0 ? null : this.#resolve(frame.localsBefore);
    for (const name of runs.keys()) {
      if (!written.has(name)) return `a local, here ${shown(name)}, cannot be taken away`;
    }
    for (const [name, { text }] of written) {
      const meant = text === unchanged ? (before?.get(name) ?? null) : plainRepr(text);
      const plain = mendControlText(name);
      if (meant === null || meant === runs.get(name) || mendControlText(meant) === locals.get(plain))
        continue;
      locals.set(plain, mendControlText(meant));
      isDifferent = true;
    }
    let lines = earlier?.lines ?? null;
    const { text: line } = said.line;
    if (!equalLines(line, does.line?.text ?? '')) {
      if (lines !== null) return 'Python did not go on from that line';
      if (said.kind.event === 'call') return 'which function is called cannot be set';
      lines = this.run.lines.flatMap((own, at) => (equalLines(line, own) ? [at + 1] : []));
      if (lines.length === 0) return 'the source has no such line';
    }
    if (!isDifferent && lines === (earlier?.lines ?? null)) {
      return 'nothing that can be set is different';
    }
    return { at: index, locals, lines };
  }

  /** The locals of one of the run's frames, found along its scope. */
  #resolve(index: number): ResolvedLocals {
    const chain: { readonly index: number; readonly frame: TraceFrame }[] = [];
    let at = index;
    while (at >= 0 && !this.#resolved.has(at)) {
      const frame = this.#frames.at(at);
      if (!frame) break;
      chain.push({ index: at, frame });
      at = frame.localsBefore;
    }
    let locals: ResolvedLocals = this.#resolved.get(at) ?? new Map<string, string | null>();
    for (const { frame } of chain.reverse()) {
      const before = locals;
      const own = new Map<string, string | null>();
      for (const [name, { text }] of readJsonObject(splitFrame(frame.text).locals.text) ?? []) {
        own.set(name, text === unchanged ? (before.get(name) ?? null) : text);
      }
      locals = own;
    }
    if (chain.length > 0) {
      // A history is followed forwards: what came before in this scope is not asked for again.
      this.#resolved.delete(at);
      this.#resolved.set(index, locals);
    }
    return locals;
  }

  #mayBeMissing(index: number, frame: TraceFrame): boolean {
    const { kind, argument } = splitFrame(frame.text);
    if (kind?.event !== 'return' || argument?.text !== '"None"') return false;
    return splitFrame(this.#frames.at(index - 1)?.text ?? '').kind?.event === 'exception';
  }
}

function carriesLocals({ kind }: RawFrame): boolean {
  return kind?.event === 'call' || kind?.event === 'line';
}

function argumentDifference(said: RawFrame, does: RawFrame): Difference | null {
  if (carriesLocals(does)) return null;
  const saidValue = argumentOf(said);
  const doesValue = argumentOf(does);
  if (saidValue !== undefined && doesValue !== undefined) {
    if (saidValue === null || doesValue === null || saidValue === doesValue) return null;
  }
  const at = `${does.kind?.event ?? ''} of `;
  return {
    said: `the ${at}${saidValue === undefined ? 'nothing readable' : shown(saidValue)}.`,
    does: `the ${at}${shown(doesValue ?? null)}.`,
  };
}

/** The value of a return or exception frame: null where it is not known, undefined where it is not readable. */
function argumentOf({ kind, argument }: RawFrame): string | null | undefined {
  const text = argument && readJsonString(argument.text)?.text;
  if (text === null || text === undefined) return undefined;
  if (text === unchanged) return null;
  return kind?.event === 'exception' ? exceptionRepr(plainRepr(text)) : plainRepr(text);
}

function equalLines(a: string, b: string): boolean {
  return a === b || plainLine(a) === plainLine(b);
}

function plainLine(line: string): string {
  return withoutMarker(withoutLineEnd(line));
}

/** What follows a beginning of a JSON text that may be spaced otherwise, or null if it is no beginning. */
function restAfterSpacing(begun: string, whole: string): string | null {
  let inString = false;
  let at = 0;
  for (let i = 0; i < begun.length; i++) {
    const char = begun.charAt(i);
    if (!inString) {
      if (/\s/.test(char)) continue;
      while (whole.charAt(at) === ' ') at++;
    }
    if (whole.charAt(at) !== char) return null;
    at++;
    if (char === '"') inString = !inString;
    else if (inString && char === '\\') {
      // The escaped character is never the string's end.
      if (++i === begun.length) break;
      if (whole.charAt(at) !== begun.charAt(i)) return null;
      at++;
    }
  }
  return whole.slice(at);
}

function describe(frame: RawFrame): string {
  if (!frame.kind) return `a text that is no frame: ${shown(frame.text)}.`;
  const article = frame.kind.event === 'exception' ? 'an' : 'a';
  const where = frame.line ? ` at ${shown(plainLine(frame.line.text).trim())}` : ' without a line';
  return `${article} ${frame.kind.event} frame${where}.`;
}

/** A text of the program as an error shows it: printable ASCII, not too long. */
function shown(text: string | null): string {
  if (text === null) return 'a value that is not known';
  const cut = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return jsonString(cut);
}

/**
 * The refusal of a history.
 *
 * @param why why the program was not changed to go that way; null where it is not to be
 */
export function differs(
  { number, said, does }: Pick<DifferentFrame, 'number' | 'said' | 'does'>,
  why: string | null = null,
): Refusal {
  return new Refusal(422, 'history_differs', errors.historyDiffers(number, said, does, why), 'prompt');
}
