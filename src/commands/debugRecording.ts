import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { errors } from '../../adapter/errors';
import { debugType } from '../debug/debugType';
import { startSession } from '../debug/startSession';
import type { LanguageFeatures } from '../languageClient/languageFeatures';
import { showError } from '../messages';
import { keepRecording } from './madeRecordings';

/**
 * Debugs the states of a recording or a raw trace. Nothing is run and nothing is asked. Where the program's file
 * is not on this computer, its recorded source is shown from the extension's own folder.
 *
 * @param uri the document's URI, as a lens or a menu gives it; without it the active editor's document
 */
export async function debugRecording(
  features: LanguageFeatures,
  storage: vscode.Uri,
  uri?: unknown,
): Promise<void> {
  const document = await documentOf(uri);
  if (!document) return;
  if (document.uri.scheme !== 'file') {
    void showError(errors.unsavedRecording());
    return;
  }
  if (document.isDirty) await document.save();
  const recording = await recordingOf(features, storage, document);
  if (recording === null) {
    void showError(errors.unreadableRecording(basename(document.uri.fsPath)));
    return;
  }
  await startSession(vscode.workspace.getWorkspaceFolder(document.uri), {
    type: debugType,
    request: 'launch',
    name: `Neural Debug: ${basename(document.uri.fsPath)}`,
    world: 'recording',
    recording,
    ...(await recordedProgram(recording)),
    stopOnEntry: true,
  });
}

async function documentOf(uri: unknown): Promise<vscode.TextDocument | null> {
  if (uri instanceof vscode.Uri) return vscode.workspace.openTextDocument(uri);
  if (typeof uri === 'string') return vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
  return vscode.window.activeTextEditor?.document ?? null;
}

/** The path of a recording whose program's file is there: the document itself, or one made from it. */
async function recordingOf(
  features: LanguageFeatures,
  storage: vscode.Uri,
  document: vscode.TextDocument,
): Promise<string | null> {
  const path = document.uri.fsPath;
  if (document.languageId === 'neural-debug-recording' && (await hasProgram(document))) return path;
  const folder = vscode.Uri.joinPath(storage, 'recordings').fsPath;
  return keepRecording(folder, path, document.getText(), (program) =>
    features.recordingText(document.uri.toString(), program),
  );
}

async function hasProgram(document: vscode.TextDocument): Promise<boolean> {
  const { readHeaderLine } = await import('../../adapter/trajectory/recording');
  try {
    const { program } = readHeaderLine(document.lineAt(0).text, document.uri.fsPath);
    // A path that leads to another computer is not looked for.
    if (/^[\\/]{2}/.test(program.path)) return false;
    await access(program.path);
    return true;
  } catch {
    return false;
  }
}

/**
 * The program that a recording names, for when something else is to tell its states. The session itself takes it from
 * the recording, and says there what cannot be read.
 */
async function recordedProgram(recording: string): Promise<object> {
  const { RecordingFile } = await import('../../adapter/trajectory/recordingFile');
  try {
    const { path, entry, args } = (await RecordingFile.open(recording)).header.program;
    const named = { program: path, ...(entry === null ? {} : { entry }), args };
    // The editor would put values in the place of variables, or run a command that the recording names.
    return JSON.stringify(named).includes('${') ? {} : named;
  } catch {
    return {};
  }
}
