import { errors } from '../errors';
import { PythonSource } from '../python/source';
import { editsKey, type RunEdit } from '../python/tracer';
import { dividePrompt, readSeed, type Seed } from './cwmPrompt';
import { frameEndAfter } from './frameEnd';
import { erringFrame } from './wrongFrames';
import type { Faults } from './faults';
import {
  type DifferentFrame,
  differs,
  type Followed,
  HistoryCheck,
  type HistoryEnd,
  type RunFrames,
} from './history';
import { followedText, type KnownText } from './knownTexts';
import type { Continuation, ContinueRequest, Model, WrittenText } from './model';
import { Refusal } from './refusal';
import { type Run, type KeptLimits, Runs, type StartRun } from './runs';
import { readTraceContext, type TraceContext } from './traceContext';
import type { TraceFrame } from './traceFrame';
import type { TraceJob } from './traceRun';

/** How many source contexts are kept with what was read from them. */
const maxContexts = 32;

/** How many courses of one program are remembered, so that they are found again by their histories. */
const maxCourses = 32;

/** How many of them are tried with a history that may be any of them. */
const maxTried = 8;

/** How many states of one run may be changed. */
const maxEdits = 256;

/** What is done with a history that is not what the program does. */
export type OnDivergence = 'refuse' | 'inject';

/** A run with the changes it is made with, and how far a history was followed along it. */
interface FollowedCourse {
  readonly run: Run;
  readonly check: HistoryCheck;
  readonly known: KnownText;
  readonly end: HistoryEnd;
  readonly edits: readonly RunEdit[];
}

/** How far one course goes with a history; a history that it leaves is not held. */
interface Attempt {
  readonly course: FollowedCourse;
  readonly different: DifferentFrame | null;
}

/** The frames of a prompt. */
interface PromptHistory {
  readonly text: string;
  /** How many frames are left out after the first one. */
  readonly dropped: number;
}

/** A program that a prompt asks for: all its courses have the key in common. */
interface PromptProgram {
  readonly key: string;
  readonly context: TraceContext;
  readonly seed: Seed;
}

/** A CWM that is always right: it runs the program of the prompt and writes what happens. */
export class ReferenceModel implements Model {
  readonly id = 'neural-debug-reference-cwm';
  readonly #runs: Runs<TraceJob>;
  /** What was read from the heads of prompts before, the newest last. */
  readonly #contexts = new Map<string, TraceContext>();
  /** By the key of a program, the changes with which it was run, those that were asked for last at the end. */
  readonly #courses = new Map<string, (readonly RunEdit[])[]>();
  readonly #sources = new WeakMap<TraceContext, PythonSource>();
  /** How many samples without a seed of their own were asked for. */
  #samples = 0;

  constructor(
    start: StartRun<TraceJob>,
    limits: KeptLimits,
    private readonly onDivergence: OnDivergence = 'refuse',
    private readonly faults: Faults | null = null,
  ) {
    this.#runs = new Runs(start, limits);
  }

