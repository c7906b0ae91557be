import { basename } from 'node:path';
import * as vscode from 'vscode';
import { errors } from '../../adapter/errors';
import { canBeProgram, checkProgram } from '../debug/unsavedText';

/** How many files of the workspace are offered. */
const maxFiles = 200;
/** Folders whose Python files are not the user's own. */
const notOffered = '**/{node_modules,site-packages,.*,__pycache__,venv}/**';

/**
 * The Python document that a command means: the active editor's, or the one that is looked at beside it. Where a
 * page that is no text is active, such as the walkthrough, the user chooses among the open files and the workspace's.
 *
 * @returns null where the user chooses none
 * @throws CatalogueError where there is no Python file, or what is open is none, such as a notebook's cell
 */
export async function pythonDocument(title: string): Promise<vscode.TextDocument | null> {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  if (activeTextEditor) {
    if (activeTextEditor.document.languageId !== 'python') throw errors.noPythonFile();
    checkProgram(activeTextEditor.document);
    return activeTextEditor.document;
  }
  const visible = visibleTextEditors.filter(
    ({ document }) => document.languageId === 'python' && canBeProgram(document),
  );
  const [only, ...more] = visible;
  if (only && more.length === 0) return only.document;
  const uri = await choose(title);
  return uri && vscode.workspace.openTextDocument(uri);
}

/** The same, with its editor active, as `${file}` of a launch configuration needs it. */
export async function activePythonDocument(title: string): Promise<vscode.TextDocument | null> {
  const document = await pythonDocument(title);
  if (document && vscode.window.activeTextEditor?.document !== document) {
    await vscode.window.showTextDocument(document);
  }
  return document;
}

async function choose(title: string): Promise<vscode.Uri | null> {
  const open = vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs.map(({ input }) => input))
    .filter((input) => input instanceof vscode.TabInputText)
    .map(({ uri }) => uri)
    .filter(({ scheme, path }) => scheme === 'file' && path.endsWith('.py'));
  const found = await vscode.workspace.findFiles('**/*.py', notOffered, maxFiles);
  found.sort((one, other) => (one.path < other.path ? -1 : 1));
  const uris = new Map([...open, ...found].map((uri) => [uri.toString(), uri]));
  if (uris.size === 0) throw errors.noPythonFile();
  const items = [...uris.values()].map((uri) => ({
    label: basename(uri.path),
    description: vscode.workspace.asRelativePath(uri),
    iconPath: vscode.ThemeIcon.File,
    uri,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: 'Which Python file?',
    matchOnDescription: true,
    // The page that is looked at takes the focus back where it is drawn anew.
    ignoreFocusOut: true,
  });
  return chosen?.uri ?? null;
}
