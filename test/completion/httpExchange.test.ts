import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../../adapter/completion/httpExchange';

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/**
 * A server that answers the first request of a connection as told, and ends the connection at the second one.
 *
 * @param answers whether a connection, by its number, is answered at all
 */
async function serverThatEndsKeptConnections(answers: (connection: number) => boolean = () => true) {
  const requests: number[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const connection = sockets.push(socket) - 1;
    let count = 0;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      requests.push(connection);
      if (count++ > 0 || !answers(connection)) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), requests };
}

async function text(url: URL): Promise<string> {
  const request = { url, method: 'POST', headers: {}, body: 'question' };
  const { body } = await exchange(request, new AbortController().signal);
  let all = '';
  for (let piece = await body.next(); piece; piece = await body.next()) all += Buffer.from(piece).toString();
  body.leave();
  return all;
}

describe('a kept connection that the server ends', () => {
  it('is no fault: the request is sent on a new one', async () => {
    const { url, requests } = await serverThatEndsKeptConnections();
    expect([await text(url), await text(url), await text(url)]).toEqual(['ok', 'ok', 'ok']);
    expect(requests).toEqual([0, 0, 1, 1, 2]);
  });

  it('is one where a new connection ends too', async () => {
    const { url, requests } = await serverThatEndsKeptConnections((connection) => connection === 0);
    expect(await text(url)).toBe('ok');
    await expect(text(url)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(requests).toEqual([0, 0, 1]);
  });
});
