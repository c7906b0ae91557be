// The extension in the real VS Code, in a browser, on a machine that needs no desktop: `npm run try`.
//   --port N      the port that VS Code listens on, of this computer only; 0: any free one
//   --folder DIR  open this folder instead of a copy of examples/
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setup } from '../test/vscode/setup.mjs';
import { VsCodeServer } from '../test/vscode/vscodeServer.mjs';
import { makePackage, vsix } from './package.mjs';
import { startStandIn } from './standIn.mjs';

const examples = fileURLToPath(new URL('../examples', import.meta.url));

try {
  const { port, folder } = readOptions();
  await checkPort(port);
  setup();
  makePackage();
  await run(port, folder);
} catch (thrown) {
  console.error(`\nnpm run try: ${thrown.message}`);
  process.exitCode = 1;
}

function readOptions() {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '8808' }, folder: { type: 'string' } },
  });
  const port = Number(values.port);
  if (!/^\d+$/.test(values.port) || port > 65_535) {
    throw new Error(`"${values.port}" is no port. Give a number up to 65535, or 0 for any free port.`);
  }
  // npm runs scripts in the project's folder; the user names folders from where they are.
  const folder =
    values.folder === undefined ? null : resolve(process.env.INIT_CWD ?? process.cwd(), values.folder);
  if (folder !== null && !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`There is no folder ${folder}.`);
  }
  return { port, folder };
}

/** Before the long installation, not after it. */
async function checkPort(port) {
  const server = createServer();
  await new Promise((free, failed) => {
    server.once('error', ({ code }) => {
      const why = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be listened on (${code})`;
      failed(new Error(`Port ${port} ${why}. Give another with "-- --port N", or 0 for any free one.`));
    });
    server.listen(port, '127.0.0.1', free);
  });
  await new Promise((closed) => server.close(closed));
}

/** Runs VS Code and the stand-in until Ctrl+C, or until one of them ends. */
async function run(port, folder) {
  const told = new Promise((end) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(null));
  });
  const copy = folder === null ? mkdtempSync(join(tmpdir(), 'neural-debug-try-')) : null;
  const workspace = folder ?? join(copy, 'examples');
  let standIn = null;
  let vscode = null;
  try {
    if (copy !== null) cpSync(examples, workspace, { recursive: true });
    standIn = await startStandIn();
    vscode = await VsCodeServer.start({
      vsix,
      port,
      token: randomBytes(24).toString('hex'),
      asksForTrust: folder !== null,
      settings: { 'workbench.startupEditor': 'readme' },
      machineSettings: {
        'neuralDebug.server.baseUrl': standIn.baseUrl,
        'neuralDebug.server.format': 'cwm',
      },
      environment: { NEURAL_DEBUG_BASE_URL: standIn.baseUrl, NEURAL_DEBUG_API_KEY: standIn.token },
    });
    console.log(welcome(vscode, workspace, copy !== null));
    const why = await Promise.race([
      told,
      vscode.ended.then((code) => `VS Code ended with ${code}:\n${vscode.log}`),
      standIn.ended.then((code) => `The stand-in for a model ended with ${code}.`),
    ]);
    if (why !== null) throw new Error(why);
    console.log('\nEnding VS Code and the stand-in.');
  } finally {
    await Promise.all([vscode?.stop(), standIn?.stop()]);
    if (copy !== null) rmSync(copy, { recursive: true, force: true });
  }
}

function welcome(vscode, workspace, isCopy) {
  const { port } = vscode;
  return `
VS Code with Neural Debug is running. Open in a browser:

    ${vscode.url(workspace)}

The address holds a secret: who has it can use this VS Code with your rights. VS Code listens on this computer only.
From another one, forward the port first, and then open the same address there:

    ssh -L ${port}:127.0.0.1:${port} ${userInfo().username}@${hostname()}

Open a Python file, click beside a line number, press F5. ${isCopy ? 'The files are copies of examples/, gone at the end.' : ''}
What answers is a stand-in for a model: it really runs the program, with Python on this computer and your rights, and
tells what happens as a perfect model would. With a real one: "Neural Debug: Connect a Model Server" (F1).

Ctrl+C ends everything.`;
}
