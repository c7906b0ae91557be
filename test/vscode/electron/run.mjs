// Runs the tests that use VS Code's API (test/vscode/api) in VS Code's desktop application: `npm run test:electron`.
// The application is downloaded into .vscode-test once, so it needs the internet; on Linux it needs a display, too.
//   --vscode PATH   take this application instead (its executable: .../code, "Code.exe", .../MacOS/Electron)
//   --version NAME  download this version instead of the newest: 1.100.0, insiders
//   --vsix FILE     test this package instead of building one
//   --only TEXT     run only the tests whose name holds a text
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makePackage, vsix as builtPackage } from '../../../scripts/package.mjs';
import {
  bundleSuite,
  otherDebugger,
  printResults,
  resultsOf,
  suite,
  suiteEnvironment,
} from '../apiSuite.mjs';
import { connected, startModelServer } from '../modelServer.mjs';
import { quietSettings } from '../quietSettings.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../../..');
const { values: options } = parseArgs({
  options: {
    vscode: { type: 'string' },
    version: { type: 'string' },
    vsix: { type: 'string' },
    only: { type: 'string' },
  },
});

const { tests, vscode } = await application();
const vsix = options.vsix ? resolve(options.vsix) : builtPackage;
if (!options.vsix) makePackage();
await bundleSuite();
const modelServer = await startModelServer();
const results = [];
try {
  for (const hasFolder of [true, false]) results.push(...(await runWindow(hasFolder)));
} finally {
  await modelServer.stop();
}
const { passed, failed } = printResults(results);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/** The library that starts VS Code, and the path of the VS Code to start. Ends this process where there is none. */
async function application() {
  if (!existsSync(join(here, 'node_modules/@vscode/test-electron'))) {
    const npm = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status } = spawnSync('npm', npm, {
      cwd: here,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
    if (status !== 0) fail('@vscode/test-electron could not be installed: npm says why above.');
  }
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
    console.warn('There is no display here. If VS Code does not start: xvfb-run -a npm run test:electron');
  }
  const library = createRequire(import.meta.url)('@vscode/test-electron');
  if (options.vscode) {
    const named = resolve(options.vscode);
    if (!existsSync(named)) fail(`There is no VS Code at ${named}.`);
    return { tests: library, vscode: named };
  }
  try {
    const cachePath = join(root, '.vscode-test');
    const { version } = options;
    return { tests: library, vscode: await library.downloadAndUnzipVSCode({ cachePath, version }) };
  } catch (thrown) {
    return fail(
      `VS Code's desktop application could not be downloaded: ${thrown.message || thrown.code || thrown}\n` +
        'It comes from update.code.visualstudio.com. Without the internet, name one that is installed:\n' +
        '  npm run test:electron -- --vscode /usr/share/code/code\n' +
        'or run the same tests in the VS Code that npm has: npm run test:e2e -- --only api',
    );
  }
}

function fail(words) {
  console.error(words);
  process.exit(1);
}

/** Runs the suite in a window of its own, with data of its own, in which only our package is installed. */
async function runWindow(hasFolder) {
  const scratch = mkdtempSync(join(tmpdir(), 'neural-debug-electron-'));
  const file = join(scratch, 'results.json');
  const places = ['--user-data-dir', join(scratch, 'data'), '--extensions-dir', join(scratch, 'extensions')];
  const { machineSettings, environment } = connected({ modelServer });
  mkdirSync(join(scratch, 'data/User'), { recursive: true });
  mkdirSync(join(scratch, 'folder'));
  // The desktop application has the settings of the machine among the user's.
  const settings = { ...quietSettings, 'security.workspace.trust.enabled': false, ...machineSettings };
  writeFileSync(join(scratch, 'data/User/settings.json'), JSON.stringify(settings));
  try {
    install(places);
    let code = 0;
    let log = '';
    try {
      await tests.runTests({
        vscodeExecutablePath: vscode,
        reuseMachineInstall: true,
        extensionDevelopmentPath: otherDebugger,
        extensionTestsPath: suite,
        extensionTestsEnv: { ...environment, ...suiteEnvironment(file, options.only) },
        launchArgs: [...(hasFolder ? [join(scratch, 'folder')] : []), ...places],
      });
    } catch (thrown) {
      code = thrown.code ?? 1;
      log = thrown.message;
    }
    return resultsOf(file, hasFolder ? 'a folder' : 'no folder', code, log);
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function install(places) {
  const [cli, ...args] = tests.resolveCliArgsFromVSCodeExecutablePath(vscode, { reuseMachineInstall: true });
  const { status, error, stdout, stderr } = spawnSync(
    cli,
    [...args, ...places, '--install-extension', vsix],
    { encoding: 'utf8', shell: process.platform === 'win32' },
  );
  if (status !== 0) throw new Error(`The package was not installed: ${error ?? `${stdout}${stderr}`}`);
}
