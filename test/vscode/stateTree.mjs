// The state tree, what-ifs, where values come from, and the comparison with a real run.
import assert from 'node:assert/strict';
import { record } from './languageUi.mjs';
import { until } from './workbench.mjs';

/** A program whose names change while its lines run. */
const loop = `total = 0
for n in [1, 2, 3]:
    total += n
    tenfold = total * 10
print(total)
`;

/** A program with lines that a model which writes lines' texts cannot tell apart. */
const twins = `def twins(n):
    if n > 1:
        n += 1
    else:
        n += 1
    return n


print(twins(3))
`;

/** A program that changes parts of a value one after another. */
const parts = `prices = {"a": [1]}
prices["a"].append(2)
prices["b"] = 3
print(prices)
`;

/** A program of 10,000 states and more. */
const long = `def add(total, n):
    return total + n


total = 0
for n in range(2000):
    total = add(total, n)
print(total)
`;

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

/** The row of the state tree that the current state is in. */
const current = (workbench) =>
  workbench.page.locator('.debug-viewlet .monaco-list-row', {
    has: workbench.page.locator('.codicon-debug-stackframe'),
  });

/** The variables' row with a name. */
const variable = (workbench, name) =>
  workbench.page.locator('.debug-viewlet .debug-variables .monaco-list-row', {
    has: workbench.page.locator('.name', { hasText: new RegExp(`^${name}\\W*$`) }),
  });

/** Opens the menu of what has the focus, and chooses in it, without the mouse. */
async function chooseByKeyboard(workbench, title) {
  const menu = workbench.page.locator('.monaco-menu');
  const focused = menu.locator('.action-item.focused');
  await workbench.press('Shift+F10');
  await menu.waitFor();
  const rows = await menu.locator('.action-item').count();
  for (let at = 0; at <= rows; at++) {
    if ((await focused.count()) > 0 && (await focused.innerText()).includes(title)) {
      await workbench.press('Enter');
      await menu.waitFor({ state: 'detached' });
      return;
    }
    await workbench.press('ArrowDown');
  }
  throw new Error(`The menu has no entry ${title}: ${await menu.innerText()}`);
}

/** Puts the focus on a row of a list by the arrow keys. */
async function focusRow(workbench, view, row) {
  const isFocused = async () =>
    /\bfocused\b/.test((await row.getAttribute('class', { timeout: 1000 }).catch(() => '')) ?? '');
  // Again where the view was drawn anew on the way.
  await until(async () => {
    await workbench.command(`Focus on ${view} View`);
    await workbench.press('Home');
    for (let at = 0; at < 40; at++) {
      if (await isFocused()) return true;
      await workbench.press('ArrowDown');
    }
    return false;
  }, `the focus on ${row}`);
}

