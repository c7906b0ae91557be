import type { DebugProtocol } from '@vscode/debugprotocol';
import { describeEnding } from '../debugger/ending';
import { describeConfidence, percent, unsureBelow } from '../debugger/confidence';
import { completionsAfter } from '../debugger/completions';
import { type ConsoleLine, obeyConsole, parseConsoleLine } from '../debugger/console';
import { watchedVariable } from '../debugger/dataBreakpoints';
import type { Debugger } from '../debugger/debugger';
import type { Stop } from '../debugger/stop';
import { evaluateIn } from '../debugger/evaluateIn';
import { type Answer, askModel } from '../debugger/modelQuestion';
import { type StepTarget, stepTargets } from '../debugger/stepTargets';
import { describeChange, givenNames } from '../debugger/whatIf';
import { errors } from '../errors';
import type { ExpressionEvaluator } from '../python/expressions';
import { exceptionParts } from '../python/repr';
import { shortText, shownText } from '../shownText';
import type { Value } from '../trajectory/state';
import type { StackEntry } from '../trajectory/trajectory';
import type { Client } from './client';
import { dataIdOf } from './breakpointRequests';
import type { OpenedText } from './launchedText';
import {
  completionsArguments,
  dataBreakpointInfoArguments,
  evaluateArguments,
  read,
  scopesArguments,
  stackTraceArguments,
  stepInTargetsArguments,
  variablesArguments,
  wholeValueArguments,
} from './requests';
import { doubtThreshold } from './outputEvents';
import { dimmed, remarked } from './styling';
import { stackLabels } from './stackLabels';
import type { Threads } from './threads';
import { type NamedValues, notPredicted, VariableStore } from './variables';
import { wholeValue } from './wholeValue';

/** What every value of a session is: `predicted`, or from a `real run`. */
export function kindOfValues({ world }: Debugger): string {
  return world.description.isReal ? 'real run' : 'predicted';
}

/** What the editor sees of one stop: all of it is read from the trajectory. */
export class StopView {
  readonly #session: Debugger;
  readonly #evaluator: ExpressionEvaluator;
  readonly #variables: VariableStore;

