// The pictures of the README and of the tour, taken from the real VS Code: `npm run screenshot`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startStandIn } from '../../scripts/standIn.mjs';
import { connected } from './modelServer.mjs';
import { linesOf } from './ui.mjs';
import { until } from './workbench.mjs';

const viewport = { width: 1360, height: 820 };
const cart = linesOf('cart.py');

/** Time for what fades in and for what is drawn after a stop, in milliseconds. */
const settling = 1200;

/** Stops in the cart, with what the pictures want of the views. */
async function stopInCart(workbench, text) {
  await workbench.openFile('cart.py');
  await workbench.page.locator('.codelens-decoration a').first().waitFor();
  await workbench.setBreakpoint(cart(text));
  await workbench.press('F5');
  await workbench.stoppedAt(cart(text));
  await workbench.showsVariable('total', '0');
}

/** Makes room for the variables and the state tree. */
async function arrange(workbench) {
  await workbench.press('Control+j');
  await workbench.widenSideBar(190);
  for (const title of ['Watch', 'Breakpoints']) await workbench.toggleView(title);
  await workbench.viewRows('State Tree');
  await workbench.raiseView('Loaded Scripts', 85);
  // Away from what would tell of itself under the mouse.
  await workbench.page.mouse.move(viewport.width * 0.7, viewport.height * 0.85);
}

/** Each picture's name, and what a person does to see it. They follow each other in one session. */
const tour = {
  async session(workbench) {
    await stopInCart(workbench, 'total += amount');
    await arrange(workbench);
    const rows = await workbench.viewRows('State Tree');
    await rows.filter({ hasText: 'total += amount' }).first().waitFor();
  },
  async back(workbench) {
    await workbench.press('F5');
    await workbench.showsVariable('total', '720');
    await workbench.clickToolbar('step-back');
    await workbench.stoppedAt(cart('percent = discounts'));
  },
  async whatIf(workbench) {
    await workbench.command('Neural Debug: What If…');
    await workbench.answer('Another value', 'total = 1000');
    await workbench.showsVariable('total', '1000');
    await workbench.press('F10');
    await workbench.stoppedAt(cart('total += amount'));
    const rows = await workbench.viewRows('State Tree');
    const current = workbench.page.locator('.codicon-debug-stackframe');
    await rows.filter({ hasText: 'total += amount', has: current }).first().waitFor();
  },
  async why(workbench) {
    await workbench.command('Neural Debug: Why This Value?');
    await workbench.choices.filter({ hasText: 'percent' }).first().click();
    await workbench.choices.filter({ hasText: 'percent = 25' }).first().waitFor();
  },
};

const guess = {
  async guess(workbench) {
    await workbench.openFile('gcd.py');
    await workbench.command('Neural Debug: Guess Input from Output');
    await workbench.choices.filter({ hasText: 'gcd' }).first().click();
    await workbench.answer('What should gcd return?', '6');
    await workbench.choices.filter({ hasText: 'Search by real calls' }).click();
    await workbench.dialog.getByText('Really Run', { exact: true }).click();
    await until(async () => (await workbench.choices.count()) >= 4, 'inputs that are found');
  },
};

/** With a model that errs, and so at the total of the first customer. */
const comparison = {
  async compare(workbench) {
    await workbench.openFile('cart.py');
    await workbench.setBreakpoint(cart('return total'));
    await workbench.press('F5');
    await workbench.stoppedAt(cart('return total'));
    await arrange(workbench);
    await workbench.command('Neural Debug: Compare with a Real Run');
    await workbench.dialog.getByText('Really Run', { exact: true }).click();
    await until(async () => (await workbench.notifications()).length > 0, 'the summary');
  },
};

/** The colour themes of VS Code in which everything has to be readable, by their names in the list of themes. */
const themes = ['Light Modern', 'Dark Modern', 'Dark High Contrast', 'Light High Contrast'];

/**
 * What is taken, each part in a VS Code of its own.
 *
 * @param {string} folder where the pictures go: session.png there, the others below tour/
 */
export function picturesFor(folder) {
  mkdirSync(join(folder, 'tour'), { recursive: true });
  const take = (pictures) => async (workbench) => {
    for (const [name, arrangePicture] of Object.entries(pictures)) {
      await arrangePicture(workbench);
      await sleep(settling);
      await workbench.screenshot(join(folder, name === 'session' ? '' : 'tour', `${name}.png`));
    }
  };
  return [
    {
      name: 'tour',
      setup: (fixture) => ({ ...connected(fixture), viewport }),
      take: take({ ...tour, ...guess }),
    },
    { name: 'comparison', setup: withErrors, take: take(comparison) },
  ];
}

/** The comparison in all themes: they are to be looked at, not to be kept. */
export function themesFor(folder) {
  mkdirSync(folder, { recursive: true });
  return [
    {
      name: 'themes',
      setup: withErrors,
      async take(workbench) {
        await comparison.compare(workbench);
        for (const theme of themes) {
          await workbench.command('Preferences: Color Theme');
          await workbench.quickInput.fill(theme);
          await workbench.choices.filter({ hasText: theme }).first().click();
          await sleep(2 * settling);
          await workbench.screenshot(join(folder, `${theme}.png`));
        }
      },
    },
  ];
}

/** A model that errs now and then. */
async function withErrors() {
  const modelServer = await startStandIn('--faults', 'wrong-value=0.12', '--seed', '7');
  return { ...connected({ modelServer }), viewport, close: () => modelServer.stop() };
}
