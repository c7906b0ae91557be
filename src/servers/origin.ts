import { errors } from '../../adapter/errors';

/**
 * The origin (scheme, host and port) of a server's base URL: what keys and consent are bound to.
 *
 * @throws CatalogueError where the text is not the URL of an HTTP server
 */
export function originOf(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw errors.baseUrlInvalid(baseUrl);
  if (url.username !== '' || url.password !== '') throw errors.baseUrlWithPassword();
  return url.origin;
}

/** The origin of a server's base URL, or null where the text is none: settings and variables may hold anything. */
export function originIn(text: string): string | null {
  try {
    return originOf(text);
  } catch {
    return null;
  }
}

/** Whether two addresses lead to the same origin. What is no address leads nowhere, and so is never the same. */
export function sameOrigin(one: string, other: string): boolean {
  const origin = originIn(one);
  return origin !== null && origin === originIn(other);
}

/** Whether what is sent to an origin can be read on the way. */
export function isUnencrypted(origin: string): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'http:' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
