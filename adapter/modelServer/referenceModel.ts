import { errors } from '../errors';
import { editsKey, type RunEdit } from '../python/tracer';
import { dividePrompt, readSeed, type Seed } from './cwmPrompt';
import { frameEndAfter } from './frameEnd';
import { type DifferentFrame, differs, type Followed, HistoryCheck, type HistoryEnd } from './history';
import { followedText, type KnownText } from './knownTexts';
import type { Continuation, ContinueRequest, Model, WrittenText } from './model';
import { Refusal } from './refusal';
import { type Run, type KeptLimits, Runs, type StartRun } from './runs';
import { readTraceContext, type TraceContext } from './traceContext';
import type { TraceFrame } from './traceFrame';
import type { TraceJob } from './traceRun';

/** How many source contexts are kept with what was read from them. */
const maxContexts = 32;

/** How many changed courses of one run are remembered, so that they are found again by their histories. */
const maxCourses = 32;

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
  /** By the key of a program, the changes with which it was run, the newest last. */
  readonly #courses = new Map<string, (readonly RunEdit[])[]>();

  constructor(
    start: StartRun<TraceJob>,
    limits: KeptLimits,
    private readonly onDivergence: OnDivergence = 'refuse',
  ) {
    this.#runs = new Runs(start, limits);
  }

  async continue({ text }: ContinueRequest, signal: AbortSignal): Promise<Continuation> {
    const { head, history } = dividePrompt(text);
    const cachedContext = this.#contexts.get(head)?.tokens ?? 0;
    const context = await this.#context(head);
    const seed = readSeed(history, context.entry.name, context.entry.parameters);
    const program = { key: JSON.stringify([head, ...seed.arguments]), context, seed };

    const { run, check, known, end } = await this.#follow(program, history, signal);
    const frames = run.frames.from(end.next, signal);
    const first = await frames.next();
    const isBegun = end.length < history.length;
    const rest = isBegun ? check.rest(end, first.done ? null : (first.value[0] ?? null)) : null;

    const followed = followedText(history, end, known);
    const cachedHistory = run.known.cachedTokens(history, followed.tokens);
    run.known.add(followed);
    return {
      promptTokens: context.tokens + followed.tokens,
      cachedTokens: cachedContext + cachedHistory,
      text: first.done ? nothing() : following(rest, first.value, frames),
      remember: (written) => {
        run.known.add(continued(followed, written));
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
  async #follow(program: PromptProgram, history: string, signal: AbortSignal): Promise<FollowedCourse> {
    let edits = this.#likeliest(program.key, history);
    let different: DifferentFrame | null = null;
    for (;;) {
      // A course that is left makes room for others: only the last one is held for the answer.
      const holding = new AbortController();
      const release = () => {
        holding.abort(signal.reason);
      };
      signal.addEventListener('abort', release, { once: true });
      const run = this.#hold(program, edits, holding.signal);
      const known = run.known.beginningOf(history);
      const check = new HistoryCheck(history, { frames: run.frames, lines: program.context.lines, edits });
      let followed: Followed;
      try {
        followed = await check.follow(laterEnd(known.end, program.seed.end), signal);
      } catch (thrown) {
        // Python itself says at the changed state that it cannot be.
        if (different && thrown instanceof Refusal && thrown.error.code === editRefusedCode) {
          throw differs(different, lowered(thrown.error.message));
        }
        throw thrown;
      }
      ({ different } = followed);
      if (!different) {
        this.#remember(program.key, edits);
        return { run, check, known, end: followed.end };
      }
      signal.removeEventListener('abort', release);
      release();
      edits = this.#further(edits, different);
    }
  }

  /** The changes with a further one, which makes a history's frame that differs the program's. */
  #further(edits: readonly RunEdit[], different: DifferentFrame): readonly RunEdit[] {
    if (this.onDivergence === 'refuse') throw differs(different);
    const { edit } = different;
    if (typeof edit === 'string') throw differs(different, edit);
    if (edits.length === maxEdits) throw differs(different, `a run is changed ${maxEdits} times at most`);
    return [...edits.filter(({ at }) => at !== edit.at), edit].sort((a, b) => a.at - b.at);
  }

  /** The changes of the course on which most of a history is known; none where there is no such course. */
  #likeliest(key: string, history: string): readonly RunEdit[] {
    let best: readonly RunEdit[] = [];
    let length = this.#runs.get(courseKey(key, best))?.known.beginningOf(history).end.length ?? 0;
    for (const edits of this.#courses.get(key) ?? []) {
      const known = this.#runs.get(courseKey(key, edits))?.known.beginningOf(history).end;
      // The history must have the changes in it.
      if (!known || known.next <= (edits.at(-1)?.at ?? -1) || known.length <= length) continue;
      best = edits;
      ({ length } = known);
    }
    return best;
  }

  #remember(key: string, edits: readonly RunEdit[]): void {
    if (edits.length === 0) return;
    const own = courseKey(key, edits);
    const others = (this.#courses.get(key) ?? []).filter((course) => courseKey(key, course) !== own);
    this.#courses.set(key, [...others, edits].slice(-maxCourses));
  }

  #hold({ key, context, seed }: PromptProgram, edits: readonly RunEdit[], signal: AbortSignal): Run {
    return this.#runs.hold(courseKey(key, edits), { context, arguments: seed.arguments, edits }, signal);
  }
}

const editRefusedCode = errors.editRefused(1, '').code;

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
