import { createHash } from 'node:crypto';
import { errors } from '../errors';
import { editsKey, type RunEdit } from '../python/tracer';
import type { Seed } from './cwmPrompt';
import type { Dropped } from './completionRequest';
import { frameEndAfter } from './frameEnd';
import { type DifferentFrame, differs, type Followed, HistoryCheck, type HistoryEnd } from './history';
import type { RunFrames } from './history';
import type { KnownText } from './knownTexts';
import { Refusal } from './refusal';
import { type KeptLimits, type Run, Runs, type StartRun } from './runs';
import type { TraceContext } from './traceContext';
import type { TraceJob } from './traceRun';

/** How many courses of one program are remembered, so that they are found again by their histories. */
const maxCourses = 64;

/** How many states of one run may be changed. */
const maxEdits = 256;

/** How many frames that were written wrong, and how many descriptions of what was left out, are remembered. */
const maxWrong = 4096;
const maxTold = 256;

/** What is done with a history that is not what the program does. */
export type OnDivergence = 'refuse' | 'inject';

/** A run that is kept for a request until it is released, or the request ends. */
export interface HeldRun {
  readonly run: Run;
  /** Lets the run make room for others. */
  readonly release: () => void;
}

/** A run with the changes it is made with, and how far a history was followed along it. */
export interface FollowedCourse extends HeldRun {
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
export interface PromptFrames {
  readonly text: string;
  /** What is left out after the first of them. */
  readonly dropped: Dropped | null;
}

/** A program that a prompt asks for: all its courses have the key in common. */
export interface PromptProgram {
  readonly key: string;
  readonly context: TraceContext;
  readonly seed: Seed;
}

/** The courses that programs were seen to take: as they are, or changed as histories say. */
export class Courses {
  readonly #runs: Runs<TraceJob>;
  /** By the key of a program, the changes with which it was run, those that were asked for last at the end. */
  readonly #known = new Map<string, (readonly RunEdit[])[]>();
  /** The programs of which some courses are not known any more. */
  readonly #forgotten = new Set<string>();
  /** Frames that were written wrong, and that the program then followed, by the course that begins at them. */
  readonly #wrong = new Map<string, string>();
  /** The changes in what prompts left out, by what they said of it. */
  readonly #told = new Map<string, readonly RunEdit[]>();

  constructor(
    start: StartRun<TraceJob>,
    limits: KeptLimits,
    private readonly onDivergence: OnDivergence,
  ) {
    this.#runs = new Runs(start, limits);
  }

  close(): void {
    this.#runs.close();
  }

