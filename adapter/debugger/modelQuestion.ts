import { errors } from '../errors';
import type { Guess } from '../format/question';
import type { ExpressionEvaluator } from '../python/expressions';
import { isLiteral } from '../python/repr';
import { PythonSource } from '../python/source';
import type { Action } from '../trajectory/action';
import { type Locals, plainPrediction, type State, type Value } from '../trajectory/state';
import { Trajectory } from '../trajectory/trajectory';
import type { Questions } from '../world/world';
import { PathConfidence, percent } from './confidence';
import type { Debugger } from './debugger';
import { evaluateIn } from './evaluateIn';
import { moduleVariablesRead, wordsOf } from './moduleNames';
import { recordSteps } from './record';

/** A model's answer to the question what an expression gives at a state. */
export interface Answer extends Guess {
  /** Names of the module that were taken to be what the module's code gives, since nothing better is known. */
  readonly assumed: readonly string[];
}

/** An expression at a state, with all that is known of what it reads. */
interface Asked {
  readonly state: number;
  readonly expression: string;
  readonly locals: Locals;
  readonly globals: Locals;
  readonly signal: AbortSignal;
}

const stepInto: Action = { name: 'step_into' };

/** The most states that a question may take: the expression may call functions of the program. */
const mostStates = 2_000;

/**
 * What `ask` says: what the model guesses that an expression gives, marked as a guess; where no model answers, what the
 * expression gives by evaluation, and that it is so.
 *
 * @throws CatalogueError where neither is possible, with the reason
 */
export async function answerInWords(
  session: Debugger,
  evaluator: ExpressionEvaluator,
  state: number,
  expression: string,
  signal: AbortSignal,
): Promise<string> {
  const { questions, description } = session.world;
  if (questions.kind !== 'none') return describeAnswer(await askModel(session, state, expression, signal));
  const result = await evaluateIn(session, evaluator, expression, session.cursor, state);
  if (result.kind === 'unknown') throw errors.notAsked(description.name, questions.why, result.reason);
  const given = result.kind === 'value' ? result.repr : `raises ${result.type}: ${result.message}`;
  return `${given}   (evaluated exactly, not guessed: ${questions.why})`;
}

/**
 * Asks the model what an expression gives at a state. Nothing of the session's is changed by it. The question carries
 * what the locals are that the expression reads, and the module's names that may have changed since the module's code
 * ran; which of them are not known is told with the answer.
 *
 * @throws CatalogueError where the world is no model, where the question cannot be written, and when it fails
 */
export async function askModel(
  session: Debugger,
  state: number,
  expression: string,
  signal: AbortSignal,
): Promise<Answer> {
  const { world, source, confidence } = session;
  const { questions, description } = world;
  if (questions.kind === 'none') throw errors.cannotAsk(`${description.name} is no model: ${questions.why}`);
  await checkExpression(expression);
  const locals = await localsRead(session, state, expression, questions.kind);
  const { globals, assumed } = await globalsRead(session, state, expression);
  const asked: Asked = { state, expression: expression.trim(), locals, globals, signal };
  const guess =
    questions.kind === 'words'
      ? await questions.ask({ ...asked, trajectory: session.trajectory }, signal)
      : await askByTrace(questions, source, session.trajectory, asked);
  // What the values that it reads are themselves only likely to be.
  const least = Math.min(
    1,
    ...[...locals.keys()].map((name) => confidence.value(state, name) ?? 1),
    ...[...globals.values()].map((value) => value.confidence ?? 1),
  );
  return { ...guess, confidence: guess.confidence === null ? null : guess.confidence * least, assumed };
}

/** @throws CatalogueError for what is no expression by itself: brackets in it must not close those around it */
async function checkExpression(expression: string): Promise<void> {
  const { problems, tree } = await PythonSource.parse(`${expression.trim()}\n`);
  const [only, ...more] = tree.root.parts;
  const isOne = problems.length === 0 && only?.type === 'expression_statement' && more.length === 0;
  if (!isOne || /[\r\n;]/.test(expression.trim()) || /assignment$/.test(only.parts[0]?.type ?? '')) {
    throw errors.cannotAsk('it is no Python expression on one line');
  }
}

