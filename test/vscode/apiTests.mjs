// Runs the tests that use VS Code's API (test/vscode/api) in the extension host of a real VS Code.
import { mkdtempSync, readFileSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { format } from 'node:util';
import { build } from 'esbuild';
import { root } from './setup.mjs';
import { connected } from './ui.mjs';
import { VsCodeServer } from './vscodeServer.mjs';

/** The bundled suite: a module with `run`. */
export const suite = join(root, 'test-results/apiTests.cjs');

/** Another debugger for Python, which the suite needs. */
export const otherDebugger = join(root, 'test/vscode/api/otherDebugger');

/** How long all tests of a window may take, in milliseconds. */
const limit = 180_000;

/** What VS Code itself logs where it has no gallery and no account. */
const noise = /Canceled|sessions failed|gallery|ENOTFOUND|[Ss]ervice worker|WebSocket|bindings file/;

export async function bundleSuite() {
  await build({
    entryPoints: [join(root, 'test/vscode/api/run.ts')],
    outfile: suite,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    external: ['vscode'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
}

/** What the suite needs to know, for the environment of the extension host. */
export function suiteEnvironment(results, only = '') {
  return { NEURAL_DEBUG_TEST_RESULTS: results, NEURAL_DEBUG_TEST_ONLY: only };
}

/** The results that a suite left: `{ title, problem, milliseconds }` of each test, and whether that is all. */
export function readResults(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { isDone: false, results: [] };
}

/**
 * Runs the suite in a window with a folder open, and in one without.
 *
 * @param vsix the package of the extension under test
 * @returns the results of all tests; a window whose tests did not end counts as a failed test
 */
export async function runApiTests(browser, modelServer, vsix, only) {
  await bundleSuite();
  const all = [];
  for (const hasFolder of [true, false]) {
    const scratch = mkdtempSync(join(tmpdir(), 'neural-debug-api-'));
    const file = join(scratch, 'results.json');
    const { machineSettings, environment } = connected({ modelServer });
    const vscode = await VsCodeServer.start({
      vsix,
      runsApiTests: true,
      machineSettings,
      environment: { ...environment, ...suiteEnvironment(file, only) },
    });
    try {
      const folder = hasFolder ? mkdtempSync(join(scratch, 'folder-')) : null;
      const { code, log } = await runInPage(browser, vscode.apiTestsUrl(folder, otherDebugger, suite));
      const { isDone, results } = readResults(file);
      all.push(...results);
      const passed = results.every(({ problem }) => problem === null);
      if (!isDone || (passed && code !== 0)) {
        const problem = `After the tests above it ended with ${code}:\n${log.slice(-3000)}`;
        all.push({ title: `in a window with ${folder ? 'a' : 'no'} folder`, problem, milliseconds: 0 });
      }
    } finally {
      await vscode.stop();
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  return all;
}

/** Opens a page that runs the suite, and waits for its end. */
async function runInPage(browser, url) {
  const context = await browser.newContext();
  try {
    await context.route(
      (address) => address.hostname !== '127.0.0.1',
      (route) => route.abort(),
    );
    const page = await context.newPage();
    let log = '';
    let ended;
    const exit = new Promise((done) => (ended = done));
    await page.exposeFunction('codeAutomationLog', (_type, args) => {
      const text = format(...args);
      if (!noise.test(text)) log += `${text}\n`;
    });
    await page.exposeFunction('codeAutomationExit', (code) => ended(code));
    await page.goto(url);
    const code = await Promise.race([exit, sleep(limit, 'no end', { ref: false })]);
    return { code, log };
  } finally {
    await context.close();
  }
}
