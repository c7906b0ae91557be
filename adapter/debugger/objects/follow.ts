import type { ExpressionEvaluator } from '../../python/expressions';
import { isLiteral } from '../../python/repr';
import type { PythonSource } from '../../python/source';
import type { SyntaxNode } from '../../python/syntaxTree';
import type { Value } from '../../trajectory/state';
import type { Frame, Trajectory } from '../../trajectory/trajectory';
import { wasLeftByException } from '../exceptions';
import {
  bindingBuiltins,
  changingMethods,
  pureBuiltins,
  pureModules,
  readingMethods,
  wildBuiltins,
} from './callables';
import { type Classes, decoratorsOf, isProperty } from './classes';
import { changedContents, withItem, withoutItem } from './containers';
import {
  type Changes,
  type Heap,
  type Instance,
  Journal,
  type Known,
  type Origin,
  unknownValue,
} from './heap';
import { isMainGuard, mayCallOwnCode } from './moduleStart';
import { Reprs } from './reprs';
import {
  builtinMethods,
  comparingMethods,
  isQuiet,
  mayHide,
  operationOf,
  operatorMethods,
  placeOf,
} from './operators';
import { type Evaluation, evaluationsOf, type Executable, executablesByLine, namesBound } from './statements';

/** The names of one Python frame, and what is going on in it. */
interface Environment {
  readonly names: Map<string, Known>;
  /** What the frame's locals were when they were last looked at. */
  readonly seen: Map<string, Value>;
  /** What calls and attributes of the line gave so far, by where they end. */
  readonly results: Map<number, Known>;
  /** Calls of the line whose frames were seen, by where they end. */
  readonly taken: Map<number, true>;
  /**
   * `disturbed`: the heap's writes before a frame was entered of which it is not known where in the line; `call`: where
   * the call ends that made the frame; `maker`: whether that call gives the new instance.
   */
  readonly marks: Map<'disturbed' | 'call' | 'maker', number>;
  /** How often the bodies of loops were gone through, by where they stand. */
  readonly turns: Map<number, number>;
  /** What loops go over, by where they stand. */
  readonly loops: Map<number, Known>;
  /** Where what the line's calls were given was worked out. */
  readonly begun: Map<Origin, true>;
}

/** How many objects within objects an expression sees. */
const expressionDepth = 4;
/** Longer values are not handed to expressions. */
const maxExpanded = 200_000;

/**
 * Follows the objects of a program along a trajectory, in memory: which object a name means, and what its attributes
 * are, from the assignments that were executed. What each executed line does is read from the syntax tree; what the
 * locals say is taken from them. Values are worked out by the evaluator. Whatever may have changed unseen is
 * forgotten, so that a value that is known is one that the trajectory implies.
 */
export class Follower {
  readonly journal = new Journal();
  readonly #environments = new Map<number, Environment>();
  readonly #changes: Changes[] = [];
  readonly #lines: ReadonlyMap<number, readonly Executable[]>;
  readonly #definitions = new Map<string, SyntaxNode>();
  readonly #moduleNames = new Map<string, 'function' | 'class' | 'import' | 'value'>();
  readonly #pureImports = new Set<string>();
  /** Names that other frames than their own can bind. */
  readonly #shared = new Set<string>();
  readonly reprs: Reprs;
  #at = -1;

