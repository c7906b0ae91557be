import { stat } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { errors } from '../../adapter/errors';
import { connectServer } from '../commands/connectServer';
import { showError } from '../messages';
import type { ApiKeys } from '../servers/apiKeys';
import type { Consent } from '../servers/consent';
import { readSettings } from '../settings';
import { prepareAdapter } from './adapterFactory';
import { debugType } from './debugType';
import { withUnsavedText } from './unsavedText';
import { choosePython, chooseWorld, readLaunchFields } from './launchConfiguration';
import { askForWorld } from './missingServer';

/** The configuration of F5 without a launch.json. */
export const thisFile: vscode.DebugConfiguration = {
  type: debugType,
  request: 'launch',
  name: 'Neural Debug: this file',
  program: '${file}',
};

/** The configuration that asks for the call to debug. */
export const functionCall: vscode.DebugConfiguration = {
  type: debugType,
  request: 'launch',
  name: 'Neural Debug: call a function',
  program: '${file}',
  entry: '${command:entryCall}',
  stopOnEntry: true,
};

/**
 * Completes launch configurations and settles what predicts. Nothing is run and nothing is sent before that is
 * settled: by the configuration, by the settings, or by asking.
 */
export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(
    private readonly keys: ApiKeys,
    private readonly consent: Consent,
  ) {}

  provideDebugConfigurations(): vscode.DebugConfiguration[] {
    return [thisFile, functionCall];
  }

  resolveDebugConfiguration(
    _folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): vscode.DebugConfiguration | undefined {
    const isNew = !configuration.type && !configuration.request && !configuration.name;
    const resolved = isNew ? thisFile : configuration;
    if (isNew && vscode.window.activeTextEditor?.document.languageId !== 'python') {
      void showError(errors.noPythonFile());
      return undefined;
    }
    try {
      return withUnsavedText(resolved);
    } catch (thrown) {
      void showError(thrown);
      return undefined;
    }
  }

  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    try {
      const settled = await this.#settle(folder, configuration);
      if (settled) prepareAdapter(settled);
      return settled;
    } catch (thrown) {
      void showError(thrown);
      return undefined;
    }
  }

  async #settle(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    const fields = readLaunchFields(configuration);
    const settings = readSettings();
    const python = choosePython(fields, settings, vscode.workspace.isTrusted);
    const completed = {
      ...configuration,
      ...(python === null ? {} : { python }),
      ...(settings.sandbox === null || fields.sandbox ? {} : { sandbox: settings.sandbox }),
    };
    const choice = chooseWorld(fields, settings, this.consent.confirmed);
    if (choice.world === 'recording') {
      const { recording } = fields;
      return {
        ...completed,
        world: 'recording',
        // Without one the debug adapter says what is missing.
        ...(recording ? { recording: inFolder(recording, folder) } : {}),
        ...(fields.program && !fields.source ? { program: inFolder(fields.program, folder) } : {}),
      };
    }

    const program = fields.source ? (fields.program ?? '') : absolutePath(fields.program, folder);
    if (!fields.source && !(await isFile(program))) throw errors.programNotFound(program);
    const settled = { ...completed, program };
    switch (choice.world) {
      case 'ask':
        return this.#askForWorld(settled, program);
      case 'server': {
        const { server, unconfirmedOrigin } = choice;
        const agreed =
          unconfirmedOrigin === null || (await this.consent.ask(unconfirmedOrigin, basename(program)));
        return agreed ? onServer(settled, server) : undefined;
      }
      case 'reference':
        return onReference(settled);
    }
  }

  /** Nothing predicts yet: the user chooses, and until then nothing happens. */
  async #askForWorld(
    configuration: vscode.DebugConfiguration,
    program: string,
  ): Promise<vscode.DebugConfiguration | undefined> {
    const chosen = await askForWorld(program);
    if (chosen === null) return undefined;
    if (chosen === 'reference') return onReference(configuration);
    if (chosen !== 'connect') return { ...configuration, world: 'recording', recording: chosen.recording };
    const server = await connectServer(this.keys);
    return server ? onServer(configuration, server) : undefined;
  }
}

function onServer(configuration: vscode.DebugConfiguration, server: object): vscode.DebugConfiguration {
  return { ...configuration, world: 'server', server };
}

function onReference(configuration: vscode.DebugConfiguration): vscode.DebugConfiguration {
  if (!vscode.workspace.isTrusted) throw errors.runInUntrustedWorkspace();
  return { ...configuration, world: 'reference' };
}

function absolutePath(program: string | undefined, folder: vscode.WorkspaceFolder | undefined): string {
  if (program === undefined || program === '') throw errors.noPythonFile();
  return inFolder(program, folder);
}

/** A path of a launch configuration: a relative one is meant from the workspace's folder. */
function inFolder(path: string, folder: vscode.WorkspaceFolder | undefined): string {
  return isAbsolute(path) || !folder ? path : join(folder.uri.fsPath, path);
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
