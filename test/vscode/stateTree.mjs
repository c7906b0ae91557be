// The state tree, what-ifs, where values come from, and the comparison with a real run.
import assert from 'node:assert/strict';
import { until } from './workbench.mjs';

const program = `def square(n):
    return n * n


def total(a, b):
    one = square(a)
    result = one + square(b)
    return result


answer = total(2, 3)
print(answer)
`;

async function stopAtReturn(workbench) {
  await workbench.openFile('total.py');
  await workbench.setBreakpoint(8);
  await workbench.press('F5');
  await workbench.stoppedAt(8);
}

/** @param connected what a fixture needs for a connected server */
export const stateTree = (connected) => ({
  name: 'state tree',
  setup: (fixture) => ({ ...connected(fixture), files: { 'total.py': program } }),
  tests: {
    async 'shows the calls and where the session stands; a click goes there'(workbench) {
      await stopAtReturn(workbench);
      // The window is small: without these there is room for the tree.
      for (const title of ['Variables', 'Watch', 'Breakpoints']) await workbench.toggleView(title);
      const rows = await workbench.viewRows('State Tree');
      const current = rows.filter({ hasText: 'return result' });
      await current.waitFor();
      const text = (await rows.allInnerTexts()).join('\n');
      assert.match(text, /total\(a=2, b=3\)/);
      assert.match(text, /square\(n=2\)/);
      assert.match(text, /one = square\(a\)/);
      // The calls around stick to the top, over the rows there.
      await current.hover();
      await workbench.page.mouse.wheel(0, -1000);
      await rows.filter({ hasText: 'one = square(a)' }).click();
      await workbench.stoppedAt(6);
      await workbench.showsCallStack('total', '<module>');
      for (const title of ['Variables', 'Watch', 'Breakpoints']) await workbench.toggleView(title);
    },
    async 'shows values beside lines as they were when the lines ran'(workbench) {
      await stopAtReturn(workbench);
      await until(
        async () => /one = 4/.test(await workbench.editorText()),
        'the value of one beside its line',
      );
      assert.match(await workbench.editorText(), /result = 13/);
    },
    async 'tells where a value came from'(workbench) {
      await stopAtReturn(workbench);
      await workbench.command('Neural Debug: Why This Value?');
      await workbench.choices.filter({ hasText: 'result' }).first().click();
      const origin = workbench.choices.filter({ hasText: 'result = 13' });
      await origin.waitFor();
      assert.match(await origin.innerText(), /by line 7/);
      const returned = workbench.choices.filter({ hasText: 'square() = 9' });
      await returned.click();
      await workbench.stoppedAt(2);
      await workbench.showsVariable('n', '3');
    },
    async 'asks what if, and predicts anew from there'(workbench) {
      await stopAtReturn(workbench);
      await workbench.clickToolbar('step-back');
      await workbench.stoppedAt(7);
      await workbench.command('Neural Debug: What If…');
      await workbench.answer('Another value', 'one = 100');
      await workbench.showsVariable('one', '100');
      await workbench.press('F5');
      await workbench.stoppedAt(8);
      await workbench.showsVariable('result', '109');
      const rows = await workbench.viewRows('State Tree');
      const edited = rows.filter({ hasText: 'what if one = 100' });
      await edited.waitFor();
    },
    async 'compares with a real run once that is agreed to'(workbench) {
      await stopAtReturn(workbench);
      await workbench.command('Neural Debug: Compare with a Real Run');
      await workbench.dialog.getByText('Really Run', { exact: true }).click();
      await until(
        async () => (await workbench.notifications()).some((text) => /^\d+ of \d+ states agree/.test(text)),
        'the summary of the comparison',
      );
      await workbench.showsVariable('result', '13  # ✓ really so');
    },
    async 'says in the status bar what answers'(workbench) {
      await stopAtReturn(workbench);
      const item = workbench.page.locator('.statusbar-item', { hasText: 'predicted:' });
      await item.first().waitFor();
      await workbench.stopDebugging();
      await item.first().waitFor({ state: 'detached' });
    },
  },
});
