// What the extension says and offers when the server that predicts is dead, slow, or not what it should be.
import assert from 'node:assert/strict';
import { createServer, request as send } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from './setup.mjs';
import { until } from './workbench.mjs';

const program = `total = 0
for n in [1, 2, 3]:
    total += n
print(total)
`;

const page = '<!doctype html><title>Sign in</title>';
const refusal = (status, message, code) => [
  status,
  { 'content-type': 'application/json' },
  JSON.stringify({ error: { message, code } }),
];

/** What a server answers in the place of the one behind it; null: nothing until it passes requests on again. */
const answers = {
  silent: null,
  page: [200, { 'content-type': 'text/html' }, page],
  'key refused': refusal(401, 'Incorrect API key provided', 'invalid_api_key'),
  'model unknown': refusal(404, 'The model does not exist', 'model_not_found'),
};

/** A server in front of the model server, which can die and be there again at the same address. */
async function startFront(modelServer) {
  const target = new URL(modelServer.baseUrl);
  const front = { requests: [], behaviour: 'passes' };
  let held = [];
  const pass = (incoming, response) => {
    const headers = { ...incoming.headers, host: target.host };
    const { method, url } = incoming;
    const passed = send(new URL(url, target.origin), { method, headers }, (outgoing) => {
      response.writeHead(outgoing.statusCode, outgoing.headers);
      outgoing.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    incoming.pipe(passed);
  };
  const server = createServer((incoming, response) => {
    front.requests.push(incoming.url);
    if (front.behaviour === 'passes') {
      pass(incoming, response);
      return;
    }
    const answer = answers[front.behaviour];
    if (answer) response.writeHead(answer[0], answer[1]).end(answer[2]);
    else held.push([incoming, response]);
  });
  const listen = (port) => new Promise((listening) => server.listen(port, '127.0.0.1', listening));
  await listen(0);
  const { port } = server.address();
  return Object.assign(front, {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async die() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
    async revive() {
      front.behaviour = 'passes';
      if (!server.listening) await listen(port);
      for (const [incoming, response] of held) if (!response.destroyed) pass(incoming, response);
      held = [];
    },
    async stop() {
      if (server.listening) await front.die();
    },
  });
}

const item = (workbench) =>
  workbench.page.locator('.statusbar-item[id="neural-debug.neural-debug.neuralDebug.session"]');

/** Waits until the item of the status bar reads so, and is of that kind: `error`, `warning` or null. */
async function shows(workbench, text, kind = null) {
  let seen = '';
  await until(
    async () => {
      const classes = await item(workbench).getAttribute('class');
      const label = await item(workbench).locator('a').getAttribute('aria-label');
      seen = `${label} | ${classes}`;
      const kinds = /\b(error|warning)-kind\b/.exec(classes)?.[1] ?? null;
      return text.test(label) && kinds === kind;
    },
    () => `the status ${text}, ${kind}; shown: ${seen}`,
  );
}

const toasts = (workbench) => workbench.page.locator('.notifications-toasts .notification-list-item');

/** Waits for one message, and gives its text. */
async function message(workbench, text) {
  const found = toasts(workbench).filter({ hasText: text });
  await found.first().waitFor();
  // Progress that has ended fades.
  await until(async () => (await toasts(workbench).count()) === 1, 'one message only');
  return found.first();
}

async function press(toast, button) {
  await toast.locator('.monaco-button', { hasText: button }).click();
}

async function offers(workbench) {
  await item(workbench).locator('a').click();
  await workbench.choices.first().waitFor();
  return (await workbench.choices.allInnerTexts()).map((text) => text.trim());
}

async function stopInLoop(workbench, front) {
  await front.revive();
  await workbench.openFile('sum.py');
  await workbench.setBreakpoint(3);
  await workbench.press('F5');
  await workbench.stoppedAt(3);
  await shows(workbench, /predicted: neural-debug-reference-cwm/);
}

export const health = {
  name: 'health',
  setup: async (fixture) => {
    const front = await startFront(fixture.modelServer);
    fixture.front = front;
    return {
      machineSettings: {
        'neuralDebug.server.baseUrl': front.baseUrl,
        'neuralDebug.server.model': 'neural-debug-reference-cwm',
        'neuralDebug.server.format': 'cwm',
      },
      environment: { NEURAL_DEBUG_API_KEY: fixture.modelServer.token },
      files: { 'sum.py': program },
      close: () => front.stop(),
    };
  },
  tests: {
    async 'outside of a session the status says what is set, and asks only when it is told to'(
      workbench,
      { front },
    ) {
      await workbench.openFile('sum.py');
      await shows(workbench, /neural-debug-reference-cwm.*It was not asked yet/);
      assert.match(
        (await offers(workbench)).join('\n'),
        /^Test the connection[^]*another server[^]*API key[^]*log[^]*settings/,
      );
      await workbench.press('Escape');
      assert.deepEqual(front.requests, []);
      await offers(workbench);
      await workbench.choices.filter({ hasText: 'Test the connection' }).click();
      await message(workbench, /The model continues execution traces/);
      await shows(workbench, /It answered at/);
      await workbench.command('Notifications: Clear All Notifications');
      await front.die();
      await offers(workbench);
      await workbench.choices.filter({ hasText: 'Test the connection' }).click();
      const failed = await message(workbench, /connection was refused.*\(303\)/);
      await shows(workbench, /failed.*It failed at .*connection was refused/);
      await front.revive();
      await press(failed, 'Try Again');
      await shows(workbench, /It answered at/);
    },
    async 'a server that dies midway is met by one message, and the step is tried again'(
      workbench,
      { front },
    ) {
      await stopInLoop(workbench, front);
      await front.die();
      await workbench.press('F10');
      await message(workbench, /connection was refused/);
      await shows(workbench, /predicted: .*, failed.*It failed at .*connection was refused/, 'error');
      await workbench.screenshot(join(root, 'test-results/vscode/health-failed.png'));
      // What was predicted is there to be read.
      await workbench.stoppedAt(3);
      await workbench.showsVariable('n', '1');
      await workbench.clickToolbar('step-back');
      await workbench.stoppedAt(2);
      await workbench.press('F10');
      await workbench.stoppedAt(3);
      await shows(workbench, /failed/, 'error');
      assert.match((await offers(workbench)).join('\n'), /Connect another server[^]*another world/);
      await workbench.press('Escape');
      await workbench.press('F10');
      const again = await message(workbench, /connection was refused/);
      await front.revive();
      await press(again, 'Try Again');
      await workbench.stoppedAt(2);
      await workbench.showsVariable('total', '1');
      await shows(workbench, /predicted: neural-debug-reference-cwm\. .*It answered at/);
      // The status bar offers the same.
      await front.die();
      await workbench.press('F10');
      await message(workbench, /connection was refused/);
      await front.revive();
      assert.match((await offers(workbench))[0], /^Try again/);
      await workbench.choices.first().click();
      await workbench.stoppedAt(3);
      await workbench.showsVariable('n', '2');
    },
    async 'a server that is silent is told as slow, and waiting for it can be ended'(workbench, { front }) {
      await stopInLoop(workbench, front);
      front.behaviour = 'silent';
      await workbench.press('F10');
      await shows(workbench, /no answer yet.*nothing had come/, 'warning');
      await workbench.screenshot(join(root, 'test-results/vscode/health-slow.png'));
      assert.match((await offers(workbench))[0], /^Stop waiting/);
      await workbench.choices.first().click();
      await shows(workbench, /predicted: neural-debug-reference-cwm\. /);
      await workbench.stoppedAt(3);
      // What is offered stays until it is answered, also where the answer comes and the stop takes the focus.
      await workbench.press('F10');
      await shows(workbench, /no answer yet.*nothing had come/, 'warning');
      await offers(workbench);
      await front.revive();
      await workbench.stoppedAt(2);
      await sleep(500);
      assert.equal(await workbench.choices.first().isVisible(), true);
      await workbench.press('Escape');
      await workbench.press('F10');
      await workbench.stoppedAt(3);
    },
    async 'F5 on a server that cannot predict is met by one message, and begins once it can'(
      workbench,
      { front },
    ) {
      await workbench.openFile('sum.py');
      await workbench.setBreakpoint(4);
      const begin = async (text) => {
        await workbench.press('F5');
        const toast = await message(workbench, text);
        await workbench.ended();
        return toast;
      };
      const refused = { page: /web page.*\(315\)/, 'key refused': /\(308\)/, 'model unknown': /\(309\)/ };
      for (const [behaviour, text] of Object.entries(refused)) {
        front.behaviour = behaviour;
        const toast = await begin(text);
        const buttons = await toast.locator('.monaco-button').allInnerTexts();
        assert.deepEqual(buttons, ['Connect…', 'Try Again', 'Use Another World…', 'Show Log']);
        await workbench.command('Notifications: Clear All Notifications');
      }
      await front.die();
      const dead = await begin(/connection was refused.*\(303\)/);
      await workbench.screenshot(join(root, 'test-results/vscode/health-start.png'));
      await front.revive();
      await press(dead, 'Try Again');
      await workbench.stoppedAt(4);
      await workbench.showsVariable('total', '6');
    },
    async 'another server, or another world, takes the place of a dead one'(
      workbench,
      { front, modelServer },
    ) {
      await stopInLoop(workbench, front);
      await front.die();
      await workbench.press('F10');
      await press(await message(workbench, /connection was refused/), 'Connect…');
      await workbench.answer('Base URL', modelServer.baseUrl);
      await workbench.answer('API key', modelServer.token);
      await workbench.choices.filter({ hasText: 'neural-debug-reference-cwm' }).click();
      await workbench.choices.filter({ hasText: 'recommended' }).click();
      // The step that failed is taken there, from where the session was.
      await workbench.stoppedAt(2);
      await workbench.showsVariable('total', '1');
      await workbench.clickToolbar('step-back');
      await workbench.stoppedAt(3);
      await shows(workbench, /predicted: neural-debug-reference-cwm/);

      await offers(workbench);
      await workbench.choices.filter({ hasText: 'another world' }).click();
      await workbench.dialog.getByText('Really Run It', { exact: true }).click();
      await shows(workbench, /real run: Python/);
      // The session with the prediction is there beside it.
      await workbench.press('Shift+F5');
      await shows(workbench, /predicted: neural-debug-reference-cwm/);
    },
    async 'another world takes a text that was never saved as it is by then'(workbench, { front }) {
      await front.revive();
      await workbench.command('File: New Untitled Text File');
      await workbench.command('Change Language Mode');
      await workbench.quickInput.fill('python');
      await workbench.choices.filter({ hasText: '(python)' }).click();
      await workbench.page.locator('.statusbar-item', { hasText: /^Python$/ }).waitFor();
      await workbench.page.keyboard.insertText('a = 1\nb = a\n');
      await workbench.command('Neural Debug: Predict This File');
      // Where nothing stops it, it is stopped at its end.
      await workbench.stoppedAt(2);
      await workbench.command('Focus Active Editor Group');
      await workbench.press('Control+End');
      await workbench.page.keyboard.insertText('c = b + 4');
      await offers(workbench);
      await workbench.choices.filter({ hasText: 'another world' }).click();
      await workbench.dialog.getByText('Really Run It', { exact: true }).click();
      await shows(workbench, /real run: Python/);
      await workbench.stoppedAt(3);
      await workbench.showsVariable('c', '5');
    },
  },
};