  constructor(
    private readonly source: PythonSource,
    private readonly trajectory: Trajectory,
    private readonly evaluator: ExpressionEvaluator,
    readonly heap: Heap,
    readonly classes: Classes,
  ) {
    this.journal = heap.journal;
    this.reprs = new Reprs(heap, classes);
    this.#lines = executablesByLine(source);
    this.#index(source.tree.root);
    const functions = new Set<string>();
    for (const statement of source.tree.root.parts) {
      const definition =
        statement.type === 'decorated_definition' ? statement.child('definition') : statement;
      if (definition?.type === 'function_definition') functions.add(this.#word(definition.child('name')));
    }
    for (const { name, isDefinition } of source.scopes.module.bindings) {
      const isFunction = functions.has(name);
      const kind = !isDefinition ? 'value' : classes.get(name) ? 'class' : isFunction ? 'function' : 'value';
      this.#moduleNames.set(name, this.#moduleNames.has(name) ? 'value' : kind);
    }
    for (const name of this.#pureImports) this.#moduleNames.set(name, 'import');
    for (const scope of source.scopes.scopes) {
      for (const name of [...scope.nonlocals, ...(scope.kind === 'module' ? [] : scope.globals)]) {
        this.#shared.add(name);
      }
    }
  }

  /** What the module's names are by the source, for programs whose module was run before the trace. */
  readonly #constants = new Map<string, Known>();
  /** How the source's values are written, to tell whether they were changed. */
  readonly #written = new Map<string, string | null>();
  /** For programs whose module was run before the trace: names that its functions can bind, as they are now. */
  readonly #rebound = new Map<string, Known>();
  /** Where names of the module were last bound. */
  readonly #boundAt = new Map<string, Origin>();
  #isReady = false;

  /** Goes to a state, over the states before it; earlier and other branches' states are gone to as well. */
  async goTo(state: number): Promise<void> {
    if (!this.#isReady) await this.#readConstants();
    const ahead: number[] = [];
    for (let to = state; this.#at !== to;) {
      if (to > this.#at) {
        ahead.push(to);
        to = this.trajectory.previous(to);
      } else {
        Journal.undo(this.#changes[this.#at] ?? []);
        this.#at = this.trajectory.previous(this.#at);
      }
    }
    for (const next of ahead.reverse()) {
      const known = this.#changes[next];
      if (known) Journal.redo(known);
      else {
        this.heap.origin = { state: next, from: new Set(), locals: new Set() };
        await this.#follow(next);
        this.heap.origin = null;
        this.#changes[next] = this.journal.take();
      }
      this.#at = next;
    }
  }

  /** What a name means in a frame that is open where the follower is; null where it has no such local. */
  local(frame: Frame, name: string): Known | null {
    return this.#environments.get(frame.activation)?.names.get(name) ?? null;
  }

  /** What an instance's attributes are, by the names that `vars` gives; unknown ones among them. */
  attributes(instance: Instance): Map<string, Known> {
    const attributes = new Map<string, Known>();
    for (const name of instance.attributes.keys()) {
      const value = this.heap.attribute(instance, name);
      if (value) attributes.set(name, value);
    }
    return attributes;
  }

  /** The same with what it finds in its classes. */
  allAttributes(instance: Instance): Map<string, Known> {
    const attributes = this.attributes(instance);
    for (const facts of this.classes.order(instance.className) ?? []) {
      for (const name of facts.members.keys()) {
        if (attributes.has(name)) continue;
        const value = this.#attribute(instance, name);
        if (value.kind !== 'unknown') attributes.set(name, value);
      }
    }
    return attributes;
  }

  /** Whether a name of the module is a function's or a class's, and nothing else. */
  isDefinition(name: string): boolean {
    const kind = this.#moduleNames.get(name);
    return kind === 'class' || kind === 'function';
  }

  /** Where a name of the module was last bound; null where the source alone says it. */
  globalOrigin(name: string): Origin | null {
    return this.#boundAt.get(name) ?? null;
  }

  /** What a name of the module means, and whether the source alone says it. */
  global(frame: Frame, name: string): { readonly value: Known; readonly isOfSource: boolean } {
    const bound = this.#boundAt.get(name);
    if (bound) this.heap.origin?.from.add(bound);
    let bottom = frame;
    while (bottom.parent) bottom = bottom.parent;
    const isScript = bottom.function === '<module>';
    const own = isScript
      ? this.#environments.get(bottom.activation)?.names.get(name)
      : this.#rebound.get(name);
    const isDefinition = this.isDefinition(name);
    const isOther = isScript || own !== this.#constants.get(name);
    if (own && isOther && !(isDefinition && own.kind === 'unknown')) return { value: own, isOfSource: false };
    if (isScript && !isDefinition) return { value: unknownValue, isOfSource: false };
    const value = this.#constants.get(name) ?? unknownValue;
    return { value, isOfSource: this.reprs.write(value) === (this.#written.get(name) ?? null) };
  }

  /** What follows from the source alone: values that are assigned once, where nothing else can touch them. */
  async #readConstants(): Promise<void> {
    this.#isReady = true;
    const { module } = this.source.scopes;
    const { root } = this.source.tree;
    const hasEntry = this.trajectory.program.entry !== null;
    const mentions = (name: string) =>
      root.parts.filter((statement) => {
        const { type, start, end } = statement;
        if (hasEntry && isMainGuard(this.source.text, statement)) return false;
        const isDefinition = /definition$|^import/.test(type);
        return !isDefinition && new RegExp(`\\b${name}\\b`).test(this.source.text.slice(start, end));
      }).length;
    const isFresh = hasEntry && !mayCallOwnCode(this.source, this.#pureImports);
    for (const { name } of module.bindings) {
      const kind = this.#moduleNames.get(name);
      if (kind === 'class') this.#constants.set(name, { kind: 'class', name });
      if (kind === 'function') this.#constants.set(name, { kind: 'plain', repr: `<function ${name}>` });
    }
    for (const statement of root.parts) {
      const [assignment] = statement.type === 'expression_statement' ? statement.parts : [];
      const left = assignment?.type === 'assignment' ? assignment.child('left') : null;
      const right = assignment?.child('right');
      if (left?.type !== 'identifier' || !right) continue;
      const name = this.#word(left);
      const isShared = this.#shared.has(name);
      const isOnly = isShared
        ? isFresh && mentions(name) === 1
        : module.bindings.filter((binding) => binding.name === name).length === 1;
      if (!isOnly) continue;
      const value = await this.#constantValue(right, this.#constants);
      if (value.kind !== 'plain' && mentions(name) !== 1) continue;
      this.#constants.set(name, value);
      if (isShared) this.#rebound.set(name, value);
    }
    for (const [name, value] of this.#constants) this.#written.set(name, this.reprs.write(value));
    for (const facts of this.classes.all) {
      if (!facts.isTopLevel || (hasEntry && mentions(facts.name) > 0)) continue;
      for (const [name, node] of facts.members) {
        const value = node ? await this.#constantValue(node, new Map()) : unknownValue;
        this.heap.setClassAttribute(facts.name, name, value);
      }
    }
    this.journal.take();
  }

  async #constantValue(node: SyntaxNode, names: ReadonlyMap<string, Known>): Promise<Known> {
    const known = new Map<string, Value>();
    for (const [name, value] of names) {
      if (value.kind === 'plain') known.set(name, { repr: value.repr, confidence: null });
    }
    const result = await this.evaluator.evaluate(this.#text(node), known);
    return result.kind === 'value' ? this.reprs.read(result.repr, isNewValue(node)) : unknownValue;
  }

  // -- one state after the other ------------------------------------------------------------------------

  async #follow(state: number): Promise<void> {
    const { trajectory } = this;
    this.#returning = null;
    const frame = trajectory.frame(state);
    const action = trajectory.action(state);
    // What other threads do between two lines is not ordered by them.
    if (frame.thread !== null || action.name === 'what_if') this.heap.forgetAll();
    if (frame.thread !== null) this.#forgetGlobals(frame);
    if (trajectory.event(state) === 'call' && !frame.resumed) await this.#enter(frame, state);
    const environment = this.#environment(frame);
    const before = trajectory.previousInFrame(state);
    let bound = new Set<string>();
    if (before !== null && trajectory.event(before) === 'line') {
      bound = await this.#ran(frame, environment, before, state);
    }
    this.#observe(environment, state, bound);
    if (trajectory.event(state) === 'return') this.#leave(frame, environment, state);
  }

  #environment(frame: Frame): Environment {
    let environment = this.#environments.get(frame.activation);
    if (!environment) {
      environment = {
        names: new Map(),
        seen: new Map(),
        results: new Map(),
        taken: new Map(),
        marks: new Map(),
        turns: new Map(),
        loops: new Map(),
        begun: new Map(),
      };
      this.#environments.set(frame.activation, environment);
    }
    return environment;
  }

  /** The executables that a line of a frame runs; null where it is not known which they are. */
  #executables(frame: Frame, line: number): readonly Executable[] | null {
    const units = this.source.unitsOfLine(line).filter(({ name }) => name === frame.function);
    const [unit] = units;
    if (!unit || units.length > 1) return null;
    const scopeLine = unit.kind === 'module' ? 0 : unit.headerLine;
    if (unit.kind !== 'module' && unit.kind !== 'function' && unit.kind !== 'class') return [];
    return (this.#lines.get(line) ?? []).filter((executable) => executable.scopeLine === scopeLine);
  }

  /** What running a line has done, up to the frame's next state. Returns the names that it has bound. */
  async #ran(frame: Frame, environment: Environment, before: number, state: number): Promise<Set<string>> {
    const { trajectory } = this;
    const line = trajectory.line(before);
    const isDone = trajectory.event(state) !== 'exception';
    const executables = this.#executables(frame, line);
    if (!executables || trajectory.prediction(before).otherLines.length > 0) {
      this.heap.forgetAll();
      this.#forgetGlobals(frame);
      for (const name of environment.names.keys()) this.journal.delete(environment.names, name);
      return new Set();
    }
    const next = trajectory.line(state);
    const [only] = executables;
    if (only && executables.length === 1 && trajectory.event(state) === 'line') {
      // A statement over several lines comes by several times.
      const isInside = next >= only.firstLine && next <= only.lastLine;
      if (isInside && only.firstLine < only.lastLine) return new Set();
    }
    const bound = new Set<string>();
    for (const origin of environment.begun.keys()) {
      this.heap.origin?.from.add(origin);
      this.journal.delete(environment.begun, origin);
    }
    const isCertain = isDone && executables.length === 1;
    const values = new Map<string, Known>();
    for (const executable of executables) {
      for (const name of namesBound(this.source.text, executable)) bound.add(name);
      await this.#run(executable, frame, environment, isCertain, values, next, before);
    }
    for (const name of bound) this.journal.set(environment.names, name, values.get(name) ?? unknownValue);
    this.#bindGlobals(frame, line, bound, values);
    for (const at of environment.results.keys()) this.journal.delete(environment.results, at);
    for (const at of environment.taken.keys()) this.journal.delete(environment.taken, at);
    this.journal.delete(environment.marks, 'disturbed');
    return bound;
  }

  /** Names that a function has declared global belong to the module. */
  #bindGlobals(
    frame: Frame,
    line: number,
    bound: ReadonlySet<string>,
    values: ReadonlyMap<string, Known>,
  ): void {
    if (bound.size === 0 || frame.function === '<module>') return;
    const units = this.source.unitsOfLine(line).filter(({ name }) => name === frame.function);
    let bottom = frame;
    while (bottom.parent) bottom = bottom.parent;
    const names = bottom.function === '<module>' ? this.#environment(bottom).names : this.#rebound;
    for (const name of bound) {
      if (!units.some(({ globalsWritten }) => globalsWritten.has(name))) continue;
      this.journal.set(names, name, units.length === 1 ? (values.get(name) ?? unknownValue) : unknownValue);
      if (this.heap.origin) this.journal.set(this.#boundAt, name, this.heap.origin);
    }
  }

  /** Any name of the module may have been bound to something else, from within a function. */
  #forgetGlobals(frame: Frame): void {
    for (const name of this.#rebound.keys()) this.journal.set(this.#rebound, name, unknownValue);
    let bottom = frame;
    while (bottom.parent) bottom = bottom.parent;
    if (bottom === frame || bottom.function !== '<module>') return;
    const { names, seen } = this.#environment(bottom);
    for (const name of names.keys()) {
      this.journal.delete(names, name);
      this.journal.delete(seen, name);
    }
  }

  /** Takes over what the locals of a state say. */
  #observe(environment: Environment, state: number, bound: ReadonlySet<string>): void {
    const { locals } = this.trajectory.state(state);
    if (!locals) return;
    const { names, seen } = environment;
    for (const [name, value] of locals) {
      const known = this.#shared.has(name) ? undefined : names.get(name);
      const isNew = bound.has(name) || !known;
      if (!isNew && seen.get(name) === value && known.kind !== 'box') continue;
      this.journal.set(seen, name, value);
      this.#take(name, state);
      const now = this.#reconciled(known ?? unknownValue, value.repr, isNew);
      if (now !== known) this.journal.set(names, name, now);
    }
    if (names.size === locals.size) return;
    // What functions see as globals may be no local of the module's frame.
    const isModule = this.trajectory.frame(state).function === '<module>';
    for (const name of names.keys()) {
      if (locals.has(name) || (isModule && !seen.has(name))) continue;
      this.journal.delete(names, name);
      this.journal.delete(seen, name);
    }
  }

  /** A local's value is taken over from a state. */
  #take(name: string, state: number): void {
    const { origin } = this.heap;
    if (!origin) return;
    origin.locals.add(name);
    if (this.trajectory.frame(state).function === '<module>') this.journal.set(this.#boundAt, name, origin);
  }

  /** What a name means, from what was worked out and what its repr says. */
  #reconciled(known: Known, repr: string | null, isNew: boolean): Known {
    if (repr === null) return known.kind === 'plain' ? unknownValue : known;
    const shown = this.reprs.read(repr);
    if (known.kind === 'unknown') return shown;
    if (known.kind === 'plain' && known.repr === repr) return known;
    if (this.reprs.matches(known, shown)) return known;
    const contents = known.kind === 'box' ? this.heap.contents(known.box) : null;
    if (
      known.kind !== 'box' ||
      shown.kind !== 'box' ||
      known.box.kind !== shown.box.kind ||
      known.box.kind === 'tuple'
    ) {
      // What was worked out is not what is so: something was missed.
      if (isNew) this.heap.forgetAll();
      return shown;
    }
    const now = this.heap.contents(shown.box);
    if (contents && isNew) {
      this.heap.forgetAll();
      return shown;
    }
    if (contents || !now) this.heap.setContents(known.box, now);
    else this.heap.learn(known.box, now);
    return known;
  }

  // -- calls --------------------------------------------------------------------------------------------

  /** A frame was entered: its parameters are bound to what the call that made it passes. */
  async #enter(frame: Frame, state: number): Promise<void> {
    const { trajectory } = this;
    const environment = this.#environment(frame);
    const parent = frame.parent;
    if (!parent || frame.callerState < 0 || trajectory.event(frame.callerState) !== 'line') return;
    const outer = this.#environment(parent);
    if (this.heap.origin) this.journal.set(outer.begun, this.heap.origin, true);
    const disturb = () => {
      if (!outer.marks.has('disturbed')) this.journal.set(outer.marks, 'disturbed', this.heap.writes);
    };
    const executables = this.#executables(parent, trajectory.line(frame.callerState)) ?? [];
    const unit = this.source
      .unitsOfLine(trajectory.line(state))
      .find(({ name, callLine }) => name === frame.function && callLine === trajectory.line(state));
    if (unit?.kind !== 'function') {
      disturb();
      return;
    }
    const definition = this.#definitions.get(`${unit.headerLine} ${unit.name}`);
    const evaluations = executables.flatMap(evaluationsOf);
    const match = definition ? await this.#callOf(definition, parent, outer, executables, evaluations) : null;
    // What changes containers in the line may have run before this, or not.
    for (const { node } of evaluations) {
      const isAround = match !== null && node.start <= match.node.start && node.end >= match.node.end;
      if (node.type === 'call' && !isAround) await this.#forgetReceiver(node, parent, outer);
    }
    if (!match) {
      disturb();
      return;
    }
    const at = placeOf(match.node);
    this.journal.set(outer.taken, at, true);
    this.journal.set(environment.marks, 'call', at);
    for (const [name, value] of match.names) this.journal.set(environment.names, name, value);
    if (match.made) {
      this.journal.set(environment.marks, 'maker', 1);
      this.journal.set(outer.results, at, match.made);
    }
  }

  /** Which call of a line enters a function, and what it passes; null where that is not certain. */
  async #callOf(
    definition: SyntaxNode,
    parent: Frame,
    outer: Environment,
    executables: readonly Executable[],
    evaluations: readonly Evaluation[],
  ): Promise<{ node: SyntaxNode; names: Map<string, Known>; made: Known | null } | null> {
    const name = this.#word(definition.child('name'));
    const owner = this.#classOf(definition);
    const decorated = definition.parent?.type === 'decorated_definition' ? definition.parent : null;
    const decorators = decorated ? decoratorsOf(this.source.text, decorated) : [];
    const property = isProperty({ node: definition, decorators });
    const left = evaluations.filter(
      ({ node }) => !outer.taken.has(node.end) && this.#mayEnter(node, name, owner, property, parent),
    );
    const [first] = left;
    if (!first && owner !== null)
      return this.#implicitCallOf(definition, name, owner, parent, outer, executables);
    if (!first || first.isRepeated || (left.length > 1 && !left.every(({ isCertain }) => isCertain)))
      return null;
    const { node } = first;
    await this.#keepRead(node, parent, outer, evaluations);
    const found = (names: Map<string, Known>, made: Known | null = null) => ({
      node,
      names,
      made,
    });
    const parameters = parametersOf(this.source.text, definition);
    if (parameters === null) return null;
    const [self] = parameters;
    const names = new Map<string, Known>();
    if (property) {
      const object = node.child('object');
      if (self !== undefined && object) names.set(self, await this.#value(object, parent, outer));
      return found(names);
    }
    let positional = 0;
    let made: Known | null = null;
    const callee = node.child('function');
    if (owner && callee && !decorators.includes('staticmethod')) {
      const receiver = await this.#receiver(callee, name, owner, parent, outer, node);
      if (receiver === null) return null;
      if (receiver !== 'none' && self !== undefined) {
        names.set(self, receiver.value);
        positional = 1;
        made = receiver.isMade ? receiver.value : null;
      }
    }
    if (name === '__post_init__') return found(names, made);
    const given = node.child('arguments');
    if (!given) return null;
    for (const argument of given.type === 'argument_list' ? given.parts : []) {
      if (argument.type.endsWith('_splat')) return found(names, made);
      const keyword = argument.type === 'keyword_argument' ? this.#word(argument.child('name')) : null;
      const value = keyword === null ? argument : argument.child('value');
      const parameter = keyword ?? parameters[positional++];
      if (parameter === undefined || !value) continue;
      if (parameters.includes(parameter)) names.set(parameter, await this.#value(value, parent, outer));
    }
    return found(names, made);
  }

  /** What a line has read so far is kept as it is now: what is called may change it. */
  async #keepRead(
    upTo: SyntaxNode,
    parent: Frame,
    outer: Environment,
    evaluations: readonly Evaluation[],
  ): Promise<void> {
    for (const { node: read, isCertain } of evaluations) {
      if (read === upTo) break;
      if (!isCertain || outer.results.has(read.end) || !this.#isUndisturbed(outer)) continue;
      if (read.type === 'attribute' || read.type === 'subscript') {
        this.journal.set(outer.results, read.end, await this.#value(read, parent, outer));
      } else if (read.type === 'call' && !outer.taken.has(read.end)) {
        // What is made without a frame of its own was made before.
        const made = this.#madeWithoutFrame(read, parent);
        if (made === null) continue;
        this.journal.set(outer.taken, read.end, true);
        this.journal.set(outer.results, read.end, await this.#newInstance(made, read, parent, outer));
      }
    }
  }

  /** Which operation, or call of a builtin, enters a method such as `__add__`; null where that is not certain. */
  async #implicitCallOf(
    definition: SyntaxNode,
    name: string,
    owner: string,
    parent: Frame,
    outer: Environment,
    executables: readonly Executable[],
  ): Promise<{ node: SyntaxNode; names: Map<string, Known>; made: null } | null> {
    const evaluations = executables.flatMap(evaluationsOf);
    const { text } = this.source;
    const compares = comparingMethods.has(name);
    if (executables.some(({ node, parts }) => isCompound(node) || mayHide(text, parts, name))) return null;
    const symbol = operatorMethods.get(name);
    const builtin = builtinMethods.get(name);
    const [self, other] = parametersOf(this.source.text, definition) ?? [];
    if ((symbol === undefined && builtin === undefined) || self === undefined) return null;
    for (const { node, isCertain, isRepeated } of evaluations) {
      const place = placeOf(node);
      if (node.type === 'subscript' && compares) return null;
      const isRead = node.type === 'attribute' || node.type === 'subscript';
      if (isRead || outer.taken.has(place) || outer.results.has(place)) continue;
      let operands: readonly SyntaxNode[];
      if (node.type === 'call') {
        const callee = node.child('function');
        const word =
          callee?.type === 'identifier' && !this.#moduleNames.has(this.#word(callee))
            ? this.#word(callee)
            : '';
        operands = word === builtin ? (node.child('arguments')?.parts ?? []) : [];
        if (operands.length !== 1) {
          // Other calls may enter the method by themselves.
          if (!isQuiet(word, name)) return null;
          continue;
        }
      } else {
        const operation = operationOf(text, node);
        // A lookup compares with what it looks through.
        if (compares && (!operation || /in$/.test(operation.symbol))) return null;
        if (operation && operation.symbol !== symbol) continue;
        operands = operation ? [operation.left, operation.right] : [];
      }
      const [on, with_] = operands;
      if (!on || isRepeated) return null;
      const receiver = await this.#value(on, parent, outer);
      if (receiver.kind === 'plain' || receiver.kind === 'box') {
        const meets = compares && with_ ? await this.#value(with_, parent, outer) : null;
        if (meets && (receiver.kind === 'box' || meets.kind !== 'plain')) return null;
        continue;
      }
      const enters =
        receiver.kind === 'instance' && this.classes.owner(receiver.instance.className, name)?.name === owner;
      if (!enters || !isCertain) return null;
      await this.#keepRead(node, parent, outer, evaluations);
      const names = new Map<string, Known>([[self, receiver]]);
      if (other !== undefined && with_) names.set(other, await this.#value(with_, parent, outer));
      return { node, names, made: null };
    }
    return null;
  }

  /** Whether a call, or reading an attribute, may enter a function. */
  #mayEnter(node: SyntaxNode, name: string, owner: string | null, property: boolean, parent: Frame): boolean {
    if (node.type === 'attribute') return property && this.#word(node.child('attribute')) === name;
    if (property) return false;
    const callee = node.child('function');
    if (callee?.type === 'attribute') return this.#word(callee.child('attribute')) === name;
    if (callee?.type !== 'identifier') return false;
    if (name !== '__init__' && name !== '__post_init__') return owner === null && this.#word(callee) === name;
    const made = this.#calledClass(callee, parent);
    return made !== null && owner !== null && this.classes.owner(made, name)?.name === owner;
  }

  /** The class that a call makes an instance of. */
  #calledClass(callee: SyntaxNode, frame: Frame): string | null {
    const word = this.#word(callee);
    const local = this.local(frame, word);
    if (local) return local.kind === 'class' ? local.name : null;
    return this.#moduleNames.get(word) === 'class' || this.classes.get(word) ? word : null;
  }

  /** The class that a call makes an instance of without running any of its code; null for other calls. */
  #madeWithoutFrame(call: SyntaxNode, frame: Frame): string | null {
    const callee = call.child('function');
    const made = callee?.type === 'identifier' ? this.#calledClass(callee, frame) : null;
    if (made === null || !this.classes.order(made)) return null;
    const runsCode = ['__init__', '__post_init__'].some((name) => this.classes.method(made, name));
    return runsCode ? null : made;
  }

  /** The first argument of a method that is not written among the arguments; null where that is not known. */
  async #receiver(
    callee: SyntaxNode,
    name: string,
    owner: string,
    parent: Frame,
    outer: Environment,
    call: SyntaxNode,
  ): Promise<{ value: Known; isMade: boolean } | 'none' | null> {
    if (callee.type === 'identifier') {
      const className = this.#calledClass(callee, parent);
      if (className === null || !this.classes.order(className)) return null;
      return { value: await this.#newInstance(className, call, parent, outer), isMade: true };
    }
    const object = callee.child('object');
    if (!object) return null;
    if (this.#isSuper(object)) {
      const [self] = this.#parametersOfFrame(parent);
      return { value: (self !== undefined && outer.names.get(self)) || unknownValue, isMade: false };
    }
    const value = await this.#value(object, parent, outer);
    const isClassMethod = this.classes.method(owner, name)?.decorators.includes('classmethod') ?? false;
    if (value.kind === 'class') return isClassMethod ? { value, isMade: false } : 'none';
    if (isClassMethod) {
      const isKnown = value.kind === 'instance';
      return {
        value: isKnown ? { kind: 'class', name: value.instance.className } : unknownValue,
        isMade: false,
      };
    }
    return { value, isMade: false };
  }

  /** A frame was left by a return event: what it gives is the result of its call. */
  #leave(frame: Frame, environment: Environment, state: number): void {
    const { trajectory } = this;
    const unit = this.source.units.find(({ name, kind }) => name === frame.function && kind === 'class');
    if (unit && frame.parent?.function === '<module>' && this.classes.get(frame.function)?.isTopLevel) {
      for (const [name, value] of environment.names) this.heap.setClassAttribute(frame.function, name, value);
    }
    const at = environment.marks.get('call');
    if (at === undefined || environment.marks.has('maker') || !frame.parent) return;
    if (wasLeftByException(trajectory, state)) return;
    const before = trajectory.previousInFrame(state);
    const executable = before === null ? null : this.#executables(frame, trajectory.line(before))?.[0];
    const given = executable?.node.type === 'return_statement' ? executable.node.parts[0] : undefined;
    const value = given ? (this.#returning ?? unknownValue) : unknownValue;
    const repr = trajectory.argument(state)?.repr ?? null;
    const result = repr === null ? value : this.#reconciled(value, repr, false);
    this.journal.set(this.#environment(frame.parent).results, at, result);
  }

  /** What the return statement gives that was run last. */
  #returning: Known | null = null;

  // -- statements ---------------------------------------------------------------------------------------

  /**
   * Does what an executable does.
   *
   * @param isCertain whether it ran to its end, once
   * @param values is given what the names that it binds mean
   * @param next the frame's next line
   */
  async #run(
    executable: Executable,
    frame: Frame,
    environment: Environment,
    isCertain: boolean,
    values: Map<string, Known>,
    next: number,
    before: number,
  ): Promise<void> {
    const { node } = executable;
    this.#returning = null;
    const evaluations = evaluationsOf(executable);
    for (const evaluation of evaluations) {
      if (evaluation.node.type !== 'call') continue;
      await this.#call(evaluation, frame, environment, isCertain && evaluation.isCertain);
    }
    if (/\bawait\b|\byield\b/.test(this.source.text.slice(node.start, node.end)) && !isCompound(node)) {
      await this.#forgetTargets(node, frame, environment);
      return;
    }
    const [inner] = node.parts;
    switch (node.type) {
      case 'expression_statement':
        if (inner?.type === 'assignment') {
          await this.#assignment(inner, frame, environment, isCertain, values);
        } else if (inner?.type === 'augmented_assignment') {
          await this.#augmented(inner, frame, environment, isCertain, values);
        }
        return;
      case 'return_statement':
        if (inner) this.#returning = await this.#value(inner, frame, environment);
        return;
      case 'delete_statement':
        for (const target of inner?.type === 'expression_list' ? inner.parts : node.parts) {
          await this.#delete(target, frame, environment, isCertain);
        }
        return;
      case 'for_statement':
        await this.#turn(node, frame, environment, isCertain, values, next, before);
        return;
      case 'with_statement':
      case 'except_clause':
      default:
        return;
    }
  }

  async #assignment(
    node: SyntaxNode,
    frame: Frame,
    environment: Environment,
    isCertain: boolean,
    values: Map<string, Known>,
  ): Promise<void> {
    const targets: SyntaxNode[] = [];
    let at: SyntaxNode | null = node;
    let right: SyntaxNode | null = null;
    while (at?.type === 'assignment') {
      const left = at.child('left');
      if (left) targets.push(left);
      right = at.child('right');
      at = right;
    }
    // An annotation by itself assigns nothing.
    if (!right) return;
    const value = await this.#value(right, frame, environment);
    // What the targets stand in is read only now.
    this.journal.delete(environment.marks, 'disturbed');
    for (const target of targets) {
      if (target.type === 'pattern_list' || target.type === 'tuple_pattern') {
        const parts = this.#partsOf(value, target.parts.length);
        for (const [index, part] of target.parts.entries()) {
          await this.#assign(part, parts?.[index] ?? unknownValue, frame, environment, isCertain, values);
        }
      } else await this.#assign(target, value, frame, environment, isCertain, values);
    }
  }

