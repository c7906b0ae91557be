// Windows and sessions side by side: what each shows, and that they leave each other alone.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startStandIn } from '../../scripts/standIn.mjs';
import { root } from './setup.mjs';
import { until } from './workbench.mjs';

const left = `def left_work(n):
    doubled = n * 2
    return doubled


print(left_work(3))
`;

const right = left.replaceAll('left', 'right').replace('n * 2', 'n * 5').replaceAll('doubled', 'fivefold');

const deep = `import sys

sys.setrecursionlimit(5000)


def down(n):
    if n:
        return down(n - 1)
    bottom = n
    return bottom


print(down(int(sys.argv[1])))
`;

const loops = `def f(n):
    for i in range(n):
        n += 1
    return n


print(f(3))
`;

const prices = `def total(prices):
    first = prices[0]
    second = prices[1]
    both = first + second
    return both


print(total([120, 85]))
`;

const configuration = (name, more) => ({ type: 'neural-debug', request: 'launch', name, ...more });

const launchJson = JSON.stringify({
  version: '0.2.0',
  configurations: [
    configuration('the left one', {
      program: '${workspaceFolder}/left.py',
      entry: 'left_work(3)',
      stopOnEntry: true,
    }),
    configuration('the right one', {
      program: '${workspaceFolder}/right.py',
      entry: 'right_work(3)',
      stopOnEntry: true,
      world: 'reference',
    }),
    configuration('the loops', { program: '${workspaceFolder}/loops.py' }),
    // The frames are the module's and those of the function.
    ...[3, 20, 21, 1500].map((frames) =>
      configuration(`frames ${frames}.`, {
        program: '${workspaceFolder}/deep.py',
        args: [`${frames - 2}`],
        world: 'reference',
      }),
    ),
  ],
});

const callStack = (workbench) => workbench.page.locator('.debug-viewlet .debug-call-stack .monaco-list-row');
const loadMore = (workbench) => callStack(workbench).filter({ hasText: 'Load More Stack Frames' });

/** Clicks on a session in the call stack, and waits for the frame of its function. */
async function lookAt(workbench, session, name) {
  const row = callStack(workbench).filter({ hasText: session }).first();
  const frame = callStack(workbench).filter({ hasText: name }).first();
  await until(async () => {
    // In the middle of the row are the buttons that step, and end it. A click on a row that is unfolded folds it.
    await row.click({ position: { x: 50, y: 10 } });
    await frame.waitFor({ timeout: 2000 });
    return true;
  }, `the frame of ${name}`);
}

/** Waits until the state tree is that of a function's session. */
function showsTreeOf(tree, name) {
  const other = name === 'left_work' ? 'right_work' : 'left_work';
  return until(
    async () => {
      const shown = (await tree.allInnerTexts()).join('\n');
      return shown.includes(`${name}(n=3)`) && !shown.includes(other);
    },
    () => `the state tree of ${name}`,
  );
}

/** @param connected what a fixture needs for a connected server */
export const sideBySide = (connected) => ({
  name: 'sessions side by side',
  setup: (fixture) => ({
    ...connected(fixture),
    files: {
      'left.py': left,
      'right.py': right,
      'deep.py': deep,
      'loops.py': loops,
      '.vscode/launch.json': launchJson,
    },
  }),
  tests: {
    async 'the state tree follows the session that is looked at'(workbench) {
      await workbench.openFile('left.py');
      await workbench.startConfiguration('the left one');
      await workbench.stoppedAt(2);
      await workbench.startConfiguration('the right one');
      await lookAt(workbench, 'the right one', 'right_work');
      for (const title of ['Variables', 'Watch', 'Breakpoints']) await workbench.toggleView(title);
      const tree = await workbench.viewRows('State Tree');
      const answering = workbench.page.locator('.statusbar-item', { hasText: /predicted:|real run:/i });
      for (const [session, name, kind] of [
        ['the left one', 'left_work', /predicted/i],
        ['the right one', 'right_work', /real run/i],
        ['the left one', 'left_work', /predicted/i],
      ]) {
        await lookAt(workbench, session, name);
        await showsTreeOf(tree, name);
        await until(async () => kind.test(await answering.first().innerText()), `${kind} in the status bar`);
      }
      // The one goes on without the other being looked at or away from.
      await workbench.press('F10');
      await tree.filter({ hasText: 'return doubled' }).first().waitFor();
      assert.equal(await tree.filter({ hasText: 'fivefold' }).count(), 0);
      // When that one ends, the other is there.
      await workbench.press('Shift+F5');
      await until(
        async () => (await tree.allInnerTexts()).join('\n').includes('right_work(n=3)'),
        'the state tree of the session that is left',
      );
      await until(
        async () => /real run/i.test(await answering.first().innerText()),
        'what is left in the status bar',
      );
      await workbench.stopDebugging();
      for (const title of ['Variables', 'Watch', 'Breakpoints']) await workbench.toggleView(title);
    },
    async 'values stand beside a line once, in a session and after it'(workbench) {
      const { page } = workbench;
      await workbench.openFile('loops.py');
      await workbench.setBreakpoint(4);
      await workbench.startConfiguration('the loops');
      await workbench.stoppedAt(4);
      const inLoop = async () =>
        (await workbench.editorText()).split('\n').find((line) => line.includes('for i in range')) ?? '';
      const times = async () => (await inLoop()).split('i = ').length - 1;
      await until(async () => (await times()) > 0, 'the values of the session');
      // The trajectory has gone to the language server by then, which would have the editor ask for its hints.
      await page.waitForTimeout(2500);
      assert.equal(await times(), 1, await inLoop());
      await workbench.screenshot(join(root, 'test-results/vscode/values-once.png'));
      await workbench.stopDebugging();
      await until(
        async () => /i = 0, 1, 2/.test(await inLoop()) && (await times()) === 1,
        'the hint of what was predicted, and no more',
      );
    },
    async 'a stack that is complete ends with its last frame'(workbench) {
      await workbench.openFile('deep.py');
      await workbench.setBreakpoint(9);
      for (const frames of [3, 20, 21, 1500]) {
        await workbench.startConfiguration(`frames ${frames}.`);
        await workbench.stoppedAt(9);
        // A step in the same frame: all but the top of the stack stays as it is.
        await workbench.press('F10');
        await workbench.stoppedAt(10);
        await workbench.page.waitForTimeout(1000);
        await callStack(workbench).first().click();
        await workbench.press('End');
        if (frames > 20) {
          await loadMore(workbench).click();
          await loadMore(workbench).waitFor({ state: 'detached' });
          await callStack(workbench).first().click();
          await workbench.press('End');
        }
        await callStack(workbench).filter({ hasText: '<module>' }).waitFor();
        assert.equal(await loadMore(workbench).count(), 0, `${frames} frames`);
        await workbench.screenshot(join(root, `test-results/vscode/stack-${frames}.png`));
        await workbench.stopDebugging();
      }
    },
  },
});

