import * as vscode from 'vscode';
import { z } from 'zod';
import { shownName } from '../../adapter/shownText';
import { isUnencrypted } from './origin';

const storeName = 'confirmedOrigins';
const stored = z.array(z.string()).catch([]);

/** The servers that were named by launch configurations and to which the user agreed to send source. */
export class Consent {
  constructor(private readonly memory: vscode.Memento) {}

  get confirmed(): ReadonlySet<string> {
    return new Set(stored.parse(this.memory.get(storeName, [])));
  }

  /** Asks whether source may be sent to a server that is not the settings'. An agreement is remembered. */
  async ask(origin: string, program: string): Promise<boolean> {
    const detail = [
      'The launch configuration names a server that is not the one in your settings. To it goes:',
      `• the source text of ${shownName(program)}`,
      '• the call and the arguments that are debugged',
      '• the states that were predicted: names and values of variables',
      '',
      'A key goes only to the server that it was stored for.',
    ];
    if (isUnencrypted(origin)) detail.push('', 'The connection is not encrypted: others may read along.');
    const send = 'Send';
    const answer = await vscode.window.showWarningMessage(
      `Send the program to ${origin}?`,
      { modal: true, detail: detail.join('\n') },
      send,
    );
    if (answer !== send) return false;
    await this.memory.update(storeName, [...this.confirmed, origin]);
    return true;
  }
}
