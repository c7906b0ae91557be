// Our own model server, which answers as a perfect model would because it really runs the programs it is sent.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));
const root = join(cli, '../..');

/**
 * Starts `neural-debug serve` on a free port of this computer, and waits for its two lines: URL and token.
 *
 * It has a process group of its own, since Ctrl+C in a terminal is not meant for it: it ends with `stop`, or with
 * this process.
 *
 * @param {...string} options more options of `serve`
 */
export async function startStandIn(...options) {
  const server = spawn(
    process.execPath,
    [cli, ...'serve --world reference --format cwm --port 0 --on-divergence inject'.split(' '), ...options],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  );
  let complaint = '';
  server.stderr.on('data', (piece) => (complaint += piece));
  const ended = new Promise((done) => server.once('exit', done));
  process.once('exit', () => server.kill());
  // Signals end a process without its "exit", unless somebody listens.
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + number);
    });
  }
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const baseUrl = (await lines.next()).value;
  const token = (await lines.next()).value;
  if (!baseUrl || !token) throw new Error(`The stand-in for a model did not start.\n${complaint}`);
  return {
    baseUrl,
    token,
    /** Settles when the server has ended, whatever ended it. */
    ended,
    async stop() {
      server.kill('SIGTERM');
      await ended;
    },
  };
}
