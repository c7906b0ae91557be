// The tests of the extension as a person meets it, in groups that share a window of VS Code.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { comparing } from './comparing.mjs';
import { connections } from './connections.mjs';
import { guessInput } from './guessInput.mjs';
import { health } from './health.mjs';
import { languageGroup } from './languageUi.mjs';
import { connected, startCountingServer } from './modelServer.mjs';
import { packageTests } from './packaged.mjs';
import { restricted } from './restricted.mjs';
import { saving } from './saving.mjs';
import { root } from './setup.mjs';
import { starting, whatElse } from './starting.mjs';
import { stateTree } from './stateTree.mjs';
import { walkthrough } from './walkthrough.mjs';
import { doubtfulValues, sideBySide, windows } from './windows.mjs';
import { until } from './workbench.mjs';

/** A program that leaves a trace on the disk when it is really run. */
const touches = `import pathlib

pathlib.Path(__file__).with_name("was-run").write_text("yes")
answer = 6 * 7
print(answer)
`;

/** Finds lines of an example by a text in them: `cart("total = 0")`. */
export function linesOf(program) {
  const lines = readFileSync(join(root, 'examples', program), 'utf8').split('\n');
  return (text) => {
    const at = lines.findIndex((line) => line.includes(text));
    assert.ok(at >= 0, `${program} has no line with ${text}`);
    return at + 1;
  };
}

const cart = linesOf('cart.py');
const gcd = linesOf('gcd.py');

const wasRun = ({ workspace }) => existsSync(join(workspace, 'was-run'));

const launch = (...configurations) => ({
  '.vscode/launch.json': JSON.stringify({
    version: '0.2.0',
    configurations: configurations.map((more) => ({ type: 'neural-debug', request: 'launch', ...more })),
  }),
});

/** Debugs the cart up to the amount of its first row. */
async function stopInCart(workbench) {
  const line = cart('amount = price');
  await workbench.openFile('cart.py');
  await workbench.setBreakpoint(line);
  await workbench.press('F5');
  await workbench.stoppedAt(line);
  return line;
}

const subscripts = `import fractions as cheapest
class Shop: pass
prices = {"pen": [150, 140]}
shop = Shop()
shop.rows = [7, 8]
cheapest = min(prices["pen"])
print(prices["pen"][0], shop.rows[1])  # not the cheapest
`;