  /** Forgets the courses of programs whose keys begin with a text. */
  forget(beginning: string): void {
    for (const key of this.#known.keys()) if (key.startsWith(beginning)) this.#known.delete(key);
    for (const key of this.#forgotten) if (key.startsWith(beginning)) this.#forgotten.delete(key);
  }

  /**
   * Follows a history along the run that it is the beginning of, which may be one with changes: each frame that
   * is not what the program does is set in it, where that is wanted and can be, and the program run anew.
   *
   * @returns the course; several where frames are left out and nothing says which of them it is
   * @throws Refusal naming the first frame that is not the program's, and why it was not made so
   */
  async follow(
    program: PromptProgram,
    history: PromptFrames,
    signal: AbortSignal,
  ): Promise<readonly [FollowedCourse, ...FollowedCourse[]]> {
    const { dropped } = history;
    if (dropped?.digest === null) return this.#fitting(program, history, dropped, signal);
    const hidden = dropped && (await this.#editsIn(program, dropped, signal));
    const isIn = (edits: readonly RunEdit[]) =>
      !dropped || !hidden || editsKey(upTo(edits, dropped.count)) === editsKey(hidden);
    const begin = this.#likeliest(program.key, history, isIn) ?? hidden ?? [];
    const course = await this.#along(program, await this.#attempt(program, begin, history, null, signal), {
      history,
      signal,
    });
    this.remember(program.key, course.edits);
    return [course];
  }

  /** The run with changes, once it has made a frame; null where Python refuses the changes. */
  async changed(
    program: PromptProgram,
    edits: readonly RunEdit[],
    frame: number,
    signal: AbortSignal,
  ): Promise<HeldRun | null> {
    const held = this.#hold(program, edits, signal);
    try {
      await held.run.frames.from(frame, signal).next();
      return held;
    } catch (thrown) {
      held.release();
      if (isEditRefused(thrown)) return null;
      throw thrown;
    }
  }

  /** Takes note of a frame that was written wrong: the program follows it with the last of the changes. */
  wrote(key: string, edits: readonly RunEdit[], text: string): void {
    keep(this.#wrong, courseKey(key, edits), text, maxWrong);
  }

  /** Takes note of a course that prompts to come may be on. */
  remember(key: string, edits: readonly RunEdit[]): void {
    const own = courseKey(key, edits);
    const others = (this.#known.get(key) ?? []).filter((course) => courseKey(key, course) !== own);
    const courses = [...others, edits];
    if (courses.length > maxCourses) this.#forgotten.add(key);
    this.#known.set(key, courses.slice(-maxCourses));
  }

  /** Follows a history on from an attempt, changing the program where they differ. */
  async #along(
    program: PromptProgram,
    begin: Attempt,
    { history, signal }: { readonly history: PromptFrames; readonly signal: AbortSignal },
  ): Promise<FollowedCourse> {
    let attempt = begin;
    while (attempt.different) {
      const edits = this.#further(attempt.course.edits, attempt.different);
      attempt = await this.#attempt(program, edits, history, attempt.different, signal);
    }
    return attempt.course;
  }

  /**
   * The changes in the frames that a prompt leaves out. The client sends what others than the model wrote; of what
   * the model wrote it sends a digest, which tells whether it was right, or wrong as this server remembers it.
   *
   * @throws Refusal where nothing that is known has the digest
   */
  async #editsIn(program: PromptProgram, dropped: Dropped, signal: AbortSignal): Promise<readonly RunEdit[]> {
    const { count, digest } = dropped;
    const others = [...dropped.others].filter(([at]) => at <= count).sort(([a], [b]) => a - b);
    const told = `${program.key} ${JSON.stringify([count, digest, others])}`;
    const before = this.#told.get(told);
    if (before) return before;
    const wrong = (this.#known.get(program.key) ?? [])
      .map((edits) =>
        upTo(edits, count).filter(
          ({ at }) => !dropped.others.has(at) && this.#wrong.has(courseKey(program.key, upTo(edits, at))),
        ),
      )
      .reverse();
    for (const edits of distinct([...wrong, []])) {
      const all = await this.#withOthers(program, edits, others, signal);
      if ((await this.#digest(program, all, dropped, signal)) !== digest) continue;
      keep(this.#told, told, all, maxTold);
      return all;
    }
    throw new Refusal(422, 'history_unknown', errors.droppedUnknown(count), 'dropped_digest');
  }

  /** Changes to a program, and those that make it do what the frames say that others than the model wrote. */
  async #withOthers(
    program: PromptProgram,
    wrong: readonly RunEdit[],
    others: readonly (readonly [at: number, text: string])[],
    signal: AbortSignal,
  ): Promise<readonly RunEdit[]> {
    const left = [...wrong];
    let edits: readonly RunEdit[] = [];
    for (const [at, text] of others) {
      while ((left[0]?.at ?? Infinity) < at) edits = [...edits, ...left.splice(0, 1)];
      let before: DifferentFrame | null = null;
      for (;;) {
        const { different } = await this.#held(program, edits, signal, async (run) => {
          const compared = { frames: run.frames, lines: program.context.lines, edits };
          // The frames before are asked for so that what they set can be seen.
          for await (const batch of run.frames.from(0, signal)) if (run.frames.at(at) ?? !batch[0]) break;
          return new HistoryCheck(text, compared).follow({ next: at, length: 0, frames: at }, signal);
        }).catch((thrown: unknown): never => {
          throw before && isEditRefused(thrown) ? differs(before, lowered(thrown.error.message)) : thrown;
        });
        if (!different) break;
        edits = this.#further(edits, different);
        before = different;
      }
    }
    return [...edits, ...left];
  }

  /** The digest of what the model wrote on a course, of the frames that a prompt leaves out; null for fewer frames. */
  async #digest(
    program: PromptProgram,
    edits: readonly RunEdit[],
    { count, others }: Dropped,
    signal: AbortSignal,
  ): Promise<string | null> {
    const wrong = new Map(
      edits.map(({ at }) => [at, this.#wrong.get(courseKey(program.key, upTo(edits, at)))]),
    );
    return this.#held(program, edits, signal, async (run) => {
      const hash = createHash('sha256');
      let index = 1;
      for await (const batch of run.frames.from(index, signal)) {
        for (const { text } of batch) {
          if (!others.has(index)) hash.update(wrong.get(index) ?? text);
          if (++index > count) return hash.digest('hex');
        }
      }
      return null;
    });
  }

  /**
   * The courses that a history may be on of which nothing says what it leaves out: those on which all that it has is
   * what the program does, or all but its last frame, which may just have been changed. Where there is none, they
   * are those that go furthest with it.
   */
  async #fitting(
    program: PromptProgram,
    history: PromptFrames,
    { count }: Dropped,
    signal: AbortSignal,
  ): Promise<readonly [FollowedCourse, ...FollowedCourse[]]> {
    if (this.#forgotten.has(program.key)) throw undecided(count);
    const last = count + framesIn(history.text);
    // What was changed later is not in this history.
    const known = [[], ...(this.#known.get(program.key) ?? [])].map((edits) => upTo(edits, last - 1));
    const attempts: Attempt[] = [];
    for (const edits of distinct(known)) {
      attempts.push(
        await this.#attempt(program, edits, history, null, signal).catch((thrown: unknown): never => {
          // More courses fit than runs are kept.
          throw isBusy(thrown) && attempts.some(({ different }) => !different) ? undecided(count) : thrown;
        }),
      );
    }
    const reach = ({ different }: Attempt) => different?.number ?? Infinity;
    const furthest = Math.max(...attempts.map(reach));
    const likely = attempts.filter((attempt) => reach(attempt) >= Math.min(last, furthest));
    const courses = new Map<string, FollowedCourse>();
    let refused: unknown = null;
    for (const attempt of likely) {
      try {
        const course = await this.#along(program, attempt, { history, signal });
        courses.set(editsKey(course.edits), course);
      } catch (thrown) {
        if (!(thrown instanceof Refusal)) throw thrown;
        refused ??= thrown;
      }
    }
    const [first, ...others] = courses.values();
    if (!first) throw refused;
    for (const { edits } of [...others, first]) this.remember(program.key, edits);
    return [first, ...others];
  }

  /** Does something with a run that may make room for others afterwards. */
  async #held<T>(
    program: PromptProgram,
    edits: readonly RunEdit[],
    signal: AbortSignal,
    use: (run: Run) => Promise<T>,
  ): Promise<T> {
    const { run, release } = this.#hold(program, edits, signal);
    try {
      return await use(run);
    } finally {
      release();
    }
  }

