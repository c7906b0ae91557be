import { errors } from '../errors';

/** Where a server is. */
export interface ServerAddress {
  /** The base URL without a slash at its end; safe to show, since it holds no credentials. */
  readonly baseUrl: string;
  /** Scheme, host and port: what a key is bound to. */
  readonly origin: string;
}

/**
 * Reads the base URL of a server.
 *
 * @throws CatalogueError 301 for anything but an http or https URL without credentials, query and fragment
 */
export function serverAddress(text: string): ServerAddress {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    // The text is not shown: what is no URL may still hold a password.
    throw errors.serverUrl('it is not a URL');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw errors.serverUrl(`${url.protocol} is not http: or https:`);
  }
  if (url.username !== '' || url.password !== '') throw errors.serverUrl('it holds a user name or password');
  if (url.search !== '' || url.hash !== '') throw errors.serverUrl('it has a query or a fragment');
  return { baseUrl: url.origin + url.pathname.replace(/\/+$/, ''), origin: url.origin };
}