  async continue(
    { text, droppedFrames, sample }: ContinueRequest,
    signal: AbortSignal,
  ): Promise<Continuation> {
    const { head, history } = dividePrompt(text);
    const cachedContext = this.#contexts.get(head)?.tokens ?? 0;
    const context = await this.#context(head);
    const seed = readSeed(history, context.entry.name, context.entry.parameters);
    const program = { key: JSON.stringify([head, ...seed.arguments]), context, seed };

    const course = await this.#follow(program, { text: history, dropped: droppedFrames }, signal);
    const { run, check, known, end } = course;
    const frames = run.frames.from(end.next, signal);
    const first = await frames.next();
    const isBegun = end.length < history.length;
    const rest = isBegun ? check.rest(end, first.done ? null : (first.value[0] ?? null)) : null;

    const followed = followedText(history, end, known);
    const knownTexts = run.known(droppedFrames);
    const cachedHistory = knownTexts.cachedTokens(history, followed.tokens);
    knownTexts.add(followed);
    const erring = this.faults && { faults: this.faults, sample: this.#sampleKey(sample), right: Infinity };
    return {
      promptTokens: context.tokens + followed.tokens,
      cachedTokens: cachedContext + cachedHistory,
      place: { program: program.key, frame: end.next },
      text: first.done
        ? nothing()
        : erring
          ? this.#erring(program, course, rest, erring, signal)
          : following(rest, first.value, frames),
      remember: (written) => {
        knownTexts.add(continued(followed, written.slice(0, erring?.right)));
      },
    };
  }

  close(): Promise<void> {
    this.#runs.close();
    return Promise.resolve();
  }

  async #context(head: string): Promise<TraceContext> {
    const context = this.#contexts.get(head) ?? (await readTraceContext(head));
    this.#contexts.delete(head);
    this.#contexts.set(head, context);
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size > maxContexts && oldest !== undefined) {
      this.#contexts.delete(oldest);
      for (const key of this.#courses.keys()) {
        if (key.startsWith(JSON.stringify([oldest]).slice(0, -1))) this.#courses.delete(key);
      }
    }
    return context;
  }

  /**
   * Follows a history along the run that it is the beginning of, which may be one with changes: each frame that
   * is not what the program does is set in it, where that is wanted and can be, and the program run anew.
   *
   * @throws Refusal naming the first frame that is not the program's, and why it was not made so
   */
  async #follow(
    program: PromptProgram,
    history: PromptHistory,
    signal: AbortSignal,
  ): Promise<FollowedCourse> {
    let attempt = await this.#furthest(program, history, signal);
    while (attempt.different) {
      const edits = this.#further(attempt.course.edits, attempt.different);
      attempt = await this.#attempt(program, edits, history, attempt.different, signal);
    }
    this.#remember(program.key, attempt.course.edits);
    return attempt.course;
  }

  /**
   * The course of those that are known on which most of a history is what the program does. What was changed may be
   * in frames that are left out: of courses that differ there only, it is the one that had most of the same prompt
   * before, or else the one that was asked for last, which may be the wrong one.
   */
  async #furthest(program: PromptProgram, history: PromptHistory, signal: AbortSignal): Promise<Attempt> {
    const likeliest = this.#likeliest(program.key, history);
    if (history.dropped === 0) return this.#attempt(program, likeliest ?? [], history, null, signal);
    // What was changed later is not in this history.
    const length = history.dropped + framesIn(history.text);
    const tried = (this.#courses.get(program.key) ?? []).slice(-maxTried).reverse();
    const courses = new Map(
      [...(likeliest ? [likeliest] : []), ...tried, []].map((course) => {
        const edits = course.filter(({ at }) => at < length);
        return [courseKey(program.key, edits), edits] as const;
      }),
    );
    const [first = [], ...others] = courses.values();
    let best = await this.#attempt(program, first, history, null, signal);
    for (const edits of others) {
      if (!best.different) break;
      const attempt = await this.#attempt(program, edits, history, null, signal);
      if (!attempt.different || attempt.different.number > best.different.number) best = attempt;
    }
    return best;
  }

  /** @param before the difference that the last change was made for, to be named where it cannot be */
  async #attempt(
    program: PromptProgram,
    edits: readonly RunEdit[],
    { text, dropped }: PromptHistory,
    before: DifferentFrame | null,
    signal: AbortSignal,
  ): Promise<Attempt> {
    // A course that is left makes room for others: only the last one is held for the answer.
    const holding = new AbortController();
    const release = () => {
      holding.abort(signal.reason);
    };
    signal.addEventListener('abort', release, { once: true });
    const run = this.#hold(program, edits, holding.signal);
    const known = run.known(dropped).beginningOf(text);
    const compared = { frames: run.frames, lines: program.context.lines, edits };
    const check = new HistoryCheck(text, compared);
    let followed: Followed;
    try {
      const begin = laterEnd(known.end, program.seed.end);
      followed =
        dropped === 0 || known.end.length > 0
          ? await check.follow(begin, signal)
          : await followWindow(text, dropped, compared, check, begin, signal);
    } catch (thrown) {
      // Python itself says at the changed state that it cannot be.
      if (before && isEditRefused(thrown)) throw differs(before, lowered(thrown.error.message));
      throw thrown;
    }
    const { different, end } = followed;
    if (different) {
      signal.removeEventListener('abort', release);
      release();
    }
    return { course: { run, check, known, end, edits }, different };
  }

  /**
   * The text that a model writes which errs: with the faults that are drawn. Where the program is made to follow
   * what a history says, it follows what is written here too.
   */
  async *#erring(
    program: PromptProgram,
    course: FollowedCourse,
    rest: string | null,
    erring: { readonly faults: Faults; readonly sample: string; right: number },
    signal: AbortSignal,
  ): AsyncGenerator<readonly WrittenText[]> {
    let { run, edits } = course;
    let next = course.end.next;
    let length = 0;
    let begun = rest;
    const canFollow = this.onDivergence === 'inject';
    const canBe = async (edit: RunEdit) =>
      !canFollow || (await this.#changed(program, [...edits, edit], edit.at, signal)) !== null;
    for (let isLeft = true; isLeft;) {
      isLeft = false;
      for await (const batch of run.frames.from(next, signal)) {
        for (const frame of batch) {
          const place = { program: program.key, frame: next };
          const others = await this.#linesOf(program.context, frame.line);
          const errs =
            begun === null
              ? await erringFrame(frame, erring.faults, place, erring.sample, others, canBe)
              : { text: begun, odds: [], edit: null, isWrong: false };
          begun = null;
          if (errs.isWrong) erring.right = Math.min(erring.right, length);
          length += errs.text.length;
          next++;
          // One by one: what nobody asks for is not drawn.
          yield [{ text: errs.text, odds: errs.odds }];
          const changed = errs.edit && canFollow ? [...edits, errs.edit] : null;
          const other = changed && (await this.#changed(program, changed, next - 1, signal));
          if (changed && other) {
            run = other;
            edits = changed;
            isLeft = true;
            break;
          }
        }
        if (isLeft) break;
      }
    }
  }

  /** The run with changes, once it has made a frame; null where Python refuses the changes. */
  async #changed(
    program: PromptProgram,
    edits: readonly RunEdit[],
    frame: number,
    signal: AbortSignal,
  ): Promise<Run | null> {
    const run = this.#hold(program, edits, signal);
    try {
      await run.frames.from(frame, signal).next();
      return run;
    } catch (thrown) {
      if (isEditRefused(thrown)) return null;
      throw thrown;
    }
  }

  /** The lines on which the function of a line can be stopped, by number, with their texts. */
  async #linesOf(context: TraceContext, line: number): Promise<ReadonlyMap<number, string>> {
    const source = this.#sources.get(context) ?? (await PythonSource.parse(context.source));
    this.#sources.set(context, source);
    const unit = source.unitsOfLine(line).at(-1);
    return new Map([...(unit?.lines ?? [])].map((each) => [each, context.lines[each - 1] ?? '']));
  }

  #sampleKey(sample: ContinueRequest['sample']): string {
    if (!sample) return '';
    return sample.seed === null ? `sample ${this.#samples++}` : `seed ${sample.seed}`;
  }

  /** The changes with a further one, which makes a history's frame that differs the program's. */
  #further(edits: readonly RunEdit[], different: DifferentFrame): readonly RunEdit[] {
    if (this.onDivergence === 'refuse') throw differs(different);
    const { edit } = different;
    if (typeof edit === 'string') throw differs(different, edit);
    if (edits.length === maxEdits) throw differs(different, `a run is changed ${maxEdits} times at most`);
    return [...edits.filter(({ at }) => at !== edit.at), edit].sort((a, b) => a.at - b.at);
  }

  /** The changes of the course on which most of a history is known; null where it is known on none. */
  #likeliest(key: string, { text, dropped }: PromptHistory): readonly RunEdit[] | null {
    let best: readonly RunEdit[] | null = null;
    let length = 0;
    for (const edits of [[], ...(this.#courses.get(key) ?? [])]) {
      const known = this.#runs.get(courseKey(key, edits))?.known(dropped).beginningOf(text).end;
      // The history must have the changes in it.
      if (!known || known.next <= (edits.at(-1)?.at ?? -1) || known.length <= length) continue;
      best = edits;
      ({ length } = known);
    }
    return best;
  }

  #remember(key: string, edits: readonly RunEdit[]): void {
    const own = courseKey(key, edits);
    const others = (this.#courses.get(key) ?? []).filter((course) => courseKey(key, course) !== own);
    this.#courses.set(key, [...others, edits].slice(-maxCourses));
  }

  #hold({ key, context, seed }: PromptProgram, edits: readonly RunEdit[], signal: AbortSignal): Run {
    return this.#runs.hold(courseKey(key, edits), { context, arguments: seed.arguments, edits }, signal);
  }
}

