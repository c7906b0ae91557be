import { type LineNames, namesByLine } from '../python/lineNames';
import type { PythonSource } from '../python/source';
import type { Trajectory } from '../trajectory/trajectory';
import { agrees, type ComparedState, type Verdict } from './comparison';

/** Below this a frame is shown as one not to rely on: it is likelier wrong than right. */
export const unsureBelow = 0.5;

/** What is known of a frame's values at a state: the differences from its state before. */
interface Sureness {
  readonly before: Sureness | null;
  /** How many differences lie below. */
  readonly depth: number;
  readonly values: ReadonlyMap<string, ValueSureness>;
}

/** How sure a value is, as of the state that gave it. */
interface ValueSureness {
  readonly repr: string | null;
  /** The probability of the value given the path, or null. */
  readonly derived: number | null;
  /** The same times the path's. */
  readonly whole: number | null;
}

interface StateSureness {
  /** The path's probability; null where a step of it has none. */
  readonly path: number | null;
  /** Whether any step of the path has a number: a path of which none has, has none itself. */
  readonly hasNumber: boolean;
  readonly locals: Sureness | null;
  /** That of the return value given the path, or null. */
  readonly argument: number | null;
}

const nothing: StateSureness = { path: 1, hasNumber: false, locals: null, argument: null };
const noNames: ReadonlySet<string> = new Set();

/** Differences are put together at least this often, so that looking one up stays quick. */
const maxDifferences = 32;

/**
 * How sure the states and values of a trajectory are, run through all that they came from.
 *
 * - A *step's* confidence is what the world gives: the probability of its event and line.
 * - The *path's* at a state is the product of its steps' since the last state that is certain: one that a person
 *   edited, one that a real run was seen to come to, or the beginning. A state that no model wrote follows from others and counts as 1. A step that a model
 *   wrote without a number leaves the path without one.
 * - A *value's*, where its repr last changed, is its own tokens' probability, times the least of what it came from,
 *   times the path's there. It came from the names that the line reads which was run before, and from what the calls
 *   on that line returned. The least is taken, not the product: such values share most of their past, whose errors
 *   would count twice. For the same reason the path is multiplied in once, where the value was given. A value that
 *   did not change since keeps its number; one that a person set is 1.
 * - Where a real run was compared, what it confirmed is 1, and what it was seen to contradict is 0.
 *
 * Null stands for no number: nothing is made up. What is worked out for a state is kept, so that a step costs the
 * states that it adds.
 */
export class PathConfidence {
  readonly #states: StateSureness[] = [];
  #names: ReadonlyMap<number, LineNames> | null = null;
  #compared: ((state: number) => ComparedState | null) | null = null;
  #version = 0;

  constructor(
    private readonly source: PythonSource,
    private readonly trajectory: Trajectory,
    /** Whether the values are those of a real run, of which nobody has to be sure. */
    private readonly isReal = false,
  ) {}

  /** The probability of a state's event and line, given the state before. */
  step(state: number): number | null {
    return state < 0 || this.isReal ? null : this.trajectory.prediction(state).confidence;
  }

  /** The probability that execution gets to a state in the way that was predicted. */
  path(state: number): number | null {
    if (this.isReal) return null;
    const { path, hasNumber } = this.#at(state);
    return hasNumber ? path : null;
  }

