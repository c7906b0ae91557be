import type * as vscode from 'vscode';
import { z } from 'zod';
import type { ServerConfiguration } from '../settings';
import { originIn } from './origin';

/** What a session's configuration says of its server; more stands there that only the debug adapter reads. */
const configurationShape = z.looseObject({
  world: z.string().optional(),
  server: z.looseObject({
    baseUrl: z.string(),
    model: z.string().optional(),
    format: z.enum(['cwm', 'chat']).optional(),
  }),
});

/** The attributes of a server, with those that only the debug adapter reads. */
type ServerAttributes = Readonly<Record<string, unknown>>;

const serverAttributes = z.looseObject({ server: z.looseObject({}) });

/**
 * The servers to which sessions were connected after they had begun. The editor keeps the configuration of a session as
 * it was launched, which still names the server before.
 */
const connectedSince = new WeakMap<object, ServerAttributes>();

/** Notes that a session goes on with another server than the one that it was launched with. */
export function goesOnWith(session: object, server: ServerAttributes): void {
  connectedSince.set(session, server);
}

/** What is set of a session's server, with what only the debug adapter reads; null where nothing is. */
export function serverAttributesOf(session: { readonly configuration: unknown }): ServerAttributes | null {
  return (
    connectedSince.get(session) ?? serverAttributes.safeParse(session.configuration).data?.server ?? null
  );
}

/** The server of a debug session; null where none predicts in it. */
export function serverOf(session: { readonly configuration: unknown }): ServerConfiguration | null {
  const since = connectedSince.get(session);
  const parsed = configurationShape.safeParse(since ? { server: since } : session.configuration);
  if (!parsed.success || (parsed.data.world ?? 'server') !== 'server') return null;
  const { baseUrl, model, format } = parsed.data.server;
  if (originIn(baseUrl) === null) return null;
  return { baseUrl, ...(model === undefined ? {} : { model }), ...(format ? { format } : {}) };
}

/**
 * A session's configuration for a new one, with the server that it goes on with, and without what the editor has added.
 *
 * @param changes attributes that are other ones now
 */
export function configurationAgain(
  session: { readonly configuration: vscode.DebugConfiguration },
  changes: Readonly<Record<string, unknown>> = {},
): vscode.DebugConfiguration {
  const { type, name, request, ...rest } = session.configuration;
  const server = connectedSince.get(session);
  const own = Object.entries(rest).filter(([key]) => !key.startsWith('__'));
  return {
    ...{ type, name, request },
    ...Object.fromEntries(own),
    ...(server ? { server } : {}),
    ...changes,
  };
}