/**
 * The question as a trace of its own: the program with a function that returns the expression, called with the locals
 * that it reads. The model writes what follows its line, up to its return.
 */
async function askByTrace(
  { another }: Extract<Questions, { kind: 'trace' }>,
  source: PythonSource,
  { program: { path } }: Trajectory,
  { expression, locals, globals, signal }: Asked,
): Promise<Guess> {
  const name = freeName(source.text + expression);
  const changed = [...globals].map(([global, { repr }]) => `${global} = ${repr ?? 'None'}\n`).join('');
  const parameters = [...locals.keys()].join(', ');
  const text = `${source.text.replace(/\s*$/, '')}\n\n\n${changed}def ${name}(${parameters}):\n    return (${expression})\n`;
  const asked = await PythonSource.parse(text);
  const unit = asked.units.find((one) => one.kind === 'function' && one.name === name);
  if (!unit || asked.problems.length > 0) throw errors.cannotAsk('it is no Python expression on one line');
  const entry = `${name}(${[...locals.values()].map(({ repr }) => repr).join(', ')})`;
  const program = { path, source: text, entry, args: [] };
  const question = new Trajectory(program);
  const begun = { function: name, thread: null, locals, argument: null } satisfies Partial<State>;
  question.append(-1, stepInto, plainPrediction({ ...begun, event: 'call', line: unit.callLine }));
  question.append(0, stepInto, plainPrediction({ ...begun, event: 'line', line: unit.lastLine }));
  const answering = await another(program, asked);
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

/** The locals that an expression reads, as the question can carry them. */
async function localsRead(
  { source, trajectory, derived, cursor }: Debugger,
  state: number,
  expression: string,
  kind: 'trace' | 'words',
): Promise<Locals> {
  const words = wordsOf(expression);
  const known = (state < 0 ? null : trajectory.locals(state)?.locals) ?? new Map<string, Value>();
  // Words may show objects with what is known of them; the arguments of a call are literals.
  const shown = kind === 'words' && state >= 0 ? await derived.names(expression, cursor, state) : known;
  const read = new Map<string, Value>();
  for (const name of known.keys()) {
    const repr = shown.get(name)?.repr ?? null;
    if (!words.has(name)) continue;
    if (repr !== null && (kind === 'words' || isLiteral(repr))) read.set(name, { repr, confidence: null });
    // Functions and classes of the module mean the same in the question.
    else if (!source.units.some((unit) => unit.name === name && unit.parent?.kind === 'module')) {
      throw errors.cannotAsk(
        repr === null ? `${name} is not predicted here` : `${name} is no value that can be written as Python`,
      );
    }
  }
  return read;
}

/** The module's names that the expression may read: those that may have changed, and those that are not known. */
async function globalsRead(
  { source, derived, cursor }: Debugger,
  state: number,
  expression: string,
): Promise<{ globals: Locals; assumed: readonly string[] }> {
  const globals = new Map<string, Value>();
  const assumed: string[] = [];
  const names = moduleVariablesRead(source, expression);
  if (state < 0 || names.length === 0) return { globals, assumed };
  for (const { part, isOfSource } of await derived.moduleNames(names, cursor, state)) {
    const { name, repr } = part;
    if (repr !== null && isOfSource) continue;
    if (repr !== null && isLiteral(repr)) globals.set(name, { repr, confidence: part.confidence });
    else assumed.push(name);
  }
  return { globals, assumed };
}

/** A name for the function that stands nowhere else. */
function freeName(text: string): string {
  let name = 'question';
  while (text.includes(name)) name = `_${name}`;
  return name;
}

/** A guess in words, marked as one. */
export function describeAnswer({ repr, raises, confidence, assumed }: Answer): string {
  const sure = confidence === null ? 'no number says how sure' : `${percent(confidence)} sure`;
  const taken =
    assumed.length === 0 ? '' : `; takes ${assumed.join(', ')} to be what the module's code gives`;
  return `${raises ? `raises ${repr}` : repr}   (the model's guess, ${sure}${taken})`;
}