const session = {
  name: 'session',
  setup: (fixture) => ({ ...connected(fixture), files: { 'subscripts.py': subscripts } }),
  tests: {
    ...packageTests,
    async 'F5 without launch.json stops at a breakpoint set in the gutter'(workbench) {
      await stopInCart(workbench);
      await workbench.showsCallStack('checkout', '<module>');
      assert.match(await workbench.stopText(), /predicted/i);
      await workbench.showsVariable('total', '0');
      await workbench.showsVariable('discounts', "{'notebook': 10, 'lamp': 25}");
      assert.match((await workbench.scopes()).join('\n'), /predicted/i);
    },
    async 'steps over, and back in time'(workbench) {
      const line = await stopInCart(workbench);
      await workbench.press('F10');
      await workbench.stoppedAt(line + 1);
      await workbench.showsVariable('amount', '800');
      await workbench.press('F10');
      await workbench.stoppedAt(line + 2);
      await workbench.showsVariable('percent', '10');
      await workbench.clickToolbar('step-back');
      await workbench.stoppedAt(line + 1);
      await workbench.clickToolbar('step-back');
      await workbench.stoppedAt(line);
      await workbench.press('F10');
      await workbench.stoppedAt(line + 1);
    },
    async 'hovers show predicted values, and nothing on words in strings'(workbench) {
      const line = await stopInCart(workbench);
      assert.match(await workbench.hover(line + 3, 'total'), /^0/);
      assert.match(await workbench.hover(line + 1, 'discounts'), /notebook/);
      assert.match(await workbench.hover(line, 'price'), /^400/);
      assert.equal(await workbench.hasHover(cart('second customer bought'), 'The second'), false);
    },
    async 'a hover over an item or attribute shows it, over imports and comments nothing'(workbench) {
      await workbench.openFile('subscripts.py');
      await workbench.setBreakpoint(7);
      await workbench.press('F5');
      await workbench.stoppedAt(7);
      assert.match(await workbench.hover(7, 'prices'), /pen/);
      assert.match(await workbench.hover(7, 'prices["pen"]'), /^\[150, 140\]/);
      assert.match(await workbench.hover(7, 'prices["pen"][0]'), /^150/);
      assert.match(await workbench.hover(7, 'shop.row'), /^\[7, 8\]/);
      assert.match(await workbench.hover(7, 'shop.rows[1]'), /^8/);
      assert.equal(await workbench.hasHover(7, 'not the cheapest'), false);
      assert.equal(await workbench.hasHover(1, 'cheapest'), false);
    },
    async 'debugs a call that is asked for, and steps into what it calls'(workbench) {
      await workbench.openFile('gcd.py');
      await workbench.command('Neural Debug: Debug a Call');
      await workbench.answer('The call to debug', 'reduce_fraction(4, 10)');
      await workbench.stoppedAt(gcd('divisor = gcd('));
      await workbench.showsVariable('denominator', '10');
      await workbench.press('F11');
      await workbench.stoppedAt(gcd('while a != b'));
      await workbench.showsCallStack('gcd', 'reduce_fraction');
      await workbench.press('Shift+F11');
      await workbench.stoppedAt(gcd('return numerator'));
      await workbench.showsVariable('divisor', '6');
    },
    async 'goes on to the end of the program'(workbench) {
      await stopInCart(workbench);
      await workbench.removeBreakpoints();
      await workbench.press('F5');
      await until(
        async () => /end of the program/i.test(await workbench.stopText()),
        'a stop at the end of the program',
      );
      await workbench.stoppedAt(cart('print("second customer'));
      assert.match(await workbench.debugConsole(), /predicted output: second customer: 3570/);
      await workbench.clickToolbar('continue');
      await workbench.ended();
    },
  },
};

const unconnected = {
  name: 'no server',
  setup: () => ({ files: { 'touches.py': touches } }),
  tests: {
    async 'F5 offers the choices, and runs nothing'(workbench, fixture) {
      await workbench.openFile('touches.py');
      await workbench.press('F5');
      await workbench.dialog.getByText('Connect a Server…', { exact: true }).waitFor();
      assert.match(
        await workbench.dialog.innerText(),
        /A real run of touches\.py by Python happens on this computer/,
      );
      await workbench.press('Escape');
      await sleep(1500);
      assert.equal(await workbench.debugToolbar.count(), 0);
      assert.equal(wasRun(fixture), false);
    },
    async 'Cancel runs nothing'(workbench, fixture) {
      await workbench.openFile('touches.py');
      await workbench.press('F5');
      await workbench.dialog.getByText('Cancel', { exact: true }).click();
      await sleep(1500);
      assert.equal(await workbench.debugToolbar.count(), 0);
      assert.equal(wasRun(fixture), false);
    },
    async 'the reference runs the program, and says so'(workbench, fixture) {
      await workbench.openFile('touches.py');
      await workbench.setBreakpoint(5);
      await workbench.press('F5');
      await workbench.dialog.getByText('Really Run It', { exact: true }).click();
      await workbench.stoppedAt(5);
      await workbench.showsVariable('answer', '42');
      assert.match(await workbench.stopText(), /real run/i);
      assert.doesNotMatch((await workbench.scopes()).join('\n'), /predicted/i);
      assert.equal(wasRun(fixture), true);
    },
    async 'connecting a server stores it, with its key apart, and debugs with it'(workbench, fixture) {
      const { modelServer, vscode } = fixture;
      await workbench.openFile('gcd.py');
      await workbench.setBreakpoint(gcd('return a'));
      await workbench.press('F5');
      await workbench.dialog.getByText('Connect a Server…', { exact: true }).click();
      // Where nothing answers, that is said, and what was typed is there to be changed.
      await workbench.answer('Base URL', 'http://127.0.0.1:9/v1');
      await workbench.dialog.getByText('Change the Address', { exact: true }).click();
      await until(
        async () => (await workbench.quickInput.inputValue()) === 'http://127.0.0.1:9/v1',
        'the address that was typed',
      );
      await workbench.answer('Base URL', modelServer.baseUrl);
      for (const wrong of ['no key has spaces', 'another-key']) {
        await workbench.answer('API key', wrong);
        await workbench.dialog.getByText('Give Another Key', { exact: true }).click();
      }
      await workbench.answer('API key', modelServer.token);
      await workbench.choices.filter({ hasText: 'neural-debug-reference-cwm' }).click();
      const recommended = workbench.choices.filter({ hasText: 'recommended' });
      await recommended.waitFor();
      assert.match(await recommended.innerText(), /^CWM/);
      await recommended.click();
      await workbench.stoppedAt(gcd('return a'));
      await workbench.showsVariable('a', '6');
      const settings = readFileSync(vscode.machineSettings, 'utf8');
      assert.ok(settings.includes(modelServer.baseUrl), settings);
      assert.ok(!settings.includes(modelServer.token), 'The key is in the settings.');
    },
  },
};

