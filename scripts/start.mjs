// The main job on a fresh machine, without a GPU or a key: a debug session over HTTP against our own model
// server, which stands in for a real model.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startStandIn } from './standIn.mjs';

const cli = fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));
const [program = 'examples/cart.py', ...options] = process.argv.slice(2);

console.log(`Neural Debug: a session on ${program}.
No model is connected yet, so our own model server stands in for one. It is no model: it really runs the
program with Python on this computer, and answers as a perfect model would. The session itself runs nothing:
it asks the server over HTTP, as it would ask any other.
`);

const standIn = await startStandIn().catch((thrown) => {
  console.error(thrown.message);
  process.exit(1);
});

// With nobody to type, a short script of commands is played instead.
const isInteractive = process.stdin.isTTY && process.stdout.isTTY;
const script = 'b 12; c; p price; w; n; n; back; c; cl; c';
if (isInteractive) console.log('Type "help" for the commands, such as: n, s, c, b 12, p total, back, q.\n');
else console.log(`No terminal: playing the commands  ${script}\n`);

const run = spawn(
  process.execPath,
  [
    ...[cli, 'run', program, '--base-url', standIn.baseUrl, '--format', 'cwm'],
    ...(isInteractive ? [] : ['--commands', script]),
    ...options,
  ],
  { stdio: 'inherit', env: { ...process.env, NEURAL_DEBUG_API_KEY: standIn.token } },
);
// Ctrl+C belongs to the session, which pauses the prediction.
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP']) process.once(signal, () => run.kill(signal));
run.once('exit', async (code) => {
  await standIn.stop();
  process.exitCode = code ?? 1;
});
