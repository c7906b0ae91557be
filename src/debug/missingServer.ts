import { basename } from 'node:path';
import * as vscode from 'vscode';
import { shownName } from '../../adapter/shownText';

/** What tells the program's states where no server is connected. */
export type OtherWorld = 'connect' | 'reference' | { readonly recording: string };

/**
 * Asks what shall tell a program's states. Until that is answered nothing is run and nothing is sent.
 *
 * @param why no server is connected, or something else than what answered so far is wanted
 * @returns null where the user wants none
 */
export async function askForWorld(
  program: string,
  why: 'none' | 'other' = 'none',
): Promise<OtherWorld | null> {
  const connect = why === 'none' ? 'Connect a Server…' : 'Connect Another Server…';
  const run = 'Really Run It';
  const open = 'Open a Recording…';
  const { isTrusted } = vscode.workspace;
  const name = shownName(basename(program));
  const detail = [
    'On a model server, a language model predicts them. The program is not run; its source is sent there.',
    isTrusted
      ? `A real run of ${name} by Python happens on this computer, with your rights.`
      : 'This workspace is not trusted, so nothing of it is run.',
    'A recording shows what was saved before.',
  ];
  const chosen = await vscode.window.showInformationMessage(
    `${why === 'none' ? 'No model server is connected. ' : ''}What shall tell the states of ${name}?`,
    { modal: true, detail: detail.join('\n\n') },
    connect,
    ...(isTrusted ? [run] : []),
    open,
  );
  switch (chosen) {
    case connect:
      return 'connect';
    case run:
      return 'reference';
    case open: {
      const files = await vscode.window.showOpenDialog({
        title: 'Open a Recording',
        filters: { Recordings: ['ndtrace', 'jsonl'] },
      });
      return files?.[0] ? { recording: files[0].fsPath } : null;
    }
    default:
      return null;
  }
}
