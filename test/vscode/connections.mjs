// What goes out, and what is started: nothing before a person starts something, and then only to the server that
// was named.
//
// Every Node from VS Code's extension host on writes down what it connects to, looks up and starts
// (connectionRecorder.mjs), every Python does (its audit hook), and so does the page. What is whose is told by these:
// - VS Code's server is a process of its own with nothing of ours in it. What it does, such as looking at its gallery
//   of extensions, does not count.
// - In the extension host and all that it starts every connection counts, whoever opened it: VS Code opens none there.
//   It talks to the extension host through a connection that it inherits, and to its children through pipes.
// - VS Code itself starts programs there (ripgrep, ps). A start is VS Code's where the code that asked for it lies in
//   VS Code's own folder; every other start counts.
// What cannot be seen: connections of native code, and of programs that are neither Node nor Python. There are none:
// each start that counts is compared with what is expected. Pyodide gets no environment from us, and no network.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeServer, codeServerNode, here } from './setup.mjs';
import { until } from './workbench.mjs';

const recorder = join(here, 'connectionRecorder.mjs');

/** Milliseconds in which something that goes out by itself would have begun to. */
const quiet = 4000;

/** Audited events of Python that reach out or start something: what they are called here. */
const pythonEvents = {
  'socket.connect': 'connect',
  'socket.getaddrinfo': 'lookup',
  'socket.gethostbyname': 'lookup',
  'socket.gethostbyaddr': 'lookup',
  'socket.sendto': 'datagram',
  'socket.sendmsg': 'datagram',
  'subprocess.Popen': 'start',
  'os.system': 'start',
  'os.exec': 'start',
  'os.posix_spawn': 'start',
};

