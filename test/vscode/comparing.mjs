// A comparison with a real run of a prediction that is wrong from the first value on: such is the group's server.
import assert from 'node:assert/strict';
import { record } from './languageUi.mjs';
import { connected, startModelServer } from './modelServer.mjs';
import { until } from './workbench.mjs';

const program = `def total(first, second, discount):
    both = first + second
    return both - discount


print(total(120, 85, 5))
`;

export const comparing = {
  name: 'comparing',
  setup: async ({ workspace }) => {
    record(workspace, 'recorded.py', program);
    const server = await startModelServer('--faults', 'wrong-value=1');
    return {
      ...connected({ modelServer: server }),
      files: { 'prices.py': program },
      close: () => server.stop(),
    };
  },
  tests: {
    async 'marks what is right and what is wrong, and leads to where it begins to be'(workbench) {
      await workbench.openFile('prices.py');
      await workbench.setBreakpoint(3);
      await workbench.press('F5');
      await workbench.stoppedAt(3);
      await workbench.command('Neural Debug: Compare with a Real Run');
      await workbench.dialog.getByText('Really Run', { exact: true }).click();
      const said =
        /^(\d+) of (\d+) states agree with the real run\. The first difference is on line (\d+): (\w+) is really (\d+)\.$/;
      let summary = null;
      await until(async () => {
        for (const text of await workbench.notifications()) summary ??= said.exec(text);
        return summary !== null;
      }, 'the summary of the comparison');
      const [, agreeing, states, line, name, real] = summary;
      assert.ok(Number(agreeing) < Number(states), summary[0]);
      const says = (words) =>
        until(async () => words.test(await workbench.stopText()), `a stop with ${words}`);
      await says(/a real run comes here with other values/);
      await workbench.page.locator('.notifications-toasts').getByText('Go There', { exact: true }).click();
      await workbench.stoppedAt(Number(line));
      await workbench.showsVariable(name, new RegExp(`^(?!${real} )\\d+  # ✗ really ${real}$`));
      await says(/a real run comes here with other values/);
      // The server errs in one value of a state.
      const others = Object.entries({ first: '120', second: '85', discount: '5' });
      for (const [other, value] of others.filter(([other]) => other !== name)) {
        await workbench.showsVariable(other, `${value}  # ✓ really so`);
      }
      // Before the first difference all is as it was predicted.
      await workbench.clickToolbar('step-back');
      await says(/as in a real run/);
    },
    async 'asks again before the program of a recording is run'(workbench) {
      await workbench.openFile('recorded.trace.jsonl');
      await workbench.command('Neural Debug: Debug This Recording');
      await workbench.stoppedAt(6);
      await workbench.command('Neural Debug: Compare with a Real Run');
      await workbench.dialog.getByText('the program that this recording holds').waitFor();
      await workbench.press('Escape');
      assert.doesNotMatch(await workbench.debugConsole(), /Really running .*recorded\.py/);
    },
  },
};
