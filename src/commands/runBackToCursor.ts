import * as vscode from 'vscode';
import { request } from '../debug/requests';
import { programName } from '../debug/unsavedText';
import { errors } from '../../adapter/errors';

/** Goes back to when the line of the cursor was about to run last. What is recorded is enough: no model is asked. */
export async function runBackToCursor(session: vscode.DebugSession): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'python') throw errors.noPythonFile();
  await request(session, 'neuralDebug/runBackTo', {
    source: sourceOf(session, editor.document.uri),
    line: editor.selection.active.line + 1,
  });
}

/** A document as the debug adapter knows it. The text as of launch has a URI of the editor's own, with its reference. */
function sourceOf({ id }: vscode.DebugSession, uri: vscode.Uri): { path: string; sourceReference?: number } {
  const shown = new URLSearchParams(uri.query);
  if (uri.scheme === 'debug' && shown.get('session') === id)
    return { path: uri.fsPath, sourceReference: Number(shown.get('ref')) };
  return { path: programName(uri) };
}
