import { errors } from '../errors';
import { isLiteral } from '../python/repr';
import { PythonSource } from '../python/source';
import type { Action } from '../trajectory/action';
import { type Locals, plainPrediction, type State, type Value } from '../trajectory/state';
import { Trajectory } from '../trajectory/trajectory';
import { PathConfidence } from './confidence';
import type { Debugger } from './debugger';
import { recordSteps } from './record';

/** What a model answered to the question what an expression gives. */
export interface Guess {
  /** The value's repr, or what the expression raises as `Type(arguments)`. */
  readonly repr: string;
  readonly raises: boolean;
  /** How sure the model is, from 0 to 1; null where nothing says. */
  readonly confidence: number | null;
}

const stepInto: Action = { name: 'step_into' };

/** The most states that a question may take: the expression may call functions of the program. */
const mostStates = 2_000;

/**
 * Asks the model what an expression gives at a state. The question is a trace of its own, which nothing of the
 * session's is changed by: the program with a function that returns the expression, called with the locals that it
 * reads. The model writes what follows its line, up to its return. Globals are as the model takes them to be.
 *
 * @throws CatalogueError where the world is no such model, where the question cannot be written, and when it fails
 */
export async function askModel(
  { world, source, trajectory }: Debugger,
  state: number,
  expression: string,
  signal: AbortSignal,
): Promise<Guess> {
  if (!world.another)
    throw errors.cannotAsk(
      `${world.description.name} answers no questions: it is no model with the format cwm`,
    );
  const locals = (state < 0 ? null : trajectory.locals(state)?.locals) ?? new Map<string, Value>();
  const read = namesRead(source, expression, locals);
  const name = freeName(source.text + expression);
  const text = `${source.text.replace(/\s*$/, '')}\n\n\ndef ${name}(${[...read.keys()].join(', ')}):\n    return (${expression.trim()})\n`;
  const asked = await PythonSource.parse(text);
  const unit = asked.units.find((one) => one.kind === 'function' && one.name === name);
  // By itself, too: brackets in it must not close those around it.
  const alone = await PythonSource.parse(`${expression.trim()}\n`);
  const isOne = alone.problems.length === 0 && alone.tree.root.parts.length === 1;
  if (!unit || !isOne || asked.problems.length > 0 || /[\r\n]/.test(expression.trim())) {
    throw errors.cannotAsk('it is no Python expression on one line');
  }
  const entry = `${name}(${[...read.values()].map(({ repr }) => repr).join(', ')})`;
  const program = { path: trajectory.program.path, source: text, entry, args: [] };
  const question = new Trajectory(program);
  const begun = { function: name, thread: null, locals: read, argument: null } satisfies Partial<State>;
  question.append(-1, stepInto, plainPrediction({ ...begun, event: 'call', line: unit.callLine }));
  question.append(0, stepInto, plainPrediction({ ...begun, event: 'line', line: unit.lastLine }));
  const answering = await world.another(program, asked);
  const confidence = new PathConfidence(asked, question);
  let at = 1;
  for await (const steps of answering.predict({
    trajectory: question,
    from: 1,
    action: stepInto,
    wanted: 'many',
    signal,
  })) {
    recordSteps(question, at, steps);
    for (let next = question.next(at); next !== null; next = question.next(at)) {
      at = next;
      const event = question.event(at);
      const repr = question.argument(at)?.repr ?? null;
      if (question.frame(at).depth > 0 || (event !== 'return' && event !== 'exception') || repr === null)
        continue;
      return { repr, raises: event === 'exception', confidence: confidence.argument(at) };
    }
    if (question.ending(at) || question.length > mostStates) break;
  }
  throw errors.cannotAsk('the model gave no value for it');
}

/** The locals that an expression reads, and that a call can be given. */
function namesRead(source: PythonSource, expression: string, locals: Locals): Map<string, Value> {
  const words = new Set(expression.normalize('NFKC').match(/[^\W\d]\w*/gu));
  const read = new Map<string, Value>();
  for (const [name, value] of locals) {
    if (!words.has(name)) continue;
    const { repr } = value;
    if (repr !== null && isLiteral(repr)) read.set(name, { repr, confidence: null });
    // Functions and classes of the module mean the same in the question.
    else if (!source.units.some((unit) => unit.name === name && unit.parent?.kind === 'module')) {
      throw errors.cannotAsk(
        repr === null ? `${name} is not predicted here` : `${name} is no value that can be written as Python`,
      );
    }
  }
  return read;
}

/** A name for the function that stands nowhere else. */
function freeName(text: string): string {
  let name = 'question';
  while (text.includes(name)) name = `_${name}`;
  return name;
}

/** A guess in words, marked as one. */
export function describeGuess({ repr, raises, confidence }: Guess): string {
  const sure = confidence === null ? 'no number says how sure' : `${Math.round(confidence * 100)}% sure`;
  return `${raises ? `raises ${repr}` : repr}   (the model's guess, ${sure})`;
}