  constructor(
    private readonly opened: OpenedText,
    readonly stop: Stop,
    private readonly client: Client,
    private readonly threads: Threads,
  ) {
    this.#session = opened.debugger;
    this.#evaluator = opened.evaluator;
    this.#variables = new VariableStore(
      (text, sureness, canBeSet) => {
        if (!client.showsStyling || sureness >= doubtThreshold(opened.debugger)) return text;
        return canBeSet && this.#session.world.canBeEdited ? remarked(text, sureness) : dimmed(text);
      },
      (state) => this.#isPast(state),
    );
  }

  /** The thread that stopped. */
  get threadId(): number {
    const { state } = this.stop;
    return this.threads.idOf(state < 0 ? null : this.#session.trajectory.frame(state).thread);
  }

  /** The body of the `stopped` event. */
  get event(): object {
    const { reason, hits, why } = this.stop;
    return {
      reason: stopReasons[reason],
      description: this.#description,
      threadId: this.threadId,
      allThreadsStopped: true,
      ...(hits.length > 0 ? { hitBreakpointIds: hits } : {}),
      ...(reason === 'exception'
        ? { text: this.#argumentText }
        : why === null
          ? {}
          : { text: shortText(why) }),
    };
  }

  stackTrace(args: unknown): object {
    const { threadId, startFrame, levels } = read(stackTraceArguments, args);
    const { trajectory } = this.#session;
    const thread = this.threads.nameOf(threadId);
    if (thread === undefined) throw errors.requestArgument('threadId', `there is no thread ${threadId}`);
    const state = trajectory.threads(this.stop.state).get(thread);
    const stack = state === undefined ? [] : trajectory.stack(state);
    const labels = stackLabels(trajectory, stack);
    const rows = stack.flatMap((entry, index) => {
      const label = labels.get(index);
      return label ? [label, entry] : [entry];
    });
    const shown = rows.slice(startFrame, levels > 0 ? startFrame + levels : undefined);
    const stackFrames = shown.map((row) => ('frame' in row ? this.#stackFrame(row) : row));
    return { totalFrames: rows.length, stackFrames };
  }

  scopes(args: unknown): object {
    const state = this.#stateOf(read(scopesArguments, args).frameId);
    const { trajectory } = this.#session;
    const scopes: DebugProtocol.Scope[] = [];
    const known = trajectory.locals(state);
    const isOuter = state !== this.stop.state;
    if (known) {
      // What happened since, through other names for the same objects, is not known.
      const asOf = isOuter || known.state !== state ? ` as of line ${trajectory.line(known.state)}` : '';
      const sureness = (name: string) => this.#session.confidence.value(state, name);
      const open = (name: string, { repr }: Value) =>
        repr !== null && this.#session.derived.showsObject(repr)
          ? () => this.#session.derived.local(name, this.stop.state, state)
          : null;
      const compared = this.#session.comparison?.at(known.state)?.locals;
      const marks = compared && ((name: string) => compared.get(name) ?? null);
      const shown = {
        values: known.locals,
        expressionOf: (name: string) => name,
        sureness,
        state,
        open,
        ...(marks ? { marks } : {}),
      };
      const given = givenNames(trajectory, known.state);
      const edited = given.size === 0 ? '' : `, set by you: ${shortText([...given].join(', '), 100)}`;
      scopes.push(this.#scope(`Locals${asOf}${edited}`, 'locals', shown));
    }
    const globals = this.#session.derived.globalNames(state);
    if (globals.length > 0) {
      scopes.push({
        name: `Globals (${kindOfValues(this.#session)})`,
        presentationHint: 'globals',
        variablesReference: this.#variables.globals(
          () => this.#session.derived.globals(this.stop.state, state),
          this.#asker(state),
        ),
        namedVariables: globals.length,
        expensive: false,
      });
    }
    const results = isOuter ? new Map<string, never>() : this.#results();
    if (results.size > 0) {
      const values = new Map([...results].map(([name, { value }]) => [name, value]));
      const sureness = (name: string) => this.#session.confidence.argument(results.get(name)?.state ?? -1);
      const shown = { values, expressionOf: () => null, sureness };
      scopes.push(this.#scope('Return values', 'returnValue', shown));
    }
    return { scopes };
  }

  /** Whether values of a state's frame are as they were, and cannot be set: those of callers, or of this very state. */
  #isPast(state: number): boolean {
    if (state !== this.stop.state) return true;
    if (!this.#session.world.canBeEdited) return false;
    try {
      this.#session.checkWhatIf({ locals: new Map(), line: null });
      return false;
    } catch {
      return true;
    }
  }

  /** Puts a name of the module to the model, in the frame of a state; null where what answers takes no questions. */
  #asker(state: number): ((name: string, signal: AbortSignal) => Promise<Answer>) | null {
    if (this.#session.world.questions.kind === 'none') return null;
    return (name, signal) => askModel(this.#session, state, name, limited(signal));
  }

  #scope(name: string, presentationHint: string, shown: NamedValues): DebugProtocol.Scope {
    const { reference, size } = this.#variables.named(shown);
    return {
      name: `${name} (${kindOfValues(this.#session)})`,
      presentationHint,
      variablesReference: reference,
      namedVariables: size,
      expensive: false,
    };
  }

  /** @param signal ends a question to the model that a row has to be asked for */
  async variables(args: unknown, signal: AbortSignal): Promise<object> {
    const { variablesReference, filter, start, count } = read(variablesArguments, args);
    const page = { filter, start: start ?? 0, count: count ?? 0 };
    const variables = this.#variables.variables(variablesReference, page, signal);
    if (!variables) throw errors.requestArgument('variablesReference', 'it is not, or no longer, known');
    return { variables: await variables };
  }

  /** Answers `neuralDebug/value`: a value as a whole, to be opened as a document or copied as Python. */
  async wholeValue(args: unknown): Promise<object> {
    const { variablesReference, name, expression, frameId } = read(wholeValueArguments, args);
    if (variablesReference === undefined) {
      const { repr } = await this.#evaluated(expression ?? '', frameId);
      return wholeValue(repr);
    }
    const text = this.#variables.textOf(variablesReference, name);
    if (text === null)
      throw errors.requestArgument('variablesReference', 'it is no value, or no longer known');
    return wholeValue(text);
  }

  /** @param signal ends a question to the model that a command asks */
  async evaluate(args: unknown, signal: AbortSignal): Promise<object> {
    const { expression, frameId, context } = read(evaluateArguments, args);
    const command = context === 'repl' ? parseConsoleLine(expression) : null;
    if (command) return { result: await this.#obeyed(command, frameId, signal), variablesReference: 0 };
    const { repr, isDerived } = await this.#evaluated(expression, frameId, context === 'hover');
    return this.#result(repr, context, isDerived);
  }

  /** What an expression comes to in a frame; with `onlyKnown` it must be a part of a known value. */
  async #evaluated(
    expression: string,
    frameId: number | undefined,
    onlyKnown = false,
  ): Promise<{ repr: string; isDerived: boolean }> {
    const state = frameId === undefined ? this.stop.state : this.#stateOf(frameId);
    const now = this.stop.state;
    const result = await evaluateIn(this.#session, this.#evaluator, expression, now, state, onlyKnown);
    if (result.kind === 'value') return result;
    if (result.kind === 'raises') throw errors.expressionRaises(result.type, result.message);
    throw errors.notPredicted(result.reason);
  }

  /** The answer to a command that was typed into the debug console. */
  async #obeyed(command: ConsoleLine, frameId: number | undefined, signal: AbortSignal): Promise<string> {
    const { trajectory } = this.#session;
    const state = frameId === undefined ? this.stop.state : this.#stateOf(frameId);
    const tops = state < 0 ? [] : [...trajectory.threads(this.stop.state).values()];
    const stacks = tops.map((top) => trajectory.stack(top));
    const stack = stacks.find((entries) => entries.some((entry) => entry.state === state)) ?? [];
    const answer = await obeyConsole(
      command,
      {
        session: this.#session,
        evaluator: this.#evaluator,
        state,
        stack,
        signal: limited(signal),
      },
      '.',
    );
    signal.throwIfAborted();
    return shownText('text' in answer ? answer.text : answer.problem);
  }

  /** What a row of the variables is written as in an expression, and the state whose frame it is in. */
  placeOfRow(reference: number, name: string): { state: number; path: string } {
    const row = this.#variables.pathOf(reference, name);
    if (!row) throw errors.whatIfPlace(shortText(name, 100), 'no expression leads to it');
    return row;
  }

  /** The state of a frame; without one that of the stop. */
  stateOf(frameId: number | undefined): number {
    return frameId === undefined ? this.stop.state : this.#stateOf(frameId);
  }

  /** The answer that shows a value that was set. */
  async valueSet(expression: string): Promise<object> {
    const { repr, isDerived } = await this.#evaluated(expression, undefined);
    const { result, ...row } = this.#result(repr, 'watch', isDerived);
    return { ...row, value: result };
  }

  /** The calls of the current line that a step can go into. */
  stepInTargets(args: unknown): object {
    const state = this.#stateOf(read(stepInTargetsArguments, args).frameId);
    const { trajectory } = this.#session;
    // Only the frame that runs can go into a call.
    const targets = state === this.stop.state ? this.#stepTargets : [];
    return {
      targets: targets.map((target, id) => ({
        id,
        label: labelOf(target),
        line: this.client.lineOf(trajectory.line(state)),
        column: this.client.firstColumn + target.call.column,
      })),
    };
  }

  /** The call that a target of a step means. */
  stepTarget(id: number): StepTarget {
    const target = this.#stepTargets[id];
    if (!target) throw errors.requestArgument('targetId', 'it is no call of the current line');
    return target;
  }

  get #stepTargets(): StepTarget[] {
    return stepTargets(this.#session.source, this.#session.trajectory, this.stop.state);
  }

  /** What can follow the text that is typed into the debug console. */
  async completions(args: unknown): Promise<object> {
    const { frameId, text, column, line } = read(completionsArguments, args);
    const lines = text.split('\n').slice(0, line === undefined ? 1 : this.client.ownLine(line));
    const before = [...lines.slice(0, -1), lines.at(-1)?.slice(0, column - this.client.firstColumn)];
    const state = frameId === undefined ? this.stop.state : this.#stateOf(frameId);
    const found = await completionsAfter(before.join('\n'), this.#session, this.#evaluator, state);
    return {
      targets: found.map(({ text: label, kind, replaces }) => ({
        label: shownText(label),
        type: kind,
        start: column - replaces,
        length: replaces,
      })),
    };
  }

  /** Which variable's changes can be watched, by a row of the variables or by an expression in a frame. */
  dataBreakpointInfo(args: unknown): object {
    const { variablesReference, frameId, name } = read(dataBreakpointInfoArguments, args);
    const { trajectory, source } = this.#session;
    const row = variablesReference ? this.#variables.pathOf(variablesReference, name) : null;
    const state = row?.state ?? (frameId === undefined ? this.stop.state : this.#stateOf(frameId));
    if (variablesReference && !row) return { dataId: null, description: 'Only variables can be watched.' };
    const watched = watchedVariable(source, trajectory, state, row?.path ?? name);
    if ('problem' in watched) return { dataId: null, description: watched.problem };
    const { function: where, path } = watched.variable;
    return {
      dataId: dataIdOf(watched.variable),
      description: shortText(`${path} in ${where}`),
      accessTypes: ['write'],
      canPersist: false,
    };
  }

  exceptionInfo(): object {
    const { trajectory, breakpoints, world } = this.#session;
    const { state, reason, why } = this.stop;
    if (reason === 'doubt') {
      return { exceptionId: 'Doubtful prediction', description: shortText(why ?? ''), breakMode: 'always' };
    }
    if (state < 0 || trajectory.event(state) !== 'exception') throw errors.noException();
    const { type, message } = exceptionParts(trajectory.argument(state)?.repr ?? 'Exception');
    const how = world.description.isReal ? 'really raised' : 'predicted';
    return {
      exceptionId: shownText(type),
      description: shortText(`${message ?? ''} (${how})`.trim()),
      breakMode: reason === 'exception' && !breakpoints.raised ? 'unhandled' : 'always',
    };
  }

  /** The stop in words. Whether it was predicted comes first: editors cut what is long. */
  get #description(): string {
    const { trajectory, world } = this.#session;
    const { reason, state, why } = this.stop;
    const { doubt } = trajectory.prediction(state);
    const sure = describeConfidence(this.#session.confidence, state);
    const text = {
      entry: 'beginning',
      step: 'step',
      breakpoint: 'breakpoint',
      'function breakpoint': 'function breakpoint',
      'data breakpoint': 'data breakpoint',
      doubt: 'doubt',
      return: `returned ${this.#argumentText}`,
      exception: `exception ${this.#argumentText}`,
      budget: 'budget used up',
      pause: 'paused',
      goto: describeChange(trajectory, state) ?? 'moved here',
      end: describeEnding(trajectory, state),
    }[reason];
    const told = why === null ? text : `${text}: ${why}`;
    const doubtful = doubt === null || reason === 'doubt' ? '' : `. Doubtful: ${doubt}`;
    return shortText(
      `${world.description.isReal ? 'Real run' : 'Predicted'}: ${told}${sure}${doubtful}`,
      500,
    );
  }

  get #argumentText(): string {
    return shortText(this.#session.trajectory.argument(this.stop.state)?.repr ?? notPredicted, 200);
  }

  #stackFrame({ frame, state }: StackEntry): DebugProtocol.StackFrame {
    const { trajectory, confidence } = this.#session;
    const path = confidence.path(state);
    const isUnsure = path !== null && path < unsureBelow;
    return {
      id: state + 1,
      name: shownText(frame.function) + (isUnsure ? ` (path ${percent(path)})` : ''),
      // The module's call has line 0.
      line: this.client.lineOf(Math.max(1, trajectory.line(state))),
      column: this.client.firstColumn,
      source: this.opened.text.sourceFor(this.client),
      ...(isUnsure || trajectory.prediction(state).doubt !== null ? { presentationHint: 'subtle' } : {}),
    };
  }

  /** The state of a frame of this stop. */
  #stateOf(frameId: number): number {
    const { trajectory } = this.#session;
    const state = frameId - 1;
    const tops = this.stop.state < 0 ? [] : [...trajectory.threads(this.stop.state).values()];
    const isOpen = tops.some((top) => trajectory.stack(top).some((entry) => entry.state === state));
    if (!isOpen) throw errors.requestArgument('frameId', 'it is not a frame of the current stop');
    return state;
  }

  /** The values that were returned on the way to the stop, and where, by what returned them. */
  #results(): Map<string, { value: Value; state: number }> {
    const { trajectory } = this.#session;
    const { state, returned } = this.stop;
    const results = new Map<string, { value: Value; state: number }>();
    const add = (name: string, value: Value, from: number) => {
      let label = `${name}()`;
      for (let number = 2; results.has(label); number++) label = `${name}() #${number}`;
      results.set(label, { value, state: from });
    };
    for (const { function: name, value, state: from } of returned) add(name, value, from);
    const own = trajectory.argument(state);
    if (own && trajectory.event(state) === 'return') add(trajectory.frame(state).function, own, state);
    return results;
  }

  #result(repr: string, context: string, isDerived: boolean): Shown {
    // In a literal the escapes of control characters mean the same, and are safe to paste.
    if (context === 'clipboard' || context === 'variables')
      return { result: shownText(repr), variablesReference: 0 };
    const row = this.#variables.variable('', { repr, confidence: null }, null);
    const { value, variablesReference, indexedVariables, namedVariables } = row;
    const type = isDerived ? [row.type, 'derived'].filter((word) => word).join(', ') : row.type;
    return { result: value, type, variablesReference, indexedVariables, namedVariables };
  }
}

/** A call in words, numbered where several read the same. */
function labelOf(target: StepTarget): string {
  const { text } = target.call;
  const same = target.all.filter(({ call }) => call.text === text);
  const number = same.length > 1 ? ` (${same.indexOf(target) + 1} of ${same.length})` : '';
  return `${shortText(text, 80)}()${number}`;
}

/** How long a command of the debug console may take, in milliseconds. */
const consolePatience = 120_000;

function limited(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(consolePatience)]);
}

/** How a value that was asked for is shown. */
interface Shown {
  readonly result: string;
  readonly type?: string | undefined;
  readonly variablesReference: number;
  readonly indexedVariables?: number | undefined;
  readonly namedVariables?: number | undefined;
}

const stopReasons: Readonly<Record<Stop['reason'], string>> = {
  entry: 'entry',
  step: 'step',
  breakpoint: 'breakpoint',
  'function breakpoint': 'function breakpoint',
  'data breakpoint': 'data breakpoint',
  doubt: 'exception',
  return: 'step',
  exception: 'exception',
  budget: 'pause',
  pause: 'pause',
  goto: 'goto',
  end: 'pause',
};