const entryCall = {
  name: 'launch.json',
  setup: async (fixture) => {
    fixture.other = await startCountingServer();
    const elsewhere = { baseUrl: fixture.other.baseUrl, model: 'm', format: 'cwm' };
    return {
      ...connected(fixture),
      files: launch(
        { name: 'a call', program: '${workspaceFolder}/gcd.py', entry: 'gcd(4, 10)', stopOnEntry: true },
        { name: 'elsewhere', program: '${workspaceFolder}/gcd.py', server: elsewhere },
        { name: 'not there', program: '${workspaceFolder}/nothing.py' },
      ),
      close: () => fixture.other.stop(),
    };
  },
  tests: {
    async 'an entry call begins in its function'(workbench) {
      await workbench.startConfiguration('a call');
      await workbench.stoppedAt(gcd('while a'));
      await workbench.showsVariable('a', '4');
      await workbench.showsVariable('b', '10');
    },
    async 'asks before source goes to a server that launch.json names'(workbench, { other, modelServer }) {
      await workbench.startConfiguration('elsewhere');
      await workbench.dialog.waitFor();
      const text = await workbench.dialog.textContent();
      assert.ok(text.includes(other.origin), text);
      assert.match(text, /source text of gcd\.py/);
      await workbench.dialog.getByText('Cancel', { exact: true }).click();
      await sleep(1500);
      assert.deepEqual(other.requests, []);

      await workbench.startConfiguration('elsewhere');
      await workbench.dialog.getByText('Send', { exact: true }).click();
      await until(async () => other.requests.length > 0, 'a request to the server');
      await workbench.reset();

      const before = other.requests.length;
      await workbench.startConfiguration('elsewhere');
      await until(async () => other.requests.length > before, 'a request without asking again');
      const leaked = other.requests.filter(({ authorization }) => authorization?.includes(modelServer.token));
      assert.deepEqual(leaked, []);
    },
    async 'a program that is not there is named'(workbench) {
      await workbench.startConfiguration('not there');
      await until(
        async () =>
          (await workbench.notifications()).some((text) => /nothing\.py.*does not exist/.test(text)),
        'the message that the program does not exist',
      );
    },
  },
};

export const groups = [
  session,
  unconnected,
  entryCall,
  guessInput(connected),
  stateTree(connected),
  comparing,
  languageGroup(connected),
  starting(connected),
  whatElse,
  connections(connected),
  restricted,
  health,
  walkthrough,
  saving(connected),
  sideBySide(connected),
  windows(connected),
  doubtfulValues(connected),
];
