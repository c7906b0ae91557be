import { z } from 'zod';
import type { ChatMessage, CompletionChunk, Prompt } from '../../completion/completion';
import { errors } from '../../errors';
import type { PythonSource } from '../../python/source';
import type { Program } from '../../trajectory/program';
import type { Locals } from '../../trajectory/state';
import { leastOf, TokenSpans } from '../cwm/tokenSpans';
import type { Guess, Question } from '../question';
import { exceptionOf, isException } from './answeredException';
import { strictJsonSchema } from './jsonSchema';
import { type Loose, type LooseMap, readLooseObject } from './looseJson';
import { type FoundObject, ObjectScanner } from './objectScanner';
import { programParts, situationParts, toldLocals } from './prompt';
import { reprFromText } from './pythonRepr';
import { answeredField, answerWithoutThought } from './stateReading';

/** An answer as it is asked for. What a model writes before its value helps it to find that. */
const answerShape = z.object({ reasoning: z.string(), raises: z.boolean(), repr: z.string() });

const task = `You answer questions about a Python program that is stopped in a debugger: what an expression gives there. You do not run code: you work out exactly what CPython 3.11 gives. What calls in the expression would change or print is of no interest.

You are given the program, the states that led to where it is stopped, the open frames, and the values that the expression reads. An object may be shown as "Point(x=1)": with the attributes that are known.

Answer with one JSON object and nothing else:
{"reasoning": "at most three short sentences", "raises": false, "repr": "[1, 2]"}
"repr" is the repr of the value: 3, 'text', [1, 2], None, <Point object>. If the expression raises an exception, "raises" is true and "repr" is the exception as "Type(arguments)": KeyError('a').`;

/** The prompt that puts a question to a chat model. */
export function questionPrompt(
  program: Program,
  source: PythonSource,
  beginning: number | null,
  { trajectory, state, expression, locals, globals }: Question,
): Prompt {
  const parts = [
    ...programParts(program, source, beginning),
    ...situationParts(trajectory, state),
    ...told('The locals that the expression reads', locals),
    ...told('Names of the module that may have changed since its code ran', globals),
    `What does this expression give here, in the frame of the last state?\n${expression}`,
  ];
  const messages: ChatMessage[] = [
    { role: 'system', content: task },
    { role: 'user', content: parts.join('\n\n') },
  ];
  return { kind: 'chat', messages, schema: { name: 'answer', schema: strictJsonSchema(answerShape) } };
}

function told(what: string, values: Locals): string[] {
  if (values.size === 0) return [];
  const lines = toldLocals(values).map(({ name, value }) => `${name} = ${value}`);
  return [`${what}:\n${lines.join('\n')}`];
}

const valueKeys = ['repr', 'value', 'result', 'answer', 'returns', 'returnvalue', 'guess', 'output'];
const raisesKeys = ['raises', 'raised', 'raise', 'israised', 'raisesexception', 'throws'];
const exceptionKeys = ['exception', 'error'];

/**
 * Reads an answer: the last object in it that gives a value or an exception, under whichever of the usual keys; else a
 * value that stands alone, or in quotes for code.
 *
 * @throws CatalogueError where there is none
 */
export function readGuess(answer: readonly CompletionChunk[]): Guess {
  const spans = new TokenSpans();
  let text = '';
  let isCut = false;
  for (const chunk of answer) {
    if (chunk.kind === 'text') {
      text += chunk.text;
      spans.add(chunk.text, chunk.tokens);
    } else isCut = chunk.reason === 'length';
  }
  const from = answerWithoutThought(text);
  if (from !== null) {
    const scanner = new ObjectScanner(from);
    const found = scanner.scan(text);
    // What was cut off may be any value.
    if (!isCut) found.push(...scanner.unfinished);
    for (const { start, end } of outermost(found).reverse()) {
      const guess = guessOf(readLooseObject(text, start, end), spans);
      if (guess) return guess;
    }
    const alone = found.length === 0 && !isCut ? codeAlone(text.slice(from)) : null;
    if (alone !== null) return { repr: reprFromText(alone), raises: false, confidence: null };
  }
  throw errors.guessUnreadable(text.trim().slice(0, 200));
}

/** The objects that stand in no other. */
function outermost(objects: readonly FoundObject[]): FoundObject[] {
  return objects.filter(
    ({ start, end }) =>
      !objects.some((other) => other.start <= start && other.end >= end && other.start < start),
  );
}

function guessOf(map: LooseMap, spans: TokenSpans): Guess | null {
  const value = answeredField(map, valueKeys);
  const flag = answeredField(map, raisesKeys);
  const exception = answeredField(map, exceptionKeys);
  const inner = value?.given;
  // An answer within an answer, unless it is a dict.
  if (inner?.kind === 'map' && answeredField(inner, ['repr', ...raisesKeys])) return guessOf(inner, spans);
  const confidence = (...parts: readonly (Loose | undefined)[]) =>
    parts
      .filter((part) => part !== undefined)
      .map(({ start, end }) => spans.leastProbability(start, end))
      .reduce(leastOf, null);
  // The flag may be the exception itself.
  const flagText =
    flag && (flag.given.kind === 'text' || flag.given.kind === 'word') ? flag.given.text.trim() : '';
  const isNamed = flag !== null && !/^(|true|false|yes|no|none|null|[01])$/i.test(flagText);
  const raised = isNamed ? flag : exception && !isNothing(exception.given) ? exception : null;
  const saysSo = /^(true|yes|1)$/i.test(flagText);
  if (raised !== null || saysSo) {
    const given = raised ?? value;
    const repr = given && exceptionOf(given);
    const isGiven = repr !== null && isException(repr);
    return isGiven ? { repr, raises: true, confidence: confidence(flag?.given, given?.given) } : null;
  }
  if (!value || value.repr === null) return null;
  const said = inner?.kind === 'text' ? /^\s*raises?:?\s+(\w.*)$/is.exec(inner.text)?.[1] : undefined;
  if (said !== undefined && inner) {
    const repr = exceptionOf({ ...value, given: { ...inner, kind: 'text', text: said } });
    return repr ? { repr, raises: true, confidence: confidence(inner) } : null;
  }
  return { repr: value.repr, raises: false, confidence: confidence(flag?.given, inner) };
}

function isNothing(value: Loose): boolean {
  return (
    (value.kind === 'word' || value.kind === 'text') && /^(|null|none|false|no)$/i.test(value.text.trim())
  );
}

/** A value without any object around: the last code in backticks, or the whole answer on one line. */
function codeAlone(text: string): string | null {
  const fenced = [...text.matchAll(/```\w*\n([^]*?)\n```/g)].at(-1)?.[1];
  const code = fenced ?? [...text.matchAll(/`([^`\n]+)`/g)].at(-1)?.[1] ?? text;
  const alone = code.trim();
  const isOne = alone !== '' && !/[\n\r]/.test(alone) && (code !== text || isPlainValue(alone));
  return isOne ? alone : null;
}

/** Whether words cannot be meant: a number, a text in quotes, something in brackets. */
function isPlainValue(text: string): boolean {
  return /^(-?[\d.]+(e[-+]?\d+)?|None|True|False|true|false|null|'.*'|".*"|\[.*\]|\(.*\)|<.*>)$/s.test(text);
}
