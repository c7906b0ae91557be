// VS Code's server with the extension installed, on a free port of this machine.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeServer, codeServerNode } from './setup.mjs';

const userSettings = {
  'security.workspace.trust.enabled': false,
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'window.commandCenter': false,
  'git.enabled': false,
  'terminal.integrated.gpuAcceleration': 'off',
  'editor.minimap.enabled': false,
  'files.hotExit': 'off',
};

/** A running VS Code server with data of its own, which are gone when it is stopped. */
export class VsCodeServer {
  #process;
  #data;
  /** What the server printed, for reports of failures. */
  log = '';

  /**
   * @param {object} options
   * @param {string} options.vsix the package of the extension to install
   * @param {object} [options.settings] the user's settings, beside those that keep VS Code quiet
   * @param {object} [options.machineSettings] the settings of machine scope
   * @param {Record<string, string>} [options.environment] variables for the extension
   */
  static async start({ vsix, settings = {}, machineSettings = {}, environment = {} }) {
    const server = new VsCodeServer();
    server.#data = mkdtempSync(join(tmpdir(), 'neural-debug-vscode-'));
    server.#write('User/settings.json', { ...userSettings, ...settings });
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
    server.#process = spawn(
      codeServerNode,
      [
        ...[
          'out/server-main.js',
          '--host',
          '127.0.0.1',
          '--port',
          '0',
          '--without-connection-token',
          ...common,
        ],
        ...['--telemetry-level', 'off', '--disable-workspace-trust', '--disable-getting-started-override'],
        ...['--skip-welcome', '--disable-telemetry', '--disable-experiments'],
      ],
      { cwd: codeServer, env: { ...process.env, ...environment } },
    );
    server.port = await server.#listening();
    return server;
  }

  /** The address of the workbench with a folder open. */
  url(folder) {
    return `http://127.0.0.1:${this.port}/?folder=${encodeURIComponent(folder)}`;
  }

  /** The path of the file with the settings of machine scope. */
  get machineSettings() {
    return join(this.#data, 'data/Machine/settings.json');
  }

  async stop() {
    const ended = new Promise((done) => this.#process.once('exit', done));
    this.#process.kill('SIGTERM');
    await ended;
    rmSync(this.#data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
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
