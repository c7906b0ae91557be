// A folder that nobody has trusted yet, with files of VS Code's and recordings that mean harm.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCountingServer } from './modelServer.mjs';
import { root } from './setup.mjs';
import { startChat } from './starting.mjs';
import { until } from './workbench.mjs';

/** A program that leaves a trace on the disk when it is really run. */
const touches = `import pathlib

pathlib.Path(__file__).with_name("was-run").write_text("yes")


def double(n):
    total = n + n
    return total


print(double(4))
`;

/** A program whose values would be pictures and commands, if they were taken for Markdown or HTML. */
const hostile = (origin) => `link = "[y](command:workbench.action.terminal.new) <a href='command:x'>z</a>"
picture = "\`\`\` ![x](${origin}/pixel.png) <img src='${origin}/image.png'>"
print(len(link + picture))
`;

/** A Python of the workspace's own. */
const theirPython = `#!/bin/sh
touch "$(dirname "$0")/their-python-ran"
exec python3 "$@"
`;

const wasRun = ({ workspace }) => existsSync(join(workspace, 'was-run'));
const theirsRan = ({ workspace }) => existsSync(join(workspace, 'their-python-ran'));

const lens = (workbench, title) =>
  workbench.page.locator('.codelens-decoration a').filter({ hasText: new RegExp(`^${title}$`) });

/** What VS Code asks before it starts a session in a folder that is not trusted. */
const trustQuestion = (workbench) => workbench.dialog.filter({ hasText: 'Do you trust' });

/** Closes what lies over everything else. */
async function leaveTrustEditor(workbench) {
  await workbench.press('Escape');
  await workbench.page.locator('.workspace-trust-editor').waitFor({ state: 'hidden' });
}

async function guessBySearch(workbench) {
  await workbench.openFile('touches.py');
  await workbench.command('Neural Debug: Guess Input from Output');
  await workbench.choices.filter({ hasText: 'double' }).first().click();
  await workbench.answer('What should double return?', '14');
  await workbench.choices.filter({ hasText: 'Search by real calls' }).click();
}

const refusal = (workbench) =>
  workbench.page.locator('.notifications-toasts .notification-list-item', {
    hasText: 'A program of an untrusted workspace is not run. Trust the workspace',
  });

async function isRefused(workbench, fixture) {
  await refusal(workbench).waitFor();
  assert.equal(wasRun(fixture), false);
}

