import { readFileSync } from 'node:fs';
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';

/** Where Linux lists TCP sockets with their users, by address family. */
const tables = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Connected, as the tables write it: rows of sockets that are being closed do not name their user. */
const established = '01';

/** Whether this system tells which user a connection comes from. */
export function tellsUsers(): boolean {
  return readTables() !== null;
}

/**
 * Whether the other end of a connection over 127.0.0.1 is held by a process of the user of this one. What is not
 * known is no.
 */
export function isOfSameUser({ localPort, remotePort }: Socket): boolean {
  const own = process.getuid?.();
  if (own === undefined || localPort === undefined || remotePort === undefined) return false;
  const users = (readTables() ?? '').split('\n').flatMap((row) => {
    const [, local = '', remote = '', state, , , , user = ''] = row.trim().split(/\s+/);
    const isTheirs = isLoopback(local, remotePort) && isLoopback(remote, localPort);
    return isTheirs && state === established ? [Number(user)] : [];
  });
  return users.length > 0 && users.every((user) => user === own);
}

/** Both tables; null where there are none. Clients that speak IPv6 reach 127.0.0.1 too, and are in the other one. */
function readTables(): string | null {
  const texts = tables.flatMap((path) => {
    try {
      return [readFileSync(path, 'latin1')];
    } catch {
      return [];
    }
  });
  return texts.length === 0 ? null : texts.join('\n');
}

/** Whether a field of a table is 127.0.0.1, as such or mapped into IPv6, with a port. */
function isLoopback(field: string, port: number): boolean {
  const [address = '', inHex = ''] = field.split(':');
  const little = endianness() === 'LE';
  const plain = little ? '0100007F' : '7F000001';
  const mapped = `0000000000000000${little ? 'FFFF0000' : '0000FFFF'}${plain}`;
  return (address === plain || address === mapped) && Number.parseInt(inHex, 16) === port;
}

/** A token that cannot be guessed: 32 random bytes. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether launch arguments carry a token; compared in a time that does not tell where they differ. */
export function carriesToken(args: unknown, token: string): boolean {
  const given = typeof args === 'object' && args !== null && 'token' in args ? args.token : null;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return typeof given === 'string' && timingSafeEqual(digest(given), digest(token));
}
