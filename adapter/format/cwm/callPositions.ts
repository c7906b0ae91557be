import type { CodeUnit } from '../../python/codeUnits';
import type { PythonSource } from '../../python/source';
import type { Locals } from '../../trajectory/state';
import type { Execution, SuspendedFrame } from './execution';
import type { OpenFrame } from './openFrame';
import type { Layout } from './layout';
import { exactKey, type LineTexts } from './lineTexts';

/** What a call frame may enter. */
export interface CallPlace {
  readonly unit: CodeUnit;
  readonly line: number;
  /** The generator or coroutine that the call resumes, or null for a new frame. */
  readonly resumed: SuspendedFrame | null;
  /** Whether anything tells for it, beside the text. */
  readonly isLikely: boolean;
}

interface Candidate extends Omit<CallPlace, 'isLikely'> {
  readonly score: number;
  /** Whether a frame of its code can have these names at this point. */
  readonly hasFittingNames: boolean;
  /** Of candidates with an equal score the one that comes first on the caller's line is called first. */
  readonly order: number;
}

/**
 * How much each sign tells for or against what a call frame enters. Names that cannot be so tell most; what
 * the caller's line names comes next; the rest only decides between candidates that are equal in these.
 */
const weights = {
  missingName: -16,
  receiver: 6,
  otherReceiver: -6,
  superReceiver: -8,
  constructed: 5,
  called: 4,
  named: 3,
  elsewhere: -3,
  onLine: 2,
  visible: 1,
  calledBefore: -2,
  unboundName: -1,
  waitingForCaller: 3,
} as const;

/** Finds what call frames enter: they name it by the text of a line only. */
export class CallPositions {
  readonly #units = new Map<string, CodeUnit[]>();
  readonly #bases: ReadonlyMap<string, readonly string[]>;

  constructor(
    private readonly source: PythonSource,
    private readonly texts: LineTexts,
    private readonly layout: Layout,
  ) {
    for (const unit of source.units) {
      if (unit.kind === 'module') continue;
      // A decorated function is entered on its first decorator's line; models may write its `def` line.
      const lines = new Set([unit.callLine, unit.headerLine]);
      for (const key of new Set(Array.from(lines, (line) => this.#keyOf(layout.textOfLine(line))))) {
        this.#units.set(key, [...(this.#units.get(key) ?? []), unit]);
      }
    }
    this.#bases = basesOf(source);
  }

  /**
   * What a call frame may enter: more than one where nothing tells them apart, the likelier first; none where
   * the source has nothing that reads like the frame.
   *
   * @param locals the call frame's locals, with `..` not resolved, or null where they could not be read
   */
  find(execution: Execution, locals: Locals | null, text: string): readonly CallPlace[] {
    const candidates = (this.#units.get(this.#keyOf(text)) ?? []).map((unit) =>
      this.#newFrame(unit, execution.top, locals),
    );
    const exact = candidates.filter(({ line }) => exactKey(this.layout.textOfLine(line)) === exactKey(text));
    const resumed = this.#bestResumed(execution, locals, text);
    return bestOf(equalized(exact.length > 0 ? exact : candidates, resumed));
  }

  /** Indentation tells functions apart, but is not needed to find them. */
  #keyOf(text: string): string {
    return exactKey(text).trim();
  }

  #newFrame(unit: CodeUnit, caller: OpenFrame | null, locals: Locals | null): Candidate {
    const visible = caller?.isVisible ? caller : null;
    const named = this.#calledFrom(unit, visible);
    const names = locals ? nameScore(unit, locals) : 0;
    const hasFittingNames = names > weights.missingName;
    let score = named.score + names + this.#receiverScore(unit, locals);
    // Class bodies and comprehensions are entered from the code around them, other than generators.
    const isInline = unit.kind === 'class' || unit.kind === 'comprehension';
    if (isInline && unit.parent !== visible?.unit) score += weights.elsewhere;
    if (visible && visible.line >= unit.firstLine && visible.line <= unit.lastLine) {
      score += unit.parent === visible.unit ? weights.onLine : 0;
    }
    const times = visible?.entered.filter((entered) => entered === unit).length ?? 0;
    if (named.times > 0 && times >= named.times) score += weights.calledBefore;
    return { unit, line: unit.callLine, resumed: null, score, hasFittingNames, order: named.order };
  }