export const restricted = {
  name: 'restricted mode',
  setup: async (fixture) => {
    const { modelServer, workspace } = fixture;
    const elsewhere = await startCountingServer();
    const chat = await startChat('{"calls": ["double(30)", "double(-1)"]}');
    Object.assign(fixture, { elsewhere, chat });
    const interpreter = join(workspace, 'python.sh');
    writeFileSync(interpreter, theirPython, { mode: 0o755 });
    writeFileSync(join(workspace, 'hostile.py'), hostile(elsewhere.origin));
    const traced = spawnSync(
      process.execPath,
      [
        join(root, 'dist/cli.cjs'),
        ...['trace', join(workspace, 'hostile.py'), '-o', join(workspace, 'hostile.trace.jsonl')],
      ],
      { encoding: 'utf8' },
    );
    assert.equal(traced.status, 0, traced.stderr);
    const configurations = [
      { name: 'predicted', server: { baseUrl: modelServer.baseUrl, format: 'cwm' }, entry: 'double(4)' },
      { name: 'elsewhere', server: { baseUrl: elsewhere.baseUrl, model: 'm', format: 'cwm' } },
      { name: 'really', world: 'reference' },
    ].map((more) => ({
      type: 'neural-debug',
      request: 'launch',
      program: '${workspaceFolder}/touches.py',
      stopOnEntry: true,
      ...more,
    }));
    return {
      asksForTrust: true,
      settings: { 'security.workspace.trust.startupPrompt': 'never' },
      machineSettings: {
        'neuralDebug.server.baseUrl': chat.baseUrl,
        'neuralDebug.server.model': 'chatty',
        'neuralDebug.server.format': 'chat',
      },
      environment: {
        NEURAL_DEBUG_API_KEY: modelServer.token,
        NEURAL_DEBUG_BASE_URL: modelServer.baseUrl,
      },
      files: {
        'touches.py': touches,
        '.vscode/settings.json': JSON.stringify({
          'neuralDebug.server.baseUrl': elsewhere.baseUrl,
          'neuralDebug.server.model': 'theirs',
          'neuralDebug.server.format': 'cwm',
          'neuralDebug.python': interpreter,
          'neuralDebug.sandbox': 'python',
        }),
        '.vscode/launch.json': JSON.stringify({ version: '0.2.0', configurations }),
      },
      close: async () => {
        await elsewhere.stop();
        await chat.stop();
      },
    };
  },
  tests: {
    async 'lenses and recorded values are there, shown as text'(workbench, { elsewhere }) {
      await workbench.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
      await workbench.openFile('touches.py');
      await lens(workbench, 'Neural Debug').waitFor({ timeout: 40_000 });
      await workbench.openFile('hostile.py');
      const hover = workbench.page.locator('.monaco-hover:visible').first();
      for (const [name, part] of [
        ['link', 'command:workbench'],
        ['picture', 'pixel.png'],
      ]) {
        await until(async () => {
          await workbench.pointAt(3, name);
          await hover.waitFor({ timeout: 3000 });
          return (await hover.innerText()).includes(part);
        }, `a hover over ${name} with ${part}`);
        assert.match(await hover.innerText(), /a real run/);
        assert.equal(await hover.locator('img, a').count(), 0);
      }
      assert.deepEqual(elsewhere.requests, []);
    },
    async 'the server is the user’s, whatever the workspace says'(workbench, { elsewhere, chat }) {
      await workbench.openFile('touches.py');
      await workbench.command('Neural Debug: Connect a Model Server');
      await workbench.page.locator('.quick-input-widget:visible', { hasText: 'Base URL' }).waitFor();
      assert.equal(await workbench.quickInput.inputValue(), chat.baseUrl);
      await workbench.press('Escape');
      await lens(workbench, 'Neural Debug').click();
      await workbench.choices.filter({ hasText: 'Let the model make some up' }).click();
      await workbench.choices.filter({ hasText: 'double(30)' }).waitFor();
      assert.ok(chat.requests.some((body) => body.includes('total = n + n')));
      assert.deepEqual(elsewhere.requests, []);
    },
    async 'a real run is refused, with where trust is given'(workbench, fixture) {
      await guessBySearch(workbench);
      await isRefused(workbench, fixture);
      await refusal(workbench).locator('.monaco-button', { hasText: 'Manage Workspace Trust' }).click();
      await workbench.page.locator('.workspace-trust-editor').waitFor();
      await leaveTrustEditor(workbench);
    },
    async 'VS Code asks before any session, and without trust there is none'(workbench, fixture) {
      const { elsewhere } = fixture;
      await workbench.openFile('touches.py');
      for (const name of ['predicted', 'elsewhere', 'really']) {
        await workbench.startConfiguration(name);
        await trustQuestion(workbench).waitFor();
        await workbench.dialog.getByText('Cancel', { exact: true }).click();
        await sleep(500);
        assert.equal(await workbench.debugToolbar.count(), 0);
        assert.equal(await workbench.dialog.count(), 0);
      }
      assert.deepEqual(elsewhere.requests, []);
      assert.equal(wasRun(fixture), false);
    },
    async 'once trusted it predicts at once, asks before source leaves, and runs nothing unasked'(
      workbench,
      fixture,
    ) {
      const { elsewhere } = fixture;
      await workbench.page.evaluate(() => Object.assign(globalThis, { sameWindow: true }));
      await workbench.openFile('touches.py');
      await workbench.startConfiguration('predicted');
      await trustQuestion(workbench).locator('.monaco-button', { hasText: 'Continue' }).click();
      await workbench.dialog.getByText('Send', { exact: true }).click();
      await workbench.stoppedAt(7);
      await workbench.showsVariable('n', '4');
      assert.equal(await workbench.page.evaluate(() => globalThis.sameWindow), true);
      assert.match(await workbench.stopText(), /predicted/i);
      assert.equal(wasRun(fixture), false);
      await workbench.press('F10');
      await workbench.stoppedAt(8);

      await workbench.command('Neural Debug: Compare with a Real Run');
      const consent = workbench.dialog.filter({ hasText: 'touches.py will be run' });
      await consent.waitFor();
      assert.equal(wasRun(fixture), false);
      await consent.getByText('Really Run', { exact: true }).click();
      await workbench.showsVariable('total', '8  # ✓ really so');
      assert.equal(wasRun(fixture), true);
      await workbench.stopDebugging();

      await workbench.startConfiguration('elsewhere');
      await workbench.dialog.filter({ hasText: elsewhere.origin }).waitFor();
      await workbench.dialog.getByText('Cancel', { exact: true }).click();
      await sleep(500);
      assert.deepEqual(elsewhere.requests, []);
      // No setting of the workspace chose the Python, trusted or not.
      assert.equal(theirsRan(fixture), false);
    },
  },
};
