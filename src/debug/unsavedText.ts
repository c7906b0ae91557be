import * as vscode from 'vscode';
import { errors } from '../../adapter/errors';

/** The active editor's document, if it is a Python text that is in no file. */
function unsavedDocument(): vscode.TextDocument | null {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'python' && document.isUntitled ? document : null;
}

/**
 * A configuration for the open file, with the text itself where that was never saved: the editor has no path for
 * `${file}` then.
 *
 * @throws CatalogueError where there is no text
 */
export function withUnsavedText(configuration: vscode.DebugConfiguration): vscode.DebugConfiguration {
  const document = configuration['program'] === '${file}' ? unsavedDocument() : null;
  return document ? { ...configuration, ...programIn(document) } : configuration;
}

/**
 * What a launch configuration says of a document's program.
 *
 * @throws CatalogueError where there is no text
 */
export function programIn(document: vscode.TextDocument): { program: string; source?: string } {
  if (!document.isUntitled) return { program: document.uri.fsPath };
  const source = document.getText();
  if (source.trim() === '') throw errors.nothingToDebug(document.fileName);
  return { program: document.uri.toString(), source };
}

/** How a session of ours starts: without first asking where a text is to be saved that needs no file. */
export function startOptions(): vscode.DebugSessionOptions {
  return { suppressSaveBeforeStart: unsavedDocument() !== null };
}
