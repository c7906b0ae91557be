import type { PromptHistory, SourceTraits } from '../../completion/completion';
import type { CodeUnit } from '../../python/codeUnits';
import type { PythonSource } from '../../python/source';
import type { Frame, Trajectory } from '../../trajectory/trajectory';
import type { State } from '../../trajectory/state';
import { advance, enter, notStarted, openFrames, unwind, type Execution } from './execution';
import { wrapperFrame } from './frameReading';
import type { Layout } from './layout';
import { controlTokens } from './tokens';
import { PromptWindow, type Window, type WrittenFrame } from './window';
import { writeFrame } from './writer';

/** What a trajectory comes to up to one of its states. */
export interface Written extends Standing {
  /** The prompt: the source context, and a frame for every state that is not left out. */
  readonly prompt: PromptHistory;
  /** What is left out; null for nothing. */
  readonly window: Window | null;
}

/** How a state is written, and what it leads to. */
interface Standing {
  /** The state's own frame, or several where the model wrote others before it; empty where it has none. */
  readonly frame: string;
  /** Whether the model wrote the frame. */
  readonly isModels: boolean;
  /** Where the execution stands. */
  readonly execution: Execution;
  /** Whether the trace has reached the script's beginning, or the entry call. */
  readonly hasBegun: boolean;
}

/**
 * Writes trajectories as prompts. What was written up to a state is kept with it, so that a state costs only
 * its own frame.
 */
export class TrajectoryWriter {
  readonly #written = new WeakMap<Trajectory, Map<number, Written>>();
  readonly #beginning: Written;
  readonly #window: PromptWindow;
  readonly #unitsOfCalls = new Map<string, CodeUnit[]>();

