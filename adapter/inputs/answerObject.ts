import type { z } from 'zod';

/** How much of an answer is read, in characters. */
export const maxAnswer = 100_000;

/**
 * The last JSON object of a shape in a model's answer, for models that think aloud before; null where there is none.
 *
 * @param key the object's first key
 */
export function lastObject<T>(text: string, key: string, shape: z.ZodType<T>): T | null {
  const end = text.lastIndexOf('}');
  const named = text.lastIndexOf(`{"${key}"`);
  for (let start = named >= 0 ? named : text.lastIndexOf('{'); start >= 0;) {
    const parsed = shape.safeParse(json(text.slice(start, end + 1)));
    if (parsed.success) return parsed.data;
    if (start === 0) return null;
    start = text.lastIndexOf('{', start - 1);
  }
  return null;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
