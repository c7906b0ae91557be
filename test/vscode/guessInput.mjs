// Guessing a function's input from its output.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './workbench.mjs';

/** A module that leaves a trace on the disk when it is really run. */
const touches = `import pathlib

pathlib.Path(__file__).with_name("was-run").write_text("yes")


def double(n):
    """Twice as much."""
    if n < 0:
        raise ValueError("n must not be negative")
    return 2 * n
`;

const wasRun = ({ workspace }) => existsSync(join(workspace, 'was-run'));

async function guess(workbench, wanted) {
  await workbench.openFile('double.py');
  await workbench.command('Neural Debug: Guess Input from Output');
  await workbench.choices.filter({ hasText: 'double' }).first().click();
  await workbench.answer('What should double return?', wanted);
  await workbench.choices.filter({ hasText: 'Search by real calls' }).click();
}

/** @param connected what a fixture needs for a connected server */
export const guessInput = (connected) => ({
  name: 'guess input',
  setup: (fixture) => ({ ...connected(fixture), files: { 'double.py': touches } }),
  tests: {
    async 'asks before anything is really run'(workbench, fixture) {
      await guess(workbench, '14');
      const dialog = workbench.dialog.filter({ hasText: 'really run programs of this workspace' });
      await dialog.waitFor();
      assert.match(await dialog.innerText(), /double\.py will be run, and double called many times/);
      await dialog.getByText('Cancel').click();
      await sleep(1000);
      assert.equal(wasRun(fixture), false);
    },
    async 'finds inputs, keeps one as a doctest, and debugs one'(workbench, fixture) {
      await guess(workbench, '14');
      await workbench.dialog.getByText('Really Run', { exact: true }).click();
      const found = workbench.choices.filter({ hasText: 'double(7)' });
      await found.waitFor();
      assert.match(await found.innerText(), /returns 14, really[^]*found by calling/);
      await found.hover();
      await found.locator('.codicon-sparkle').click();
      await until(
        async () => /returns 14, really and as predicted[^]*found by calling/.test(await found.innerText()),
        'the checks of the guess, by a real call and by a prediction',
      );
      assert.equal(wasRun(fixture), true);
      await found.hover();
      await found.locator('.codicon-copy').click();
      await until(async () => (await workbench.clipboard()) === 'double(7)', 'the call in the clipboard');
      await found.hover();
      await found.locator('.codicon-beaker').click();
      await until(
        async () => (await workbench.editorText()).includes('>>> double(7)'),
        'the doctest in the editor',
      );
      await found.click();
      await workbench.stoppedAt(12);
      await workbench.showsVariable('n', '7');
      await workbench.showsCallStack('double');
    },
    async 'finds an input that raises, without asking again'(workbench, fixture) {
      await guess(workbench, 'raise ValueError: negative');
      const found = workbench.choices.filter({ hasText: 'double(-' }).first();
      await found.waitFor();
      assert.match(await found.innerText(), /raises ValueError\('n must not be negative'\), really/);
      await workbench.press('Escape');
      assert.match(readFileSync(join(fixture.workspace, 'double.py'), 'utf8'), /Twice as much/);
    },
    async 'is in the editor’s menu, and names what is no literal while it is typed'(workbench) {
      await workbench.openFile('double.py');
      await workbench.chooseFromMenu(
        workbench.page.locator('.editor-instance .view-line').first(),
        'Guess Input from Output',
      );
      await workbench.choices.filter({ hasText: 'double' }).first().click();
      await workbench.quickInput.fill('f(1)');
      const message = workbench.page.locator('.quick-input-widget:visible .quick-input-message');
      await until(
        async () => /not a Python literal/.test(await message.innerText()),
        'the message that it is no literal',
      );
    },
  },
});
