// Starting without a launch.json, lenses, what else a value could be, and programs that are edited meanwhile.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { startModelServer } from './modelServer.mjs';
import { until } from './workbench.mjs';

const shop = `import asyncio


async def fetch(n):
    return n * 2


class Cart:
    def __init__(self):
        self.count = 0

    def add(self, n):
        self.count += n
        return self.count


def outer(n):
    def inner(m):
        return m + n

    first = inner(2)
    second = inner(first)
    return second


asyncio.run(fetch(2))
cart = Cart()
cart.add(7)
print(outer(3))
`;

const lineOf = (text) => {
  const at = shop.split('\n').findIndex((line) => line.includes(text));
  assert.ok(at >= 0, `the shop has no line with ${text}`);
  return at + 1;
};

const lens = (workbench, title) =>
  workbench.page.locator('.codelens-decoration a').filter({ hasText: new RegExp(`^${title}$`) });

const tab = (workbench) => workbench.page.locator('.tabs-container .tab.active');

/** The row of the variables view with a name. */
const variable = (workbench, name) =>
  workbench.page.locator('.debug-viewlet .debug-variables .monaco-list-row', {
    has: workbench.page.locator('.name', { hasText: new RegExp(`^${name}\\W*$`) }),
  });

const menu = (workbench) => workbench.page.locator('.context-view .action-label, .monaco-menu .action-label');

/** Puts the cursor into a line. */
async function cursorTo(workbench, line) {
  await workbench.press('Control+G');
  await workbench.quickInput.waitFor();
  await workbench.quickInput.fill(`:${line}`);
  await workbench.press('Enter');
  await workbench.page.locator('.statusbar-item', { hasText: `Ln ${line},` }).waitFor();
}

/** Chooses in the list of configurations that need no launch.json. */
async function startDynamic(workbench, name) {
  await workbench.command('Debug: Select and Start Debugging');
  await workbench.choices.filter({ hasText: 'Neural Debug' }).first().click();
  await workbench.choices.filter({ hasText: name }).first().click();
}

async function stopInOuter(workbench) {
  await workbench.openFile('shop.py');
  await cursorTo(workbench, lineOf('return second'));
  await workbench.setBreakpoint(lineOf('return second'));
  await workbench.press('F5');
  await workbench.stoppedAt(lineOf('return second'));
}

/** @param connected what a fixture needs for a connected server */
export const starting = (connected) => ({
  name: 'starting',
  setup: (fixture) => ({ ...connected(fixture), files: { 'shop.py': shop } }),
  tests: {
    async 'predicts the file, or the function at the cursor, without a launch.json'(workbench) {
      await workbench.openFile('shop.py');
      await cursorTo(workbench, lineOf('first = inner(2)'));
      await startDynamic(workbench, 'Predict function at cursor');
      await workbench.choices.filter({ hasText: 'outer(3)' }).first().click();
      await workbench.stoppedAt(lineOf('def inner'));
      await workbench.showsVariable('n', '3');
      await workbench.stopDebugging();

      await workbench.setBreakpoint(lineOf('second = inner'));
      await startDynamic(workbench, 'Predict this file');
      await workbench.stoppedAt(lineOf('second = inner'));
      await workbench.stopDebugging();

      // The same two are in the run menu of the editor's title.
      const title = workbench.page.locator('.editor-group-container .title .editor-actions');
      await title
        .locator('.monaco-dropdown .codicon-chevron-down, .codicon-drop-down-button')
        .first()
        .click();
      await menu(workbench).filter({ hasText: 'Predict Function at Cursor' }).waitFor();
      await menu(workbench).filter({ hasText: 'Predict This File' }).click();
      await workbench.stoppedAt(lineOf('second = inner'));
    },
    async 'has a lens above every function, and calls that run each'(workbench) {
      await workbench.openFile('shop.py');
      // Lenses that are scrolled to may lie under the lines that stick to the top.
      await workbench.press('Control+Home');
      await lens(workbench, 'Neural Debug: called within outer').waitFor({ timeout: 40_000 });
      await lens(workbench, 'Neural Debug: called within outer').click();
      await workbench.choices.filter({ hasText: 'outer(3)' }).first().waitFor();
      await workbench.press('Escape');
      await lens(workbench, 'Neural Debug').nth(2).click();
      await workbench.choices.filter({ hasText: 'Cart().add(7)' }).first().click();
      await workbench.stoppedAt(lineOf('self.count = 0'));
      await workbench.setBreakpoint(lineOf('return self.count'));
      await workbench.press('F5');
      await workbench.stoppedAt(lineOf('return self.count'));
      await workbench.showsVariable('n', '7');
      await workbench.stopDebugging();
      await lens(workbench, 'Neural Debug').nth(0).click();
      await workbench.choices.filter({ hasText: 'asyncio.run(fetch(2))' }).first().click();
      await workbench.stoppedAt(lineOf('return n * 2'));
      await workbench.showsVariable('n', '2');
    },
    async 'runs to the cursor, and back, by keyboard'(workbench) {
      await stopInOuter(workbench);
      await cursorTo(workbench, lineOf('first = inner'));
      await workbench.press('Control+Shift+F10');
      await workbench.stoppedAt(lineOf('first = inner'));
      await cursorTo(workbench, lineOf('second = inner'));
      await workbench.press('Control+F10');
      await workbench.stoppedAt(lineOf('second = inner'));
      await workbench.showsVariable('first', '5');
    },
    async 'shows the text as of launch once the program was edited, and restarts with the new one'(
      workbench,
    ) {
      await workbench.openFile('shop.py');
      await workbench.setBreakpoint(lineOf('first = inner'));
      await workbench.press('F5');
      await workbench.stoppedAt(lineOf('first = inner'));
      await cursorTo(workbench, lineOf('second = inner'));
      await workbench.press('Home');
      await workbench.page.keyboard.type('extra = 1\n');
      const notice = workbench.page.locator('.statusbar-item', { hasText: 'text as of launch' });
      await notice.waitFor();
      await workbench.press('F10');
      await workbench.stoppedAt(lineOf('second = inner'));
      await until(
        async () => !(await workbench.editorText()).includes('extra = 1'),
        'the text as of launch in the editor',
      );
      assert.match(await tab(workbench).getAttribute('data-resource-name'), /shop\.py/);
      await until(
        async () => /has changed since the session began/.test(await workbench.debugConsole()),
        'the notice in the debug console',
      );
      await workbench.openFile('shop.py');
      await workbench.press('Control+S');
      await notice.click();
      await workbench.stoppedAt(lineOf('first = inner'));
      await notice.waitFor({ state: 'detached' });
      await workbench.press('F10');
      await workbench.stoppedAt(lineOf('second = inner'));
      await workbench.press('F10');
      await workbench.stoppedAt(lineOf('second = inner') + 1);
      await workbench.showsVariable('extra', '1');
    },
  },
});

