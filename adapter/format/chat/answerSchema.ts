import { z } from 'zod';
import type { JsonSchema } from '../../completion/completion';
import type { PythonSource } from '../../python/source';

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
  const schema = z.toJSONSchema(answer, {
    override: ({ jsonSchema }) => {
      // The limits of safe integers make large grammars, and some strict servers do not take them.
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
    },
  });
  // Strict servers take no keyword that they do not know, and the dialect is one.
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'));
}
