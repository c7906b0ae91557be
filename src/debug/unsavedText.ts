import { basename } from 'node:path';
import * as vscode from 'vscode';
import { errors } from '../../adapter/errors';
import { shownName } from '../../adapter/shownText';

/** The active editor's document, if it is a Python text that is in no file. */
function unsavedDocument(): vscode.TextDocument | null {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'python' && document.isUntitled ? document : null;
}

/** What a program's document is called in configurations and by the debug adapter: a file by its path. */
export function programName(uri: vscode.Uri): string {
  return uri.scheme === 'file' ? uri.fsPath : uri.toString();
}

/**
 * Whether a document can be a program. Others have paths in their URIs, too, but what is there is not what they show:
 * a notebook's path is that of all its cells, a revision's that of the file now.
 */
export function canBeProgram({ uri, isUntitled }: vscode.TextDocument): boolean {
  return isUntitled || uri.scheme === 'file';
}

/** @throws CatalogueError where a document can be no program */
export function checkProgram(document: vscode.TextDocument): void {
  if (!canBeProgram(document)) throw errors.noFileOfItsOwn(nameOf(document));
}

function nameOf({ uri }: { readonly uri: vscode.Uri }): string {
  return shownName(basename(uri.path));
}

/**
 * A configuration for the open file, with the text itself where that was never saved: the editor has no path for
 * `${file}` then.
 *
 * @throws CatalogueError where there is no text, or what is open is no file
 */
export function withUnsavedText(configuration: vscode.DebugConfiguration): vscode.DebugConfiguration {
  if (configuration['program'] !== '${file}') return configuration;
  const { activeNotebookEditor, activeTextEditor } = vscode.window;
  // The path is that of all cells, which are no Python.
  if (activeNotebookEditor) throw errors.noFileOfItsOwn(nameOf(activeNotebookEditor.notebook));
  if (activeTextEditor?.document.languageId === 'python') checkProgram(activeTextEditor.document);
  const document = unsavedDocument();
  return document ? { ...configuration, ...programIn(document) } : configuration;
}

/** Gives a configuration of a text that was never saved the text that its editor has now, where there is any. */
export function takeTextNow(configuration: Record<string, unknown>): void {
  const { program, source } = configuration;
  const document = vscode.workspace.textDocuments.find(
    (one) => one.isUntitled && programName(one.uri) === program,
  );
  const text = document?.getText() ?? '';
  if (typeof source === 'string' && text.trim() !== '') configuration['source'] = text;
}

/**
 * What a launch configuration says of a document's program.
 *
 * @throws CatalogueError where there is no text, or it is in no file of its own
 */
export function programIn(document: vscode.TextDocument): { program: string; source?: string } {
  checkProgram(document);
  if (!document.isUntitled) return { program: document.uri.fsPath };
  const source = document.getText();
  if (source.trim() === '') throw errors.nothingToDebug(document.fileName);
  return { program: programName(document.uri), source };
}

/** How a session of ours starts: without first asking where a text is to be saved that needs no file. */
export function startOptions(): vscode.DebugSessionOptions {
  return { suppressSaveBeforeStart: unsavedDocument() !== null };
}
