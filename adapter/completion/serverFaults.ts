import { z } from 'zod';
import { type CatalogueError, errors } from '../errors';
import type { ServerAddress } from './serverAddress';
import { shownText } from './shownText';

/** An answer with a status that is not a success. */
export class ServerRefusal extends Error {
  override readonly name = 'ServerRefusal';

  constructor(
    readonly status: number,
    /** What the server said, fit to be shown. */
    readonly said: string,
    /** Whether the answer is a web page. */
    readonly isPage: boolean,
    /** The Retry-After header in words, or null. */
    readonly retryAfter: string | null,
  ) {
    // The client library takes errors that mention time for time-outs, so what the server said stays out.
    super(`The server refused with status ${status}.`);
  }
}

const errorBody = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ message: z.string() }).transform(({ message }) => message),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
  // The items of such lists hold what was sent too, which is not repeated.
  z
    .object({ detail: z.array(z.looseObject({ msg: z.string(), loc: z.array(z.unknown()).default([]) })) })
    .transform(({ detail }) => detail.map(({ msg, loc }) => [...loc, msg].join(' ')).join('; ')),
]);

/**
 * What a server says in an error's body, in one line: the message in the shapes that servers give it, else
 * the text itself.
 *
 * @param secret a key that the server may repeat, which is taken out
 */
export function serverMessage(body: string, secret: string | null): string {
  let message = body;
  try {
    const parsed = errorBody.safeParse(JSON.parse(body));
    if (parsed.success) message = parsed.data;
  } catch {
    // Not JSON: the text is the message.
  }
  return withoutSecret(message, secret);
}

/** A text of the server in one line without a key, however it is written. */
export function withoutSecret(text: string, secret: string | null): string {
  return shownText(hideSecret(text, secret), 300);
}

/** So much of a key's beginning is hidden too, as quotes are cut. */
const tellingBeginning = 8;

/** A text as it is, but without a key, however that is written. */
export function hideSecret(text: string, secret: string | null): string {
  if (secret === null) return text;
  const whole = text.replace(spellings(secret), '…');
  const begin = secret.slice(0, tellingBeginning);
  if (begin.length < tellingBeginning) return whole;
  let shown = '';
  let from = 0;
  for (let at = whole.indexOf(begin); at >= 0; at = whole.indexOf(begin, from)) {
    shown += `${whole.slice(from, at)}…`;
    from = at + begin.length;
    for (let more = begin.length; more < secret.length && whole[from] === secret[more]; more++) from++;
  }
  return shown + whole.slice(from);
}

/** What a key looks like plainly, in JSON, in a URL and as a host's name. */
function spellings(secret: string): RegExp {
  const all = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  return new RegExp([...all].map((text) => text.replace(/[|\\^$.*+?()[\]{}]/g, '\\$&')).join('|'), 'gi');
}

/** Whether a text is a web page. */
export function isPage(contentType: string, text: string): boolean {
  return contentType.includes('html') || /^\s*<(!doctype|html|head|body)\b/i.test(text.slice(0, 200));
}

/** The Retry-After header in words: it holds seconds or a date. */
export function retryAfterText(header: string | null): string | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return `${Number(header)} s`;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : new Date(date).toISOString();
}

const contextLength =
  /context[ _-]?(length|size|window)|maximum context|prompt is too long|input (is )?too long|too many tokens/i;

/** Whether a refusal says that the prompt does not fit. */
export function isTooLong(refusal: ServerRefusal): boolean {
  return refusal.status === 413 || (refusal.status < 500 && contextLength.test(refusal.said));
}

/** A refusal as an error of the catalogue. */
export function refusalError(
  { baseUrl }: ServerAddress,
  refusal: ServerRefusal,
  route: string,
  model: string | null,
): CatalogueError {
  const { status, said } = refusal;
  if (status === 401 || status === 403) return errors.serverRefusesKey(baseUrl, status, pageless(refusal));
  // Routes and servers have names with "model" in them.
  const isOfModel = /model/i.test(said.replaceAll(/\/\S+|model server/gi, ''));
  if (status === 404 && model !== null && isOfModel) {
    return errors.serverModelUnknown(baseUrl, model, pageless(refusal));
  }
  if (status === 404 || status === 405) return errors.serverRouteUnknown(baseUrl, route, pageless(refusal));
  if (isTooLong(refusal)) return errors.serverPromptTooLong(baseUrl, pageless(refusal));
  if (status === 429) return errors.serverBusy(baseUrl, refusal.retryAfter, pageless(refusal));
  if (status >= 500) return errors.serverFailed(baseUrl, status, pageless(refusal));
  if (refusal.isPage) return errors.serverSendsPage(baseUrl, status);
  return errors.serverRefused(baseUrl, status, said);
}

/** What a server said, unless it is the markup of a page. */
function pageless(refusal: ServerRefusal): string {
  return refusal.isPage ? '' : refusal.said;
}

const tlsCodes =
  /^(ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(VERIFY|GET_ISSUER)|EPROTO$|HOSTNAME_MISMATCH)/;

/**
 * Whether an error says nothing of what the server can do: it was not there, refused the key or the model, was too
 * busy, or failed. Asked again it may answer otherwise.
 */
export function isPassing({ code }: CatalogueError): boolean {
  return passing.has(code);
}

const passing: ReadonlySet<number> = new Set([
  303, 304, 305, 306, 307, 308, 309, 312, 313, 316, 317, 318, 319, 321, 322,
]);

/** The other end closed the connection. */
const closedCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

/** A connection that failed, as an error of the catalogue. */
export function connectionError(server: ServerAddress, thrown: unknown): CatalogueError {
  const { code, message } = rootCause(thrown);
  if (code === 'ECONNREFUSED') return errors.serverNotThere(server.baseUrl);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_NODATA') {
    return errors.serverHostUnknown(server.baseUrl, new URL(server.baseUrl).hostname);
  }
  if (tlsCodes.test(code)) return errors.serverTls(server.baseUrl, code);
  if (code.startsWith('HPE_')) return errors.serverSendsOther(server.baseUrl, 'what came is not HTTP');
  if (closedCodes.has(code)) return errors.serverUnreachable(server.baseUrl, 'it closed the connection');
  return errors.serverUnreachable(server.baseUrl, code === '' ? shownText(message, 200) : code);
}

/** Whether a request failed because the connection was closed before an answer came. */
export function isClosedConnection(thrown: unknown): boolean {
  return closedCodes.has(rootCause(thrown).code);
}

/** The innermost error that has a code: several tried addresses make an aggregate. */
function rootCause(thrown: unknown): { code: string; message: string } {
  let code = '';
  let message = '';
  let at: unknown = thrown;
  for (let depth = 0; depth < 5 && at instanceof Error; depth++) {
    message = at.message || message;
    if ('code' in at && typeof at.code === 'string') code = at.code;
    at = at instanceof AggregateError && at.errors.length > 0 ? (at.errors as unknown[])[0] : at.cause;
  }
  return { code, message };
}
