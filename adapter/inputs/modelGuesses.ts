import { z } from 'zod';
import type { CompletionSource, Prompt } from '../completion/completion';
import { quoted } from '../completion/quoted';
import { errors } from '../errors';
import { strictJsonSchema } from '../format/chat/jsonSchema';
import type { WantedResult } from '../python/inputSearch';
import { isLiteral } from '../python/repr';
import { lastObject, maxAnswer } from './answerObject';
import { describeWanted } from './wantedResult';

export interface ModelGuessOptions {
  readonly source: string;
  readonly function: string;
  readonly wanted: WantedResult;
  /** How many guesses are wanted. */
  readonly count: number;
}

const answerShape = z.object({
  guesses: z.array(z.object({ arguments: z.array(z.string()) })),
});

const maxTokens = 4096;

const task = `You find inputs of Python functions. You are given a program, one of its functions and what a call of it should come to. You do not run code: you reason backwards from the result to arguments that lead to it.

Give several different guesses, the likeliest first. Each argument is one Python literal (numbers, strings, None, True, False, and lists, tuples, dicts and sets of them), written as a string of the JSON; arguments are in the order of the function's parameters.

Answer with one JSON object and nothing else:
{"guesses": [{"arguments": ["[1, 2]", "'a'"]}]}`;

/**
 * Asks a chat model for arguments with which a function gives a wanted result; each as Python literals. What is
 * no literal is left out.
 *
 * @throws CatalogueError when the server fails, or its answer cannot be read
 */
export async function modelGuesses(
  { source, function: name, wanted, count }: ModelGuessOptions,
  completions: CompletionSource,
  signal: AbortSignal,
): Promise<readonly (readonly string[])[]> {
  const result = describeWanted(wanted);
  const question = `The program:\n${source}\n\nGive ${count} guesses of arguments with which the function ${name} ${result}.`;
  const prompt: Prompt = {
    kind: 'chat',
    messages: [
      { role: 'system', content: task },
      { role: 'user', content: question },
    ],
    schema: { name: 'guesses', schema: strictJsonSchema(answerShape) },
  };
  let text = '';
  for await (const chunk of completions.complete(prompt, { maxTokens, signal })) {
    if (chunk.kind === 'text') text += chunk.text;
    if (text.length > maxAnswer) break;
  }
  return quoted(completions, () => readGuesses(text)).slice(0, count);
}

/** The guesses of an answer. */
function readGuesses(text: string): readonly (readonly string[])[] {
  const answer = lastObject(text, 'guesses', answerShape);
  if (!answer) throw errors.guessesUnreadable(text.slice(0, 200));
  return answer.guesses.map((guess) => guess.arguments).filter((guess) => guess.every(isLiteral));
}