  /** What the caller's line says about whether, how often and when it calls a unit. */
  #calledFrom(unit: CodeUnit, caller: OpenFrame | null): { score: number; times: number; order: number } {
    const none = { score: 0, times: 0, order: 0 };
    if (unit.kind !== 'function') return none;
    const called = caller ? this.#namesCalledOn(caller.line) : namesCalledIn(this.layout.entry ?? '');
    const isCalled = (name: string) => called.includes(name);
    const calls = (name: string, score: number) => ({
      score,
      times: called.filter((other) => other === name).length,
      order: called.indexOf(name),
    });
    const type = unit.parent?.kind === 'class' ? unit.parent : null;
    if (type && isCalled('super') && caller?.unit?.parent === type)
      return { ...none, score: weights.superReceiver };
    if (type && isConstructor(unit.name))
      return isCalled(type.name) ? calls(type.name, weights.constructed) : none;
    if (isCalled(unit.name)) {
      // A generator's code is not entered by the call that makes it.
      const score = unit.isGenerator ? 0 : weights.called;
      const isVisible = type !== null || isVisibleFrom(unit, caller?.unit ?? null);
      return calls(unit.name, score + (isVisible ? weights.visible : 0));
    }
    if (!type) return none;
    const text = caller ? this.layout.textOfLine(caller.line) : (this.layout.entry ?? '');
    const attribute = new RegExp(String.raw`\.${escapeForRegExp(unit.name)}(?!\w)`, 'gu');
    const [first, ...more] = text.matchAll(attribute);
    return first ? { score: weights.named, times: 1 + more.length, order: first.index } : none;
  }

  /** In the order of evaluation. */
  #namesCalledOn(line: number): readonly string[] {
    return this.source.callsOnLine(line).map(({ name }) => name);
  }

  /** What the type of a method's receiver says about which class's method is called. */
  #receiverScore(unit: CodeUnit, locals: Locals | null): number {
    const [receiver] = unit.parameters;
    if (unit.kind !== 'function' || unit.parent?.kind !== 'class' || receiver === undefined) return 0;
    const type = typeOf(locals?.get(receiver)?.repr ?? '');
    if (type === null || !this.#bases.has(type)) return 0;
    const distance = this.#distance(type, unit.parent.name);
    return distance === null ? weights.otherReceiver : weights.receiver - Math.min(distance, 4);
  }

  /** How many steps up the bases of a class another is found, or null. */
  #distance(type: string, base: string): number | null {
    const seen = new Set<string>();
    let level = [type];
    for (let distance = 0; level.length > 0; distance++) {
      if (level.includes(base)) return distance;
      for (const name of level) seen.add(name);
      level = level.flatMap((name) => this.#bases.get(name) ?? []).filter((name) => !seen.has(name));
    }
    return null;
  }

  /** The suspended generators that the frame may resume, of which those that fit best. */
  #bestResumed(execution: Execution, locals: Locals | null, text: string): Candidate[] {
    const caller = execution.top?.activation ?? -1;
    let best: { readonly frame: SuspendedFrame; readonly fit: readonly number[] } | null = null;
    for (const frame of execution.suspended) {
      if (!this.texts.reads(frame.line, text)) continue;
      const fit = fitOf(frame, locals, caller);
      // Of those that fit equally well the one that waits longest goes on: that is how generators take turns.
      if (!best || isLess(fit, best.fit)) best = { frame, fit };
    }
    if (!best) return [];
    const { frame } = best;
    const [strangeNames = 0] = best.fit;
    const { unit, line } = frame;
    const isWaiting = frame.caller === caller && !frame.mayBeFinished;
    const hasFittingNames = strangeNames === 0;
    const score = !hasFittingNames ? weights.missingName : isWaiting ? weights.waitingForCaller : 0;
    return [{ unit, line, resumed: frame, score, hasFittingNames, order: 0 }];
  }
}

/**
 * All candidates. A generator that may be resumed and a new one of the same code cannot be told apart if their
 * locals can be the same: neither is better.
 */
function equalized(fresh: readonly Candidate[], resumed: readonly Candidate[]): readonly Candidate[] {
  return [...resumed, ...fresh].map((candidate, _, all) => {
    if (!candidate.hasFittingNames) return candidate;
    const same = all.filter(({ unit, hasFittingNames }) => unit === candidate.unit && hasFittingNames);
    return { ...candidate, score: Math.max(...same.map(({ score }) => score)) };
  });
}

