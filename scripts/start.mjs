// The main job on a fresh machine, without a GPU or a key: a debug session over HTTP against our own model
// server, which stands in for a real model.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const cli = 'dist/cli.cjs';
const program = process.argv[2] ?? 'examples/cart.py';

console.log(`Neural Debug: a session on ${program}.
No model is connected yet, so our own model server stands in for one. It is no model: it really runs the
program with Python on this computer, and answers as a perfect model would. The session itself runs nothing:
it asks the server over HTTP, as it would ask any other.
`);

const server = spawn(
  process.execPath,
  [cli, ...'serve --world reference --format cwm --port 0 --on-divergence inject'.split(' ')],
  {
    stdio: ['ignore', 'pipe', 'pipe'],
  },
);
let complaint = '';
server.stderr.on('data', (data) => (complaint += data));
server.once('exit', (code) => {
  if (code) fail(`The model server ended with ${code}:\n${complaint}`);
});

const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
const url = (await lines.next()).value;
const token = (await lines.next()).value;

// With nobody to type, a short script of commands is played instead.
const isInteractive = process.stdin.isTTY && process.stdout.isTTY;
const script = 'b 12; c; p price; w; n; n; back; c; cl; c';
if (isInteractive) console.log('Type "help" for the commands, such as: n, s, c, b 12, p total, back, q.\n');
else console.log(`No terminal: playing the commands  ${script}\n`);

const run = spawn(
  process.execPath,
  [
    cli,
    'run',
    program,
    '--base-url',
    url,
    '--format',
    'cwm',
    ...(isInteractive ? [] : ['--commands', script]),
  ],
  { stdio: 'inherit', env: { ...process.env, NEURAL_DEBUG_API_KEY: token } },
);
// Ctrl+C belongs to the session, which pauses the prediction.
process.on('SIGINT', () => undefined);
run.once('exit', (code) => {
  server.removeAllListeners('exit');
  server.kill();
  process.exitCode = code ?? 1;
});

function fail(message) {
  console.error(message);
  process.exit(1);
}
