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
    const detail = [
      what,
      '',
      'It runs on this computer with your rights, within limits of time and memory. It can read and write your',
      'files and use the network. You will not be asked again in this workspace.',
    ].join('\n');
    const run = 'Really Run';
    const answer = await vscode.window.showWarningMessage(
      'Let Neural Debug really run programs of this workspace?',
      { modal: true, detail },
      run,
    );
    if (answer !== run) return false;
    await this.memory.update(storeName, true);
    return true;
  }
}
