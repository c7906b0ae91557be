import { z } from 'zod';
import type { CompletionSource, Prompt } from '../completion/completion';
import { quoted } from '../completion/quoted';
import { errors } from '../errors';
import { strictJsonSchema } from '../format/chat/jsonSchema';
import { exampleCalls } from '../python/exampleCalls';
import { findFunction } from '../python/functions';
import { PythonSource } from '../python/source';
import { lastObject, maxAnswer } from './answerObject';

export interface MadeUpCallsOptions {
  /** The program's text. */
  readonly source: string;
  /** The function's qualified name. */
  readonly function: string;
  /** How many calls are wanted. */
  readonly count: number;
}

const answerShape = z.object({ calls: z.array(z.string()) });

const maxTokens = 2048;

const task = `You make up calls of Python functions, to look at what the functions do. You do not run code.

Give different calls that each show something else: an ordinary case, an edge case, a long way through the code, an error if there is one. Each call is one line of Python. All arguments are literals (numbers, strings, None, True, False, and lists, tuples, dicts and sets of them). For a method the line makes the object, too: Account('Ada', 100).change(-30). It calls the function by its name in the program, without await or print.

Answer with one JSON object and nothing else:
{"calls": ["gcd(12, 18)", "gcd(0, 5)"]}`;

/**
 * Asks a chat model for calls of a function. What is no call of it, or has arguments that are no literals, is left out.
 *
 * @returns the calls, without what makes a coroutine or a generator run
 * @throws CatalogueError when the server fails, or its answer cannot be read
 */
export async function madeUpCalls(
  { source, function: name, count }: MadeUpCallsOptions,
  completions: CompletionSource,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const definition = findFunction(await PythonSource.parse(source), name);
  if (!definition) return [];
  const prompt: Prompt = {
    kind: 'chat',
    messages: [
      { role: 'system', content: task },
      { role: 'user', content: `The program:\n${source}\n\nGive ${count} calls of ${name}.` },
    ],
    schema: { name: 'calls', schema: strictJsonSchema(answerShape) },
  };
  let text = '';
  for await (const chunk of completions.complete(prompt, { maxTokens, signal })) {
    if (chunk.kind === 'text') text += chunk.text;
    if (text.length > maxAnswer) break;
  }
  const answer = quoted(completions, () => {
    const found = lastObject(text, 'calls', answerShape);
    if (!found) throw errors.guessesUnreadable(text.slice(0, 200));
    return found;
  });
  const calls = new Set<string>();
  for (const line of answer.calls) {
    const [found] = await exampleCalls(await PythonSource.parse(`${line}\n`), definition);
    if (found) calls.add(found.call);
  }
  return [...calls].slice(0, count);
}
