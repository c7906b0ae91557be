import * as vscode from 'vscode';
import { functionCall, thisFile } from '../debug/configurationProvider';
import { startSession } from '../debug/startSession';
import { showError } from '../messages';
import { activePythonDocument } from './pythonDocument';

/** Debugs the file of the active editor as a script. */
export async function debugFile(): Promise<void> {
  await start(thisFile);
}

/** Debugs a call, which is asked for, of a function of the active editor's file. */
export async function debugCall(): Promise<void> {
  await start(functionCall);
}

/** Asks for the call to debug; undefined, which ends the launch, where the user leaves the question. */
export async function askEntryCall(): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: 'Neural Debug: call a function',
    prompt: 'The call to debug, as Python source',
    placeHolder: 'gcd(12, 18)',
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? 'A call is needed, such as gcd(12, 18).' : null),
  });
}

async function start(configuration: vscode.DebugConfiguration): Promise<void> {
  try {
    const document = await activePythonDocument(configuration.name);
    if (!document) return;
    const folder = vscode.workspace.getWorkspaceFolder(document.uri);
    await startSession(folder, configuration);
  } catch (thrown) {
    await showError(thrown);
  }
}
