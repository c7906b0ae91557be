import type { Prompt, SourceTraits } from '../../completion/completion';
import type { PythonSource } from '../../python/source';
import type { Program } from '../../trajectory/program';
import type { WhatIf } from '../../trajectory/action';
import { plainPrediction, type State, type Step } from '../../trajectory/state';
import type { Trajectory } from '../../trajectory/trajectory';
import type { Format, QuestionFormat, StepReader } from '../format';
import { CallPositions } from './callPositions';
import type { FrameContext } from './frameReading';
import type { Layout } from './layout';
import { legalFrames } from './legalFrames';
import { LineTexts } from './lineTexts';
import { projection } from './projection';
import { CwmReader } from './reader';
import { whatIfProblem } from './whatIf';
import { layOut } from './wrapper';
import { TrajectoryWriter } from './written';

/** What the format takes for granted of a source that nothing is known of. */
const plainTraits: SourceTraits = { contextTokens: null, charactersPerToken: 2.5, separatesControl: false };

/**
 * The trace format of CWM for a program.
 *
 * @param traits what is known of the source of answers, asked for each prompt
 * @throws CatalogueError for a source or an entry call that is no Python, and for scripts that the format
 *   cannot carry: those with nothing but definitions, and those that import all names of a module once begun
 */
export async function createCwmFormat(
  program: Program,
  source: PythonSource,
  traits: () => SourceTraits = () => plainTraits,
): Promise<Format> {
  return new CwmFormat(source, await layOut(program, source), traits);
}

class CwmFormat implements Format {
  readonly name = 'cwm';
  readonly project: (state: State) => State | null;
  readonly questions: QuestionFormat;
  readonly #context: FrameContext;
  readonly #writer: TrajectoryWriter;
  /** The first number that no frame of a trajectory, and no state that was read for it, has. */
  readonly #freeActivations = new WeakMap<Trajectory, FreeActivation>();

  constructor(
    source: PythonSource,
    private readonly layout: Layout,
    private readonly traits: () => SourceTraits,
  ) {
    const texts = new LineTexts(layout.lines);
    const calls = new CallPositions(source, texts, layout);
    this.#context = { source, layout, texts, calls };
    this.project = projection(source, layout);
    this.#writer = new TrajectoryWriter(source, layout, this.project, traits);
    this.questions = { kind: 'trace', formatFor: (program, of) => createCwmFormat(program, of, traits) };
  }

  get opening(): readonly Step[] {
    return this.layout.isScript ? [{ ...plainPrediction(moduleCall()), doubt: this.#note }] : [];
  }

  /** What is to be said of the context: control text in it is broken up only where it has to be. */
  get #note(): string | null {
    return this.traits().separatesControl ? null : this.layout.note;
  }

  prompt(trajectory: Trajectory, from: number): Prompt {
    // Without stop strings: the next state may be more than one frame away.
    const { prompt, window, execution } = this.#writer.upTo(trajectory, from);
    const { source, layout } = this.#context;
    return {
      kind: 'text',
      text: prompt.text,
      history: prompt,
      stop: [],
      constraint: () => legalFrames(execution, source, layout),
      ...(window ? { droppedFrames: window.dropped } : {}),
    };
  }

  whatIfProblem(trajectory: Trajectory, state: number, change: WhatIf): string | null {
    return whatIfProblem(this.layout, this.project, trajectory.state(state), change);
  }

  reader(trajectory: Trajectory, from: number): StepReader {
    let free = this.#freeActivations.get(trajectory);
    if (!free) this.#freeActivations.set(trajectory, (free = new FreeActivation(trajectory)));
    const numbers = free;
    const { execution } = this.#writer.upTo(trajectory, from);
    return new CwmReader(this.#context, {
      execution,
      nextActivation: () => numbers.take(),
      note: from < 0 && !this.layout.isScript ? this.#note : null,
    });
  }
}

function moduleCall(): State {
  const locals = new Map<string, never>();
  return { event: 'call', function: '<module>', line: 0, thread: null, locals, argument: null };
}

/** Numbers for frames: each is given once, also to readers that read the same trajectory at the same time. */
class FreeActivation {
  #next = 0;
  #seenFrames = 0;

  constructor(private readonly trajectory: Trajectory) {}

  take(): number {
    const { frames } = this.trajectory;
    for (; this.#seenFrames < frames.length; this.#seenFrames++) {
      this.#next = Math.max(this.#next, (frames[this.#seenFrames]?.activation ?? -1) + 1);
    }
    return this.#next++;
  }
}
