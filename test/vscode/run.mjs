// Runs the tests in a real VS Code with the package installed: `npm run test:e2e`.
//   --vsix FILE     test this package instead of building one
//   --only TEXT     run only the tests whose name holds a text
//   --lanes N       run so many groups of tests at a time, each in a browser of its own; 2 where it is not given
//   --pictures DIR  only take the pictures of the README and the tour
//   --timings N     only measure activation and first stops, in N windows (npm run bench:vscode)
//   --themes        only take pictures of a session in light, dark and high contrast, into test-results
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startModelServer } from './modelServer.mjs';
import { makePackage, vsix as builtPackage } from '../../scripts/package.mjs';
import { root, setup } from './setup.mjs';

const { values: options } = parseArgs({
  options: {
    vsix: { type: 'string' },
    only: { type: 'string' },
    lanes: { type: 'string', default: '2' },
    pictures: { type: 'string' },
    timings: { type: 'string' },
    themes: { type: 'boolean', default: false },
  },
});

const results = join(root, 'test-results/vscode');
const vsix = options.vsix ? resolve(options.vsix) : builtPackage;
setup();
if (!options.vsix) makePackage();
// What these modules import is installed by the lines above.
const { groups } = await import('./ui.mjs');
const { picturesFor, themesFor } = await import('./pictures.mjs');
const { startBrowser, Workbench } = await import('./workbench.mjs');
const { VsCodeServer } = await import('./vscodeServer.mjs');
const { printResults } = await import('./apiSuite.mjs');
const { runApiTests } = await import('./apiTests.mjs');
const { measure } = await import('./timings.mjs');

rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });
const pictures = options.pictures
  ? picturesFor(options.pictures)
  : options.themes
    ? themesFor(join(root, 'test-results/themes'))
    : null;
const modelServer = await startModelServer();
let passed = 0;
let failed = 0;
/** The tests that failed at first, and whose groups were run again. */
const triedAgain = [];
try {
  if (options.timings) {
    await inBrowser((browser) => measure(browser, modelServer, vsix, Number(options.timings)));
  } else if (pictures === null) {
    const parts = [runApi, ...groups.map((group) => (browser) => runGroup(browser, group))];
    const lane = async (browser) => {
      for (let part = parts.shift(); part; part = parts.shift()) await part(browser);
    };
    await Promise.all(Array.from({ length: Number(options.lanes) }, () => inBrowser(lane)));
  } else {
    await inBrowser(async (browser) => {
      for (const part of pictures) await inVsCode(browser, part.setup, part.take);
    });
  }
} finally {
  await modelServer.stop();
}
if (pictures === null && !options.timings) {
  for (const title of triedAgain) console.log(`Failed at first: ${title}`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

async function inBrowser(work) {
  const browser = await startBrowser();
  try {
    await work(browser);
  } finally {
    await browser.close();
  }
}

/** The tests of the API, whose names begin with "api". */
async function runApi(browser) {
  const { only = 'api' } = options;
  if (!only.startsWith('api')) return;
  const count = printResults(await runApiTests(browser, modelServer, vsix, only.replace(/^api(, )?/, '')));
  passed += count.passed;
  failed += count.failed;
}

/**
 * A group in which something failed is run once more, in a VS Code of its own, and the second run counts: a busy
 * machine lets VS Code draw later than any test waits. What was tried again is told at the end.
 */
async function runGroup(browser, group) {
  const chosen = Object.entries(group.tests).filter(([name]) =>
    `${group.name}: ${name}`.includes(options.only ?? ''),
  );
  if (chosen.length === 0) return;
  let result = await tryGroup(browser, group, chosen);
  if (result.failed.length > 0) {
    console.log(`The group "${group.name}" is run again.`);
    triedAgain.push(...result.failed);
    result = await tryGroup(browser, group, chosen);
  }
  passed += result.passed;
  failed += result.failed.length;
}

/** Runs the tests of a group, one after the other in one window. */
async function tryGroup(browser, { name: groupName, setup: groupSetup }, chosen) {
  const result = { passed: 0, failed: [] };
  await inVsCode(browser, groupSetup, async (workbench, fixture) => {
    for (const [name, test] of chosen) {
      const title = `${groupName}: ${name}`;
      const begin = Date.now();
      const failedWith = async (error) => {
        if (!result.failed.includes(title)) result.failed.push(title);
        const picture = join(results, `${title.replaceAll(/\W+/g, '-')}.png`);
        await workbench.screenshot(picture);
        writeFileSync(picture.replace(/png$/, 'log'), fixture.vscode.log);
        console.log(`✗ ${title}\n  ${error.stack.replaceAll('\n', '\n  ')}\n  See ${picture}`);
      };
      try {
        await test(workbench, fixture);
        console.log(`✓ ${title} (${Date.now() - begin} ms)`);
      } catch (error) {
        await failedWith(error);
      }
      // What a test leaves behind that cannot be put away is a fault too.
      await workbench.reset().catch(failedWith);
      if (!result.failed.includes(title)) result.passed++;
    }
  });
  return result;
}

/** Opens a VS Code of its own on a copy of the examples, with what a group of tests adds. */
async function inVsCode(browser, groupSetup, work) {
  const folder = mkdtempSync(join(tmpdir(), 'neural-debug-workspace-'));
  const workspace = join(folder, 'examples');
  cpSync(join(root, 'examples'), workspace, { recursive: true });
  const fixture = { workspace, modelServer, vsix };
  const { close, ...serverOptions } = (await groupSetup?.(fixture)) ?? {};
  for (const [path, text] of Object.entries(serverOptions.files ?? {})) {
    mkdirSync(join(workspace, path, '..'), { recursive: true });
    writeFileSync(join(workspace, path), text);
  }
  fixture.vscode = await VsCodeServer.start({ vsix, ...serverOptions });
  try {
    const workbench = await Workbench.open(browser, fixture.vscode.url(workspace), serverOptions.viewport);
    try {
      await work(workbench, fixture);
    } finally {
      await workbench.close();
    }
  } finally {
    await fixture.vscode.stop();
    await close?.();
    rmSync(folder, { recursive: true, force: true });
  }
}
