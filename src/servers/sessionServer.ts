import type * as vscode from 'vscode';
import { z } from 'zod';
import type { ServerConfiguration } from '../settings';
import { originOf } from './origin';

/** What a session's configuration says of its server; more stands there that only the debug adapter reads. */
const configurationShape = z.looseObject({
  world: z.string().optional(),
  server: z.looseObject({
    baseUrl: z.string(),
    model: z.string().optional(),
    format: z.enum(['cwm', 'chat']).optional(),
  }),
});

/** The server of a debug session; null where none predicts in it. */
export function serverOf(session: { readonly configuration: unknown }): ServerConfiguration | null {
  const parsed = configurationShape.safeParse(session.configuration);
  if (!parsed.success || (parsed.data.world ?? 'server') !== 'server') return null;
  const { baseUrl, model, format } = parsed.data.server;
  try {
    originOf(baseUrl);
  } catch {
    return null;
  }
  return { baseUrl, ...(model === undefined ? {} : { model }), ...(format ? { format } : {}) };
}

/**
 * A session's configuration for a new one, without what the editor has added to it.
 *
 * @param changes attributes that are other ones now
 */
export function configurationAgain(
  { type, name, request, ...rest }: vscode.DebugConfiguration,
  changes: Readonly<Record<string, unknown>> = {},
): vscode.DebugConfiguration {
  const own = Object.entries(rest).filter(([key]) => !key.startsWith('__'));
  return { type, name, request, ...Object.fromEntries(own), ...changes };
}
