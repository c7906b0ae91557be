import * as vscode from 'vscode';
import { asCatalogueError } from '../adapter/errors';

/** Shows anything that was thrown, with its way out and its number. */
export async function showError(thrown: unknown, ...actions: readonly ErrorAction[]): Promise<void> {
  const { message, wayOut, code } = asCatalogueError(thrown);
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
