import * as vscode from 'vscode';
import { startOptions } from './unsavedText';

/** The editor's command that gives the focus to the next of the sessions, with all that is shown of it. */
const nextSession = 'workbench.action.debug.nextConsole';
/** More sessions than are looked through for the one that was begun; those that ended are among them. */
const maxSessions = 50;

/**
 * Starts a session for which the user asked, and shows it. Where another session is stopped the editor itself leaves
 * the focus there, and the new session would stand unseen beside it.
 */
export async function startSession(
  folder: vscode.WorkspaceFolder | undefined,
  configuration: vscode.DebugConfiguration,
): Promise<void> {
  let begun: vscode.DebugSession | undefined;
  const listening = vscode.debug.onDidStartDebugSession((session) => {
    begun ??= session;
  });
  try {
    await vscode.debug.startDebugging(folder, configuration, startOptions());
  } finally {
    listening.dispose();
  }
  if (begun) await showSession(begun);
}

async function showSession(session: vscode.DebugSession): Promise<void> {
  for (let asked = 0; asked < maxSessions; asked++) {
    if (vscode.debug.activeDebugSession?.id === session.id) return;
    await vscode.commands.executeCommand(nextSession);
  }
}
