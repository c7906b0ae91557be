import * as vscode from 'vscode';
import { errors } from '../../adapter/errors';

const storeName = 'agreedToRealRuns';

/** Whether programs of this workspace may really be run. It is asked once, and never in an untrusted one. */
export class RealRuns {
  /** @param memory the workspace's */
  constructor(private readonly memory: vscode.Memento) {}

  /** Whether the user has agreed. */
  get areAgreed(): boolean {
    return vscode.workspace.isTrusted && this.memory.get(storeName, false);
  }

  /**
   * Asks unless the user has agreed before.
   *
   * @param what what will be run, as a sentence
   * @throws CatalogueError in an untrusted workspace
   */
  async ask(what: string): Promise<boolean> {
    if (!vscode.workspace.isTrusted) throw errors.runInUntrustedWorkspace();
    if (this.areAgreed) return true;
    const question = 'Let Neural Debug really run programs of this workspace?';
    const agreed = await confirmed(
      question,
      `${what}\n\n${rights} You will not be asked again in this workspace.`,
    );
    if (agreed) await this.memory.update(storeName, true);
    return agreed;
  }

  /**
   * Asks whether the program that a recording holds may really be run. It is asked each time: a recording may come from
   * anywhere, and its program is none of the workspace's.
   *
   * @throws CatalogueError in an untrusted workspace
   */
  async askForRecorded(recording: string): Promise<boolean> {
    if (!vscode.workspace.isTrusted) throw errors.runInUntrustedWorkspace();
    return confirmed(
      'Let Neural Debug really run the program that this recording holds?',
      `The program in ${recording} will be run, as its text stands there.\n\n${rights}`,
    );
  }
}

const rights =
  'It runs on this computer with your rights, within limits of time and memory. It can read and write your files and use the network.';

async function confirmed(question: string, detail: string): Promise<boolean> {
  const run = 'Really Run';
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, run)) === run;
}
