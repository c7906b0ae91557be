// Runs the tests that use VS Code's API (test/vscode/api) in the extension host of a real VS Code in a browser.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { format } from 'node:util';
import { bundleSuite, otherDebugger, resultsOf, suite, suiteEnvironment } from './apiSuite.mjs';
import { connected } from './modelServer.mjs';
import { VsCodeServer } from './vscodeServer.mjs';

/** How long all tests of a window may take, in milliseconds. */
const limit = 180_000;

/** What VS Code itself logs where it has no gallery and no account. */
const noise = /Canceled|sessions failed|gallery|ENOTFOUND|[Ss]ervice worker|WebSocket|bindings file/;

/**
 * Runs the suite in a window with a folder open, and in one without.
 *
 * @param vsix the package of the extension under test
 * @returns the results of all tests, as `resultsOf` tells them
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
      all.push(...resultsOf(file, hasFolder ? 'a folder' : 'no folder', code, log));
    } finally {
      await vscode.stop();
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  return all;
}

/** Opens a page that runs a suite, and waits for its end. */
export async function runInPage(browser, url) {
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