  #partsOf(value: Known, count: number): readonly Known[] | null {
    const whole =
      value.kind === 'plain' && value.repr.startsWith('(') ? this.reprs.contents(value.repr) : null;
    const contents = whole ?? (value.kind === 'box' ? this.heap.contents(value.box) : null);
    return contents && 'items' in contents && contents.items.length === count ? contents.items : null;
  }

  async #assign(
    target: SyntaxNode,
    given: Known,
    frame: Frame,
    environment: Environment,
    isCertain: boolean,
    values: Map<string, Known>,
  ): Promise<void> {
    const value = isCertain ? given : unknownValue;
    switch (target.type) {
      case 'identifier':
        values.set(this.#word(target), value);
        return;
      case 'attribute':
        await this.#setAttribute(target, value, frame, environment);
        return;
      case 'subscript':
        await this.#setItem(target, value, frame, environment);
        return;
      default:
        for (const part of target.parts)
          await this.#assign(part, unknownValue, frame, environment, false, values);
    }
  }

  async #setAttribute(
    target: SyntaxNode,
    value: Known,
    frame: Frame,
    environment: Environment,
  ): Promise<void> {
    const name = this.#attributeName(target);
    const object = await this.#value(target.child('object') ?? target, frame, environment);
    if (object.kind === 'class') {
      this.heap.setClassAttribute(object.name, name, value);
      return;
    }
    if (object.kind !== 'instance') {
      if (object.kind !== 'plain') this.heap.forgetAttribute(name);
      return;
    }
    const { instance } = object;
    const order = this.classes.order(instance.className);
    if (!order) {
      this.heap.forgetAttribute(name);
      return;
    }
    const method = this.classes.method(instance.className, name);
    // A property's own code runs, and is seen.
    if (method && isProperty(method)) return;
    const member = this.classes.owner(instance.className, name)?.members.get(name);
    const mayDescribe = member?.type === 'call' && !this.classes.fields(instance.className);
    this.heap.setAttribute(instance, name, mayDescribe ? unknownValue : value);
  }

  async #setItem(target: SyntaxNode, value: Known, frame: Frame, environment: Environment): Promise<void> {
    const container = await this.#value(target.child('value') ?? target, frame, environment);
    if (container.kind === 'instance') return;
    if (container.kind !== 'box') {
      if (container.kind === 'unknown') this.heap.forgetBoxes();
      return;
    }
    const [index, ...rest] = target.all('subscript');
    const key = index && rest.length === 0 ? await this.#value(index, frame, environment) : unknownValue;
    const contents = this.heap.contents(container.box);
    const isKept = contents && key.kind === 'plain' && value.kind !== 'unknown';
    this.heap.setContents(container.box, isKept ? withItem(contents, key.repr, value) : null);
  }

  async #delete(
    target: SyntaxNode,
    frame: Frame,
    environment: Environment,
    isCertain: boolean,
  ): Promise<void> {
    if (target.type === 'identifier') {
      this.journal.delete(environment.names, this.#word(target));
    } else if (target.type === 'attribute') {
      const object = await this.#value(target.child('object') ?? target, frame, environment);
      const name = this.#attributeName(target);
      if (object.kind === 'instance' && isCertain) this.heap.deleteAttribute(object.instance, name);
      else this.heap.forgetAttribute(name);
    } else if (target.type === 'subscript') {
      const container = await this.#value(target.child('value') ?? target, frame, environment);
      const [index] = target.all('subscript');
      const key = index && isCertain ? await this.#value(index, frame, environment) : unknownValue;
      if (container.kind === 'box') {
        const contents = this.heap.contents(container.box);
        const isKept = contents && key.kind === 'plain';
        this.heap.setContents(container.box, isKept ? withoutItem(contents, key.repr) : null);
      } else if (container.kind === 'unknown') this.heap.forgetBoxes();
    }
  }

  async #augmented(
    node: SyntaxNode,
    frame: Frame,
    environment: Environment,
    isCertain: boolean,
    values: Map<string, Known>,
  ): Promise<void> {
    const left = node.child('left');
    const right = node.child('right');
    if (!left || !right) return;
    const before = await this.#value(left, frame, environment);
    const operator = /^\S+(?==)/.exec(this.source.text.slice(left.end, right.start).trim())?.[0] ?? '';
    const isEvaluated = isCertain && this.#isUndisturbed(environment) && operator !== '';
    const value = isEvaluated
      ? await this.#evaluate(['(', left, `) ${operator} (`, right, ')'], node, frame, environment)
      : unknownValue;
    if (before.kind === 'box') {
      // Containers are changed in place, but for tuples.
      if (before.box.kind !== 'tuple') {
        const now = value.kind === 'box' ? this.heap.contents(value.box) : null;
        this.heap.setContents(before.box, now);
        if (left.type === 'identifier') values.set(this.#word(left), before);
        return;
      }
    } else if (before.kind === 'unknown') this.heap.forgetBoxes();
    await this.#assign(left, value, frame, environment, isCertain, values);
  }

  /** A loop's head ran: its target is bound to the next item, where the items are known. */
  async #turn(
    node: SyntaxNode,
    frame: Frame,
    environment: Environment,
    isCertain: boolean,
    values: Map<string, Known>,
    next: number,
    before: number,
  ): Promise<void> {
    const body = node.child('body');
    const left = node.child('left');
    const right = node.child('right');
    if (!body || !left || !right) return;
    const from = this.trajectory.previousInFrame(before);
    const cameFrom = from === null ? 0 : this.trajectory.line(from);
    const isFirst = cameFrom < body.line || cameFrom > body.endLine;
    if (next < body.line || next > body.endLine) {
      // At its end a loop binds nothing. A body without events may have been gone through.
      if (isFirst || !isCertain || next === node.line) return;
      for (const name of namesBound(this.source.text, {
        node,
        firstLine: 0,
        lastLine: 0,
        parts: [left],
        scopeLine: 0,
      })) {
        const bound = environment.names.get(name);
        if (bound) values.set(name, bound);
      }
      return;
    }
    const turn = isFirst ? 0 : (environment.turns.get(node.start) ?? -1) + 1;
    this.journal.set(environment.turns, node.start, turn);
    // What the loop goes over was worked out once; what that holds may change meanwhile.
    const [over, how] = this.#iterated(right);
    if (isFirst) {
      const iterated = isCertain ? await this.#value(over, frame, environment) : unknownValue;
      this.journal.set(environment.loops, node.start, iterated);
    }
    if (!isCertain || turn < 0) return;
    const iterated = environment.loops.get(node.start) ?? unknownValue;
    const contents = iterated.kind === 'box' ? this.heap.contents(iterated.box) : null;
    const items = contents && 'items' in contents ? contents.items : null;
    const entries = contents && 'entries' in contents ? [...contents.entries] : null;
    const bind = (target: SyntaxNode | undefined, value: Known | undefined) => {
      if (target?.type === 'identifier' && value) values.set(this.#word(target), value);
    };
    const targets = left.type === 'pattern_list' || left.type === 'tuple_pattern' ? left.parts : [];
    if (how === 'values') bind(left, entries?.[turn]?.[1]);
    else if (how === 'items') bind(targets[1], entries?.[turn]?.[1]);
    else if (how === 'enumerate') bind(targets[1], items?.[turn]);
    else bind(left, items?.[turn]);
  }

  /** What a loop goes over, and how: `enumerate(x)`, `x.values()`, `x.items()`, or as it is. */
  #iterated(right: SyntaxNode): readonly [SyntaxNode, 'enumerate' | 'values' | 'items' | null] {
    const callee = right.type === 'call' ? right.child('function') : null;
    const given = right.child('arguments')?.parts ?? [];
    const [only] = given;
    const word = callee?.type === 'identifier' ? this.#word(callee) : null;
    if (word === 'enumerate' && only && given.length === 1) {
      const isBuiltin = !this.#moduleNames.has(word) && only.type !== 'keyword_argument';
      if (isBuiltin && !only.type.endsWith('_splat')) return [only, 'enumerate'];
    }
    const object = callee?.type === 'attribute' ? callee.child('object') : null;
    const name = object ? this.#word(callee?.child('attribute') ?? null) : '';
    if (object && given.length === 0 && (name === 'values' || name === 'items')) return [object, name];
    return [right, null];
  }

  // -- what calls do ------------------------------------------------------------------------------------

  async #call(
    { node, isRepeated }: Evaluation,
    frame: Frame,
    environment: Environment,
    isCertain: boolean,
  ): Promise<void> {
    if (environment.taken.has(node.end)) return;
    const callee = node.child('function');
    const given = node.child('arguments');
    if (!callee || !given) return;
    const escape = async (...more: readonly Known[]) => {
      const values = [...more];
      for (const argument of given.type === 'argument_list' ? given.parts : []) {
        const value = argument.type === 'keyword_argument' ? argument.child('value') : argument;
        const known = value ? await this.#value(value, frame, environment) : unknownValue;
        if (known.kind !== 'unknown' || !isHarmless(value)) values.push(known);
      }
      this.heap.escape(values);
    };
    if (callee.type === 'identifier') {
      const word = this.#word(callee);
      const className = this.#calledClass(callee, frame);
      if (className !== null) {
        if (!this.classes.order(className)) {
          await escape();
          return;
        }
        if (isRepeated || this.#madeWithoutFrame(node, frame) === null) return;
        this.journal.set(
          environment.results,
          node.end,
          await this.#newInstance(className, node, frame, environment),
        );
        return;
      }
      const isOwn = this.local(frame, word) !== null;
      if (!isOwn && this.#moduleNames.get(word) === 'function') return;
      if (isOwn && /^<function /.test(this.#localRepr(frame, word))) return;
      if (isOwn || this.#moduleNames.has(word)) {
        if (!this.#pureImports.has(word)) await escape();
        else await this.#forgetArguments(given, frame, environment);
        return;
      }
      if (bindingBuiltins.has(word)) this.#forgetGlobals(frame);
      if (wildBuiltins.has(word)) this.heap.forgetAll();
      else if (!pureBuiltins.has(word)) await escape();
      return;
    }
    if (callee.type !== 'attribute') {
      await escape();
      return;
    }
    const name = this.#word(callee.child('attribute'));
    const object = callee.child('object');
    if (!object || this.#isSuper(object)) return;
    if (object.type === 'identifier' && this.#pureImports.has(this.#word(object))) {
      await this.#forgetArguments(given, frame, environment);
      return;
    }
    const receiver = await this.#value(object, frame, environment);
    switch (receiver.kind) {
      case 'instance':
        if (!this.classes.method(receiver.instance.className, name)) await escape(receiver);
        return;
      case 'class':
        if (!this.classes.method(receiver.name, name)) await escape(receiver);
        return;
      case 'plain':
        if (!readingMethods.has(name) && !isLiteral(receiver.repr)) await escape();
        return;
      case 'box':
        if (!changingMethods.has(name)) return;
        await this.#change(node, name, receiver, given, frame, environment, isCertain);
        return;
      case 'unknown':
        if (changingMethods.has(name)) this.heap.forgetBoxes();
        if (!readingMethods.has(name) && !changingMethods.has(name) && !this.#isMethod(name)) await escape();
    }
  }

  /** A method changes its container. */
  async #change(
    call: SyntaxNode,
    name: string,
    { box }: Extract<Known, { kind: 'box' }>,
    given: SyntaxNode,
    frame: Frame,
    environment: Environment,
    isCertain: boolean,
  ): Promise<void> {
    const contents = this.heap.contents(box);
    const values: Known[] = [];
    for (const argument of given.type === 'argument_list' ? given.parts : []) {
      const isPlain = argument.type !== 'keyword_argument' && !argument.type.endsWith('_splat');
      values.push(isPlain ? await this.#value(argument, frame, environment) : unknownValue);
    }
    const contentsOf = (value: Known) => (value.kind === 'box' ? this.heap.contents(value.box) : null);
    const changed =
      contents && isCertain ? changedContents(box.kind, contents, name, values, contentsOf) : null;
    if (changed) {
      this.heap.setContents(box, changed.contents);
      if (changed.result) this.journal.set(environment.results, call.end, changed.result);
      return;
    }
    const text =
      contents && isCertain
        ? expressionFor(name, this.#receiverText(call), argumentTexts(this.source.text, given))
        : null;
    const value = text === null ? unknownValue : await this.#evaluate([text], call, frame, environment);
    this.heap.setContents(
      box,
      value.kind === 'box' && value.box.kind === box.kind ? this.heap.contents(value.box) : null,
    );
  }

  #receiverText(call: SyntaxNode): string {
    const object = call.child('function')?.child('object');
    return object ? this.#text(object) : '';
  }

  /** A call that may, or may not yet, have changed its receiver. */
  async #forgetReceiver(call: SyntaxNode, frame: Frame, environment: Environment): Promise<void> {
    const callee = call.child('function');
    if (callee?.type !== 'attribute' || !changingMethods.has(this.#word(callee.child('attribute')))) return;
    const object = callee.child('object');
    const receiver = object ? await this.#value(object, frame, environment) : unknownValue;
    if (receiver.kind === 'box') this.heap.setContents(receiver.box, null);
    else if (receiver.kind === 'unknown') this.heap.forgetBoxes();
  }

  async #forgetArguments(given: SyntaxNode, frame: Frame, environment: Environment): Promise<void> {
    for (const argument of given.type === 'argument_list' ? given.parts : []) {
      const value = await this.#value(argument, frame, environment);
      if (value.kind === 'box' && value.box.kind !== 'tuple') this.heap.setContents(value.box, null);
    }
  }

  async #forgetTargets(node: SyntaxNode, frame: Frame, environment: Environment): Promise<void> {
    const [inner] = node.parts;
    if (inner?.type !== 'assignment' && inner?.type !== 'augmented_assignment') return;
    for (const target of inner.all('left')) {
      await this.#assign(target, unknownValue, frame, environment, false, new Map());
    }
  }

  /** A new instance of a class whose making runs no code, or whose code is about to run. */
  async #newInstance(
    className: string,
    call: SyntaxNode,
    frame: Frame,
    environment: Environment,
  ): Promise<Known> {
    const instance = this.heap.instance(className, `<${className} object>`, true);
    const fields = this.classes.method(className, '__init__') ? null : this.classes.fields(className);
    const given = call.child('arguments');
    const isDataClass = this.classes.get(className)?.isDataClass === true;
    if (isDataClass && !fields && !this.classes.method(className, '__init__')) {
      return unknownValue;
    }
    if (!fields || given?.type !== 'argument_list') return { kind: 'instance', instance };
    const values = new Map<string, Known>();
    let position = 0;
    for (const argument of given.parts) {
      if (argument.type.endsWith('_splat')) return unknownValue;
      const keyword = argument.type === 'keyword_argument' ? this.#word(argument.child('name')) : null;
      const name = keyword ?? fields[position++]?.name;
      const value = keyword === null ? argument : argument.child('value');
      if (name !== undefined && value) values.set(name, await this.#value(value, frame, environment));
    }
    for (const { name, value } of fields) {
      this.heap.setAttribute(
        instance,
        name,
        values.get(name) ?? (value ? await this.#default(value) : unknownValue),
      );
    }
    return { kind: 'instance', instance };
  }

  /** A field's default. */
  async #default(node: SyntaxNode): Promise<Known> {
    const text = this.#text(node);
    const factory = /^(?:dataclasses\.)?field\(\s*default_factory\s*=\s*(list|dict|set)\s*,?\s*\)$/.exec(
      text,
    )?.[1];
    if (factory !== undefined)
      return this.reprs.read(factory === 'list' ? '[]' : factory === 'dict' ? '{}' : 'set()', true);
    const given = /^(?:dataclasses\.)?field\(\s*default\s*=\s*(.*?)\s*,?\s*\)$/s.exec(text)?.[1] ?? text;
    const result = await this.evaluator.evaluate(given, new Map());
    return result.kind === 'value' ? this.reprs.read(result.repr) : unknownValue;
  }

  // -- values -------------------------------------------------------------------------------------------

  /** What an expression gives that was evaluated in the line that runs; unknown where that is not certain. */
  async #value(node: SyntaxNode, frame: Frame, environment: Environment): Promise<Known> {
    const result = environment.results.get(node.end);
    switch (node.type) {
      case 'parenthesized_expression': {
        const [inner] = node.parts;
        return inner ? this.#value(inner, frame, environment) : unknownValue;
      }
      case 'identifier':
        return this.#name(node, frame, environment);
      case 'call':
        if (result) return result;
        if (environment.taken.has(node.end)) return unknownValue;
        return this.#fresh(node, frame, environment);
      case 'attribute': {
        if (result) return result;
        const object = await this.#value(node.child('object') ?? node, frame, environment);
        if (!this.#isUndisturbed(environment)) return unknownValue;
        if (object.kind === 'instance') return this.#attribute(object.instance, this.#attributeName(node));
        if (object.kind === 'class') return this.#classAttribute(object.name, this.#attributeName(node));
        return unknownValue;
      }
      case 'subscript':
        if (result) return result;
        return this.#item(node, frame, environment);
      case 'binary_operator':
      case 'comparison_operator': {
        const given = environment.results.get(placeOf(node));
        if (given) return given;
        return environment.taken.has(placeOf(node))
          ? unknownValue
          : this.#evaluated(node, frame, environment);
      }
      case 'list':
      case 'tuple':
      case 'expression_list': {
        const items: Known[] = [];
        for (const part of node.parts) {
          if (part.type.endsWith('_splat')) return this.#evaluated(node, frame, environment);
          items.push(await this.#value(part, frame, environment));
        }
        if (node.type !== 'list' && items.every(({ kind }) => kind === 'plain')) {
          return this.#evaluated(node, frame, environment);
        }
        const kind = node.type === 'list' ? 'list' : 'tuple';
        return { kind: 'box', box: this.heap.box(kind, { items }, true) };
      }
      case 'dictionary': {
        const entries = new Map<string, Known>();
        for (const pair of node.parts) {
          const [key, value] = [pair.child('key'), pair.child('value')];
          if (pair.type !== 'pair' || !key || !value) return this.#evaluated(node, frame, environment);
          const at = await this.#value(key, frame, environment);
          if (at.kind !== 'plain') return unknownValue;
          // Equal keys may be written in several ways.
          if (!/^(['"]|-?\d+$)/.test(at.repr)) return this.#evaluated(node, frame, environment);
          entries.set(at.repr, await this.#value(value, frame, environment));
        }
        return { kind: 'box', box: this.heap.box('dict', { entries }, true) };
      }
      case 'integer':
      case 'float':
      case 'true':
      case 'false':
      case 'none':
      case 'string':
        return this.#constant(node, frame, environment);
      case 'conditional_expression':
      case 'boolean_operator':
        return this.#chosen(node, frame, environment);
      case 'lambda':
      case 'await':
      case 'yield':
        return unknownValue;
      default:
        return this.#evaluated(node, frame, environment);
    }
  }

  #name(node: SyntaxNode, frame: Frame, environment: Environment): Known {
    const word = this.#word(node);
    const local = environment.names.get(word);
    if (local) return local;
    // Comprehensions and inner functions bind names that stand for something else there.
    for (let at: SyntaxNode | null = node.parent; at; at = at.parent) {
      if (/comprehension|generator_expression|lambda/.test(at.type)) return unknownValue;
    }
    return this.global(frame, word).value;
  }

  #constant(node: SyntaxNode, frame: Frame, environment: Environment): Known | Promise<Known> {
    const text = this.#text(node);
    const isCanonical = /^(0|[1-9]\d{0,17}|None|True|False|'[^'"\\\p{C}\p{Z}]*')$/u.test(
      text.replaceAll(' ', ''),
    );
    return isCanonical && node.children.every(({ type }) => type !== 'interpolation')
      ? { kind: 'plain', repr: text }
      : this.#evaluated(node, frame, environment);
  }

  /** `a or b`, `a if c else b`: one of its parts, where it can be told which. */
  async #chosen(node: SyntaxNode, frame: Frame, environment: Environment): Promise<Known> {
    if (!this.#isUndisturbed(environment)) return unknownValue;
    const [first, second, third] = node.parts;
    if (!first || !second) return unknownValue;
    const test = node.type === 'boolean_operator' ? first : second;
    const truth = await this.#evaluate(['bool(', test, ')'], node, frame, environment);
    if (truth.kind !== 'plain') return unknownValue;
    const isTrue = truth.repr === 'True';
    if (node.type === 'conditional_expression') {
      return third ? this.#value(isTrue ? first : third, frame, environment) : unknownValue;
    }
    const isOr = /^\s*or\b/.test(this.source.text.slice(first.end, second.start));
    return this.#value(isTrue === isOr ? first : second, frame, environment);
  }

  async #item(node: SyntaxNode, frame: Frame, environment: Environment): Promise<Known> {
    const container = await this.#value(node.child('value') ?? node, frame, environment);
    const [index, ...rest] = node.all('subscript');
    if (!index || rest.length > 0 || !this.#isUndisturbed(environment)) return unknownValue;
    if (container.kind !== 'box' || index.type === 'slice') return this.#evaluated(node, frame, environment);
    const key = await this.#value(index, frame, environment);
    const contents = this.heap.contents(container.box);
    if (key.kind !== 'plain' || !contents) return unknownValue;
    if ('items' in contents && /^-?\d{1,9}$/.test(key.repr)) {
      return contents.items.at(Number(key.repr)) ?? unknownValue;
    }
    if ('entries' in contents) return contents.entries.get(key.repr) ?? unknownValue;
    return this.#evaluated(node, frame, environment);
  }

  #attribute(instance: Instance, name: string): Known {
    const order = this.classes.order(instance.className);
    if (!order) return unknownValue;
    const own = this.heap.attribute(instance, name);
    if (own) return own;
    if (this.classes.method(instance.className, '__getattr__')) return unknownValue;
    return this.#classAttribute(instance.className, name);
  }

  #classAttribute(className: string, name: string): Known {
    for (const facts of this.classes.order(className) ?? []) {
      const value = this.heap.classAttribute(facts.name, name);
      if (value) return facts.methods.has(name) ? unknownValue : value;
      if (facts.methods.has(name) || facts.members.has(name)) return unknownValue;
    }
    return unknownValue;
  }

  /** Containers that a call of a builtin makes anew; other calls are evaluated. */
  async #fresh(node: SyntaxNode, frame: Frame, environment: Environment): Promise<Known> {
    const callee = node.child('function');
    const given = node.child('arguments');
    const word = callee ? this.#text(callee).replace(/^collections\./, '') : '';
    const parts = given?.type === 'argument_list' ? given.parts : [];
    if (parts.length <= 1 && ['list', 'deque', 'tuple'].includes(word) && this.#isUndisturbed(environment)) {
      const [only] = parts;
      const iterated = only ? await this.#value(only, frame, environment) : null;
      const contents = iterated?.kind === 'box' ? this.heap.contents(iterated.box) : null;
      const items = only === undefined ? [] : contents && 'items' in contents ? contents.items : null;
      const kind = word === 'deque' ? 'deque' : word === 'tuple' ? 'tuple' : 'list';
      if (items) return { kind: 'box', box: this.heap.box(kind, { items }, true) };
    }
    if (word === 'set' && parts.length === 0) return this.reprs.read('set()', true);
    if (word === 'defaultdict' || word === 'Counter' || word === 'OrderedDict') {
      return { kind: 'box', box: this.heap.box('dict', null, true) };
    }
    if (word === 'deque') return { kind: 'box', box: this.heap.box('deque', null, true) };
    return this.#evaluated(node, frame, environment);
  }

  #evaluated(node: SyntaxNode, frame: Frame, environment: Environment): Known | Promise<Known> {
    return this.#isUndisturbed(environment) ? this.#evaluate([node], node, frame, environment) : unknownValue;
  }

  /** Whether nothing was written by a call of which it is not known when in the line it was made. */
  #isUndisturbed(environment: Environment): boolean {
    return (environment.marks.get('disturbed') ?? this.heap.writes) === this.heap.writes;
  }

  /** @param parts the expression: Python's text, and nodes that stand for theirs */
  async #evaluate(
    parts: readonly (string | SyntaxNode)[],
    node: SyntaxNode,
    frame: Frame,
    environment: Environment,
  ): Promise<Known> {
    const names = new Map<string, Value>();
    let text = '';
    for (const part of parts) {
      text += typeof part === 'string' ? part : await this.#withKnownParts(part, names, frame, environment);
    }
    for (const word of new Set(text.normalize('NFKC').match(/[\p{L}_][\p{L}\p{M}\p{N}_]*/gu) ?? [])) {
      if (names.has(word)) continue;
      const known = environment.names.get(word) ?? this.global(frame, word).value;
      if (known.kind === 'unknown') {
        if (environment.names.has(word)) names.set(word, { repr: null, confidence: null });
        continue;
      }
      const repr = this.#expanded(known);
      if (repr.length > maxExpanded) return unknownValue;
      names.set(word, { repr, confidence: null });
    }
    const result = await this.evaluator.evaluate(text, names);
    if (result.kind !== 'value') return unknownValue;
    return this.reprs.read(result.repr, isNewValue(node));
  }

  /**
   * The text of an expression in which attributes of classes, and what calls of the program gave, stand as names of
   * their own, which are given values: the evaluator knows neither.
   */
  async #withKnownParts(
    node: SyntaxNode,
    names: Map<string, Value>,
    frame: Frame,
    environment: Environment,
  ): Promise<string> {
    let text = '';
    let at = node.start;
    /** Whether something was read before that a call may have changed since. */
    let isFragile = false;
    const pending = [node];
    for (let next = pending.pop(); next; next = pending.pop()) {
      // Inside comprehensions and lambdas names may mean something else.
      if (/comprehension|generator_expression|lambda/.test(next.type)) {
        isFragile = true;
        continue;
      }
      const kept = isEvaluation(next) ? environment.results.get(placeOf(next)) : undefined;
      const isRead = next.type === 'attribute' || next.type === 'subscript';
      const value: Known | undefined = isRead || !isFragile ? kept : undefined;
      const known = value ?? (await this.#classAttributeMeant(next, frame, environment));
      if (!known) {
        isFragile ||= next.type === 'identifier' && !this.#staysInCalls(this.#word(next), environment);
        pending.push(...next.parts.toReversed());
        continue;
      }
      isFragile ||= !value;
      if (known.kind === 'unknown' || known.kind === 'class') continue;
      const name = `_known_part_${names.size}`;
      names.set(name, { repr: this.#expanded(known), confidence: null });
      text += this.source.text.slice(at, next.start) + name;
      at = next.end;
    }
    return text + this.source.text.slice(at, node.end);
  }

  /** Whether a name means the same, and that the same value, after a call that was made meanwhile. */
  #staysInCalls(name: string, { names }: Environment): boolean {
    return names.get(name)?.kind === 'plain' && !this.#shared.has(name);
  }

  /** The value of an attribute of a class; null for other nodes. */
  async #classAttributeMeant(
    node: SyntaxNode,
    frame: Frame,
    environment: Environment,
  ): Promise<Known | null> {
    const object = node.type === 'attribute' ? node.child('object') : null;
    const of = object ? await this.#classMeant(object, frame, environment) : null;
    return of === null ? null : this.#classAttribute(of, this.#attributeName(node));
  }

  /** The class that an expression means; null where it is none that is known. */
  async #classMeant(node: SyntaxNode, frame: Frame, environment: Environment): Promise<string | null> {
    const isShort = node.type === 'identifier' || node.type === 'attribute' || node.type === 'call';
    const value = isShort ? await this.#value(node, frame, environment) : unknownValue;
    return value.kind === 'class' ? value.name : null;
  }

  #expanded(value: Known): string {
    return this.reprs.expand(value, (instance) => this.allAttributes(instance), expressionDepth);
  }

  // -- the source ---------------------------------------------------------------------------------------

  #index(root: SyntaxNode): void {
    const pending = [root];
    for (let node = pending.pop(); node; node = pending.pop()) {
      pending.push(...node.children);
      if (node.type === 'function_definition') {
        this.#definitions.set(`${node.line} ${this.#word(node.child('name'))}`, node);
      }
      if (node.type === 'import_statement' || node.type === 'import_from_statement') this.#import(node);
    }
  }

  #import(node: SyntaxNode): void {
    const from = node.child('module_name');
    for (const part of node.parts) {
      if (part === from) continue;
      const alias = part.child('alias');
      const name = part.type === 'aliased_import' ? (part.child('name') ?? part) : part;
      const module = this.#text(from ?? name).replace(/\..*$/s, '');
      if (pureModules.has(module)) this.#pureImports.add(this.#word(alias ?? name));
    }
  }

  #text(node: SyntaxNode): string {
    return this.source.text.slice(node.start, node.end);
  }

  #word(node: SyntaxNode | null): string {
    return node ? this.#text(node).normalize('NFKC') : '';
  }

  /** An attribute's name as the object has it: private ones are named after the class that they stand in. */
  #attributeName(node: SyntaxNode): string {
    const name = this.#word(node.child('attribute'));
    if (!name.startsWith('__') || name.endsWith('__')) return name;
    const owner = this.#classOf(node);
    return owner === null ? name : `_${owner.replace(/^_+/, '')}${name}`;
  }

  /** The class that a node stands in. */
  #classOf(node: SyntaxNode): string | null {
    for (let at = node.parent; at; at = at.parent) {
      if (at.type === 'class_definition') return this.#word(at.child('name'));
    }
    return null;
  }

  #parametersOfFrame(frame: Frame): readonly string[] {
    const first = this.trajectory.line(frame.firstState);
    const unit = this.source
      .unitsOfLine(first)
      .find(({ name, callLine }) => name === frame.function && callLine === first);
    return unit?.parameters ?? [];
  }

  #isSuper(node: SyntaxNode): boolean {
    return node.type === 'call' && this.#text(node).replace(/\s/g, '') === 'super()';
  }

  #isMethod(name: string): boolean {
    return [...this.#definitions.keys()].some((key) => key.endsWith(` ${name}`));
  }

  #localRepr(frame: Frame, name: string): string {
    const known = this.local(frame, name);
    return (known && this.reprs.write(known)) ?? '';
  }
}

