import { PythonSource } from '../python/source';
import type { RunEdit } from '../python/tracer';
import { AgreedFrames } from './agreedFrames';
import type { Dropped } from './completionRequest';
import {
  Courses,
  type FollowedCourse,
  type HeldRun,
  type OnDivergence,
  type PromptProgram,
  undecided,
} from './courses';
import { dividePrompt, readSeed } from './cwmPrompt';
import type { Faults } from './faults';
import { frameEndAfter } from './frameEnd';
import { followedText, type KnownText } from './knownTexts';
import type { Continuation, ContinueRequest, Model, WrittenText } from './model';
import type { KeptLimits, StartRun } from './runs';
import { readTraceContext, type TraceContext } from './traceContext';
import type { FrameSource, TraceFrame } from './traceFrame';
import type { TraceJob } from './traceRun';
import { erringFrame } from './wrongFrames';

/** How many source contexts are kept with what was read from them. */
const maxContexts = 32;

/** A CWM that is always right: it runs the program of the prompt and writes what happens. */
export class ReferenceModel implements Model {
  readonly id = 'neural-debug-reference-cwm';
  readonly #courses: Courses;
  /** What was read from the heads of prompts before, the newest last. */
  readonly #contexts = new Map<string, TraceContext>();
  readonly #sources = new WeakMap<TraceContext, PythonSource>();
  /** How many samples without a seed of their own were asked for. */
  #samples = 0;

  constructor(
    start: StartRun<TraceJob>,
    limits: KeptLimits,
    private readonly onDivergence: OnDivergence = 'refuse',
    private readonly faults: Faults | null = null,
  ) {
    this.#courses = new Courses(start, limits, onDivergence);
  }

  async continue({ text, dropped, sample }: ContinueRequest, signal: AbortSignal): Promise<Continuation> {
    const { head, history } = dividePrompt(text);
    const cachedContext = this.#contexts.get(head)?.tokens ?? 0;
    const context = await this.#context(head);
    const seed = readSeed(history, context.entry.name, context.entry.parameters);
    const program = { key: JSON.stringify([head, ...seed.arguments]), context, seed };

    const courses = await this.#courses.follow(program, { text: history, dropped }, signal);
    const [{ check, end }] = courses;
    const agreed = agreedFrames(courses, dropped);
    const frames = agreed.from(end.next, signal);
    const first = await frames.next();
    const isBegun = end.length < history.length;
    const rest = isBegun ? check.rest(end, first.done ? null : (first.value[0] ?? null)) : null;

    const texts = courses.map(({ run, known }) => {
      const followed = followedText(history, end, known);
      const knownTexts = run.known(dropped?.count ?? 0);
      const cached = knownTexts.cachedTokens(history, followed.tokens);
      knownTexts.add(followed);
      return { followed, knownTexts, cached };
    });
    const [told] = texts;
    const erring = this.faults && { faults: this.faults, sample: this.#sampleKey(sample), right: Infinity };
    return {
      promptTokens: context.tokens + (told?.followed.tokens ?? 0),
      cachedTokens: cachedContext + (told?.cached ?? 0),
      place: { program: program.key, frame: end.next },
      text: first.done
        ? nothing()
        : erring
          ? this.#erring(program, courses, agreed, rest, erring, signal)
          : following(rest, first.value, frames),
      remember: (written) => {
        for (const { followed, knownTexts } of texts) {
          knownTexts.add(continued(followed, written.slice(0, erring?.right)));
        }
      },
    };
  }

  close(): Promise<void> {
    this.#courses.close();
    return Promise.resolve();
  }

  async #context(head: string): Promise<TraceContext> {
    const context = this.#contexts.get(head) ?? (await readTraceContext(head));
    this.#contexts.delete(head);
    this.#contexts.set(head, context);
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size > maxContexts && oldest !== undefined) {
      this.#contexts.delete(oldest);
      this.#courses.forget(JSON.stringify([oldest]).slice(0, -1));
    }
    return context;
  }

  /**
   * The text that a model writes which errs: with the faults that are drawn. Where the program is made to follow
   * what a history says, it follows what is written here too.
   *
   * @param agreed the frames that the courses have in common
   */
  async *#erring(
    program: PromptProgram,
    [course, ...others]: readonly [FollowedCourse, ...FollowedCourse[]],
    agreed: FrameSource,
    rest: string | null,
    erring: { readonly faults: Faults; readonly sample: string; right: number },
    signal: AbortSignal,
  ): AsyncGenerator<readonly WrittenText[]> {
    let frames = agreed;
    let { edits } = course;
    let next = course.end.next;
    let length = 0;
    let begun = rest;
    const canFollow = this.onDivergence === 'inject' && others.length === 0;
    const canBe = async (edit: RunEdit) => {
      const tried = canFollow && (await this.#courses.changed(program, [...edits, edit], edit.at, signal));
      if (tried) tried.release();
      return tried !== null;
    };
    let held: HeldRun = course;
    try {
      for (let isLeft = true; isLeft;) {
        isLeft = false;
        for await (const batch of frames.from(next, signal)) {
          for (const frame of batch) {
            const place = { program: program.key, frame: next };
            const lines = await this.#linesOf(program.context, frame.line);
            const errs =
              begun === null
                ? await erringFrame(frame, erring.faults, place, erring.sample, length === 0, lines, canBe)
                : { text: begun, odds: [], edit: null, isWrong: false };
            begun = null;
            if (errs.isWrong) erring.right = Math.min(erring.right, length);
            length += errs.text.length;
            next++;
            const changed = errs.edit && canFollow ? [...edits, errs.edit] : null;
            if (changed) this.#courses.wrote(program.key, changed, errs.text);
            // One by one: what nobody asks for is not drawn.
            yield [{ text: errs.text, odds: errs.odds }];
            const other = changed && (await this.#courses.changed(program, changed, next - 1, signal));
            if (changed && other) {
              // A run that is left makes room for others.
              held.release();
              held = other;
              frames = other.run.frames;
              edits = changed;
              isLeft = true;
              break;
            }
          }
          if (isLeft) break;
        }
      }
    } finally {
      // The client may leave out of its next prompt what was written here.
      if (edits !== course.edits) this.#courses.remember(program.key, edits);
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
}

/** What the courses that a prompt may be on have in common. */
function agreedFrames(
  [first, ...others]: readonly [FollowedCourse, ...FollowedCourse[]],
  dropped: Dropped | null,
): FrameSource {
  const frames = others.map(({ run }) => run.frames);
  return new AgreedFrames(first.run.frames, frames, () => undecided(dropped?.count ?? 0));
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
