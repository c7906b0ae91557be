import { z } from 'zod';
import type { JsonSchema } from '../../completion/completion';

/** A type's JSON schema as the strict mode of servers takes it. */
export function strictJsonSchema(type: z.ZodType): JsonSchema {
  const schema = z.toJSONSchema(type, {
    override: ({ jsonSchema }) => {
      // The limits of safe integers make large grammars, and some strict servers do not take them.
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
    },
  });
  // Strict servers take no keyword that they do not know, and the dialect is one.
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'));
}