const editRefusedCode = errors.editRefused(1, '').code;

function framesIn(text: string): number {
  let count = 0;
  for (let end = frameEndAfter(text, 0); end >= 0; end = frameEndAfter(text, end)) count++;
  return count;
}

function isEditRefused(thrown: unknown): thrown is Refusal {
  return thrown instanceof Refusal && thrown.error.code === editRefusedCode;
}

/** Follows a history that leaves out frames after its first one. */
async function followWindow(
  text: string,
  dropped: number,
  compared: RunFrames,
  check: HistoryCheck,
  begin: HistoryEnd,
  signal: AbortSignal,
): Promise<Followed> {
  const length = Math.max(0, frameEndAfter(text, 0));
  const seed = await new HistoryCheck(text.slice(0, length), compared).follow(begin, signal);
  if (seed.different) return seed;
  return check.follow({ next: 1 + dropped, length, frames: 1 + dropped }, signal);
}

/** A text that equal courses of a program have in common, and no others. */
function courseKey(key: string, edits: readonly RunEdit[]): string {
  return edits.length === 0 ? key : `${key} ${editsKey(edits)}`;
}

/** A sentence as what follows a colon. */
function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
}

function laterEnd(a: HistoryEnd, b: HistoryEnd | null): HistoryEnd {
  return b && b.length > a.length ? b : a;
}

async function* nothing(): AsyncGenerator<readonly WrittenText[]> {
  // The program has ended, and so has the text.
}

/** The text that follows: what is left of a frame that the prompt begins, if it does, and the frames after. */
async function* following(
  rest: string | null,
  first: readonly TraceFrame[],
  frames: AsyncIterable<readonly TraceFrame[]>,
): AsyncGenerator<readonly WrittenText[]> {
  const texts = first.map(({ text }) => text);
  yield (rest === null ? texts : [rest, ...texts.slice(1)]).map(written);
  for await (const more of frames) yield more.map(({ text }) => written(text));
}

function written(text: string): WrittenText {
  return { text, odds: [] };
}

/** A history with what was written after it. */
function continued(followed: KnownText, written: string): KnownText {
  const text = followed.text + written;
  let { next, length, frames } = followed.end;
  for (let end = frameEndAfter(text, length); end >= 0; end = frameEndAfter(text, length)) {
    length = end;
    next++;
    frames++;
  }
  return followedText(text, { next, length, frames }, followed);
}
