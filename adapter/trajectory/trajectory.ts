import type { Action } from './action';
import { ChangedLocals } from './changedLocals';
import type { Program } from './program';
import type { Ending, EventKind, Locals, Prediction, State, Value } from './state';

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

/** How a frame's locals differ from those at its state before. */
type LocalsRecord =
  | { readonly whole: Locals }
  | { readonly changed: Locals | null; readonly removed: readonly string[] | null };

interface StateRecord {
  readonly event: EventKind;
  readonly line: number;
  readonly argument: Value | null;
  readonly frame: Frame;
  readonly previous: number;
  /** The frame's state before this one, or -1. */
  readonly previousInFrame: number;
  /** The frame's newest state, up to this one, that carries locals, or -1. */
  readonly localsState: number;
  /** How many differences lie between `locals` and the last whole record. */
  readonly differences: number;
  readonly locals: LocalsRecord | null;
  readonly action: Action;
  readonly prediction: Omit<Prediction, 'state' | 'activation' | 'unwinds'>;
}

/** A whole record of the locals is kept at least this often, so that reading them stays quick. */
const maxDifferences = 32;

/**
 * The record of a debug session: actions and the states they led to, append-only. States have indices in the
 * order in which they were recorded; -1 is the place before the first. A state may be followed by more than
 * one recorded state; `next` follows the newest of them.
 *
 * The states of a frame are found through `frame`, the frames that are open at a state through `stack`.
 */
export class Trajectory {
  readonly #states: StateRecord[] = [];
  readonly #next: number[] = [];
  #first: number | null = null;
  readonly #endings = new Map<number, Ending>();
  readonly #frames: Frame[] = [];
  readonly #activations = new Set<number>();
  #freeActivation = 0;
  /** The newest locals of each open frame, so that appending need not rebuild them. */
  readonly #newestLocals = new WeakMap<Frame, LocalsAt>();
  /** The newest state of each thread on the way to the newest state. */
  #newestOfThread = new Map<string | null, number>();

  constructor(readonly program: Program) {}