  constructor(
    private readonly source: PythonSource,
    private readonly layout: Layout,
    /** What a state is, once the format can carry it; null where it cannot. */
    private readonly project: (state: State) => State | null,
    traits: () => SourceTraits,
  ) {
    const seed = { event: 'call', locals: new Map(), line: layout.wrapperHeader, argument: null } as const;
    const { beginOfText, contextStart, frameEnd } = controlTokens;
    const text = `${beginOfText}${contextStart}${layout.context}${frameEnd}${writeFrame(seed, null)}`;
    this.#window = new PromptWindow(text, traits, project);
    this.#beginning = {
      prompt: { text, before: null, added: text },
      window: null,
      frame: '',
      isModels: false,
      execution: layout.isScript ? notStarted : enter(notStarted, wrapperFrame(layout.wrapper)),
      hasBegun: false,
    };
    for (const unit of source.units) {
      const key = callKey(unit.name, unit.callLine);
      this.#unitsOfCalls.set(key, [...(this.#unitsOfCalls.get(key) ?? []), unit]);
    }
  }

  /** @param from a state of the trajectory, or -1 */
  upTo(trajectory: Trajectory, from: number): Written {
    let kept = this.#written.get(trajectory);
    if (!kept) {
      kept = new Map<number, Written>();
      this.#written.set(trajectory, kept);
    }
    const missing: number[] = [];
    let at = from;
    while (at >= 0 && !kept.has(at)) {
      missing.push(at);
      at = trajectory.previous(at);
    }
    let written = kept.get(at) ?? this.#beginning;
    for (const index of missing.reverse()) {
      const after = this.#after(written, trajectory, index);
      const frame = { index, text: after.frame, isModels: after.isModels };
      const known = kept;
      const earlier = () => framesBefore(trajectory, known, index);
      written = { ...after, ...this.#window.add(written, trajectory, frame, earlier) };
      kept.set(index, written);
    }
    return written;
  }

  #after(before: Standing, trajectory: Trajectory, index: number): Standing {
    const state = trajectory.state(index);
    const text = wroteItself(trajectory.prediction(index).text);
    const frame = trajectory.frame(index);
    const unwritten = { ...before, frame: '', isModels: false };
    if (state.thread !== null) return unwritten;
    if (this.layout.isScript && !before.execution.top) {
      // The call of the module is the seeded frame.
      const execution = enter(before.execution, {
        function: state.function,
        unit: this.source.module,
        isVisible: true,
        activation: frame.activation,
        isResumed: false,
        line: 0,
        locals: new Map(),
      });
      return { ...unwritten, execution };
    }
    const carried = this.project(state);
    const begins =
      !this.layout.isScript || text !== null || (carried?.event === 'line' && frame.parent === null);
    if (!before.hasBegun && !begins) return unwritten;
    const execution = this.#left(before.execution, state, frame);
    const after = this.#executionAfter(execution, state, carried, frame, trajectory, index);
    if (text !== null) return { frame: text, isModels: true, execution: after, hasBegun: true };
    if (!carried) return { ...unwritten, execution: after };
    const opening = before.hasBegun ? '' : this.layout.firstFrames;
    const scope = state.event === 'call' ? null : (execution.top?.locals ?? null);
    const content = {
      event: carried.event,
      locals: carried.locals,
      line: this.layout.textOfLine(carried.line),
      argument: carried.argument?.repr ?? null,
    };
    const action = trajectory.action(index);
    const edited = action.name === 'what_if' ? action.locals : undefined;
    const hidden = edited ? hiddenBefore(trajectory, index) : '';
    const frameText = (hidden || opening) + writeFrame(content, scope, edited);
    return { frame: frameText, isModels: false, execution: after, hasBegun: true };
  }

  /** The execution without the frames that were left without a return event before a state. */
  #left(execution: Execution, { event }: State, frame: Frame): Execution {
    let open = 0;
    for (const { isVisible } of openFrames(execution)) if (isVisible) open++;
    return unwind(execution, Math.max(0, open - (event === 'call' ? frame.depth : frame.depth + 1)));
  }

  #executionAfter(
    execution: Execution,
    state: State,
    carried: State | null,
    frame: Frame,
    trajectory: Trajectory,
    index: number,
  ): Execution {
    const { event, line } = state;
    const locals = carried?.locals ?? null;
    let current = execution;
    if (frame.firstState === index) {
      const resumed = execution.suspended.find(({ activation }) => activation === frame.activation);
      const unit = resumed?.unit ?? this.#unitOf(state);
      current = enter(execution, {
        function: frame.function,
        unit,
        isVisible: true,
        activation: frame.activation,
        isResumed: frame.resumed,
        line,
        locals,
      });
      if (event === 'call') return current;
    }
    if (event === 'call') return current;
    const { top } = current;
    return advance(current, {
      event,
      unit: top?.unit ?? null,
      line,
      otherLines: trajectory.prediction(index).otherLines,
      text: this.layout.textOfLine(line),
      locals: locals ?? top?.locals ?? null,
      argument: state.argument?.repr ?? null,
    });
  }

  #unitOf({ event, function: name, line, locals }: State): CodeUnit | null {
    if (event !== 'call') return this.source.unitsOfLine(line).at(-1) ?? null;
    const units = this.#unitsOfCalls.get(callKey(name, line)) ?? [];
    const fits = units.find(({ parameters }) => parameters.every((parameter) => locals?.has(parameter)));
    return fits ?? units[0] ?? null;
  }
}

/** The frames of the states before one, the newest first. */
function* framesBefore(
  trajectory: Trajectory,
  written: ReadonlyMap<number, Written>,
  index: number,
): Generator<WrittenFrame> {
  for (let at = trajectory.previous(index); at >= 0; at = trajectory.previous(at)) {
    const { frame: text = '', isModels = false } = written.get(at) ?? {};
    if (text !== '') yield { index: at, text, isModels };
  }
}

/** What the model wrote before the frame of the state that an edited one is a version of: frames that are no states. */
function hiddenBefore(trajectory: Trajectory, index: number): string {
  for (const sibling of trajectory.children(trajectory.previous(index))) {
    const text = wroteItself(trajectory.prediction(sibling).text);
    const isSame =
      trajectory.event(sibling) === trajectory.event(index) &&
      trajectory.frame(sibling).function === trajectory.frame(index).function;
    if (text === null || !isSame) continue;
    const { frameEnd } = controlTokens;
    const before = text.lastIndexOf(frameEnd, text.length - frameEnd.length - 1);
    return before < 0 ? '' : text.slice(0, before + frameEnd.length);
  }
  return '';
}

function callKey(name: string, line: number): string {
  return `${line} ${name}`;
}

/** A model's text of a state, if it is of this format. */
function wroteItself(text: string | null): string | null {
  return text?.endsWith(controlTokens.frameEnd) ? text : null;
}
