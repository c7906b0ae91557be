// The walkthrough: its buttons do what they say, and its steps are ticked once that was done, not before.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './workbench.mjs';

const steps = ['Connect a server', 'Stop at a line', 'Go back in time', 'Guess an input'];

/** What a person does in the walkthrough's page. */
class Walkthrough {
  constructor(workbench) {
    this.workbench = workbench;
    this.page = workbench.page;
  }

  async open() {
    await this.workbench.command('Welcome: Open Walkthrough');
    await this.workbench.choices.filter({ hasText: 'Get started with Neural Debug' }).click();
    await this.#step(steps[0]).waitFor();
  }

  /** Looks at the page again, where an editor is before it. */
  async lookAgain() {
    await this.page.locator('.tabs-container .tab', { hasText: /Welcome|Walkthrough/ }).click();
    await this.#step(steps[0]).waitFor();
  }

  /** Unfolds a step and clicks its button. */
  async click(step, button) {
    await this.#unfold(step);
    await this.#step(step).getByText(button, { exact: true }).click();
  }

  /** The text of a step, unfolded. */
  async text(step) {
    await this.#unfold(step);
    return this.#step(step).innerText();
  }

  async ticked() {
    const done = await this.page.locator('.getting-started-step:has(.codicon.complete)').allInnerTexts();
    return steps.filter((step) => done.some((text) => text.includes(step)));
  }

  async showsTicked(...expected) {
    let seen = [];
    await until(
      async () => {
        seen = await this.ticked();
        return seen.join() === expected.join();
      },
      () => `the ticks of ${expected.join(', ')}; shown: ${seen.join(', ')}`,
    );
  }

  async #unfold(step) {
    const folded = this.#step(step);
    if (!/expanded/.test(await folded.getAttribute('class'))) await folded.click();
    await this.page.locator('.getting-started-step.expanded', { hasText: step }).waitFor();
  }

  #step(title) {
    return this.page.locator('.getting-started-step', { hasText: title });
  }
}

/** The group: no server is connected in the beginning, and no file is open. */
export const walkthrough = {
  name: 'walkthrough',
  tests: {
    async 'its buttons lead to a server, a stop and a guess, and what was done is ticked'(
      workbench,
      fixture,
    ) {
      const { modelServer, workspace } = fixture;
      const guide = new Walkthrough(workbench);
      await guide.open();
      assert.deepEqual(await guide.ticked(), []);

      await guide.click('Connect a server', 'Connect a Model Server');
      await workbench.answer('Base URL', modelServer.baseUrl);
      await workbench.answer('API key', modelServer.token);
      await workbench.choices.filter({ hasText: 'neural-debug-reference-cwm' }).click();
      await workbench.choices.filter({ hasText: 'recommended' }).click();
      await guide.showsTicked('Connect a server');

      // No editor is open, so the file is asked for.
      await guide.click('Stop at a line', 'Predict This File');
      await workbench.choices.filter({ hasText: 'gcd.py' }).click();
      const lines = readFileSync(join(workspace, 'gcd.py'), 'utf8').trimEnd().split('\n');
      await workbench.stoppedAt(lines.length);
      assert.match(await workbench.stopText(), /end of the program/i);
      await guide.lookAgain();
      await guide.showsTicked('Connect a server', 'Stop at a line');

      assert.doesNotMatch(await guide.text('Go back in time'), /\*/);
      await workbench.clickToolbar('step-back');
      await until(async () => !/end of the program/i.test(await workbench.stopText()), 'an earlier stop');
      await workbench.stopDebugging();
      await guide.lookAgain();
      await guide.showsTicked('Connect a server', 'Stop at a line', 'Go back in time');

      const beginGuess = async () => {
        await guide.click('Guess an input', 'Guess Input from Output');
        // The open file comes first; where it does not yet, the list is still that of the last question.
        await workbench.choices.first().filter({ hasText: 'gcd.py' }).click();
        await workbench.choices.filter({ hasText: '(a, b)' }).click();
        await workbench.page.locator('.quick-input-widget:visible', { hasText: 'What should gcd' }).waitFor();
      };
      // Questions that are left are no guess.
      await beginGuess();
      await workbench.press('Escape');
      await guide.lookAgain();
      await guide.showsTicked('Connect a server', 'Stop at a line', 'Go back in time');

      await beginGuess();
      await workbench.answer('What should gcd', '6');
      await workbench.choices.filter({ hasText: 'Search by real calls' }).click();
      await workbench.dialog.getByText('Really Run', { exact: true }).click();
      await workbench.choices.filter({ hasText: 'returns 6, really' }).first().waitFor();
      await workbench.press('Escape');
      await guide.lookAgain();
      await guide.showsTicked(...steps);
    },
  },
};
