import type { CodeUnit } from '../../python/codeUnits';
import type { PythonSource } from '../../python/source';
import type { Locals } from '../../trajectory/state';
import type { Execution, OpenFrame, SuspendedFrame } from './execution';
import type { Layout } from './layout';
import { listing } from './linePositions';
import { exactKey, type LineTexts } from './lineTexts';

/** What a call frame enters. */
export interface CallPlace {
  /** The code that is entered, or null where the source has none that reads like the frame. */
  readonly unit: CodeUnit | null;
  readonly line: number;
  /** The generator or coroutine that the call resumes, or null for a new frame. */
  readonly resumed: SuspendedFrame | null;
  readonly otherLines: readonly number[];
  readonly doubt: string | null;
}

interface Candidate {
  readonly unit: CodeUnit;
  readonly line: number;
  readonly resumed: SuspendedFrame | null;
  readonly score: number;
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

  /** @param locals the call frame's locals, with `..` not yet resolved, or null where they could not be read */
  find(execution: Execution, locals: Locals | null, text: string): CallPlace {
    const key = this.#keyOf(text);
    const candidates = (this.#units.get(key) ?? []).map((unit): Candidate => ({
      unit,
      line: unit.callLine,
      resumed: null,
      score: this.#scoreOfNew(unit, execution.top, locals),
    }));
    const exact = candidates.filter(({ line }) => exactKey(this.layout.textOfLine(line)) === exactKey(text));
    const resumed = this.#bestResumed(execution, locals, text);
    return choose([...(exact.length > 0 ? exact : candidates), ...resumed], text);
  }

  /** Indentation tells functions apart, but is not needed to find them. */
  #keyOf(text: string): string {
    return exactKey(text).trim();
  }

  #scoreOfNew(unit: CodeUnit, caller: OpenFrame | null, locals: Locals | null): number {
    let score = locals ? nameScore(unit, locals) : 0;
    const callerUnit = caller?.isVisible ? caller.unit : null;
    const callerLine = caller?.isVisible ? caller.line : null;
    // Class bodies and comprehensions are entered from the code around them, other than generators.
    const isInline = unit.kind === 'class' || unit.kind === 'comprehension';
    if (isInline && unit.parent !== callerUnit) score += weights.elsewhere;
    if (callerLine !== null && callerLine >= unit.firstLine && callerLine <= unit.lastLine) {
      score += unit.parent === callerUnit ? weights.onLine : 0;
    }
    return score + this.#calledScore(unit, callerUnit, callerLine) + this.#receiverScore(unit, locals);
  }

  /** What the caller's line says about whether it calls a unit. */
  #calledScore(unit: CodeUnit, caller: CodeUnit | null, line: number | null): number {
    if (unit.kind !== 'function') return 0;
    const called = line === null ? namesCalledIn(this.layout.entry ?? '') : this.#namesCalledOn(line);
    const type = unit.parent?.kind === 'class' ? unit.parent : null;
    if (type && called.has('super') && caller?.parent === type) return weights.superReceiver;
    if (type && isConstructor(unit.name)) return called.has(type.name) ? weights.constructed : 0;
    if (called.has(unit.name))
      return weights.called + (type || isVisibleFrom(unit, caller) ? weights.visible : 0);
    const text = line === null ? (this.layout.entry ?? '') : this.layout.textOfLine(line);
    if (type && new RegExp(String.raw`\.${escapeForRegExp(unit.name)}(?!\w)`, 'u').test(text))
      return weights.named;
    return 0;
  }

  #namesCalledOn(line: number): ReadonlySet<string> {
    return new Set(this.source.callsOnLine(line).map(({ name }) => lastName(name)));
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
    const score = strangeNames > 0 ? weights.missingName : frame.mayBeFinished ? -1 : 0;
    return [{ unit: frame.unit, line: frame.line, resumed: frame, score: score + weights.onLine }];
  }
}

function choose(candidates: readonly Candidate[], text: string): CallPlace {
  let [best] = candidates;
  for (const candidate of candidates) if (best && candidate.score > best.score) best = candidate;
  if (!best) {
    const line = 0;
    const doubt = `The source defines no function on a line that reads ${JSON.stringify(text.trim())}.`;
    return { unit: null, line, resumed: null, otherLines: [], doubt };
  }
  const { unit, line, resumed, score } = best;
  const others = new Set(candidates.filter((other) => other.score === score).map((other) => other.line));
  others.delete(line);
  const otherLines = [...others];
  const doubt =
    otherLines.length > 0 ? `The code on lines ${listing([line, ...otherLines])} may be entered here.` : null;
  return { unit, line, resumed, otherLines, doubt };
}

/** Locals of a new frame are its parameters, and what it sees of the functions around it. */
function nameScore(unit: CodeUnit, locals: Locals): number {
  const parameters = new Set(unit.parameters);
  let strange = 0;
  for (const name of parameters) if (!locals.has(name)) strange++;
  for (const name of locals.keys()) if (!parameters.has(name) && !unit.freeNames.has(name)) strange++;
  return strange > 0 ? weights.missingName - strange : 0;
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
  let strange = missing;
  for (const name of locals?.keys() ?? []) if (!frame.unit.names.has(name)) strange++;
  return [strange, frame.mayBeFinished ? 1 : 0, changed, frame.caller === caller ? 0 : 1];
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
function namesCalledIn(expression: string): ReadonlySet<string> {
  return new Set(Array.from(expression.matchAll(/([^\W\d]\w*)\s*\(/gu), (match) => match[1] ?? ''));
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
