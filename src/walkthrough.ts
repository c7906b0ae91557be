import * as vscode from 'vscode';
import { readSettings } from './settings';

/** What the steps of the walkthrough lead to. Each is a context key of the same name, which ticks its step. */
export type Achievement = 'isConnected' | 'hasStopped' | 'wentBack' | 'hasGuessed';

/** Notes that the user has done what a step of the walkthrough leads to. */
export function achieved(what: Achievement): void {
  void vscode.commands.executeCommand('setContext', `neuralDebug.${what}`, true);
}

/** Notes a server in the settings as connected, now and whenever one is set. */
export function followConnection(): vscode.Disposable {
  const look = () => {
    if (readSettings().server) achieved('isConnected');
  };
  look();
  return vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration('neuralDebug.server')) look();
  });
}
