import { z } from 'zod';
import { errors } from '../../adapter/errors';
import { originOf, sameOrigin } from '../servers/origin';
import type { Settings } from '../settings';

/** What the extension itself reads of a launch configuration; the debug adapter parses the whole. */
const launchFields = z.object({
  program: z.string().optional(),
  source: z.string().optional(),
  world: z.enum(['server', 'reference', 'recording']).optional(),
  recording: z.string().optional(),
  python: z.string().optional(),
  sandbox: z.enum(['python', 'pyodide', '']).optional(),
  server: z.looseObject({ baseUrl: z.string().optional() }).optional(),
});

export type LaunchFields = z.infer<typeof launchFields>;

/** @throws CatalogueError naming the argument that is wrong */
export function readLaunchFields(configuration: unknown): LaunchFields {
  const parsed = launchFields.safeParse(configuration);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw errors.launchArgument(issue?.path.join('.') ?? '', issue?.message ?? 'is not valid');
}

/** Which world a launch configuration asks for, and what has to be settled before it may be asked. */
export type WorldChoice =
  /** Nothing says what predicts: the user has to choose. */
  | { readonly world: 'ask' }
  | {
      readonly world: 'server';
      readonly server: Readonly<Record<string, unknown>>;
      /** An origin that the user has to agree to first. */
      readonly unconfirmedOrigin: string | null;
    }
  | { readonly world: 'reference' }
  | { readonly world: 'recording' };

/**
 * The world of a launch configuration. A server that the configuration itself names may receive source only
 * once its origin is confirmed; the one in the settings was chosen by the user.
 *
 * @param confirmed the origins that the user has agreed to before
 * @throws CatalogueError where the base URL is none
 */
export function chooseWorld(
  fields: LaunchFields,
  settings: Settings,
  confirmed: ReadonlySet<string>,
): WorldChoice {
  const world = fields.world ?? (fields.recording === undefined ? 'server' : 'recording');
  if (world !== 'server') return { world };
  const named = fields.server;
  if (named?.baseUrl === undefined) {
    if (!settings.server) return { world: 'ask' };
    const server = { ...settings.server, ...named, baseUrl: settings.server.baseUrl };
    return { world, server, unconfirmedOrigin: null };
  }
  const origin = originOf(named.baseUrl);
  const known = settings.server !== null && sameOrigin(settings.server.baseUrl, origin);
  return {
    world,
    server: named,
    unconfirmedOrigin: known || confirmed.has(origin) ? null : origin,
  };
}

/**
 * The interpreter to use: the configuration's, else the settings'. An untrusted workspace may name none, for
 * it could name a program of its own.
 */
export function choosePython(fields: LaunchFields, settings: Settings, trusted: boolean): string | null {
  if (fields.python !== undefined && fields.python !== '') {
    if (!trusted) throw errors.pythonOfUntrustedWorkspace();
    return fields.python;
  }
  return settings.python;
}