  /** The probability of a local's value at a state of its frame. */
  value(state: number, name: string): number | null {
    const at = state < 0 || this.isReal ? null : this.trajectory.locals(state);
    return at === null ? null : (find(this.#at(at.state).locals, name)?.whole ?? null);
  }

  /** The probability of a return event's value, or of an exception. */
  argument(state: number): number | null {
    if (this.isReal) return null;
    const { argument, path } = this.#at(state);
    return times(argument, path);
  }

  /** What a real run says of a state, where one was compared. */
  compared(state: number): ComparedState | null {
    return state < 0 ? null : (this.#compared?.(state) ?? null);
  }

  /** The probability of a local's value at a state of its frame, given the path: without the path's own. */
  givenPath(state: number, name: string): number | null {
    const at = state < 0 ? null : this.trajectory.locals(state);
    return at === null ? null : (find(this.#at(at.state).locals, name)?.derived ?? null);
  }

  /** The least probability, given the path, of what the line before a state read, and of what its calls returned. */
  sources(state: number): number {
    return state < 0 ? 1 : this.#leastOfSources(state);
  }

  /** Grows when what was told of states may have become something else. */
  get version(): number {
    return this.#version;
  }

  /**
   * Takes over what a real run says of states.
   *
   * @param compared what it says of a state; null for those that were not compared
   */
  verify(compared: (state: number) => ComparedState | null): void {
    this.#compared = compared;
    this.forget(0);
  }

  /** Works out anew what is asked of a state, and of those recorded after it: more has become known of it. */
  forget(state: number): void {
    this.#version++;
    this.#states.length = Math.min(this.#states.length, Math.max(0, state));
  }

  #at(state: number): StateSureness {
    if (state < 0) return nothing;
    // States before a state have lower indices, so that this needs no recursion.
    for (let next = this.#states.length; next <= state; next++) this.#states.push(this.#workOut(next));
    return this.#states[state] ?? nothing;
  }

  #workOut(state: number): StateSureness {
    const { trajectory } = this;
    const { confidence, text } = trajectory.prediction(state);
    const action = trajectory.action(state);
    const isEdit = action.name === 'what_if';
    const before = this.#at(trajectory.previous(state));
    const followsFromOthers = confidence === null && (text === null || text === '');
    const compared = this.#compared?.(state) ?? null;
    const verified = compared && (compared.real ? certaintyOf(compared.position) : null);
    const path = isEdit
      ? 1
      : (verified ?? (followsFromOthers ? before.path : times(before.path, confidence)));
    const hasNumber = isEdit || verified !== null || before.hasNumber || confidence !== null;
    const sources = this.#leastOfSources(state);
    const own = trajectory.argument(state)?.confidence ?? null;
    const { argument } = compared ?? {};
    return {
      path,
      hasNumber,
      locals: this.#locals(state, path, sources, isEdit ? action.locals : null, compared),
      argument: (argument && certaintyOf(argument.verdict)) ?? times(own, sources),
    };
  }

  #locals(
    state: number,
    path: number | null,
    sources: number,
    edited: ReadonlyMap<string, string> | null,
    compared: ComparedState | null,
  ): Sureness | null {
    const { trajectory } = this;
    const inFrame = trajectory.previousInFrame(state);
    const before = inFrame === null ? null : this.#at(inFrame).locals;
    const { locals } = trajectory.state(state);
    if (!locals) return before;
    const changed = new Map<string, ValueSureness>();
    for (const [name, { repr, confidence }] of locals) {
      const old = find(before, name);
      const isSet = edited?.has(name) === true;
      const real = compared?.locals.get(name);
      const verified = real && certaintyOf(real.verdict);
      if (typeof verified === 'number') {
        if (old?.repr !== repr || old.whole !== verified)
          changed.set(name, { repr, derived: verified, whole: verified });
        continue;
      }
      if (old?.repr === repr && !isSet) continue;
      const derived = isSet ? 1 : times(confidence, sources);
      changed.set(name, { repr, derived, whole: isSet ? 1 : times(derived, path) });
    }
    if (changed.size === 0 && before) return before;
    const depth = before ? before.depth + 1 : 0;
    if (depth < maxDifferences) return { before, depth, values: changed };
    const values = new Map<string, ValueSureness>();
    for (const name of locals.keys()) {
      const value = changed.get(name) ?? find(before, name);
      if (value) values.set(name, value);
    }
    return { before: null, depth: 0, values };
  }

  /** The least probability of what the values of a state came from; what has no number does not count. */
  #leastOfSources(state: number): number {
    const { trajectory } = this;
    const frame = trajectory.frame(state);
    const inFrame = trajectory.previousInFrame(state);
    const ran = inFrame ?? frame.callerState;
    if (ran < 0) return 1;
    this.#names ??= namesByLine(this.source);
    const known = this.#at(ran).locals;
    let least = 1;
    for (const name of this.#names.get(trajectory.line(ran))?.read ?? noNames) {
      least = Math.min(least, find(known, name)?.derived ?? 1);
    }
    if (inFrame === null) return least;
    // The inside of a call is passed over at once.
    for (let at = trajectory.previous(state); at > inFrame;) {
      const called = trajectory.frame(at);
      const isReturn = trajectory.event(at) === 'return' && called.parent === frame;
      if (isReturn) least = Math.min(least, this.#at(at).argument ?? 1);
      at = trajectory.previous(isReturn ? called.firstState : at);
    }
    return least;
  }
}

/** 1 for what a real run confirmed, 0 for what it contradicts, null where it cannot say. */
function certaintyOf(verdict: Verdict): number | null {
  return verdict === 'unknown' ? null : verdict === 'same' ? 1 : 0;
}

/** A probability for people: `97%`; what is not certain is never shown as 100%. */
export function percent(probability: number): string {
  const rounded = Math.round(probability * 100);
  return rounded === 100 && probability < 1
    ? '>99%'
    : rounded === 0 && probability > 0
      ? '<1%'
      : `${rounded}%`;
}

/**
 * How sure a state is, as the end of a stop's text: `, 97% sure, path 81%`, only the former where they are the same, or
 * what a real run says of it; empty where nothing says.
 */
export function describeConfidence(confidence: PathConfidence, state: number): string {
  const compared = confidence.compared(state);
  if (compared?.position === 'same')
    return agrees(compared) ? ', as in a real run' : ', a real run comes here with other values';
  const [step, path] = [confidence.step(state), confidence.path(state)].map((one) =>
    one === null ? null : percent(one),
  );
  // Said twice, it would leave no room for the session's name beside it.
  return [step && `, ${step} sure`, path && path !== step && `, path ${path}`].filter(Boolean).join('');
}

function times(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a * b;
}

function find(sureness: Sureness | null, name: string): ValueSureness | undefined {
  for (let at = sureness; at; at = at.before) {
    const value = at.values.get(name);
    if (value) return value;
  }
  return undefined;
}
