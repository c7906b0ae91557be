import * as vscode from 'vscode';
import { asCatalogueError } from '../adapter/errors';
import { RefusedRequest } from './debug/requests';

/** Where the editor lets a person say that a workspace is trusted. */
const manageTrust: ErrorAction = {
  title: 'Manage Workspace Trust',
  run: () => vscode.commands.executeCommand('workbench.trust.manage'),
};

/** The errors that trust in the workspace does away with. */
const needsTrust: ReadonlySet<number> = new Set([753, 754]);

/** Shows anything that was thrown, with its way out and its number, and buttons for it. */
export async function showError(thrown: unknown, ...more: readonly ErrorAction[]): Promise<void> {
  if (thrown instanceof RefusedRequest) {
    if (!thrown.isShown) void vscode.window.showErrorMessage(thrown.message);
    return;
  }
  const { message, wayOut, code } = asCatalogueError(thrown);
  const actions = needsTrust.has(code) ? [manageTrust, ...more] : more;
  const chosen = await vscode.window.showErrorMessage(
    `${message} ${wayOut} (${code})`,
    ...actions.map(({ title }) => title),
  );
  await actions.find(({ title }) => title === chosen)?.run();
}

/** A button below an error. */
export interface ErrorAction {
  readonly title: string;
  run(): Thenable<unknown>;
}
