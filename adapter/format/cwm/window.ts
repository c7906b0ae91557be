import { createHash } from 'node:crypto';
import type { DroppedFrames, PromptHistory, SourceTraits } from '../../completion/completion';
import type { State } from '../../trajectory/state';
import type { Trajectory } from '../../trajectory/trajectory';
import { splitFrame } from './frames';
import { controlTokens } from './tokens';
import { writeFrame } from './writer';

/** Which frames of a trajectory a prompt has, apart from the seeded first one. */
export interface Window {
  /** The first state whose frame is there. */
  readonly from: number;
  /** The frames that were left out before it. */
  readonly dropped: DroppedFrames;
}

/** The frame that a state adds to a prompt. */
export interface WrittenFrame {
  readonly index: number;
  /** Empty for states that have none. */
  readonly text: string;
  /** Whether the model wrote it. */
  readonly isModels: boolean;
}

/** A prompt that may have lost its oldest frames. */
export interface WindowedPrompt {
  readonly prompt: PromptHistory;
  /** Null where nothing is left out. */
  readonly window: Window | null;
}

/** The context of CWM, for servers that do not tell theirs, in tokens. */
const contextOfCwm = 131_072;

/** How full the context may be before frames are dropped, and how full it is then. */
const fullest = 0.9;
const emptiest = 0.5;

/** Room for an answer that is not filled with frames, in tokens: one frame can take much of a small context. */
const answerRoom = 512;

/**
 * Keeps prompts within a model's context: the source context and the seeded frame stay, the oldest frames are
 * dropped, many at a time, so that the server can reuse the prompts between two drops. Each scope of what is kept
 * begins with its locals in full.
 */
export class PromptWindow {
  constructor(
    /** The source context and the seeded frame. */
    private readonly head: string,
    private readonly traits: () => SourceTraits,
    /** What the format can carry of a state. */
    private readonly project: (state: State) => State | null,
  ) {}

  /**
   * Adds a state's frame to a prompt.
   *
   * @param earlier the frames before it, the newest first
   */
  add(
    { prompt, window }: WindowedPrompt,
    trajectory: Trajectory,
    frame: WrittenFrame,
    earlier: () => Iterable<WrittenFrame>,
  ): WindowedPrompt {
    if (frame.text === '') return { prompt, window };
    const isComplete = window === null || isShown(trajectory, frame.index, window.from);
    const added = isComplete ? frame.text : this.#inFull(trajectory, frame);
    const text = prompt.text + added;
    const { contextTokens, charactersPerToken } = this.traits();
    const tokens = contextTokens ?? contextOfCwm;
    const full = Math.min(fullest * tokens, tokens - Math.min(answerRoom, tokens / 6)) * charactersPerToken;
    if (text.length <= full) return { prompt: { text, before: prompt, added }, window };
    return this.#cut(trajectory, [frame, ...earlier()].reverse(), tokens * charactersPerToken, full);
  }

  /**
   * @param frames all frames of the way to the newest one, in order
   * @param most the length of the context, and `full` that of the prompts in it, in characters
   */
  #cut(trajectory: Trajectory, frames: readonly WrittenFrame[], most: number, full: number): WindowedPrompt {
    const room = Math.max(emptiest * most - this.head.length, (most - this.head.length) / 4);
    let first = frames.length - 1;
    for (let length = frames[first]?.text.length ?? 0; first > 0; first--) {
      length += frames[first - 1]?.text.length ?? 0;
      if (length > room) break;
    }
    for (;;) {
      const from = frames[first]?.index ?? 0;
      const kept = frames
        .slice(first)
        .map((frame) =>
          isShown(trajectory, frame.index, from) ? frame.text : this.#inFull(trajectory, frame),
        );
      const text = this.head + kept.join('');
      const left = frames.length - first;
      // Locals in full may take more room than was made: then fewer frames are kept.
      if (text.length > full && left > 1) {
        first += Math.ceil(left / 2);
        continue;
      }
      const dropped = droppedFrames(frames.slice(0, first));
      return { prompt: { text, before: null, added: text }, window: { from, dropped } };
    }
  }

  /** A line's frame with all locals written out, which refer to no frame before. */
  #inFull(trajectory: Trajectory, { index, text }: WrittenFrame): string {
    const { frameEnd } = controlTokens;
    const begin = text.lastIndexOf(frameEnd, text.length - frameEnd.length - 1);
    const hidden = begin < 0 ? '' : text.slice(0, begin + frameEnd.length);
    const { line } = splitFrame(text.slice(hidden.length));
    const locals = this.project(trajectory.state(index))?.locals ?? null;
    if (!line || !locals) return text;
    return hidden + writeFrame({ event: 'line', locals, line: line.text, argument: null }, null);
  }
}

/**
 * Whether a state's frame refers to nothing that was dropped: only a line's does, unless a frame of its scope
 * that has locals stands before it.
 */
function isShown(trajectory: Trajectory, index: number, from: number): boolean {
  if (trajectory.event(index) !== 'line') return true;
  let before = trajectory.previousInFrame(index);
  while (before !== null && before >= from) {
    const event = trajectory.event(before);
    if (event === 'call' || event === 'line') return true;
    before = trajectory.previousInFrame(before);
  }
  return false;
}

/** @param frames those that follow the seeded frame, which is the one with the index 0 */
function droppedFrames(frames: readonly WrittenFrame[]): DroppedFrames {
  const { frameEnd } = controlTokens;
  const models = createHash('sha256');
  const others: [number, string][] = [];
  let index = 1;
  for (const { text, isModels } of frames) {
    if (isModels) models.update(text);
    for (const frame of text.split(frameEnd).slice(0, -1)) {
      if (!isModels) others.push([index, frame + frameEnd]);
      index++;
    }
  }
  return { count: index - 1, digest: models.digest('hex'), others };
}
