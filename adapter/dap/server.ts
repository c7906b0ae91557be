import { createServer, type Server } from 'node:net';
import { type SessionOptions, NeuralDebugSession } from './session';

/** Serves one session on standard input and output; resolves when it is over. */
export function serveOnStandardStreams(options: SessionOptions): Promise<void> {
  return new Promise((resolve) => {
    const session = new NeuralDebugSession(options);
    const over = () => {
      session.dispose();
      resolve();
    };
    session.on('close', over);
    session.on('ended', over);
    session.start(process.stdin, process.stdout);
  });
}

/**
 * Serves sessions on a TCP port of the loopback interface, one a connection.
 *
 * @param port 0 for any free port
 * @returns the server, listening
 */
export function serveOnPort(port: number, options: SessionOptions): Promise<Server> {
  const server = createServer((socket) => {
    const session = new NeuralDebugSession(options);
    socket.on('error', () => {
      session.dispose();
    });
    session.on('close', () => {
      session.dispose();
    });
    session.on('ended', () => {
      socket.end();
    });
    session.start(socket, socket);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}