/** @param connected what a fixture needs for a connected server */
export const windows = (connected) => ({
  name: 'windows side by side',
  setup: (fixture) => ({ ...connected(fixture), files: { 'prices.py': prices } }),
  tests: {
    async 'each debugs, on the same folder and on another one, and one that closes leaves the others'(
      workbench,
      { vscode, workspace },
    ) {
      const elsewhere = join(workspace, '../elsewhere');
      mkdirSync(elsewhere);
      writeFileSync(join(elsewhere, 'right.py'), right);
      const stop = async (window, file, line) => {
        await window.page.bringToFront();
        await window.openFile(file);
        await window.setBreakpoint(line);
        await window.press('F5');
        await window.stoppedAt(line);
      };
      const same = await workbench.openAnother(vscode.url(workspace));
      const other = await workbench.openAnother(vscode.url(elsewhere));
      try {
        await stop(workbench, 'prices.py', 4);
        await stop(same, 'prices.py', 5);
        await stop(other, 'right.py', 3);
        // Each goes on by itself, with its own states.
        await other.showsVariable('fivefold', '15');
        await workbench.press('F10');
        await workbench.stoppedAt(5);
        await workbench.showsVariable('both', '205');
        await same.clickToolbar('step-back');
        await same.stoppedAt(4);
        await same.showsVariable('second', '85');

        await same.page.close();
        await other.clickToolbar('step-back');
        await other.stoppedAt(2);
        await workbench.clickToolbar('step-back');
        await workbench.stoppedAt(4);
        await workbench.press('F10');
        await workbench.stoppedAt(5);
        await workbench.showsVariable('both', '205');
        assert.deepEqual(await workbench.notifications(), []);
      } finally {
        await other.page.close();
        if (!same.page.isClosed()) await same.page.close();
      }
    },
  },
});

/** @param connected what a fixture needs for a connected server */
export const doubtfulValues = (connected) => ({
  name: 'doubtful values',
  setup: async () => {
    const server = await startStandIn('--faults', 'wrong-value=0.6', '--seed', '4');
    return {
      ...connected({ modelServer: server }),
      files: { 'prices.py': prices },
      close: () => server.stop(),
    };
  },
  tests: {
    async 'are edited as they stand, without control sequences'(workbench) {
      const { page } = workbench;
      await workbench.openFile('prices.py');
      await workbench.setBreakpoint(2);
      await workbench.press('F5');
      await workbench.stoppedAt(2);
      const rows = page.locator('.debug-viewlet .debug-variables .monaco-list-row', {
        hasText: /#\s\d+% sure/,
      });
      for (let step = 0; step < 3 && (await rows.count()) === 0; step++) {
        await workbench.press('F10');
        await rows
          .first()
          .waitFor({ timeout: 4000 })
          .catch(() => null);
      }
      const row = rows.first();
      const name = (await row.locator('.name').innerText()).replace(/\W+$/, '');
      await row.locator('.value').dblclick();
      const box = page.locator('.debug-viewlet .debug-variables .monaco-inputbox input');
      await box.waitFor();
      const edited = await box.inputValue();
      assert.match(edited, /^[\x20-\x7e]+ {2}# \d+% sure$/);
      await workbench.screenshot(join(root, 'test-results/vscode/edit-doubtful.png'));
      await box.fill(edited.replace(/^.*(?= {2}#)/, '77'));
      await workbench.press('Enter');
      await workbench.showsVariable(name, '77');
    },
  },
});
