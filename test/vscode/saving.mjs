// Saving what a session has predicted, and what is said where that, or a request, cannot be done.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './workbench.mjs';

async function stopInGcd(workbench) {
  await workbench.openFile('gcd.py');
  await workbench.command('Neural Debug: Debug a Call');
  await workbench.answer('The call to debug', 'gcd(4, 10)');
  await workbench.stoppedAt(9);
}

/** Answers the editor's question where to save. */
async function saveAt(workbench, path) {
  const place = workbench.quickInput;
  await place.waitFor();
  await until(async () => {
    if (!(await place.isVisible())) return true;
    // A folder that is still being listed takes no Enter, and may put one of its files into the place.
    if ((await place.inputValue()) !== path) await place.fill(path);
    await workbench.press('Enter');
    await place.waitFor({ state: 'hidden', timeout: 2000 });
    return true;
  }, `${path} as the place to save at`);
}

/** @param connected what a fixture needs for a connected server */
export const saving = (connected) => ({
  name: 'saving',
  setup: connected,
  tests: {
    async 'a recording that cannot be written somewhere is written elsewhere, and can be opened'(
      workbench,
      { workspace },
    ) {
      await stopInGcd(workbench);
      await workbench.command('Neural Debug: Save Recording');
      const place = workbench.quickInput;
      await until(
        async () => (await place.inputValue()) === join(workspace, 'gcd.trace.jsonl'),
        'a place beside the program',
      );
      // Nobody can write there, not even an administrator.
      await saveAt(workbench, '/sys/gcd.trace.jsonl');
      const again = workbench.dialog.getByText('Choose Another Place…', { exact: true });
      await again.waitFor();
      assert.match(await workbench.dialog.innerText(), /\/sys\/gcd\.trace\.jsonl cannot be written/);
      await again.click();
      await until(
        async () => (await place.inputValue()).endsWith('/gcd.trace.jsonl'),
        'the question for another place',
      );
      const saved = join(workspace, 'elsewhere.trace.jsonl');
      await saveAt(workbench, saved);
      const open = workbench.page
        .locator('.notifications-toasts .notification-list-item', {
          hasText: /Saved \d+ states? in elsewhere/,
        })
        .getByText('Open', { exact: true });
      await open.click();
      await workbench.page.locator('.tab.active[data-resource-name="elsewhere.trace.jsonl"]').waitFor();
      const [header, ...states] = readFileSync(saved, 'utf8').trim().split('\n').map(JSON.parse);
      assert.equal(header.program.entry, 'gcd(4, 10)');
      assert.ok(states.some(({ event, locals }) => event === 'line' && locals?.a === '4'));
      // The session has lost nothing.
      await workbench.press('F10');
      await workbench.stoppedAt(10);
    },
    async 'what cannot be set is said once, and not as a fault of the extension'(workbench) {
      await stopInGcd(workbench);
      await workbench.command('Neural Debug: What If…');
      await workbench.answer('Another value', 'a = (1');
      await until(async () => (await workbench.notifications()).length > 0, 'a message');
      const messages = await workbench.notifications();
      assert.equal(messages.length, 1, messages.join('\n'));
      assert.doesNotMatch(messages.join(), /fault of Neural Debug/);
    },
  },
});
