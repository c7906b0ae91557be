import * as vscode from 'vscode';
import { debugType } from './debugType';

/**
 * Provides something for Python while one of our sessions is active, and only then: other debuggers have providers
 * of their own.
 */
export function whileActive(register: () => vscode.Disposable): vscode.Disposable {
  let registered: vscode.Disposable | null = null;
  const follow = (session: vscode.DebugSession | undefined) => {
    const isOurs = session?.type === debugType;
    if (isOurs && !registered) registered = register();
    if (isOurs || !registered) return;
    registered.dispose();
    registered = null;
  };
  const changes = vscode.debug.onDidChangeActiveDebugSession(follow);
  follow(vscode.debug.activeDebugSession);
  return new vscode.Disposable(() => {
    changes.dispose();
    registered?.dispose();
  });
}
