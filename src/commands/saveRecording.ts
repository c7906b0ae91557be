import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { z } from 'zod';
import { RefusedRequest, request } from '../debug/requests';

const answer = z.object({ states: z.int() });

/**
 * Saves what a session has predicted so far, to be debugged again later. Where a place cannot be written, that is
 * said and another can be chosen; the session keeps all it has.
 */
export async function saveRecording(session: vscode.DebugSession): Promise<void> {
  const program = z.string().catch('').parse(session.configuration['program']);
  let place = await placeFor(program);
  for (;;) {
    const chosen = await vscode.window.showSaveDialog({
      title: 'Save Recording',
      saveLabel: 'Save',
      defaultUri: vscode.Uri.file(place),
      filters: { Recordings: ['trace.jsonl', 'ndtrace', 'jsonl'] },
    });
    if (!chosen) return;
    const problem = await save(session, chosen.fsPath);
    if (problem === null) return;
    const again = 'Choose Another Place…';
    const detail = 'Nothing is lost: the session keeps its states.';
    if ((await vscode.window.showErrorMessage(problem, { modal: true, detail }, again)) !== again) return;
    place = join(homedir(), basename(chosen.fsPath));
  }
}

/** @returns what keeps the place from being written, or null once it was */
async function save(session: vscode.DebugSession, path: string): Promise<string | null> {
  try {
    const { states } = answer.parse(await request(session, 'neuralDebug/recording', { path }));
    void openOnWish(path, states);
    return null;
  } catch (thrown) {
    if (thrown instanceof RefusedRequest) return thrown.message;
    throw thrown;
  }
}

async function openOnWish(path: string, states: number): Promise<void> {
  const open = 'Open';
  const counted = `${states} ${states === 1 ? 'state' : 'states'}`;
  const answered = await vscode.window.showInformationMessage(`Saved ${counted} in ${basename(path)}.`, open);
  if (answered === open) await vscode.window.showTextDocument(vscode.Uri.file(path));
}

/** Beside the program, where the language server finds it; in the home folder where that cannot be written. */
async function placeFor(program: string): Promise<string> {
  const name = `${basename(program).replace(/\.py$/, '') || 'program'}.trace.jsonl`;
  if (!isAbsolute(program)) return join(homedir(), name);
  try {
    await access(dirname(program), constants.W_OK);
    return join(dirname(program), name);
  } catch {
    return join(homedir(), name);
  }
}