  /** @param before the difference that the last change was made for, to be named where it cannot be */
  async #attempt(
    program: PromptProgram,
    edits: readonly RunEdit[],
    { text, dropped }: PromptFrames,
    before: DifferentFrame | null,
    signal: AbortSignal,
  ): Promise<Attempt> {
    // A course that is left makes room for others: only the last one is held for the answer.
    const { run, release } = this.#hold(program, edits, signal);
    const known = run.known(dropped?.count ?? 0).beginningOf(text);
    const compared = { frames: run.frames, lines: program.context.lines, edits };
    const check = new HistoryCheck(text, compared);
    let followed: Followed;
    try {
      const begin = laterEnd(known.end, program.seed.end);
      followed =
        !dropped || known.end.length > 0
          ? await check.follow(begin, signal)
          : await followWindow(text, dropped.count, compared, check, begin, signal);
    } catch (thrown) {
      release();
      // Python itself says at the changed state that it cannot be.
      if (before && isEditRefused(thrown)) throw differs(before, lowered(thrown.error.message));
      throw thrown;
    }
    const { different, end } = followed;
    if (different) release();
    return { course: { run, check, known, end, edits, release }, different };
  }

  /** The changes with a further one, which makes a history's frame that differs the program's. */
  #further(edits: readonly RunEdit[], different: DifferentFrame): readonly RunEdit[] {
    if (this.onDivergence === 'refuse') throw differs(different);
    const { edit } = different;
    if (typeof edit === 'string') throw differs(different, edit);
    if (edits.length === maxEdits) throw differs(different, `a run is changed ${maxEdits} times at most`);
    return [...edits.filter(({ at }) => at < edit.at), edit];
  }

  /** The changes of the course on which most of a history is known; null where it is known on none. */
  #likeliest(
    key: string,
    { text, dropped }: PromptFrames,
    canBe: (edits: readonly RunEdit[]) => boolean,
  ): readonly RunEdit[] | null {
    let best: readonly RunEdit[] | null = null;
    let length = 0;
    for (const edits of [[], ...(this.#known.get(key) ?? [])]) {
      const known = this.#runs
        .get(courseKey(key, edits))
        ?.known(dropped?.count ?? 0)
        .beginningOf(text).end;
      // The history must have the changes in it.
      if (!known || known.next <= (edits.at(-1)?.at ?? -1) || known.length <= length || !canBe(edits)) {
        continue;
      }
      best = edits;
      ({ length } = known);
    }
    return best;
  }

  #hold({ key, context, seed }: PromptProgram, edits: readonly RunEdit[], signal: AbortSignal): HeldRun {
    signal.throwIfAborted();
    const holding = new AbortController();
    const release = () => {
      signal.removeEventListener('abort', release);
      holding.abort(signal.reason);
    };
    const job = { context, arguments: seed.arguments, edits };
    const run = this.#runs.hold(courseKey(key, edits), job, holding.signal);
    signal.addEventListener('abort', release, { once: true });
    return { run, release };
  }
}

