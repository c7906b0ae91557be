import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { errors } from '../errors';
import { Refusal } from './refusal';

/** The addresses that a server of ours may listen on. */
export type LoopbackHost = '127.0.0.1' | '::1' | 'localhost';

const loopbackHosts: ReadonlySet<string> = new Set<LoopbackHost>(['127.0.0.1', '::1', 'localhost']);

/** @throws CatalogueError unless only this machine can reach the address */
export function requireLoopback(host: string): void {
  if (!loopbackHosts.has(host)) throw errors.serverAddress(host);
}

/** A token that cannot be guessed: 32 random bytes. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Equal in a time that does not depend on where two texts differ, nor on their lengths. */
function equalInConstantTime(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/**
 * Lets a request pass only if it comes from a program of this machine that knows the token. A web page that
 * the user visits can send requests to loopback too: browsers name the page in `Origin`, and a page that made
 * its own name point to 127.0.0.1 gives itself away in `Host`.
 *
 * @throws Refusal
 */
export function checkAccess(request: IncomingMessage, port: number, token: string): void {
  const { host, origin, authorization } = request.headers;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  if (!hosts.includes(host?.toLowerCase() ?? '')) {
    const error = errors.requestNotLocal('the Host header names another host.');
    throw new Refusal(403, 'host_not_allowed', error);
  }
  if (origin !== undefined || request.headers['sec-fetch-site'] !== undefined) {
    const error = errors.requestNotLocal('the request comes from a web page.');
    throw new Refusal(403, 'origin_not_allowed', error);
  }
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  if (!equalInConstantTime(given, token)) {
    throw new Refusal(401, 'invalid_api_key', errors.requestToken(), null, { 'WWW-Authenticate': 'Bearer' });
  }
}
