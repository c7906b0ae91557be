import type { Action } from './action';
import type { Agreement } from './agreement';
import { Branches } from './branches';
import { IntColumn } from './intColumn';
import { LocalsStore } from './localsStore';
import { MultiMap } from './multiMap';
import { PathIndex } from './pathIndex';
import { type PredictionFacts, PredictionStore } from './predictionStore';
import type { Program } from './program';
import type { Ending, EventKind, Locals, Prediction, State, Value } from './state';
import { ThreadHistory } from './threadHistory';

/** One execution of a code object, from its call event to its return: a node of the state tree. */
export interface Frame {
  /** Frames are numbered in the order of their call events, from 0. */
  readonly id: number;
  readonly function: string;
  /** The frame that was on top when this one was entered; null at the bottom of a thread's stack. */
  readonly parent: Frame | null;
  /** 0 for the module or the entry function. */
  readonly depth: number;
  /** The thread's name, or null for the main thread. */
  readonly thread: string | null;
  /** Frames with an equal number are one Python frame: a generator suspended and resumed. */
  readonly activation: number;
  /** Whether the call resumed a generator or coroutine. */
  readonly resumed: boolean;
  /** The state with which the frame begins. */
  readonly firstState: number;
  /** The parent's newest state when the frame was entered; -1 where there is none. */
  readonly callerState: number;
}

/** One frame of a call stack. */
export interface StackEntry {
  readonly frame: Frame;
  /** The newest state of the frame: where it stands. */
  readonly state: number;
}

/** A frame's locals and the state that they are known from. */
export interface LocalsAt {
  readonly locals: Locals;
  readonly state: number;
}

/** The numbers that stand for events in a column. */
const eventKinds = ['call', 'line', 'return', 'exception'] as const satisfies readonly EventKind[];

/** The greatest line number that can be recorded. */
export const maxLine = 0x1fff_ffff;

const stepInto: Action = { name: 'step_into' };

/**
 * The record of a debug session: actions and the states they led to, append-only. States have indices in the
 * order in which they were recorded; -1 is the place before the first. A state may be followed by more than
 * one recorded state: each but the first of them begins a branch. `next` follows one of them: the newest, until
 * another one is chosen.
 *
 * The states of a frame are found through `frame`, the frames that are open at a state through `stack`.
 */
export class Trajectory {
  // One entry a state, in columns: a state takes some tens of bytes, and what it says beyond is kept apart.
  /** The line and the event: `line * 4 + event`. */
  readonly #positions = new IntColumn();
  /** The number of the state's frame. */
  readonly #frameOfState = new IntColumn();
  readonly #previous = new IntColumn();
  /** The frame's state before this one, or -1. */
  readonly #previousInFrame = new IntColumn();
  /** The frame's newest state, up to this one, that carries locals, or -1. */
  readonly #localsStates = new IntColumn();
  /** The record of the locals that are known at the state, or -1. */
  readonly #localsRecords = new IntColumn();
  /** The number of the argument's value, or -1. */
  readonly #arguments = new IntColumn();
  /** The actions that are no `step_into`. */
  readonly #actions = new Map<number, Action>();
  readonly #predictions = new PredictionStore();
  readonly #locals = new LocalsStore();
  readonly #threads = new ThreadHistory((state) => this.frame(state).thread);
  readonly #paths = new PathIndex((state) => this.next(state));
  /** The first states, on the paths that were taken, of a frame's thread after the frame was left: by its number. */
  readonly #leavings = new MultiMap();
  /** The states that go on with a thread after one of its states, where other threads' states lie between. */
  readonly #resumptions = new MultiMap();
  readonly #branches = new Branches();
  readonly #agreements = new Map<number, Agreement>();
  readonly #endings = new Map<number, Ending>();
  readonly #frames: Frame[] = [];
  /** The numbers of an activation's frames that were entered first, one on each path where it is. */
  readonly #activations = new MultiMap();
  #freeActivation = 0;
  /** The newest locals of frames that are open, so that appending need not rebuild them. */
  readonly #newestLocals = new Map<Frame, LocalsAt>();

  constructor(readonly program: Program) {}

  /** The number of states. */
  get length(): number {
    return this.#positions.length;
  }

  /** All frames, in the order of their call events. */
  get frames(): readonly Frame[] {
    return this.#frames;
  }

