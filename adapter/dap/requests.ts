import { z } from 'zod';
import { errors } from '../errors';
import { undimmed } from './styling';

/* The arguments of requests, as far as the adapter reads them. */

const source = z.object({
  path: z.string().optional(),
  name: z.string().optional(),
  sourceReference: z.int().optional(),
});

export const initializeArguments = z.object({
  clientID: z.string().nullish().catch(null),
  linesStartAt1: z.boolean().default(true),
  columnsStartAt1: z.boolean().default(true),
  pathFormat: z.enum(['path', 'uri']).catch('path').default('path'),
  supportsProgressReporting: z.boolean().default(false),
  supportsInvalidatedEvent: z.boolean().default(false),
  supportsANSIStyling: z.boolean().default(false),
});

/** An expression or a value: a text that may be one of ours, as it was shown. */
const python = (most: number) => z.string().max(most).transform(undimmed);

const checks = { condition: z.string().optional(), hitCondition: z.string().optional() };

export const setBreakpointsArguments = z.object({
  source,
  breakpoints: z
    .array(z.object({ line: z.number().int(), logMessage: z.string().optional(), ...checks }))
    .default([]),
});

export const setFunctionBreakpointsArguments = z.object({
  breakpoints: z.array(z.object({ name: z.string(), ...checks })).default([]),
});

export const setDataBreakpointsArguments = z.object({
  breakpoints: z
    .array(z.object({ dataId: z.string(), accessType: z.string().optional(), ...checks }))
    .default([]),
});

export const dataBreakpointInfoArguments = z.object({
  variablesReference: z.number().int().optional(),
  frameId: z.number().int().optional(),
  name: z.string().max(100_000),
});

/** A data id of ours: the frame's activation, its function, and the variable's path. */
export const dataId = z.tuple([z.number().int(), z.string(), z.string()]);

export const setExceptionBreakpointsArguments = z.object({
  filters: z.array(z.string()).default([]),
  filterOptions: z.array(z.object({ filterId: z.string(), condition: z.string().optional() })).default([]),
});

export const breakpointLocationsArguments = z.object({
  source,
  line: z.number().int(),
  endLine: z.number().int().optional(),
});

export const stackTraceArguments = z.object({
  threadId: z.number().int(),
  startFrame: z.number().int().nonnegative().default(0),
  levels: z.number().int().nonnegative().default(0),
});

export const scopesArguments = z.object({ frameId: z.number().int() });

export const variablesArguments = z.object({
  variablesReference: z.number().int(),
  filter: z.enum(['indexed', 'named']).optional(),
  start: z.number().int().nonnegative().optional(),
  count: z.number().int().nonnegative().optional(),
});

export const evaluateArguments = z.object({
  expression: python(100_000),
  frameId: z.number().int().optional(),
  context: z.string().default('repl'),
});

/** `neuralDebug/value` takes an expression, or a reference: the value that it opens, or the part with a name. */
export const wholeValueArguments = z
  .object({
    variablesReference: z.number().int().positive().optional(),
    name: z.string().optional(),
    expression: python(100_000).optional(),
    frameId: z.number().int().optional(),
  })
  .refine(({ variablesReference, expression }) => (variablesReference ?? expression) !== undefined, {
    error: 'a variablesReference or an expression is needed',
  });

export const stepInArguments = z.object({ targetId: z.number().int().optional() });

export const stepInTargetsArguments = z.object({ frameId: z.number().int() });

export const completionsArguments = z.object({
  frameId: z.number().int().optional(),
  text: z.string().max(100_000),
  column: z.number().int(),
  line: z.number().int().optional(),
});

export const setVariableArguments = z.object({
  variablesReference: z.number().int(),
  name: z.string().max(100_000),
  value: python(1_000_000),
});

export const setExpressionArguments = z.object({
  expression: python(100_000),
  value: python(1_000_000),
  frameId: z.number().int().optional(),
});

export const gotoTargetsArguments = z.object({ source, line: z.number().int() });

export const runBackToArguments = z.object({ source, line: z.number().int() });

/** `neuralDebug/editorText`: what an editor has of the program that is not saved, or null. */
export const editorTextArguments = z.object({ text: z.string().max(10_000_000).nullable() });

export const gotoArguments = z.object({ targetId: z.number().int() });

export const restartFrameArguments = z.object({ frameId: z.number().int() });

export const switchBranchArguments = z.object({ branch: z.number().int().positive() });

export const sampleAgainArguments = z.object({ count: z.number().int().positive().default(5) });

/** The server that is to go on, as launch arguments name it. */
export const reconnectArguments = z.object({ server: z.looseObject({}) });

export const cancelArguments = z.object({
  progressId: z.string().optional(),
  requestId: z.number().int().optional(),
});

/** Reads a request's arguments. */
export function read<T>(shape: z.ZodType<T>, given: unknown): T {
  const parsed = shape.safeParse(given ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw errors.requestArgument(issue?.path.join('.') || 'the arguments', issue?.message ?? 'not valid');
}
