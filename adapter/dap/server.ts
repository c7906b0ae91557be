import { createServer, type Server } from 'node:net';
import { isOfSameUser, tellsUsers } from './peer';
import { type SessionOptions, NeuralDebugSession } from './session';

/** Serves one session on standard input and output; resolves when it is over. */
export function serveOnStandardStreams(options: SessionOptions): Promise<void> {
  return new Promise((resolve) => {
    const session = new NeuralDebugSession(options);
    const over = () => {
      session.dispose();
      // Else the process would wait for a client that has nothing more to say.
      process.stdin.destroy();
      resolve();
    };
    session.on('close', over);
    session.on('ended', over);
    session.start(process.stdin, process.stdout);
  });
}

/**
 * Serves sessions on a TCP port of the loopback interface, one a connection. A session can read files and run programs
 * with the rights of this process: where the system tells whose a connection is, other users' are closed; elsewhere the
 * options have to have a token.
 *
 * @param port 0 for any free port
 * @returns the server, listening
 */
export function serveOnPort(port: number, options: SessionOptions): Promise<Server> {
  const knowsUsers = tellsUsers();
  const server = createServer((socket) => {
    if (knowsUsers && !isOfSameUser(socket)) {
      socket.destroy();
      return;
    }
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
    socket.once('data', (first) => {
      if (!beginsAsProtocol(first)) {
        socket.destroy();
        return;
      }
      session.start(socket, socket);
      socket.unshift(first);
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}

/**
 * Whether a connection's first bytes are those of a message's header. A web page can make a browser send an
 * HTTP request to any port, with a body that reads as a message: such a connection is closed.
 */
function beginsAsProtocol(first: Buffer): boolean {
  const header = 'Content-';
  return header.startsWith(first.toString('latin1', 0, header.length));
}