/** The candidates with the best score, without those that come to the same. */
function bestOf(candidates: readonly Candidate[]): readonly CallPlace[] {
  const best = Math.max(...candidates.map(({ score }) => score));
  const places = new Map<string, CallPlace>();
  for (const { unit, line, resumed } of candidates
    .filter(({ score }) => score === best)
    .sort((a, b) => a.order - b.order)) {
    const key = `${line} ${unit.name} ${resumed?.activation ?? ''}`;
    if (!places.has(key)) places.set(key, { unit, line, resumed, isLikely: best > 0 });
  }
  return [...places.values()];
}

/** Locals of a new frame are its parameters, and what it sees of the functions around it. */
function nameScore(unit: CodeUnit, locals: Locals): number {
  const parameters = new Set(unit.parameters);
  let strange = 0;
  for (const name of parameters) if (!locals.has(name)) strange++;
  for (const name of locals.keys()) if (!parameters.has(name) && !unit.freeNames.has(name)) strange++;
  if (strange > 0) return weights.missingName - strange;
  // Almost always everything around a function is bound once that is called.
  return [...unit.freeNames].some((name) => !locals.has(name)) ? weights.unboundName : 0;
}

/** How badly a suspended generator fits a call frame, the weightiest sign first. */
function fitOf(frame: SuspendedFrame, locals: Locals | null, caller: number): readonly number[] {
  let missing = 0;
  let changed = 0;
  for (const [name, value] of frame.locals ?? []) {
    const now = locals?.get(name);
    if (!locals) continue;
    if (!now) missing++;
    else if (now.repr !== null && value.repr !== null && now.repr !== value.repr) changed++;
  }
  const { unit } = frame;
  let strange = missing;
  for (const name of locals?.keys() ?? []) if (!unit.names.has(name)) strange++;
  // A generator expression that has yielded has bound the names of its loops.
  if (locals && unit.kind === 'generatorExpression' && !hasOwnName(unit, locals)) strange++;
  return [strange, frame.mayBeFinished ? 1 : 0, changed, frame.caller === caller ? 0 : 1];
}

/** Whether something is bound that is neither given to the code nor of the code around it. */
function hasOwnName(unit: CodeUnit, locals: Locals): boolean {
  const own = [...unit.names].filter((name) => !unit.parameters.includes(name) && !unit.freeNames.has(name));
  return own.length === 0 || own.some((name) => locals.has(name));
}

function isLess(one: readonly number[], other: readonly number[]): boolean {
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function isConstructor(name: string): boolean {
  return name === '__init__' || name === '__new__' || name === '__post_init__';
}

/** Whether a name defined next to a unit can be seen from a caller's code. */
function isVisibleFrom(unit: CodeUnit, caller: CodeUnit | null): boolean {
  if (!unit.parent || unit.parent.kind === 'module') return true;
  for (let scope = caller; scope; scope = scope.parent) if (scope === unit.parent) return true;
  return false;
}

/** The name of an object's class, or of the class that the object is, from its repr. */
function typeOf(repr: string): string | null {
  const match = /^<class '([\w.]+)'>$|^<([\w.]+) object\b|^([\w.]+)\(/u.exec(repr);
  const name = match?.[1] ?? match?.[2] ?? match?.[3];
  return name === undefined ? null : lastName(name);
}

function lastName(dotted: string): string {
  return dotted.slice(dotted.lastIndexOf('.') + 1);
}

/** The names that are called in an expression, roughly: text in strings counts too. */
function namesCalledIn(expression: string): readonly string[] {
  return Array.from(expression.matchAll(/([^\W\d]\w*)\s*\(/gu), (match) => match[1] ?? '');
}

/** The names of the bases of a file's classes, as far as they stand on the line of the class's name. */
function basesOf(source: PythonSource): ReadonlyMap<string, readonly string[]> {
  const bases = new Map<string, readonly string[]>();
  for (const { kind, name, headerLine } of source.units) {
    if (kind !== 'class') continue;
    const header = /\bclass\s+\w+\s*\(([^)]*)/u.exec(source.lines[headerLine - 1] ?? '');
    bases.set(name, header?.[1]?.split(',').map((base) => lastName(base.trim())) ?? []);
  }
  return bases;
}

function escapeForRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
