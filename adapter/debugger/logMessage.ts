import type { ExpressionEvaluator } from '../python/expressions';
import { readRepr, stringValue } from '../python/repr';
import type { Locals } from '../trajectory/state';

/** The message of a log point: text, and expressions whose values stand in it. */
export type LogMessage = readonly (string | { readonly expression: string })[];

/**
 * Reads a log message. What stands in braces is an expression; `{{` and `}}` stand for the braces themselves. A
 * brace that is not closed, or has nothing in it, stands for itself.
 */
export function parseLogMessage(text: string): LogMessage {
  const parts: (string | { readonly expression: string })[] = [];
  let literal = '';
  for (let at = 0; at < text.length; at++) {
    const two = text.slice(at, at + 2);
    if (two === '{{' || two === '}}') {
      literal += text.charAt(at++);
      continue;
    }
    const end = text[at] === '{' ? expressionEnd(text, at + 1) : -1;
    const expression = end < 0 ? '' : text.slice(at + 1, end).trim();
    if (expression === '') {
      literal += text.charAt(at);
      continue;
    }
    if (literal !== '') parts.push(literal);
    literal = '';
    parts.push({ expression });
    at = end;
  }
  if (literal !== '') parts.push(literal);
  return parts;
}

/** Where the brace is that closes an expression: not one in its strings, dicts or sets. -1: nowhere. */
function expressionEnd(text: string, start: number): number {
  let quote = '';
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (character === '\\') at++;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if ('([{'.includes(character)) depth++;
    else if (character === '}' && depth === 0) return at;
    else if (')]}'.includes(character)) depth--;
  }
  return -1;
}

/** A log message with the values that its expressions have over a frame's locals. Never rejects. */
export async function renderLogMessage(
  message: LogMessage,
  locals: Locals,
  evaluator: ExpressionEvaluator,
): Promise<string> {
  const expressions = message.flatMap((part) => (typeof part === 'string' ? [] : [part.expression]));
  const results = await evaluator.evaluateEach(
    expressions.map((expression) => ({ expression: `str(${expression}\n)`, locals })),
  );
  const texts = results.map((result) => {
    if (result.kind === 'value') return stringValue(result.repr, readRepr(result.repr)) ?? result.repr;
    return result.kind === 'raises' ? `${result.type}: ${result.message}` : 'not predicted';
  });
  return message.map((part) => (typeof part === 'string' ? part : (texts.shift() ?? ''))).join('');
}
