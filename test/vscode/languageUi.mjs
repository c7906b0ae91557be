// What the extension does outside of a session, through its language server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';
import { until } from './workbench.mjs';

/** The line of a text in an example. */
function lineOf(program, text) {
  const lines = readFileSync(join(root, 'examples', program), 'utf8').split('\n');
  const at = lines.findIndex((line) => line.includes(text));
  assert.ok(at >= 0, `${program} has no line with ${text}`);
  return at + 1;
}

const lens = (workbench, title) => workbench.page.locator('.codelens-decoration a', { hasText: title });

/** Really runs a program of the workspace, or a text that is put there, and keeps the recording beside it. */
export function record(workspace, program, text = null) {
  if (text !== null) writeFileSync(join(workspace, program), text);
  const recording = join(workspace, program.replace(/\.py$/, '.trace.jsonl'));
  const traced = spawnSync(
    process.execPath,
    [join(root, 'dist/cli.cjs'), 'trace', join(workspace, program), '-o', recording],
    { encoding: 'utf8' },
  );
  assert.equal(traced.status, 0, traced.stderr);
}

/** What the editor's hover says over the end of a text in a line. */
async function hover(workbench, line, text) {
  const widget = workbench.page.locator('.monaco-hover .hover-contents').first();
  let said = '';
  await until(
    async () => {
      await workbench.pointAt(line, text);
      await widget.waitFor({ timeout: 3000 });
      said = await workbench.page.locator('.monaco-hover:visible').first().innerText();
      return said.includes('visit');
    },
    () => `a hover over ${text}; shown: ${said}`,
    40_000,
  );
  return said.replaceAll('\u00a0', ' ');
}

/** The group of tests; `connected` makes the settings that name the project's model server. */
export const languageGroup = (connected) => ({
  name: 'language',
  setup: (fixture) => {
    record(fixture.workspace, 'cart.py');
    return connected(fixture);
  },
  tests: {
    async 'a lens above a function offers the calls of the file, and debugs one'(workbench) {
      await workbench.openFile('gcd.py');
      await until(async () => (await lens(workbench, 'Neural Debug').count()) === 2, 'two lenses', 40_000);
      assert.equal(await lens(workbench, 'Guess input').count(), 2);
      await lens(workbench, 'Neural Debug').nth(1).click();
      await workbench.choices.filter({ hasText: 'reduce_fraction(4, 10)' }).first().click();
      await workbench.stoppedAt(lineOf('gcd.py', 'divisor = gcd('));
      await workbench.showsVariable('denominator', '10');
      await workbench.press('F11');
      await workbench.stoppedAt(lineOf('gcd.py', 'while a != b'));
      await workbench.stopDebugging();
      // What was predicted is still there when the session is over.
      const said = await hover(workbench, lineOf('gcd.py', 'divisor = gcd('), 'numerator');
      assert.match(said, /numerator = 4/);
      assert.match(said, /predicted/);
    },
    async 'a lens takes arguments that are typed'(workbench) {
      await workbench.openFile('gcd.py');
      await until(async () => (await lens(workbench, 'Neural Debug').count()) === 2, 'two lenses', 40_000);
      await lens(workbench, 'Neural Debug').nth(0).click();
      await workbench.quickInput.fill('4, 10');
      await workbench.choices.filter({ hasText: 'gcd(4, 10)' }).first().waitFor();
      await workbench.press('Enter');
      await workbench.stoppedAt(lineOf('gcd.py', 'while a != b'));
      await workbench.showsVariable('b', '10');
    },
    async 'a lens asks for an output, to guess the input'(workbench) {
      await workbench.openFile('gcd.py');
      await lens(workbench, 'Guess input').first().click({ timeout: 40_000 });
      await workbench.page
        .locator('.quick-input-widget:visible', { hasText: 'What should gcd return?' })
        .waitFor();
    },
    async 'a recording beside a file gives hovers and inlay hints'(workbench) {
      await workbench.openFile('cart.py');
      const line = lineOf('cart.py', 'amount = price');
      const said = await hover(workbench, line, 'quantity');
      assert.match(said, /the last of \d+ visits/);
      assert.match(said, /a real run/);
      await until(
        async () =>
          (await workbench.page.locator('.editor-instance .view-lines').innerText())
            .replaceAll('\u00a0', ' ')
            .includes("name = 'notebook'"),
        'an inlay hint with the values of the loop',
      );
    },
    async 'a recording folds, has symbols, and can be debugged'(workbench) {
      await workbench.openFile('cart.trace.jsonl');
      await lens(workbench, 'Debug This Recording').waitFor({ timeout: 40_000 });
      await workbench.command('Fold All');
      const lines = workbench.page.locator('.editor-instance .line-numbers');
      await until(async () => {
        const shown = (await lines.allTextContents()).map((text) => text.trim());
        return shown.includes('2') && !shown.includes('4');
      }, 'the calls folded');
      await workbench.command('Unfold All');
      await workbench.press('Control+Shift+O');
      await workbench.choices.filter({ hasText: 'checkout' }).first().waitFor();
      await workbench.press('Escape');
      await lens(workbench, 'Debug This Recording').click();
      await workbench.debugToolbar.waitFor();
      await until(
        async () => /recording/i.test(await workbench.debugConsole()) || (await workbench.stopText()) !== '',
        'a stop',
      );
      await workbench.page
        .locator('.tabs-container .tab.active[data-resource-name="cart.py"]')
        .waitFor({ timeout: 20_000 });
    },
  },
});