/** Whether what a node gave is kept by its place. */
function isEvaluation({ type }: SyntaxNode): boolean {
  return ['call', 'attribute', 'subscript', 'binary_operator', 'comparison_operator'].includes(type);
}

function isCompound(node: SyntaxNode): boolean {
  return !node.type.endsWith('_statement') || /^(for|with|if|while|match|try)_/.test(node.type);
}

/** Whether an expression makes a new container, which nothing else can mean. */
function isNewValue(node: SyntaxNode): boolean {
  return (
    /comprehension|^binary_operator$|^(list|dictionary|set|tuple)$|^augmented/.test(node.type) ||
    node.type === 'call'
  );
}

/** Whether an argument can hold nothing that changes. */
function isHarmless(node: SyntaxNode | null): boolean {
  return (
    node !== null &&
    /^(integer|float|string|true|false|none|lambda|binary_operator|comparison_operator)$/.test(node.type)
  );
}

/** The names of a function's parameters, in order, up to the first that takes any number; null if there are none. */
function parametersOf(text: string, definition: SyntaxNode): readonly string[] | null {
  const list = definition.child('parameters');
  if (!list) return null;
  const names: string[] = [];
  for (const parameter of list.parts) {
    const [first] = parameter.parts;
    if (/splat|separator/.test(parameter.type) || /splat/.test(first?.type ?? '')) break;
    const name = parameter.type === 'identifier' ? parameter : (parameter.child('name') ?? first);
    if (name) names.push(text.slice(name.start, name.end).normalize('NFKC'));
  }
  return names;
}