/** The refusal of a prompt that several courses fit which go on differently. */
export function undecided(dropped: number): Refusal {
  return new Refusal(422, 'history_undecided', errors.droppedUndecided(dropped), 'dropped_frames');
}

const editRefusedCode = errors.editRefused(1, '').code;
const busyCode = errors.runsBusy(1).code;

function isEditRefused(thrown: unknown): thrown is Refusal {
  return thrown instanceof Refusal && thrown.error.code === editRefusedCode;
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Refusal && thrown.error.code === busyCode;
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

/** The changes up to a frame. */
function upTo(edits: readonly RunEdit[], last: number): readonly RunEdit[] {
  return edits.filter(({ at }) => at <= last);
}

function distinct(courses: readonly (readonly RunEdit[])[]): Iterable<readonly RunEdit[]> {
  return new Map(courses.map((edits) => [editsKey(edits), edits])).values();
}

/** Keeps a value by a key, and forgets the oldest of too many. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

function framesIn(text: string): number {
  let count = 0;
  for (let end = frameEndAfter(text, 0); end >= 0; end = frameEndAfter(text, end)) count++;
  return count;
}

/** A sentence as what follows a colon. */
function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
}

function laterEnd(a: HistoryEnd, b: HistoryEnd | null): HistoryEnd {
  return b && b.length > a.length ? b : a;
}
