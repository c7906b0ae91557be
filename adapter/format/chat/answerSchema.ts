import { z } from 'zod';
import type { JsonSchema } from '../../completion/completion';
import type { PythonSource } from '../../python/source';
import { strictJsonSchema } from './jsonSchema';

/** Strict servers take a limited number of values that a field may have. */
const maxFunctions = 200;

/**
 * The schema of an answer for a program. All keys are required and no others allowed, as the strict mode of
 * servers wants it; for the same reason locals are a list, and there are no limits of length.
 */
export function answerSchema(source: PythonSource): JsonSchema {
  const functions = [...new Set(source.units.map(({ name }) => name))];
  const answer = z.object({
    states: z.array(
      z.object({
        event: z.enum(['call', 'line', 'return', 'exception']),
        function: functions.length > maxFunctions ? z.string() : z.enum(functions),
        line: z.int(),
        locals: z.array(z.object({ name: z.string(), value: z.string() })),
        value: z.string().nullable(),
        output: z.string(),
      }),
    ),
    ended: z.boolean(),
  });
  return strictJsonSchema(answer);
}
