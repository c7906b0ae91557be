import * as vscode from 'vscode';
import type { AboutSession } from '../debug/stopFollower';

/** The status bar's item: what answers in the session that stopped last, and whether that is real. */
export class SessionStatus implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem('neuralDebug.session', vscode.StatusBarAlignment.Left);
  #session: string | null = null;

  constructor() {
    this.#item.name = 'Neural Debug';
    this.#item.command = 'neuralDebug.showLog';
  }

  show(session: vscode.DebugSession, { isReal, name, words }: AboutSession): void {
    this.#session = session.id;
    const kind = isReal ? 'real run' : 'predicted';
    this.#item.text = `$(${isReal ? 'play-circle' : 'sparkle'}) ${kind}: ${short(name)}`;
    this.#item.tooltip = `${words}. The values of this session are ${isReal ? 'those of a real run' : 'predicted'}.`;
    this.#item.accessibilityInformation = { label: `Neural Debug, ${kind}: ${name}` };
    this.#item.show();
  }

  ended(session: vscode.DebugSession): void {
    if (this.#session !== session.id) return;
    this.#session = null;
    this.#item.hide();
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** The part of a world's name that has room in the status bar: up to where details begin. */
function short(name: string): string {
  const [first = name] = name.split(/ at https?:|, /);
  return first.length > 40 ? `${first.slice(0, 40)}…` : first;
}