  /**
   * Records what an action led to.
   *
   * @param from the state that the action was taken in, or -1
   * @returns the new state's index
   */
  append(from: number, action: Action, prediction: Prediction): number {
    const { state, activation, unwinds, ...facts } = prediction;
    if (state.line < 0 || state.line > maxLine) throw new RangeError(`${state.line} is no line.`);
    const index = this.length;
    const before = this.#threads.newestIn(from, state.thread);
    const frame = this.#frameOf(state, from, before, activation, unwinds, index);
    const previousInFrame = this.newestInFrame(before, frame);
    const known = previousInFrame < 0 ? -1 : this.#localsStates.get(previousInFrame);
    this.#positions.push(state.line * eventKinds.length + eventKinds.indexOf(state.event));
    this.#frameOfState.push(frame.id);
    this.#previous.push(from);
    this.#previousInFrame.push(previousInFrame);
    this.#localsStates.push(state.locals ? index : known);
    this.#localsRecords.push(this.#recordLocals(frame, state.locals, known, index));
    this.#arguments.push(state.argument ? this.#locals.addValue(state.argument) : -1);
    this.#threads.append(from, state.thread);
    this.#paths.append(from, this.#endings.has(from));
    if (before >= 0 && before !== from) this.#resumptions.add(before, index);
    this.#predictions.set(index, facts);
    if (!isStepInto(action)) this.#actions.set(index, action);
    if (state.event === 'return') this.#newestLocals.delete(frame);
    this.#branches.append(from, this.#endings.has(from));
    return index;
  }

  /** Records that the program's execution ends after a state (-1: before any). */
  end(from: number, ending: Ending): void {
    this.#endings.set(from, ending);
  }

  /** The end that is recorded right after a state, or null. */
  ending(index: number): Ending | null {
    return this.#endings.get(index) ?? null;
  }

  /** The state after one (-1: the first state), or null where nothing more is recorded. */
  next(index: number): number | null {
    const next = this.#branches.next(index);
    return next < 0 ? null : next;
  }

  /** All states that are recorded right after one (-1: the first states), in the order of their recording. */
  children(index: number): readonly number[] {
    return this.#branches.children(index);
  }

  /** The states that begin a branch, in the order of their recording; the first is the record's first state. */
  get branchBeginnings(): readonly number[] {
    return this.#branches.beginnings;
  }

  /** The state that begins the branch of one. */
  branchBeginning(index: number): number {
    return this.#paths.stretchBeginning(index);
  }

  /** How many states the branch of one has. */
  branchLength(index: number): number {
    return this.#paths.stretchLength(index);
  }

  /** The last state that the ways from the beginning to two states have in common, or -1. */
  lastCommon(one: number, other: number): number {
    return this.#paths.lastCommon(one, other);
  }

  /** Makes `next` lead to a state, and from there on along its branch to the branch's end. */
  follow(index: number): void {
    for (const { at, next } of this.#paths.placesOf(index)) {
      this.#branches.follow(at, next ?? this.#branches.continuation(at));
    }
  }

  /** Makes `next` give another one of the states that are recorded after a state; null: none of them. */
  prefer(from: number, next: number | null): void {
    this.#branches.follow(from, next ?? -1);
    this.#paths.mayEnd(from);
  }

  /** Records how far other samples agree with a state. Where its world gave no confidence, that is its own. */
  agree(index: number, agreement: Agreement): void {
    this.#agreements.set(index, agreement);
  }

  /** How far other samples agree with a state; null where none were asked for. */
  agreement(index: number): Agreement | null {
    return this.#agreements.get(index) ?? null;
  }

  /** The state before one; -1 before the first. */
  previous(index: number): number {
    return this.#at(this.#previous, index);
  }

