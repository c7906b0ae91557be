import * as vscode from 'vscode';
import { debugType } from '../debug/debugType';
import { isServed } from '../languageClient/documents';
import { originIn } from '../servers/origin';
import { serverOf } from '../servers/sessionServer';
import {
  type Answering,
  type Failure,
  type Health,
  type Known,
  type StatusSubject,
  type StatusWords,
  statusWords,
} from '../servers/statusWords';
import { readSettings } from '../settings';
import { shownSession } from './shownSession';

const backgrounds: Readonly<Record<StatusWords['level'], vscode.ThemeColor | undefined>> = {
  calm: undefined,
  warning: new vscode.ThemeColor('statusBarItem.warningBackground'),
  error: new vscode.ThemeColor('statusBarItem.errorBackground'),
};

/** What is known of a session that runs. */
interface RunningSession {
  readonly session: vscode.DebugSession;
  readonly answering: Answering | null;
  readonly known: Known | null;
}

/**
 * The status bar's item: what answers in the session that is active, or stopped last, whether that is real, and how it
 * does. Outside of sessions it is what is set, with what is known from before: nothing is asked for it.
 */
export class SessionStatus implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem('neuralDebug.session', vscode.StatusBarAlignment.Left);
  /** The sessions that run, the one that stopped last at the end. */
  readonly #sessions = new Map<string, RunningSession>();
  /** What was last known of servers, by their origins. */
  readonly #servers = new Map<string, Known>();
  readonly #listening: vscode.Disposable;

  constructor() {
    this.#item.name = 'Neural Debug';
    this.#item.command = 'neuralDebug.showStatus';
    const show = () => {
      this.#show();
    };
    this.#listening = vscode.Disposable.from(
      vscode.debug.onDidChangeActiveDebugSession(show),
      vscode.window.onDidChangeVisibleTextEditors(show),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('neuralDebug.server')) show();
      }),
    );
    show();
  }

  /** A session has stopped, and tells what answers in it. */
  show(session: vscode.DebugSession, answering: Answering, health: Health): void {
    const before = this.#sessions.get(session.id)?.known;
    const isKnown = before?.health.state === health.state;
    this.#sessions.delete(session.id);
    this.#sessions.set(session.id, { session, answering, known: null });
    // A stop in the past says nothing of now.
    this.noted(session, isKnown ? before.health : health, isKnown ? before.at : undefined);
  }

  /** What answers in a session does otherwise from now on. */
  noted(session: vscode.DebugSession, health: Health, at = new Date()): void {
    const { answering = null } = this.#sessions.get(session.id) ?? {};
    const known: Known | null = health.state === 'unasked' ? null : { health, at };
    this.#sessions.set(session.id, { session, answering, known });
    const server = serverOf(session);
    if (server && known && health.state !== 'slow') this.#file(server.baseUrl, known);
    this.#show();
  }

  /** A server was asked outside of sessions. */
  tested(baseUrl: string, failure: Failure | null): void {
    const known = { health: failure ?? ({ state: 'answers' } as const), at: new Date() };
    this.#file(baseUrl, known);
    for (const [id, { session, answering, known: before }] of this.#sessions) {
      const isOfIt = serverOf(session)?.baseUrl === baseUrl;
      // A step that failed can still be tried again, and what is under way still is.
      if (isOfIt && !before) this.#sessions.set(id, { session, answering, known });
    }
    this.#show();
  }

  ended(session: vscode.DebugSession): void {
    this.#sessions.delete(session.id);
    this.#show();
  }

  /** The session that is shown, and what it shows. */
  get subject(): StatusSubject & { readonly session: vscode.DebugSession | null } {
    const running = shownSession(this.#sessions, vscode.debug.activeDebugSession);
    if (running?.answering) {
      const { session, answering, known } = running;
      const canTryAgain = known?.health.state === 'failed' && known.health.during === 'step';
      return { session, answering, server: serverOf(session), known, canTryAgain };
    }
    const { server } = readSettings();
    return { session: null, answering: null, server, known: this.#knownOf(server), canTryAgain: false };
  }

  dispose(): void {
    this.#listening.dispose();
    this.#item.dispose();
  }

  #knownOf(server: StatusSubject['server']): Known | null {
    const origin = server ? originIn(server.baseUrl) : null;
    return origin === null ? null : (this.#servers.get(origin) ?? null);
  }

  #file(baseUrl: string, known: Known): void {
    const origin = originIn(baseUrl);
    // The settings may hold no address yet.
    if (origin !== null) this.#servers.set(origin, known);
  }

  #show(): void {
    const { subject } = this;
    const isOurs = vscode.debug.activeDebugSession?.type === debugType;
    const isWanted =
      subject.session !== null ||
      isOurs ||
      // In windows without any of our files nothing is shown.
      vscode.window.visibleTextEditors.some(({ document }) => isServed(document));
    if (!isWanted) {
      this.#item.hide();
      return;
    }
    const { text, sentences, label, level } = statusWords(subject);
    this.#item.text = text;
    this.#item.tooltip = [...sentences, 'Click for what can be done.'].join('\n');
    this.#item.accessibilityInformation = { label: `${label}. ${sentences.join(' ')}` };
    this.#item.backgroundColor = backgrounds[level];
    this.#item.show();
  }
}
