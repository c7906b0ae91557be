import type { DebugProtocol } from '@vscode/debugprotocol';
import { describeEnding } from '../debugger/ending';
import type { Debugger, Stop } from '../debugger/debugger';
import type { Opened } from '../debugger/open';
import { errors } from '../errors';
import type { ExpressionEvaluator } from '../python/expressions';
import { exceptionParts } from '../python/repr';
import { lookUp } from '../python/valuePath';
import { shortText, shownText } from '../shownText';
import type { Value } from '../trajectory/state';
import type { StackEntry } from '../trajectory/trajectory';
import type { Client } from './client';
import {
  evaluateArguments,
  read,
  scopesArguments,
  stackTraceArguments,
  variablesArguments,
} from './requests';
import type { Threads } from './threads';
import { notPredicted, VariableStore } from './variables';

/** What every value of a session is: `predicted`, or from a `real run`. */
export function kindOfValues({ world }: Debugger): string {
  return world.description.isReal ? 'real run' : 'predicted';
}

/** What the editor sees of one stop: all of it is read from the trajectory. */
export class StopView {
  readonly #session: Debugger;
  readonly #evaluator: ExpressionEvaluator;
  readonly #variables = new VariableStore();

  constructor(
    opened: Opened,
    readonly stop: Stop,
    private readonly client: Client,
    private readonly threads: Threads,
  ) {
    this.#session = opened.debugger;
    this.#evaluator = opened.evaluator;
  }

  /** The thread that stopped. */
  get threadId(): number {
    const { state } = this.stop;
    return this.threads.idOf(state < 0 ? null : this.#session.trajectory.frame(state).thread);
  }

  /** The body of the `stopped` event. */
  get event(): object {
    const { reason, state } = this.stop;
    return {
      reason: stopReasons[reason],
      description: this.#description,
      threadId: this.threadId,
      allThreadsStopped: true,
      ...(reason === 'breakpoint' ? { hitBreakpointIds: [this.#session.trajectory.line(state)] } : {}),
      ...(reason === 'exception' ? { text: this.#argumentText } : {}),
    };
  }

  stackTrace(args: unknown): object {
    const { threadId, startFrame, levels } = read(stackTraceArguments, args);
    const { trajectory } = this.#session;
    const thread = this.threads.nameOf(threadId);
    if (thread === undefined) throw errors.requestArgument('threadId', `there is no thread ${threadId}`);
    const state = trajectory.threads(this.stop.state).get(thread);
    const stack = state === undefined ? [] : trajectory.stack(state);
    const shown = stack.slice(startFrame, levels > 0 ? startFrame + levels : undefined);
    return { totalFrames: stack.length, stackFrames: shown.map((entry) => this.#stackFrame(entry)) };
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
      scopes.push({
        name: `Locals${asOf} (${kindOfValues(this.#session)})`,
        presentationHint: 'locals',
        variablesReference: this.#variables.locals(known.locals),
        namedVariables: known.locals.size,
        expensive: false,
      });
    }
    const results = isOuter ? new Map<string, Value>() : this.#results();
    if (results.size > 0) {
      scopes.push({
        name: `Return values (${kindOfValues(this.#session)})`,
        presentationHint: 'returnValue',
        variablesReference: this.#variables.values(results),
        namedVariables: results.size,
        expensive: false,
      });
    }
    return { scopes };
  }

  variables(args: unknown): object {
    const { variablesReference, filter, start, count } = read(variablesArguments, args);
    const variables = this.#variables.variables(variablesReference, filter, start ?? 0, count ?? 0);
    if (!variables) throw errors.requestArgument('variablesReference', 'it is not, or no longer, known');
    return { variables };
  }

  async evaluate(args: unknown): Promise<object> {
    const { expression, frameId, context } = read(evaluateArguments, args);
    const state = frameId === undefined ? this.stop.state : this.#stateOf(frameId);
    const known = state < 0 ? null : this.#session.trajectory.locals(state);
    const locals = known?.locals ?? new Map<string, Value>();
    const found = lookUp(expression, locals);
    if (found?.repr) return this.#result(found.repr, context);
    if (context === 'hover') throw errors.notPredicted('it is no known value');
    const result = await this.#evaluator.evaluate(expression, locals);
    if (result.kind === 'value') return this.#result(result.repr, context);
    if (result.kind === 'raises') throw errors.expressionRaises(result.type, result.message);
    throw errors.notPredicted(result.reason);
  }

  exceptionInfo(): object {
    const { trajectory, breakpoints, world } = this.#session;
    const { state, reason } = this.stop;
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
    const { reason, state } = this.stop;
    const { confidence, doubt } = trajectory.prediction(state);
    const sure = confidence === null ? '' : `, ${Math.round(confidence * 100)}% sure`;
    const text = {
      entry: 'beginning',
      step: 'step',
      breakpoint: 'breakpoint',
      return: `returned ${this.#argumentText}`,
      exception: `exception ${this.#argumentText}`,
      budget: 'budget used up',
      pause: 'paused',
      end: describeEnding(trajectory, state),
    }[reason];
    const doubtful = doubt === null ? '' : `. Doubtful: ${doubt}`;
    return shortText(
      `${world.description.isReal ? 'Real run' : 'Predicted'}: ${text}${sure}${doubtful}`,
      500,
    );
  }

  get #argumentText(): string {
    return shortText(this.#session.trajectory.argument(this.stop.state)?.repr ?? notPredicted, 200);
  }

  #stackFrame({ frame, state }: StackEntry): DebugProtocol.StackFrame {
    const { trajectory } = this.#session;
    return {
      id: state + 1,
      name: shownText(frame.function),
      // The module's call has line 0.
      line: this.client.lineOf(Math.max(1, trajectory.line(state))),
      column: this.client.firstColumn,
      source: this.client.sourceOf(trajectory.program.path),
      ...(trajectory.prediction(state).doubt === null ? {} : { presentationHint: 'subtle' }),
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

  /** The values that were returned on the way to the stop, by what returned them. */
  #results(): Map<string, Value> {
    const { trajectory } = this.#session;
    const { state, returned } = this.stop;
    const results = new Map<string, Value>();
    const add = (name: string, value: Value) => {
      let label = `${name}()`;
      for (let number = 2; results.has(label); number++) label = `${name}() #${number}`;
      results.set(label, value);
    };
    for (const { function: name, value } of returned) add(name, value);
    const own = trajectory.argument(state);
    if (own && trajectory.event(state) === 'return') add(trajectory.frame(state).function, own);
    return results;
  }

  #result(repr: string, context: string): object {
    if (context === 'clipboard' || context === 'variables') return { result: repr, variablesReference: 0 };
    const row = this.#variables.variable('', { repr, confidence: null }, null);
    const { value, type, variablesReference, indexedVariables, namedVariables } = row;
    return { result: value, type, variablesReference, indexedVariables, namedVariables };
  }
}

const stopReasons: Readonly<Record<Stop['reason'], string>> = {
  entry: 'entry',
  step: 'step',
  breakpoint: 'breakpoint',
  return: 'step',
  exception: 'exception',
  budget: 'pause',
  pause: 'pause',
  end: 'pause',
};