  event(index: number): EventKind {
    return eventKinds[this.#at(this.#positions, index) % eventKinds.length] ?? 'line';
  }

  line(index: number): number {
    return Math.floor(this.#at(this.#positions, index) / eventKinds.length);
  }

  argument(index: number): Value | null {
    const value = this.#at(this.#arguments, index);
    return value < 0 ? null : withShare(this.#locals.value(value), this.#agreements.get(index)?.argument);
  }

  frame(index: number): Frame {
    const frame = this.#frames[this.#at(this.#frameOfState, index)];
    if (!frame) throw new RangeError(`State ${index} has no frame.`);
    return frame;
  }

  /** The action that led to a state. */
  action(index: number): Action {
    this.#at(this.#positions, index);
    return this.#actions.get(index) ?? stepInto;
  }

  /** What is known about how a state came to be. */
  prediction(index: number): PredictionFacts {
    this.#at(this.#positions, index);
    const facts = this.#predictions.get(index);
    const agreement = this.#agreements.get(index);
    return agreement && facts.confidence === null ? { ...facts, confidence: agreement.share } : facts;
  }

  /** The state as it was given to `append`. */
  state(index: number): State {
    const frame = this.frame(index);
    return {
      event: this.event(index),
      function: frame.function,
      line: this.line(index),
      thread: frame.thread,
      locals: this.#localsStates.get(index) === index ? this.#agreedLocals(index) : null,
      argument: this.argument(index),
    };
  }

  /** The state's frame's newest known locals, and the state they are from; null where none are known. */
  locals(index: number): LocalsAt | null {
    const state = this.#at(this.#localsStates, index);
    return state < 0 ? null : { locals: this.#agreedLocals(state), state };
  }

  /** The state's frame's state before it, or null at the frame's beginning. */
  previousInFrame(index: number): number | null {
    const previous = this.#at(this.#previousInFrame, index);
    return previous < 0 ? null : previous;
  }

  /** The frames that are open at a state, innermost first. A frame is still open at its return event. */
  stack(index: number): StackEntry[] {
    const entries: StackEntry[] = [];
    let state = index;
    for (let frame: Frame | null = this.frame(index); frame; frame = frame.parent) {
      entries.push({ frame, state });
      state = frame.callerState;
    }
    return entries;
  }

  /** The newest state of each thread that has begun at a state. */
  threads(index: number): Map<string | null, number> {
    return this.#threads.newest(index);
  }

  /** The newest state of a thread at or before a state, or -1. */
  newestInThread(index: number, thread: string | null): number {
    return this.#threads.newestIn(index, thread);
  }

  /** The newest state of a frame at or before a state of its thread at which it is open, or -1. */
  newestInFrame(before: number, frame: Frame): number {
    let index = before;
    while (index >= 0) {
      const at = this.frame(index);
      if (at === frame) return index;
      if (at.depth <= frame.depth) return -1;
      index = at.callerState;
    }
    return -1;
  }

  /** The next state of a state's thread, of those that are followed now; null where there is none. */
  nextInThread(index: number): number | null {
    const next = this.next(index);
    if (next === null || this.frame(next).thread === this.frame(index).thread) return next;
    return this.#paths.firstFollowed(index, this.#resumptions.get(index));
  }

  /** The first state of its thread that follows a state and is no longer of its frame; null where none does. */
  leavingOf(index: number): number | null {
    return this.#paths.firstFollowed(index, this.#leavings.get(this.frame(index).id));
  }

  /** Whether a state is on the way from the beginning to another one, or is that one. */
  leadsTo(state: number, later: number): boolean {
    return this.#paths.leadsTo(state, later);
  }

  /** The last state that is followed now from a state on. */
  lastFollowed(index: number): number {
    return this.#paths.lastFollowed(index);
  }

  /** Whether one frame is, or was entered from, another. */
  isWithin(frame: Frame, outer: Frame): boolean {
    for (let at: Frame | null = frame; at && at.depth >= outer.depth; at = at.parent) {
      if (at === outer) return true;
    }
    return false;
  }

  /** The frame that goes on after a state: the state's own, or after a return event its parent. */
  frameAfter(index: number): Frame | null {
    const frame = this.frame(index);
    return this.event(index) === 'return' ? frame.parent : frame;
  }

  #at(column: IntColumn, index: number): number {
    if (!(index >= 0 && index < this.length)) throw new RangeError(`The trajectory has no state ${index}.`);
    return column.get(index);
  }

  #frameOf(
    state: State,
    from: number,
    before: number,
    activation: number | null,
    unwinds: number,
    index: number,
  ): Frame {
    let top = before < 0 ? null : this.frameAfter(before);
    for (let left = unwinds; left > 0 && top; left--) {
      this.#newestLocals.delete(top);
      top = top.parent;
    }
    let left = before < 0 ? null : this.frame(before);
    for (; left && left !== top; left = left.parent) this.#leavings.add(left.id, index);
    // A state whose frame was never entered gets one, so that whatever a model says can be shown.
    if (state.event !== 'call' && top) return top;
    const number = activation ?? this.#freeActivation;
    const resumed = this.#activations
      .get(number)
      .some((known) => this.#paths.leadsTo(this.#frames[known]?.firstState ?? 0, from));
    const frame: Frame = {
      id: this.#frames.length,
      function: state.function,
      parent: top,
      depth: top ? top.depth + 1 : 0,
      thread: state.thread,
      activation: number,
      resumed,
      firstState: index,
      callerState: top ? this.newestInFrame(before, top) : -1,
    };
    this.#freeActivation = Math.max(this.#freeActivation, number + 1);
    if (!resumed) this.#activations.add(number, frame.id);
    this.#frames.push(frame);
    return frame;
  }

  #recordLocals(frame: Frame, locals: Locals | null, known: number, index: number): number {
    const before = known < 0 ? -1 : this.#localsRecords.get(known);
    if (!locals) return before;
    const newest = this.#newestLocals.get(frame);
    this.#newestLocals.set(frame, { locals, state: index });
    if (before < 0) return this.#locals.addWhole(locals);
    return this.#locals.addAfter(before, newest?.state === known ? newest.locals : null, locals);
  }

  /** A state's locals; values without a confidence have that of the samples, where there were any. */
  #agreedLocals(index: number): Locals {
    const locals = this.#readLocals(index);
    const shares = this.#agreements.get(index)?.locals;
    if (!shares) return locals;
    return new Map([...locals].map(([name, value]) => [name, withShare(value, shares.get(name))]));
  }

  #readLocals(index: number): Locals {
    const newest = this.#newestLocals.get(this.frame(index));
    return newest?.state === index ? newest.locals : this.#locals.read(this.#localsRecords.get(index));
  }
}

function isStepInto(action: Action): boolean {
  return action.name === 'step_into';
}

function withShare(value: Value, share: number | null | undefined): Value {
  return value.confidence === null && share !== null && share !== undefined
    ? { ...value, confidence: share }
    : value;
}
