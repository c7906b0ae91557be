import * as vscode from 'vscode';
import { request } from '../debug/requests';
import { z } from 'zod';

const answer = z.object({
  name: z.string().nullable(),
  line: z.int(),
  shown: z.string(),
  drawn: z.int(),
  notes: z.array(z.string()),
  alternatives: z.array(
    z.object({
      value: z.string(),
      count: z.int(),
      share: z.number(),
      isShown: z.boolean(),
      branch: z.int().nullable(),
    }),
  ),
});

/** What is asked about: a row of the variables, a state, or without either the current state. */
export interface AlternativesOf {
  readonly variablesReference?: number;
  readonly name?: string;
  readonly state?: number;
}

/** How many samples are drawn. */
const count = 8;

/**
 * Asks the model, several times, for what is shown, and lists what else it says, with shares. One that is chosen is
 * gone to: its branch is followed then.
 */
export async function showAlternatives(session: vscode.DebugSession, of: AlternativesOf): Promise<void> {
  const said: unknown = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `The model is asked ${count} times more…` },
    () => request(session, 'neuralDebug/alternatives', { ...of, count }),
  );
  const { name, line, drawn, notes, alternatives } = answer.parse(said);
  const items = alternatives.map((one) => ({
    label: `${one.isShown ? '$(check)' : '$(git-branch)'} ${name === null ? '' : `${name} = `}${one.value}`,
    description: `${Math.round(one.share * 100)}%${one.isShown ? ' · shown' : ''}`,
    detail: `${one.count} of ${drawn} samples${one.branch === null ? '' : `, branch ${one.branch}`}`,
    branch: one.isShown ? null : one.branch,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: name === null ? `What else could be here, on line ${line}?` : `What else could ${name} be?`,
    placeHolder: notes[0] ?? 'Choose one to follow its branch',
    // What is shown is drawn anew meanwhile, by which the editor takes the focus.
    ignoreFocusOut: true,
  });
  if (chosen && chosen.branch !== null)
    await request(session, 'neuralDebug/switchBranch', { branch: chosen.branch });
}