function argumentTexts(text: string, given: SyntaxNode): readonly string[] | null {
  if (given.type !== 'argument_list') return null;
  if (given.parts.some(({ type }) => type === 'keyword_argument' || type.endsWith('_splat'))) return null;
  return given.parts.map(({ start, end }) => text.slice(start, end));
}

/** The expression that a container equals after a method changed it, for those that Python can tell. */
function expressionFor(name: string, receiver: string, given: readonly string[] | null): string | null {
  const [first] = given ?? [];
  const count = given?.length ?? -1;
  switch (name) {
    case 'sort':
      return count === 0 ? `sorted(${receiver})` : null;
    case 'reverse':
      return count === 0 ? `(${receiver})[::-1]` : null;
    case 'extend':
      return first !== undefined && count === 1 ? `[*(${receiver}), *(${first})]` : null;
    case 'add':
      return first !== undefined && count === 1 ? `(${receiver}) | {${first}}` : null;
    case 'discard':
      return first !== undefined && count === 1 ? `(${receiver}) - {${first}}` : null;
    case 'update':
      return first !== undefined && count === 1 ? `(${receiver}) | (${first})` : null;
    case 'remove':
      return first !== undefined && count === 1
        ? `[*(${receiver})[:(${receiver}).index(${first})], *(${receiver})[(${receiver}).index(${first}) + 1:]]`
        : null;
    default:
      return null;
  }
}