/** An interpreter that writes down what it does; where a virtual environment has it, even an isolated one does. */
function makePython(folder, file) {
  const made = spawnSync('python3', ['-m', 'venv', '--without-pip', folder], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const [version] = readdirSync(join(folder, 'lib'));
  const hook = `import json, os, sys

def watch(event, arguments, kinds=${JSON.stringify(pythonEvents)}):
    if event in kinds:
        known = {"pid": os.getpid(), "kind": kinds[event], "what": repr(arguments), "from": []}
        with open(${JSON.stringify(file)}, "a") as log:
            log.write(json.dumps(known) + "\\n")

sys.addaudithook(watch)
`;
  writeFileSync(join(folder, 'lib', version, 'site-packages/sitecustomize.py'), hook);
  return join(folder, 'bin/python3');
}

/** What was written down, as far as it counts. */
class Connections {
  #seen = 0;

  constructor(file) {
    this.file = file;
  }

  /** All records; each Node process has one of kind "process". */
  get #records() {
    if (!existsSync(this.file)) return [];
    return readFileSync(this.file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  /** Forgets what was seen until now. */
  begin() {
    this.#seen = this.#records.length;
  }

  /** What was seen since the beginning: what went out, as "connect host:port", and what was started. */
  get seen() {
    const all = this.#records;
    const apart = apartFromExtensions(all);
    const counted = all.slice(this.#seen).filter(({ pid, kind }) => kind !== 'process' && !apart.has(pid));
    return {
      out: counted.filter(({ kind }) => kind !== 'start').map(({ kind, what }) => `${kind} ${what}`),
      starts: counted.filter((each) => each.kind === 'start' && !isOfVsCode(each)).map(({ what }) => what),
    };
  }

  /** Whether the extension host and our language server are among what is watched. */
  get watchesOurs() {
    const commands = this.#records.filter(({ kind }) => kind === 'process').map(({ what }) => what);
    return commands.some(isExtensionHost) && commands.some((what) => / lsp /.test(what));
  }
}

const isExtensionHost = (command) => command.includes('--type=extensionHost');

/** The processes of VS Code's server with all below it, but for the extension host and what is below that. */
function apartFromExtensions(records) {
  const apart = new Set();
  // Parents come before their children.
  for (const { pid, ppid, kind, what } of records) {
    if (kind !== 'process' || isExtensionHost(what)) continue;
    if (what.includes('out/server-main.js') || apart.has(ppid)) apart.add(pid);
  }
  return apart;
}

/** Whether the code that asked for something, below Node's own, is VS Code's. */
function isOfVsCode({ from }) {
  const asked = from.find((line) => !/[( ]node:/.test(line));
  return asked?.includes(realpathSync(codeServer)) ?? false;
}

/** A server that takes requests and never answers. */
async function startSilentServer() {
  const requests = [];
  const server = createServer((request) => {
    requests.push({ url: request.url, authorization: request.headers.authorization ?? null });
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    requests,
    host: `127.0.0.1:${server.address().port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const program = `def double(n):
    total = n + n
    return total


print(double(4))
`;

/** The gallery of extensions that this VS Code itself looks at. */
const gallery = 'https://open-vsx.org/vscode/gallery/';

const hostOf = ({ baseUrl }) => new URL(baseUrl).host;

const lens = (workbench, title) =>
  workbench.page.locator('.codelens-decoration a').filter({ hasText: new RegExp(`^${title}$`) });

async function stopAtReturn(workbench) {
  await workbench.openFile('double.py');
  await workbench.setBreakpoint(3);
  await workbench.press('F5');
  await workbench.stoppedAt(3);
  await workbench.showsVariable('total', '8');
}

/** @param connected what a fixture needs for a connected server */
export const connections = (connected) => ({
  name: 'connections',
  setup: async (fixture) => {
    const folder = mkdtempSync(join(tmpdir(), 'neural-debug-connections-'));
    const file = join(folder, 'records');
    mkdirSync(join(folder, 'python'));
    fixture.connections = new Connections(file);
    fixture.python = makePython(join(folder, 'python'), file);
    fixture.recordsOf = (environment) => ({ ...environment, NEURAL_DEBUG_TEST_CONNECTIONS: file });
    fixture.silent = await startSilentServer();
    const { machineSettings, environment } = connected(fixture);
    return {
      machineSettings: { ...machineSettings, 'neuralDebug.python': fixture.python },
      environment: fixture.recordsOf(environment),
      preload: recorder,
      files: { 'double.py': program },
      close: async () => {
        await fixture.silent.stop();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  tests: {
    async 'a Python file that is open, its hovers, lenses and menus bring nothing out'(workbench, fixture) {
      const { connections: log } = fixture;
      await workbench.openFile('double.py');
      await lens(workbench, 'Neural Debug').waitFor({ timeout: 40_000 });
      assert.ok(log.watchesOurs, 'The extension host or the language server is not watched.');
      for (const [line, text] of [
        [1, 'double'],
        [2, 'total'],
        [6, 'double'],
      ]) {
        await workbench.pointAt(line, text);
        await sleep(700);
      }
      await lens(workbench, 'Neural Debug').click();
      await workbench.choices.filter({ hasText: 'double(4)' }).waitFor();
      await workbench.press('Escape');
      await workbench.command('Neural Debug: Connect a Model Server');
      await workbench.quickInput.fill(`http://${fixture.silent.host}/v1`);
      await workbench.press('Escape');
      await sleep(quiet);
      const { out, starts } = log.seen;
      assert.deepEqual(out, []);
      assert.equal(starts.length, 1, starts.join('\n'));
      assert.match(starts[0], /neural-debug[^ ]*\/dist\/cli\.cjs lsp /);
      assert.deepEqual(fixture.silent.requests, []);
    },
    async 'a session asks its server, and nobody else'(workbench, fixture) {
      const { connections: log, modelServer } = fixture;
      log.begin();
      await stopAtReturn(workbench);
      assert.match(await workbench.hover(3, 'total'), /^8/);
      await workbench.clickToolbar('step-back');
      await workbench.stoppedAt(2);
      await sleep(1000);
      const { out, starts } = log.seen;
      assert.ok(out.length > 0, 'The connection to the server was not seen.');
      assert.deepEqual([...new Set(out)], [`connect ${hostOf(modelServer)}`]);
      // Expressions over values are evaluated by our own Python program.
      for (const each of starts) assert.match(each, /-I [^ ]*\/dist\/expressions\.py/);
    },
    async 'connecting that is cancelled has asked nobody but the address that was typed'(workbench, fixture) {
      const { connections: log, silent } = fixture;
      log.begin();
      await workbench.command('Neural Debug: Connect a Model Server');
      await workbench.answer('Base URL', `http://${silent.host}/v1`);
      await until(async () => silent.requests.length > 0, 'a request to the server');
      await workbench.page.locator('.notifications-toasts .monaco-button', { hasText: 'Cancel' }).click();
      await workbench.quickInput.waitFor();
      await workbench.press('Escape');
      await sleep(quiet);
      const { out, starts } = log.seen;
      assert.deepEqual([...new Set(out)], [`connect ${silent.host}`]);
      assert.deepEqual(starts, []);
      // The key of the settings' server is not this one's.
      assert.deepEqual(
        silent.requests.filter(({ authorization }) => authorization !== null),
        [],
      );
    },
    async 'guessing an input by real calls, and a comparison with a real run, stay on this computer'(
      workbench,
      { connections: log },
    ) {
      await stopAtReturn(workbench);
      log.begin();
      await workbench.command('Neural Debug: Compare with a Real Run');
      await workbench.dialog.getByText('Really Run', { exact: true }).click();
      await workbench.showsVariable('total', '8  # ✓ really so');
      await workbench.stopDebugging();
      await workbench.command('Neural Debug: Guess Input from Output');
      await workbench.choices.filter({ hasText: 'double' }).first().click();
      await workbench.answer('What should double return?', '14');
      await workbench.choices.filter({ hasText: 'Search by real calls' }).click();
      await workbench.choices.filter({ hasText: 'double(7)' }).waitFor();
      await workbench.press('Escape');
      await sleep(1000);
      const { out, starts } = log.seen;
      assert.deepEqual(out, []);
      for (const script of ['tracer.py', 'inputSearch.py'])
        assert.ok(
          starts.some((each) => each.endsWith(`/dist/${script}`)),
          `${script} was not seen to start:\n${starts.join('\n')}`,
        );
      for (const each of starts) assert.match(each, /\/dist\/(tracer|inputSearch|expressions)\.py$/);
    },
    async 'the page has asked nobody but VS Code'(workbench, { vscode }) {
      const own = `http://127.0.0.1:${vscode.port}/`;
      const others = workbench.requests
        .filter((url) => !url.startsWith(own) && !/^(data|blob):/.test(url))
        .filter((url) => !url.startsWith(gallery));
      assert.ok(workbench.requests.some((url) => url.startsWith(own)));
      assert.deepEqual(others, []);
    },
    'whatever goes out would be seen'(_workbench, { connections: log, python, recordsOf }) {
      const run = (command, ...options) => {
        log.begin();
        const { status, stderr } = spawnSync(command, options, {
          encoding: 'utf8',
          env: recordsOf({ PATH: process.env.PATH }),
        });
        assert.equal(status, 0, stderr);
        return log.seen;
      };
      const node = (code) => run(codeServerNode, '--require', recorder, '--eval', code);
      const nothing = ".on('error', () => undefined)";
      const { out } = node(`
        fetch('http://127.0.0.1:40001/').catch(() => undefined);
        require('node:https').get('https://127.0.0.1:40002/')${nothing};
        require('node:http2').connect('http://127.0.0.1:40003/')${nothing};
        require('node:net').connect(40004, '127.0.0.1')${nothing};
        require('node:tls').connect({ port: 40005, host: '127.0.0.1' })${nothing};
        require('node:net').connect('/nowhere')${nothing};
        require('node:dns').lookup('localhost', () => undefined);
        require('node:dns').promises.lookup('localhost').catch(() => undefined);
        import('node:dns/promises').then((dns) => dns.lookup('localhost')).catch(() => undefined);
        const socket = require('node:dgram').createSocket('udp4');
        socket.send('x', 40006, '127.0.0.1', () => socket.close());
        new WebSocket('ws://127.0.0.1:40007/').onerror = () => undefined;
        const there = (port) => "require('node:net').connect(" + port + ", '127.0.0.1').on('error', () => undefined)";
        new (require('node:worker_threads').Worker)(there(40008), { eval: true });
        require('node:child_process').spawn(process.execPath, ['--eval', there(40009)]);
      `);
      for (const port of [1, 2, 3, 4, 5, 7, 8, 9].map((each) => 40_000 + each))
        assert.ok(out.includes(`connect 127.0.0.1:${port}`), `${port}: ${out}`);
      assert.ok(out.includes('connect /nowhere'), `${out}`);
      assert.equal(out.filter((each) => each === 'lookup localhost').length, 3, `${out}`);
      assert.ok(
        out.some((each) => each.startsWith('datagram 40006')),
        `${out}`,
      );
      const { starts } = node(`
        const { exec, execFileSync, execSync, spawn, spawnSync } = require('node:child_process');
        for (const start of [exec, execSync]) start('true');
        for (const start of [execFileSync, spawn, spawnSync]) start('true', ['x']);
      `);
      assert.ok(starts.length >= 5, starts.join('\n'));
      const ofPython = run(
        python,
        '-I',
        '-c',
        `import socket, subprocess
socket.getaddrinfo("127.0.0.1", 1)
socket.socket().connect_ex(("127.0.0.1", 1))
socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 1))
subprocess.run(["true"])
`,
      );
      assert.deepEqual(
        ofPython.out.map((each) => each.split(' ')[0]),
        ['lookup', 'connect', 'datagram'],
      );
      assert.equal(ofPython.starts.length, 1);
    },
  },
});
