import { HistoryCheck } from './history';
import { followedText, type KnownText } from './knownTexts';
import type { Continuation, Model } from './model';
import { type CwmPrompt, readCwmPrompt, type TraceJob } from './cwmPrompt';
import { type Run, type RunLimits, Runs, type StartRun } from './runs';
import { tokenize } from './tokens';
import type { TraceFrame } from './traceFrame';

/** How many source contexts are kept with what was found in them. */
const maxContexts = 32;

/** A CWM that is always right: it runs the program of the prompt and writes what happens. */
export class ReferenceModel implements Model {
  readonly id = 'neural-debug-reference-cwm';
  readonly #runs: Runs<TraceJob>;
  /** The tokens of source contexts, the newest last. */
  readonly #contextTokens = new Map<string, number>();

  constructor(start: StartRun<TraceJob>, limits: RunLimits) {
    this.#runs = new Runs(start, limits);
  }

  async continue(text: string, signal: AbortSignal): Promise<Continuation> {
    const prompt = readCwmPrompt(text);
    const { history, job } = prompt;
    const isNewContext = !this.#contextTokens.has(prompt.context);
    const contextTokens = this.#tokensOfContext(prompt.context);
    const run = this.#runs.hold(prompt.key, job, signal);
    const known = run.known.beginningOf(history);
    const check = new HistoryCheck(history, run.frames);
    const followed = followedText(history, await check.follow(known.end, signal), known);
    const frames = run.frames.from(followed.end.next, signal);
    const first = await frames.next();
    const rest = followed.end.length < history.length ? check.rest(followed.end, firstFrame(first)) : null;
    const cached = run.known.cachedTokens(history, followed.tokens);
    run.known.add(followed);
    return {
      promptTokens: contextTokens + followed.tokens,
      cachedTokens: isNewContext ? 0 : contextTokens + cached,
      text: texts(rest, first, frames),
      remember: (written) => {
        run.known.add(continued(followed, written, run));
      },
    };
  }

  close(): Promise<void> {
    this.#runs.close();
    return Promise.resolve();
  }

  #tokensOfContext(context: CwmPrompt['context']): number {
    const tokens = this.#contextTokens.get(context) ?? tokenize(context).length;
    this.#contextTokens.delete(context);
    this.#contextTokens.set(context, tokens);
    const [oldest] = this.#contextTokens.keys();
    if (this.#contextTokens.size > maxContexts && oldest !== undefined) this.#contextTokens.delete(oldest);
    return tokens;
  }
}

type Batch = IteratorResult<readonly TraceFrame[], unknown>;

function firstFrame(batch: Batch): TraceFrame | null {
  return batch.done ? null : ((batch.value[0] as TraceFrame | undefined) ?? null);
}

/** The text that follows: what is left of the frame that the prompt begins, if it does, and the frames after. */
async function* texts(
  rest: string | null,
  first: Batch,
  frames: AsyncGenerator<readonly TraceFrame[]>,
): AsyncGenerator<readonly string[]> {
  if (first.done) return;
  const batch = first.value as readonly TraceFrame[];
  const written = batch.map(({ text }) => text);
  yield rest === null ? written : [rest, ...written.slice(1)];
  for await (const more of frames) yield more.map(({ text }) => text);
}

/** A history with what was written after it. */
function continued(followed: KnownText, written: string, run: Run): KnownText {
  const text = followed.text + written;
  let { next, length, frames } = followed.end;
  for (let frame = run.frames.at(next); frame; frame = run.frames.at(next)) {
    // The first frame may be spaced otherwise: its end is then where its own text and the rest of it meet.
    const end = next === followed.end.next ? frameEndAfter(text, length) : length + frame.text.length;
    if (end < 0 || end > text.length) break;
    length = end;
    next++;
    frames++;
  }
  return followedText(text, { next, length, frames }, followed);
}