/** What a chat model that errs says of any call of `outer`: that it returns 12. */
const predictedStates = JSON.stringify({
  states: [
    {
      event: 'return',
      function: 'outer',
      line: lineOf('return second'),
      locals: [],
      value: '12',
      output: '',
    },
  ],
  ended: true,
});

/** A chat server with one answer, or one for each schema's name. It keeps what it was asked. */
export async function startChat(answers) {
  const requests = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => (body += piece));
    request.on('end', () => {
      requests.push(body);
      if (!request.url.endsWith('/chat/completions')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"object":"list","data":[{"id":"chatty","object":"model"}]}');
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const { name } = JSON.parse(body).response_format?.json_schema ?? {};
      const answer = typeof answers === 'string' ? answers : (answers[name] ?? '{}');
      const chunk = (delta, finish) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
      response.end(`${chunk({ content: answer }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`);
    });
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    requests,
    baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** A model that errs in half of its values, and a chat model that makes calls up. */
export const whatElse = {
  name: 'starting: what else',
  setup: async (fixture) => {
    const doubtful = await startModelServer('--faults', 'wrong-value=0.5', '--seed', '3');
    const chat = await startChat({
      calls: '{"calls": ["outer(30)", "outer(-1)", "open(\\"f\\")"]}',
      guesses: '{"guesses": [{"arguments": ["4"]}, {"arguments": ["open(\'f\')"]}, {"arguments": ["5"]}]}',
      states: predictedStates,
    });
    fixture.chat = chat;
    const configuration = {
      type: 'neural-debug',
      request: 'launch',
      name: 'doubtful',
      program: '${workspaceFolder}/shop.py',
      entry: 'outer(3)',
      stopOnEntry: true,
      server: { baseUrl: doubtful.baseUrl, format: 'cwm' },
    };
    return {
      machineSettings: {
        'neuralDebug.server.baseUrl': chat.baseUrl,
        'neuralDebug.server.model': 'chatty',
        'neuralDebug.server.format': 'chat',
      },
      environment: { NEURAL_DEBUG_API_KEY: doubtful.token, NEURAL_DEBUG_BASE_URL: doubtful.baseUrl },
      files: {
        'shop.py': shop,
        '.vscode/launch.json': JSON.stringify({ version: '0.2.0', configurations: [configuration] }),
      },
      close: async () => {
        await doubtful.stop();
        await chat.stop();
      },
    };
  },
  tests: {
    async 'the model makes calls up once it is told to, and they are marked'(workbench, { chat }) {
      await workbench.openFile('shop.py');
      await lens(workbench, 'Neural Debug: called within outer').click({ timeout: 40_000 });
      const entry = workbench.choices.filter({ hasText: 'Let the model make some up' });
      await entry.waitFor();
      assert.match(await entry.innerText(), /Nothing is run/);
      assert.deepEqual(chat.requests, []);
      await entry.click();
      const made = workbench.choices.filter({ hasText: 'made up by the model' });
      await made.first().waitFor();
      assert.match((await made.allInnerTexts()).join('\n'), /outer\(30\)[^]*outer\(-1\)/);
      assert.equal(await made.count(), 2);
    },
    async 'the menu of a variable tells what else it could be, opens it and tells where it came from'(
      workbench,
    ) {
      await workbench.startConfiguration('doubtful');
      await workbench.dialog.getByText('Send', { exact: true }).click();
      await workbench.stoppedAt(lineOf('def inner'));
      await workbench.press('F10');
      await workbench.stoppedAt(lineOf('first = inner'));
      await workbench.press('F10');
      await workbench.stoppedAt(lineOf('second = inner'));
      const openMenu = (title) => workbench.chooseFromMenu(variable(workbench, 'first').first(), title);
      await until(async () => {
        await workbench.showsVariable('n', '3', 3000).catch(() => undefined);
        return (await variable(workbench, 'first').count()) > 0;
      }, 'the variable first');
      await openMenu('What Else Could It Be?');
      await workbench.choices.filter({ hasText: 'samples' }).first().waitFor();
      const rows = await workbench.choices.evaluateAll((all) => all.map((row) => row.ariaLabel));
      assert.ok(rows.length > 1, rows.join('\n'));
      assert.equal(rows.filter((row) => row.includes('shown')).length, 1, rows.join('\n'));
      const shares = rows.map((row) => Number(/, (\d+)%/.exec(row)?.[1]));
      assert.ok(
        Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100) <= rows.length,
        rows.join('\n'),
      );
      const at = rows.findIndex((row) => !row.includes('shown'));
      const [, value] = /first = (\S+),/.exec(rows[at]);
      const other = workbench.choices.nth(at);
      await other.click();
      await workbench.stoppedAt(lineOf('second = inner'));
      await workbench.showsVariable('first', new RegExp(`^${value}(  # <?\\d+% sure)?$`));
      await openMenu('Why This Value?');
      await workbench.choices.filter({ hasText: `first = ${value}` }).waitFor();
      await workbench.press('Escape');
      await openMenu('Open Whole Value');
      await until(async () => (await workbench.editorText()).trim() === value, 'the value as a document');
      // Nobody is asked to save it.
      assert.equal(await workbench.page.locator('.tabs-container .tab.dirty').count(), 0);
    },
    async 'the model guesses inputs, which are predicted forwards, and really run once that is agreed to'(
      workbench,
    ) {
      await workbench.openFile('shop.py');
      await workbench.command('Neural Debug: Guess Input from Output');
      await workbench.choices.filter({ hasText: 'outer' }).first().click();
      await workbench.answer('What should outer return?', '12');
      await workbench.choices.filter({ hasText: 'Ask chatty' }).click();
      const guessed = workbench.choices.filter({ hasText: 'outer(' });
      const says = (at, pattern) =>
        until(async () => pattern.test(await guessed.nth(at).innerText()), `${pattern} of guess ${at + 1}`);
      // What is no literal is no guess.
      await says(0, /outer\(4\)[^]*returns 12, as predicted[^]*guessed by the model/);
      await says(1, /outer\(5\)[^]*returns 12, as predicted/);
      assert.equal(await guessed.count(), 2);
      await guessed.nth(0).hover();
      await guessed.nth(0).locator('.codicon-play').click();
      await workbench.dialog.getByText('shop.py will be run, and outer(4) called').waitFor();
      await workbench.dialog.getByText('Really Run', { exact: true }).click();
      await says(0, /returns 10, really; returns 12, as predicted/);
      await guessed.nth(1).hover();
      await guessed.nth(1).locator('.codicon-play').click();
      await says(1, /returns 12, really and as predicted/);
    },
    async 'samples again, and follows the branch that is chosen'(workbench) {
      await workbench.startConfiguration('doubtful');
      await workbench.stoppedAt(lineOf('def inner'));
      await workbench.press('F10');
      await workbench.stoppedAt(lineOf('first = inner'));
      await workbench.command('Neural Debug: Sample Again from Here');
      const groups = workbench.choices.filter({ hasText: 'samples agree' });
      await groups.first().waitFor();
      assert.match(await groups.first().innerText(), /%\s+call inner:\d+/);
      await groups.last().click();
      await until(async () => /Predicted/.test(await workbench.stopText()), 'a stop on the branch');
      await workbench.showsCallStack('inner', 'outer');
    },
  },
};
