import { z } from 'zod';
import { defaultTimeouts } from '../completion/openaiServer';
import { profileNames } from '../completion/profile';
import { errors } from '../errors';
import { defaultSamplingTemperature } from '../world/languageModel';
import { defaultBudget } from './budget';

const baseUrl = z.url({
  protocol: /^https?$/,
  error: 'must be an http or https URL, such as http://127.0.0.1:8000/v1',
});

/** How long a server may be silent, in seconds. */
const timeoutsShape = z.strictObject({
  /** Until it begins to answer: it may have to load its model first. */
  firstByte: z
    .number()
    .positive()
    .max(86_400)
    .default(defaultTimeouts.firstByte / 1000),
  /** In the middle of an answer. */
  stall: z
    .number()
    .positive()
    .max(86_400)
    .default(defaultTimeouts.stall / 1000),
});

const serverShape = z.strictObject({
  /** The server's OpenAI-compatible endpoint, usually ending in /v1. */
  baseUrl,
  /** The model's name; null: the first that the server lists. */
  model: z.string().min(1).nullable().default(null),
  /** How trajectories are written for the model. */
  format: z.enum(['cwm', 'chat']).default('cwm'),
  /** Which server it is, where that changes what is sent; auto: it is asked. */
  profile: z.enum(['auto', ...profileNames]).default('auto'),
  /** How prompts of the format cwm go: as token ids, as text, or as what the server can take. */
  mode: z.enum(['auto', 'ids', 'text']).default('auto'),
  /** How many tokens a prompt and its answer may have together; null: what the server tells. */
  context: z.number().int().min(1_000).nullable().default(null),
  /** Whether answers are held to the lines where control can go, by servers that can. */
  constrain: z.boolean().default(false),
  temperature: z.number().min(0).max(2).default(0),
  /** The temperature at which other samples of a state are drawn. */
  samplingTemperature: z.number().min(0).max(2).default(defaultSamplingTemperature),
  timeouts: timeoutsShape.prefault({}),
});

const budgetShape = z.strictObject({
  states: z.number().int().positive().default(defaultBudget.states),
  tokens: z.number().int().positive().default(defaultBudget.tokens),
  seconds: z.number().positive().max(86_400).default(defaultBudget.seconds),
});

const configurationShape = z.object({
  /** The Python file. A recording brings its own program. */
  program: z.string().min(1).nullable().default(null),
  /** The program's text, where it is in no file; `program` is then only its name. */
  source: z.string().nullable().default(null),
  /** The call to debug; null: the file as a script. */
  entry: z.string().trim().min(1).nullable().default(null),
  /** The script's arguments. */
  args: z.array(z.string()).default([]),
  stopOnEntry: z.boolean().default(false),
  /** Whether the end of the program is a stop, from where one can still go back. */
  stopAtEnd: z.boolean().default(true),
  /** What answers; null: not chosen, unless a server is given. */
  world: z.enum(['server', 'reference', 'recording']).nullable().default(null),
  server: serverShape.nullable().default(null),
  /** The recording file. */
  recording: z.string().min(1).nullable().default(null),
  budget: budgetShape.default(defaultBudget),
  showDefinitions: z.boolean().default(false),
  allStates: z.boolean().default(false),
  /** Whether a step over is predicted while a person looks at a stop. */
  prefetch: z.boolean().default(false),
  /** The state to start at, and to stop at: a line, and its locals as Python literals; null: the beginning. */
  startAt: z
    .strictObject({
      line: z.number().int().positive(),
      locals: z.record(z.string(), z.string()).default({}),
    })
    .transform(({ line, locals }) => ({ line, locals: new Map(Object.entries(locals)) }))
    .nullable()
    .default(null),
  /** The Python interpreter; null: `python3`. */
  python: z.string().min(1).nullable().default(null),
  /** Which kind of Python evaluates and runs; null: an interpreter where there is one, else Pyodide. */
  sandbox: z.enum(['python', 'pyodide']).nullable().default(null),
});

/** The attributes that a session is started with, as a JSON schema: editors offer them while one writes. */
export function configurationSchema(): object {
  return z.toJSONSchema(configurationShape, { io: 'input' });
}

/** What a debug session is started with. */
export type Configuration = z.infer<typeof configurationShape>;

/**
 * Checks what a session is to be started with. Names that are not known are left alone: editors add their own.
 *
 * @throws CatalogueError naming the argument that is wrong
 */
export function parseConfiguration(given: unknown): Configuration {
  const parsed = configurationShape.safeParse(withoutNullish(given));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const keys = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  const argument = [...(issue?.path ?? []), ...keys].join('.') || 'the arguments';
  throw errors.launchArgument(argument, issue?.message ?? 'is not valid');
}

/** Editors write an attribute that is not set as null or as an empty text. */
function withoutNullish(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== ''));
}