  /** The number of states. */
  get length(): number {
    return this.#states.length;
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
    const { state, activation, unwinds, ...rest } = prediction;
    const index = this.#states.length;
    const before = this.#newestInThread(from, state.thread);
    const frame = this.#frameOf(state, before, activation, unwinds, index);
    const previousInFrame = this.#newestInFrame(before, frame);
    const known = previousInFrame < 0 ? -1 : this.#at(previousInFrame).localsState;
    const locals = state.locals && this.#recordLocals(frame, state.locals, known, index);
    this.#states.push({
      event: state.event,
      line: state.line,
      argument: state.argument,
      frame,
      previous: from,
      previousInFrame,
      localsState: locals ? index : known,
      differences: locals === null || 'whole' in locals ? 0 : this.#at(known).differences + 1,
      locals,
      action,
      prediction: rest,
    });
    this.#next.push(-1);
    if (from < 0) this.#first = index;
    else this.#next[from] = index;
    if (from !== index - 1) this.#newestOfThread = this.#threadsUpTo(from);
    this.#newestOfThread.set(state.thread, index);
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
    if (index < 0) return this.#first;
    const next = this.#next[index] ?? -1;
    return next < 0 ? null : next;
  }

  /** The state before one; -1 before the first. */
  previous(index: number): number {
    return this.#at(index).previous;
  }

  event(index: number): EventKind {
    return this.#at(index).event;
  }

  line(index: number): number {
    return this.#at(index).line;
  }

  argument(index: number): Value | null {
    return this.#at(index).argument;
  }

  frame(index: number): Frame {
    return this.#at(index).frame;
  }

  /** The action that led to a state. */
  action(index: number): Action {
    return this.#at(index).action;
  }

  /** What is known about how a state came to be. */
  prediction(index: number): StateRecord['prediction'] {
    return this.#at(index).prediction;
  }

  /** The state as it was given to `append`. */
  state(index: number): State {
    const { event, line, argument, frame, locals } = this.#at(index);
    return {
      event,
      function: frame.function,
      line,
      thread: frame.thread,
      locals: locals && this.#readLocals(index),
      argument,
    };
  }

  /** The state's frame's newest known locals, and the state they are from; null where none are known. */
  locals(index: number): LocalsAt | null {
    const state = this.#at(index).localsState;
    return state < 0 ? null : { locals: this.#readLocals(state), state };
  }

  /** The state's frame's state before it, or null at the frame's beginning. */
  previousInFrame(index: number): number | null {
    const previous = this.#at(index).previousInFrame;
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
    return index === this.#states.length - 1 ? new Map(this.#newestOfThread) : this.#threadsUpTo(index);
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
    const { event, frame } = this.#at(index);
    return event === 'return' ? frame.parent : frame;
  }

  #at(index: number): StateRecord {
    const record = this.#states[index];
    if (!record) throw new RangeError(`The trajectory has no state ${index}.`);
    return record;
  }

  #frameOf(state: State, before: number, activation: number | null, unwinds: number, index: number): Frame {
    let top = before < 0 ? null : this.frameAfter(before);
    for (let left = unwinds; left > 0 && top; left--) top = top.parent;
    // A state whose frame was never entered gets one, so that whatever a model says can be shown.
    if (state.event !== 'call' && top) return top;
    const number = activation ?? this.#freeActivation;
    const frame: Frame = {
      id: this.#frames.length,
      function: state.function,
      parent: top,
      depth: top ? top.depth + 1 : 0,
      thread: state.thread,
      activation: number,
      resumed: this.#activations.has(number),
      firstState: index,
      callerState: top ? this.#newestInFrame(before, top) : -1,
    };
    this.#freeActivation = Math.max(this.#freeActivation, number + 1);
    this.#activations.add(number);
    this.#frames.push(frame);
    return frame;
  }

  /** The newest state of a thread at or before a state, or -1. */
  #newestInThread(from: number, thread: string | null): number {
    if (from === this.#states.length - 1) return this.#newestOfThread.get(thread) ?? -1;
    let index = from;
    while (index >= 0 && this.#at(index).frame.thread !== thread) index = this.#at(index).previous;
    return index;
  }

  #threadsUpTo(from: number): Map<string | null, number> {
    const newest = new Map<string | null, number>();
    for (let index = from; index >= 0; index = this.#at(index).previous) {
      const { thread } = this.#at(index).frame;
      if (!newest.has(thread)) newest.set(thread, index);
    }
    return newest;
  }

  /** The newest state of a frame at or before a state of its thread, or -1. */
  #newestInFrame(before: number, frame: Frame): number {
    let index = before;
    while (index >= 0) {
      const at = this.#at(index).frame;
      if (at === frame) return index;
      if (at.depth <= frame.depth) return -1;
      index = at.callerState;
    }
    return -1;
  }

  #recordLocals(frame: Frame, locals: Locals, known: number, index: number): LocalsRecord {
    const newest = this.#newestLocals.get(frame);
    this.#newestLocals.set(frame, { locals, state: index });
    if (known < 0 || this.#at(known).differences + 1 >= maxDifferences) return { whole: locals };
    const before = newest?.state === known ? newest.locals : this.#readLocals(known);
    if (locals === before) return { changed: null, removed: null };
    if (locals instanceof ChangedLocals && locals.isAfter(before)) {
      return {
        changed: locals.changed.size > 0 ? locals.changed : null,
        removed: locals.removed.length > 0 ? locals.removed : null,
      };
    }
    const changed = new Map<string, Value>();
    for (const [name, value] of locals) {
      const old = before.get(name);
      if (old?.repr !== value.repr || old.confidence !== value.confidence) changed.set(name, value);
    }
    const removed = [...before.keys()].filter((name) => !locals.has(name));
    return {
      changed: changed.size > 0 ? changed : null,
      removed: removed.length > 0 ? removed : null,
    };
  }

  #readLocals(index: number): Locals {
    const { frame, locals } = this.#at(index);
    const newest = this.#newestLocals.get(frame);
    if (newest?.state === index) return newest.locals;
    const chain: Exclude<LocalsRecord, { whole: Locals }>[] = [];
    let record: LocalsRecord | null = locals;
    let at = index;
    while (record && !('whole' in record)) {
      chain.push(record);
      const before = this.#at(at).previousInFrame;
      at = this.#at(before).localsState;
      record = this.#at(at).locals;
    }
    const values = new Map(record?.whole);
    for (const { changed, removed } of chain.reverse()) {
      for (const name of removed ?? []) values.delete(name);
      for (const [name, value] of changed ?? []) values.set(name, value);
    }
    return values;
  }
}