/** @param connected what a fixture needs for a connected server */
export const stateTree = (connected) => ({
  name: 'state tree',
  setup: (fixture) => {
    record(fixture.workspace, 'long.py', long);
    return {
      ...connected(fixture),
      files: { 'total.py': program, 'loop.py': loop, 'twins.py': twins, 'parts.py': parts },
    };
  },
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
      await workbench.stopDebugging();
      // Each line has what its names were when it ran, not what they are now, and has it once.
      await workbench.openFile('loop.py');
      await workbench.setBreakpoint(4);
      await workbench.press('F5');
      const beside = async (...expected) => {
        let lines = [];
        await until(
          async () => {
            lines = (await workbench.editorText()).split('\n');
            return expected.every((text, at) => lines[at].includes(text));
          },
          () => `${expected.join(' / ')} beside the lines; shown: ${lines.join(' / ')}`,
        );
      };
      await workbench.stoppedAt(4);
      await workbench.press('F5');
      await workbench.showsVariable('total', '3');
      await beside('total = 0 total = 0', ': n = 2', 'total = 3, n = 2', 'total = 3');
      await workbench.press('F5');
      await workbench.showsVariable('total', '6');
      await beside('total = 0 total = 0', ': n = 3', 'total = 6, n = 3', 'total = 6');
    },
    async 'shows a frame whose line is doubtful faint, with the reason'(workbench) {
      await workbench.openFile('twins.py');
      await workbench.setBreakpoint(2);
      await workbench.press('F5');
      await workbench.stoppedAt(2);
      const faint = workbench.page.locator('.debug-call-stack .stack-frame.disabled .label');
      assert.equal(await faint.count(), 0);
      await workbench.press('F10');
      await workbench.stoppedAt(3);
      await faint.filter({ hasText: 'twins' }).waitFor();
      assert.equal(await faint.count(), 1);
      assert.match(await workbench.stopText(), /Doubtful: Lines 3 and 5 read the same/);
    },
    async 'goes back to the last stop, and to a frame’s beginning'(workbench) {
      await workbench.openFile('total.py');
      await workbench.setBreakpoint(2);
      await workbench.press('F5');
      await workbench.stoppedAt(2);
      await workbench.showsVariable('n', '2');
      await workbench.press('F5');
      await workbench.showsVariable('n', '3');
      await workbench.clickToolbar('reverse-continue');
      await workbench.showsVariable('n', '2');
      await workbench.showsCallStack('square', 'total', '<module>');
      const frames = workbench.page.locator('.debug-call-stack .monaco-list-row');
      const total = frames.filter({ has: workbench.page.locator('.label', { hasText: /^total$/ }) });
      // The callers are past: what is asked of one of them changes nothing, and not what runs either.
      await total.click();
      await workbench.showsVariable('a', '2');
      await workbench.chooseFromMenu(variable(workbench, 'a').first(), 'Why This Value?');
      await workbench.choices.filter({ hasText: 'a = 2' }).first().waitFor();
      await workbench.press('Escape');
      await workbench.chooseFromMenu(variable(workbench, 'a').first(), 'What If…');
      await workbench.answer('What if a were', '9');
      await until(
        async () => (await workbench.notifications()).some((text) => /Only the frame on top/.test(text)),
        'the refusal',
      );
      await workbench.showsVariable('a', '2');
      await workbench.chooseFromMenu(total, 'Restart Frame');
      await workbench.stoppedAt(6);
      await workbench.showsCallStack('total', '<module>');
    },
    async 'all of it can be done by keyboard'(workbench) {
      await stopAtReturn(workbench);
      const rows = await workbench.viewRows('State Tree');
      await focusRow(workbench, 'State Tree', rows.filter({ hasText: 'one = square(a)' }).first());
      await workbench.press('Enter');
      await workbench.stoppedAt(6);
      await focusRow(workbench, 'State Tree', rows.filter({ hasText: 'return result' }).first());
      await chooseByKeyboard(workbench, 'Go to This State');
      await workbench.stoppedAt(8);
      await workbench.showsVariable('result', '13');
      await focusRow(workbench, 'State Tree', rows.filter({ hasText: 'result = one' }).first());
      await chooseByKeyboard(workbench, 'Copy as Python');
      await until(
        async () => (await workbench.clipboard()) === '# total, line 7, predicted\na = 2\nb = 3\none = 4\n',
        'the state in the clipboard',
      );
      await focusRow(workbench, 'Variables', variable(workbench, 'result'));
      await chooseByKeyboard(workbench, 'Copy as Python');
      await until(async () => (await workbench.clipboard()) === '13', 'the value in the clipboard');
      await focusRow(workbench, 'Variables', variable(workbench, 'one'));
      await chooseByKeyboard(workbench, 'Open Whole Value');
      await until(async () => (await workbench.editorText()).trim() === '4', 'the value as a document');
      await focusRow(workbench, 'Variables', variable(workbench, 'result'));
      await chooseByKeyboard(workbench, 'Why This Value?');
      await workbench.choices.filter({ hasText: 'result = 13' }).waitFor();
      await workbench.press('Escape');
      await focusRow(workbench, 'State Tree', rows.filter({ hasText: 'result = one' }).first());
      await chooseByKeyboard(workbench, 'What If…');
      await workbench.answer('Another value', 'one = 100');
      await workbench.stoppedAt(7);
      await workbench.showsVariable('one', '100');
      await workbench.press('F10');
      await workbench.showsVariable('result', '109');
      await focusRow(workbench, 'Variables', variable(workbench, 'result'));
      await chooseByKeyboard(workbench, 'What If…');
      await until(async () => (await workbench.quickInput.inputValue()) === '109', 'the value, to be edited');
      await workbench.answer('What if result were', '7');
      await workbench.showsVariable('result', '7');
    },
    async 'is as quick with 10,000 states'(workbench) {
      await workbench.openFile('long.trace.jsonl');
      await workbench.command('Neural Debug: Debug This Recording');
      await workbench.stoppedAt(5);
      await workbench.openFile('long.py');
      await workbench.setBreakpoint(8);
      await workbench.press('F5');
      await workbench.stoppedAt(8);
      const rows = await workbench.viewRows('State Tree');
      await current(workbench).filter({ hasText: 'print(total)' }).waitFor();
      await workbench.clickToolbar('step-back');
      await workbench.stoppedAt(6);
      await current(workbench).filter({ hasText: 'for n in' }).waitFor();
      // What is shown begins not long before; what came earlier can be had.
      await focusRow(workbench, 'State Tree', rows.filter({ hasText: 'Show earlier…' }));
      const firstCall = rows.filter({ hasText: 'add(total=' }).first();
      const roundOfFirst = async () => Number(/n=(\d+)/.exec(await firstCall.innerText())?.[1]);
      assert.ok((await roundOfFirst()) > 1950);
      await until(async () => {
        // The view may just have brought the current state into sight again.
        await focusRow(workbench, 'State Tree', rows.filter({ hasText: 'Show earlier…' }));
        await workbench.press('Enter');
        await until(async () => (await roundOfFirst()) < 1950, 'earlier states', 3000);
        return true;
      }, 'earlier states');
      await workbench.clickToolbar('reverse-continue');
      await workbench.stoppedAt(5);
      await current(workbench).filter({ hasText: 'total = 0' }).waitFor();
      await focusRow(workbench, 'State Tree', rows.filter({ hasText: 'total = add' }).nth(1));
      await workbench.press('Enter');
      await workbench.stoppedAt(7);
      await workbench.showsVariable('n', '1');
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
    async 'tells where an item inside a value came from'(workbench) {
      await workbench.openFile('parts.py');
      await workbench.setBreakpoint(4);
      await workbench.press('F5');
      await workbench.stoppedAt(4);
      await workbench.showsVariable('prices', /^{'a': \[1, 2\], 'b': 3}/);
      await workbench.expandVariable('prices');
      await workbench.chooseFromMenu(variable(workbench, "'a'").first(), 'Why This Value?');
      // The whole was changed by line 3.
      const origin = workbench.choices.filter({ hasText: "prices['a'] = [1, 2]" });
      await origin.waitFor();
      assert.match(await origin.innerText(), /by line 2/);
      await origin.click();
      await workbench.stoppedAt(3);
    },
    async 'asks what if, and predicts anew from there'(workbench) {
      await stopAtReturn(workbench);
      await workbench.clickToolbar('step-back');
      await workbench.stoppedAt(7);
      await workbench.command('Neural Debug: What If…');
      await workbench.answer('Another value', 'one = 100');
      await workbench.showsVariable('one', '100');
      // The frames below are as they were predicted before that.
      await workbench.page
        .locator('.debug-call-stack .stack-frame.label', { hasText: '↑ what if one = 100' })
        .waitFor();
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
      await workbench.dialog.getByText('total.py will be run').waitFor();
      await workbench.dialog.getByText('Really Run', { exact: true }).click();
      const isCompared = async () =>
        (await workbench.notifications()).some((text) => /^(\d+) of \1 states agree/.test(text));
      await until(isCompared, 'the summary of the comparison');
      await workbench.showsVariable('result', '13  # ✓ really so');
      // Once a workspace is enough.
      await workbench.command('Notifications: Clear All Notifications');
      await workbench.command('Neural Debug: Compare with a Real Run');
      await until(isCompared, 'the summary, without another question');
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
