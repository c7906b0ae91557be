// What a person does in VS Code and sees there, in Chromium. Nothing here knows what is tested.
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium as browserType } from 'playwright-core';
import { chromium } from './setup.mjs';

/** How long a person would wait before calling it broken, on a machine that does other work too: ms. */
const stepTime = 30_000;

/** A Chromium, shared by all workbenches of a test run. */
export async function startBrowser() {
  return browserType.launch({
    executablePath: chromium(),
    headless: true,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-dev-shm-usage'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
}

/** One open window of VS Code. */
export class Workbench {
  #hasBreakpoints = false;
  /** The addresses of all that the page has asked for. */
  requests = [];

  constructor(page) {
    this.page = page;
  }

  /** Opens a window with browser storage of its own. */
  static async open(browser, url, viewport = { width: 1400, height: 900 }) {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const context = await browser.newContext({ viewport, permissions });
    await context.route(
      (address) => address.hostname !== '127.0.0.1',
      (route) => route.abort(),
    );
    return Workbench.#openIn(context, url);
  }

  /** Opens another window of the same person's, who has the same browser storage in it. */
  openAnother(url) {
    return Workbench.#openIn(this.page.context(), url);
  }

  static async #openIn(context, url) {
    const page = await context.newPage();
    page.setDefaultTimeout(stepTime);
    const workbench = new Workbench(page);
    page.on('request', (request) => workbench.requests.push(request.url()));
    await page.goto(url);
    await page.locator('.monaco-workbench .statusbar').waitFor({ timeout: 60_000 });
    await workbench.#debuggerThere();
    return workbench;
  }

  /** Waits until VS Code knows a debugger: until then F5 only opens a view. */
  async #debuggerThere() {
    const start = this.choices.filter({ hasText: 'Start Without Debugging' });
    await until(
      async () => {
        await this.press('F1');
        await this.quickInput.fill('>Debug: Start Without Debugging');
        const isThere = await start.waitFor({ timeout: 1000 }).then(
          () => true,
          () => false,
        );
        await this.press('Escape');
        return isThere;
      },
      'a debugger',
      60_000,
    );
  }

  async close() {
    await this.page.context().close();
  }

  /** Opens a file of the explorer's top level. */
  async openFile(name) {
    const explorer = this.page.locator('.explorer-folders-view');
    const tab = this.page.locator(`.tabs-container .tab.active[data-resource-name="${name}"]`);
    await until(async () => {
      // Each time, for a session that has just stopped brings its own view up, late at times.
      if (!(await explorer.isVisible())) await this.page.keyboard.press('Control+Shift+E');
      // Once more where the list moved under the mouse, for a new file is shown late.
      await explorer.locator('.monaco-list-row', { hasText: name }).first().dblclick({ timeout: 5000 });
      await tab.waitFor({ timeout: 5000 });
      return true;
    }, `the file ${name}`);
    await this.page.locator('.editor-instance .view-line').first().waitFor();
  }

  /** The row of a line number beside the editor's text. */
  lineNumber(line) {
    return this.page
      .locator('.editor-instance .margin-view-overlays > div')
      .filter({ has: this.page.locator('.line-numbers', { hasText: new RegExp(`^${line}$`) }) });
  }

  /** Where a line number is now: lenses that arrive move the lines, and draw them anew. */
  async #placeOf(line) {
    let box = null;
    await until(async () => (box = await this.lineNumber(line).boundingBox()) !== null, `line ${line}`);
    return box;
  }

  /**
   * Clicks into the gutter until a breakpoint is there: the extension's breakpoints arrive late, and a second
   * click on one that is set would remove it.
   */
  async setBreakpoint(line) {
    const deadline = Date.now() + 30_000;
    while (Date.now() < deadline) {
      const { x, y, height } = await this.#placeOf(line);
      await this.page.mouse.click(x + 8, y + height / 2);
      for (let look = 0; look < 10; look++) {
        await sleep(150);
        if (!(await this.#hasBreakpointAt((await this.#placeOf(line)).y))) continue;
        this.#hasBreakpoints = true;
        return;
      }
    }
    throw new Error(`No breakpoint could be set in line ${line}.`);
  }

  get #breakpoints() {
    return this.page.locator('.glyph-margin-widgets [class*="codicon-debug-breakpoint"]');
  }

  async #hasBreakpointAt(top) {
    for (const glyph of await this.#breakpoints.all()) {
      const box = await glyph.boundingBox({ timeout: 500 }).catch(() => null);
      if (box && Math.abs(box.y - top) < 3) return true;
    }
    return false;
  }

  /** The text that the editor shows. */
  async editorText() {
    return (await texts(this.page.locator('.editor-instance .view-line'))).join('\n');
  }

  async press(key) {
    await this.page.keyboard.press(key);
  }

  /** Runs a command by its title in the command palette. */
  async command(title) {
    const input = this.quickInput;
    const choice = this.choices.filter({ hasText: title }).first();
    await until(async () => {
      // Again where a view that is drawn anew takes the focus from the palette, which closes it.
      if (!(await input.isVisible())) await this.press('F1');
      await input.fill(`>${title}`, { timeout: 3000 });
      await choice.waitFor({ timeout: 3000 });
      return true;
    }, `the command "${title}"`);
    await choice.click();
  }

  get quickInput() {
    return this.page.locator(
      '.quick-input-widget:visible input[type="text"], .quick-input-widget:visible input[type="password"]',
    );
  }

  /** The rows of the open quick pick. */
  get choices() {
    return this.page.locator('.quick-input-list .monaco-list-row');
  }

  /** Chooses an entry of a menu, which is opened with the other mouse button on a place. */
  async chooseFromMenu(place, title) {
    const entry = this.page
      .locator('.context-view .action-label, .monaco-menu .action-label', { hasText: title })
      .first();
    await until(async () => {
      if (!(await entry.isVisible())) await place.click({ button: 'right', timeout: 2000 });
      await entry.click({ timeout: 3000 });
      // A menu that has just opened takes no clicks.
      await entry.waitFor({ state: 'hidden', timeout: 1000 });
      return true;
    }, `the menu's entry ${title}`);
  }

  /** Answers an input box whose title or prompt holds a text. */
  async answer(prompt, text) {
    await this.page.locator('.quick-input-widget:visible', { hasText: prompt }).waitFor();
    await this.quickInput.fill(text);
    await this.press('Enter');
  }

  /** Waits until the session is stopped with the top frame in a line. */
  async stoppedAt(line, timeout = stepTime) {
    await this.debugToolbar.waitFor({ timeout });
    if (!(await this.page.locator('.debug-viewlet').isVisible())) await this.press('Control+Shift+D');
    const position = this.page
      .locator('.debug-viewlet .debug-call-stack .monaco-list-row .line-number')
      .first();
    await until(
      async () => (await position.textContent({ timeout: 500 })).startsWith(`${line}:`),
      `a stop in line ${line}`,
      timeout,
    );
    await this.page.locator('.editor-instance .debug-top-stack-frame-line').first().waitFor();
  }

  /** Waits until the call stack shows these functions, innermost first. */
  async showsCallStack(...functions) {
    let seen = [];
    await until(
      async () => {
        seen = await texts(this.page.locator('.debug-viewlet .debug-call-stack .monaco-list-row .label'));
        return seen.join() === functions.join();
      },
      () => `the call stack ${functions.join(', ')}; shown: ${seen.join(', ')}`,
    );
  }

  /** What the call stack's header says about the stop. */
  async stopText() {
    const text = this.page.locator('.debug-viewlet .pane-header .call-stack-state-message');
    return (await texts(text)).join(' ');
  }

  /** The names of the scopes in the variables view. */
  async scopes() {
    return texts(this.page.locator('.debug-viewlet .debug-variables .monaco-list-row .scope'));
  }

  /** Waits until the variables view shows a value, or one of a pattern; closed scopes are opened. */
  async showsVariable(name, value, timeout = stepTime) {
    let seen = '';
    await until(
      async () => {
        await this.#openScopes();
        const rows = this.page.locator('.debug-viewlet .debug-variables .monaco-list-row');
        seen = (await texts(rows)).join(' | ');
        // All at once, for rows go while the view is drawn anew.
        const variables = await rows.evaluateAll((all) =>
          all.map((row) => ['.name', '.value'].map((part) => row.querySelector(part)?.textContent ?? '')),
        );
        return variables.some(
          ([shown, said]) =>
            shown.replace(/[\s:=]+$/, '') === name &&
            (value instanceof RegExp ? value.test(said) : said === value),
        );
      },
      () => `the variable ${name} = ${value}; shown: ${seen}`,
      timeout,
    );
  }

  async #openScopes() {
    const closed = this.page.locator(
      '.debug-viewlet .debug-variables .monaco-list-row[aria-level="1"][aria-expanded="false"] .monaco-tl-twistie',
    );
    if (await closed.count()) await closed.first().click({ timeout: 1000 });
  }

  /** Opens a row of the variables view. */
  async expandVariable(name) {
    const row = this.page.locator('.debug-viewlet .debug-variables .monaco-list-row', {
      has: this.page.locator('.name', { hasText: new RegExp(`^${name}\\W*$`) }),
    });
    if ((await row.first().getAttribute('aria-expanded')) === 'false') {
      await row.first().locator('.monaco-tl-twistie').click();
    }
  }

  /** Moves the mouse to the last character of a text in a line of the editor. */
  async pointAt(line, text) {
    const box = await this.#placeOf(line);
    const place = await this.page.evaluate(
      ({ top, wanted }) => {
        /* global document, NodeFilter */
        const row = [...document.querySelectorAll('.editor-instance .view-line')].find(
          (view) => Math.abs(view.getBoundingClientRect().top - top) < 3,
        );
        const range = document.createRange();
        const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
        const nodes = [];
        while (walker.nextNode()) nodes.push(walker.currentNode);
        // The editor writes spaces as no-break spaces.
        const whole = nodes
          .map((node) => node.data)
          .join('')
          .replaceAll('\u00a0', ' ');
        let at = whole.indexOf(wanted) + wanted.length - 1;
        for (const node of nodes) {
          if (at < node.length) {
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            break;
          }
          at -= node.length;
        }
        const { left, top: y, width, height } = range.getBoundingClientRect();
        return { x: left + width / 2, y: y + height / 2 };
      },
      { top: box.y, wanted: text },
    );
    // Away first, so that an older hover does not stand in the way.
    const status = await this.page.locator('.monaco-workbench .statusbar').boundingBox();
    await this.page.mouse.move(status.x + status.width / 2, status.y + status.height / 2);
    await this.page.locator('.debug-hover-widget:visible').waitFor({ state: 'detached' });
    await this.page.mouse.move(place.x - 3, place.y);
    await this.page.mouse.move(place.x, place.y, { steps: 3 });
  }

  /** The text of the debug hover over the end of a text in a line. */
  async hover(line, text) {
    const widget = this.page.locator('.debug-hover-widget:visible');
    await until(async () => {
      // Once more, from elsewhere, for just after a stop the editor does not listen to the mouse yet.
      await this.page.mouse.move(0, 0);
      await this.pointAt(line, text);
      await widget.waitFor({ timeout: 2500 });
      return true;
    }, `a hover over ${text}`);
    return (await widget.innerText()).replace('Hold Alt key to switch to editor language hover', '').trim();
  }

  /** Whether the mouse over a text brings up a debug hover. */
  async hasHover(line, text) {
    await this.pointAt(line, text);
    await sleep(1500);
    return this.page.locator('.debug-hover-widget').isVisible();
  }

  /** Starts a configuration of launch.json by its name. */
  async startConfiguration(name) {
    const choice = this.choices.filter({ hasText: name }).first();
    await this.press('F1');
    await this.quickInput.waitFor();
    await until(
      async () => {
        // Taken, though what it began kept the click from being answered in time.
        if (!(await this.quickInput.isVisible())) return true;
        // Asked anew each time, for the file is read late.
        await this.quickInput.fill('debug ');
        await this.quickInput.fill(`debug ${name}`);
        await choice.click({ timeout: 1500 });
        return true;
      },
      `the configuration "${name}"`,
      30_000,
    );
  }

  async removeBreakpoints() {
    if (!this.#hasBreakpoints) return;
    await this.command('Remove All Breakpoints');
    await this.#breakpoints.first().waitFor({ state: 'detached' });
    this.#hasBreakpoints = false;
  }

  /** Leaves no dialog, session, breakpoint or message behind. */
  async reset() {
    for (let open = 0; open < 3 && (await this.dialog.or(this.quickInput).count()) > 0; open++) {
      await this.press('Escape');
      await sleep(200);
    }
    await this.stopDebugging();
    await this.removeBreakpoints();
    await this.command('Notifications: Clear All Notifications');
  }

  /** The rows of a part of the debug view, which is unfolded. */
  async viewRows(title) {
    const pane = this.page.locator('.debug-viewlet .pane', {
      has: this.page.locator('.pane-header', { hasText: title }),
    });
    const header = pane.locator('.pane-header').first();
    if ((await header.getAttribute('aria-expanded')) === 'false') await header.click();
    return pane.locator('.monaco-list-row');
  }

  /** Folds or unfolds a part of the debug view by its title. */
  async toggleView(title) {
    await this.page.locator('.debug-viewlet .pane-header', { hasText: title }).click();
  }

  async widenSideBar(pixels) {
    const { x, y, width, height } = await this.page.locator('.part.sidebar').boundingBox();
    await this.#drag({ x: x + width, y: y + height / 2 }, { x: x + width + pixels, y: y + height / 2 });
  }

  /** Moves the upper border of a part of the debug view up, or down. */
  async raiseView(title, pixels) {
    const header = this.page.locator('.debug-viewlet .pane-header', { hasText: title });
    const borders = this.page.locator('.debug-viewlet .monaco-sash.horizontal');
    let from = null;
    // Parts that unfold move.
    await until(async () => {
      const { x, y, width } = await header.boundingBox();
      for (const sash of await borders.all()) {
        const border = await sash.boundingBox({ timeout: 500 });
        if (!border || Math.abs(border.y + border.height / 2 - y) > 4) continue;
        // The header itself would be moved to another place.
        from = { x: x + width / 2, y: border.y + 1 };
      }
      return from !== null;
    }, `a border of "${title}" to drag`);
    await this.#drag(from, { x: from.x, y: from.y - pixels });
  }

  async #drag(from, to) {
    await this.page.mouse.move(from.x, from.y);
    await this.page.mouse.down();
    await this.page.mouse.move(to.x, to.y, { steps: 4 });
    await this.page.mouse.up();
  }

  get debugToolbar() {
    return this.page.locator('.debug-toolbar:visible');
  }

  async clickToolbar(button) {
    await this.debugToolbar.locator(`.codicon-debug-${button}`).click();
  }

  /** Ends the session, if one is there, and those beside it. */
  async stopDebugging() {
    if (!(await this.debugToolbar.count())) return;
    for (const timeout of [5_000, 5_000, stepTime]) {
      await this.press('Shift+F5');
      try {
        await this.ended(timeout);
        return;
      } catch (error) {
        if (timeout === stepTime) throw error;
      }
    }
  }

  /** Waits for the end of the session. */
  async ended(timeout = stepTime) {
    await this.debugToolbar.waitFor({ state: 'detached', timeout });
  }

  async debugConsole() {
    return (await texts(this.page.locator('.repl .monaco-list-row'))).join('\n');
  }

  async clipboard() {
    return this.page.evaluate('navigator.clipboard.readText()');
  }

  /** The messages that are shown as toasts. */
  async notifications() {
    return texts(this.page.locator('.notifications-toasts .notification-list-item-message'));
  }

  get dialog() {
    return this.page.locator('.monaco-dialog-box');
  }

  async screenshot(path) {
    await this.page.screenshot({ path });
  }
}

/** Waits for a condition. A look that fails counts as no. */
export async function until(condition, what, timeout = stepTime) {
  const deadline = Date.now() + timeout;
  // One that waited for something that was just drawn anew is asked once more, however long that took.
  for (let isLast = false; ; isLast = Date.now() > deadline) {
    if (await condition().catch(() => false)) return;
    if (isLast) throw new Error(`Not seen: ${typeof what === 'function' ? what() : what}`);
    await sleep(150);
  }
}

async function texts(rows) {
  return (await rows.allTextContents()).map((text) => text.replaceAll('\u00a0', ' ').trim());
}
