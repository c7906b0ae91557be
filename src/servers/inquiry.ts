import { parseConfiguration } from '../../adapter/debugger/configuration';
import { listModels, probe, type ServerReport } from '../../adapter/debugger/server';
import { CatalogueError, errors } from '../../adapter/errors';
import type { ServerConfiguration } from '../settings';

/** How long a server may be silent while it is got to know, in seconds: a person waits. */
const patience = { firstByte: 20, stall: 20 } as const;

/** A way in which a model is asked. */
export type FormatName = NonNullable<ServerConfiguration['format']>;

/** What asking a server for a format came to: what it can do, or why it cannot carry the format. */
export type Suitability =
  | { readonly fits: true; readonly format: FormatName; readonly report: ServerReport }
  | { readonly fits: false; readonly format: FormatName; readonly why: CatalogueError };

/** Faults that keep a server from carrying one format, not from carrying another. */
const unsuitable: ReadonlySet<number> = new Set([325, 326, 327, 328]);
/** The fault of a server whose base URL has no such route. */
const routeUnknown = 310;

/**
 * The models that a server lists, those that write text first.
 *
 * @throws CatalogueError when the server does not tell, or lists none
 */
export async function modelsOf(
  baseUrl: string,
  key: string | null,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const models = await listModels(choice({ baseUrl }), key, signal);
  if (models.length === 0) throw errors.serverWithoutModels(baseUrl);
  return models;
}

/**
 * Asks a server what it is and how well it can carry each format, by its cheap routes and one token.
 *
 * @returns one finding for each format, the recommended one first
 * @throws CatalogueError where the server cannot be asked
 */
export async function suitability(
  server: ServerConfiguration,
  key: string | null,
  signal: AbortSignal,
): Promise<readonly Suitability[]> {
  const cwm = await suits(server, 'cwm', key, signal);
  const chat = await suits(server, 'chat', key, signal);
  return cwm.fits && cwm.report.knowsFormat ? [cwm, chat] : [chat, cwm];
}

/**
 * Asks a server whether it can be debugged with as it is set.
 *
 * @throws CatalogueError where it cannot, with the reason
 */
export async function checked(
  server: ServerConfiguration,
  key: string | null,
  signal: AbortSignal,
): Promise<Suitability> {
  const found = await suits(server, server.format ?? 'cwm', key, signal);
  if (!found.fits) throw found.why;
  return found;
}

async function suits(
  server: ServerConfiguration,
  format: FormatName,
  key: string | null,
  signal: AbortSignal,
): Promise<Suitability> {
  try {
    const report = await probe(choice({ ...server, format }), key, signal);
    if (report.missed) {
      if (report.missed.code === routeUnknown) return { fits: false, format, why: report.missed };
      throw report.missed;
    }
    return { fits: true, format, report };
  } catch (thrown) {
    if (thrown instanceof CatalogueError && (unsuitable.has(thrown.code) || thrown.code === routeUnknown)) {
      return { fits: false, format, why: thrown };
    }
    throw thrown;
  }
}

/** What a finding means for debugging, in sentences. */
export function inWords(found: Suitability): readonly string[] {
  if (!found.fits) return [found.why.message];
  const { report, format } = found;
  // What a choice depends on comes first, for a list shows the beginning only.
  const how =
    format === 'chat'
      ? ['It is asked in words and held to a JSON schema.']
      : report.knowsFormat
        ? ['The model continues execution traces.']
        : [];
  const doubts = report.logprobs === false ? ['Without log-probabilities nothing says how sure it is.'] : [];
  return [...how, ...doubts, `${report.summary.replace(/^a/, 'A')}.`, ...report.notes];
}

/** Where servers listen by themselves: vLLM, llama.cpp, Ollama and LM Studio. */
const usualPorts = [8000, 8080, 11434, 1234] as const;

/** How long a server of this computer may take to list its models, in milliseconds. */
const localPatience = 2_000;

/** A server that answers on this computer. */
export interface LocalServer {
  readonly baseUrl: string;
  /** The models that it lists; empty where it wants a key first. */
  readonly models: readonly string[];
}

/** Asks at the ports where servers of this computer usually listen. */
export async function localServers(
  signal: AbortSignal,
  ports: readonly number[] = usualPorts,
): Promise<readonly LocalServer[]> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(localPatience)]);
  const found = await Promise.all(
    ports.map(async (port): Promise<LocalServer | null> => {
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      try {
        return { baseUrl, models: await listModels(choice({ baseUrl }), null, limited) };
      } catch (thrown) {
        return refusesKey(thrown) ? { baseUrl, models: [] } : null;
      }
    }),
  );
  return found.filter((server) => server !== null);
}

/** Whether a server wants another key, or one at all, or what was given can be none. */
export function refusesKey(thrown: unknown): boolean {
  return thrown instanceof CatalogueError && (thrown.code === 308 || thrown.code === 302);
}

/** The address with the version path that most servers have, or null where a version stands in it. */
export function withVersion(baseUrl: string): string | null {
  const bare = baseUrl.replace(/\/+$/, '');
  return /\/v\d+$/.test(bare) ? null : `${bare}/v1`;
}

function choice(server: ServerConfiguration) {
  const parsed = parseConfiguration({ server: { ...server, timeouts: patience } }).server;
  if (!parsed) throw errors.noServer();
  return parsed;
}
