// VS Code's server with the extension installed, on a free port of this machine.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quietSettings } from './quietSettings.mjs';
import { codeServer, codeServerNode } from './setup.mjs';

/** A running VS Code server with data of its own, which are gone when it is stopped. */
export class VsCodeServer {
  #process;
  #data;
  #token = null;
  #ended;
  /** What the server printed, for reports of failures. */
  log = '';

  /**
   * @param {object} options
   * @param {string} options.vsix the package of the extension to install
   * @param {boolean} [options.runsApiTests] whether pages may have a suite of tests run in the extension host
   * @param {object} [options.settings] the user's settings, beside those that keep VS Code quiet
   * @param {object} [options.machineSettings] the settings of machine scope
   * @param {Record<string, string>} [options.environment] variables for the extension
   * @param {number} [options.port] the port to listen on; 0: any free one
   * @param {string | null} [options.token] what an address must name to be let in; null: everybody is
   * @param {boolean} [options.asksForTrust] whether VS Code asks if a folder is trusted
   * @param {string | null} [options.preload] a module that is loaded first into VS Code's server and extension host
   */
  static async start({
    vsix,
    runsApiTests = false,
    settings = {},
    machineSettings = {},
    environment = {},
    port = 0,
    token = null,
    asksForTrust = false,
    preload = null,
  }) {
    const server = new VsCodeServer();
    server.#token = token;
    server.#data = mkdtempSync(join(tmpdir(), 'neural-debug-vscode-'));
    server.#write('User/settings.json', {
      'security.workspace.trust.enabled': asksForTrust,
      ...quietSettings,
      ...settings,
    });
    server.#write('Machine/settings.json', machineSettings);
    const common = ['--server-data-dir', server.#data, '--accept-server-license-terms'];
    const installed = spawnSync(
      codeServerNode,
      ['out/server-main.js', '--install-extension', vsix, ...common],
      {
        cwd: codeServer,
        encoding: 'utf8',
      },
    );
    if (installed.status !== 0) throw new Error(`The extension was not installed:\n${installed.stderr}`);
    const listen = ['--host', '127.0.0.1', '--port', `${port}`, ...server.#access()];
    const quiet = ['--telemetry-level', 'off', '--disable-telemetry', '--disable-experiments'];
    const noQuestions = ['--disable-getting-started-override', '--skip-welcome'];
    if (!asksForTrust) noQuestions.push('--disable-workspace-trust');
    if (runsApiTests) noQuestions.push('--enable-smoke-test-driver');
    // The extension host is started with the options of Node that the server itself was started with.
    const nodeOptions = preload === null ? [] : ['--require', preload];
    server.#process = spawn(
      codeServerNode,
      [...nodeOptions, 'out/server-main.js', ...common, ...listen, ...quiet, ...noQuestions],
      { cwd: codeServer, env: { ...process.env, ...environment } },
    );
    server.#ended = new Promise((done) => server.#process.once('exit', done));
    server.port = await server.#listening();
    return server;
  }

  /** The address of the workbench with a folder open. */
  url(folder) {
    const token = this.#token === null ? '' : `tkn=${this.#token}&`;
    return `http://127.0.0.1:${this.port}/?${token}folder=${encodeURIComponent(folder)}`;
  }

  /** Settles when VS Code has ended, whatever ended it. */
  get ended() {
    return this.#ended;
  }

  /**
   * The address of a workbench that runs a suite of tests in its extension host.
   *
   * @param {string | null} folder the folder that is open
   * @param {string} extension the folder of an extension that is loaded beside those that are installed
   * @param {string} suite the module with `run`
   */
  apiTestsUrl(folder, extension, suite) {
    const remote = (path) => `vscode-remote://127.0.0.1:${this.port}${path}`;
    const payload = [
      ['extensionDevelopmentPath', remote(extension)],
      ['extensionTestsPath', remote(suite)],
      ['skipWelcome', 'true'],
    ];
    const place = folder === null ? 'ew=true' : `folder=${encodeURIComponent(folder)}`;
    return `http://127.0.0.1:${this.port}/?${place}&payload=${encodeURIComponent(JSON.stringify(payload))}`;
  }

  /** The path of the file with the settings of machine scope. */
  get machineSettings() {
    return join(this.#data, 'data/Machine/settings.json');
  }

  /** The folder of the extensions that are installed. */
  get extensions() {
    return join(this.#data, 'extensions');
  }

  async stop() {
    this.#process.kill('SIGTERM');
    await this.#ended;
    rmSync(this.#data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** How it is told who may come in: by a file, since other users can read command lines. */
  #access() {
    if (this.#token === null) return ['--without-connection-token'];
    const file = join(this.#data, 'token');
    writeFileSync(file, this.#token, { mode: 0o600 });
    return ['--connection-token-file', file];
  }

  #write(name, settings) {
    const path = join(this.#data, 'data', name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, JSON.stringify(settings, null, 2));
  }

  #listening() {
    return new Promise((listening, failed) => {
      const read = (piece) => {
        this.log += piece;
        const port = /Extension host agent listening on (\d+)/.exec(this.log)?.[1];
        if (port) listening(Number(port));
      };
      this.#process.stdout.on('data', read);
      this.#process.stderr.on('data', read);
      this.#process.once('exit', (code) => failed(new Error(`VS Code ended with ${code}:\n${this.log}`)));
    });
  }
}
