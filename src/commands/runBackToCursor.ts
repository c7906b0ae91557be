import * as vscode from 'vscode';
import { request } from '../debug/requests';
import { errors } from '../../adapter/errors';

/** Goes back to when the line of the cursor was about to run last. What is recorded is enough: no model is asked. */
export async function runBackToCursor(session: vscode.DebugSession): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'python') throw errors.noPythonFile();
  await request(session, 'neuralDebug/runBackTo', {
    source: { path: editor.document.uri.fsPath },
    line: editor.selection.active.line + 1,
  });
}
