import { dividePrompt, readSeed, type Seed } from './cwmPrompt';
import { frameEndAfter } from './frameEnd';
import { HistoryCheck, type HistoryEnd } from './history';
import { followedText, type KnownText } from './knownTexts';
import type { Continuation, Model } from './model';
import { type Run, type KeptLimits, Runs, type StartRun } from './runs';
import { readTraceContext, type TraceContext } from './traceContext';
import type { TraceFrame } from './traceFrame';
import type { TraceJob } from './traceRun';

/** How many source contexts are kept with what was read from them. */
const maxContexts = 32;

/** A CWM that is always right: it runs the program of the prompt and writes what happens. */
export class ReferenceModel implements Model {
  readonly id = 'neural-debug-reference-cwm';
  readonly #runs: Runs<TraceJob>;
  /** What was read from the heads of prompts before, the newest last. */
  readonly #contexts = new Map<string, TraceContext>();

  constructor(start: StartRun<TraceJob>, limits: KeptLimits) {
    this.#runs = new Runs(start, limits);
  }

  async continue(text: string, signal: AbortSignal): Promise<Continuation> {
    const { head, history } = dividePrompt(text);
    const cachedContext = this.#contexts.get(head)?.tokens ?? 0;
    const context = await this.#context(head);
    const seed = readSeed(history, context.entry.name, context.entry.parameters);
    const run = this.#run(head, context, seed, signal);

    const known = run.known.beginningOf(history);
    const check = new HistoryCheck(history, run.frames);
    const end = await check.follow(laterEnd(known.end, seed.end), signal);
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
    if (this.#contexts.size > maxContexts && oldest !== undefined) this.#contexts.delete(oldest);
    return context;
  }

  #run(head: string, context: TraceContext, seed: Seed, signal: AbortSignal): Run {
    const key = JSON.stringify([head, ...seed.arguments]);
    return this.#runs.hold(key, { context, arguments: seed.arguments }, signal);
  }
}

function laterEnd(a: HistoryEnd, b: HistoryEnd | null): HistoryEnd {
  return b && b.length > a.length ? b : a;
}

async function* nothing(): AsyncGenerator<readonly string[]> {
  // The program has ended, and so has the text.
}

/** The text that follows: what is left of a frame that the prompt begins, if it does, and the frames after. */
async function* following(
  rest: string | null,
  first: readonly TraceFrame[],
  frames: AsyncIterable<readonly TraceFrame[]>,
): AsyncGenerator<readonly string[]> {
  const texts = first.map(({ text }) => text);
  yield rest === null ? texts : [rest, ...texts.slice(1)];
  for await (const more of frames) yield more.map(({ text }) => text);
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
