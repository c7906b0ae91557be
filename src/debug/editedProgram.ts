import * as vscode from 'vscode';
import { z } from 'zod';
import { splitLines } from '../../adapter/python/encoding';
import { sameLines } from '../../adapter/python/sameLines';
import { debugType } from './debugType';
import { programName } from './unsavedText';

/** Milliseconds without a change after which a session is told of an edit. */
const delay = 300;

const content = z.object({ content: z.string() });
const answer = z.object({ hasChanged: z.boolean() });

/**
 * Knows which sessions predict a text that is no longer the one in the editor. They are told, so that they show the
 * text as of launch, and people see it in the status bar; what is shown beside lines goes by what the lines were.
 */
export class EditedPrograms implements vscode.Disposable {
  readonly #texts = new Map<string, Promise<readonly string[] | null>>();
  readonly #delays = new Map<string, NodeJS.Timeout>();
  /** The last question that each session was asked; an answer to another one is out of date. */
  readonly #asked = new Map<string, object>();
  readonly #edited = new Set<string>();
  /** Our sessions that run, by their ids: all that predict a text are told of its edits, not only the one in focus. */
  readonly #running = new Map<string, vscode.DebugSession>();
  readonly #item = vscode.window.createStatusBarItem('neuralDebug.edited', vscode.StatusBarAlignment.Left);
  readonly #subscriptions: vscode.Disposable[];

  constructor() {
    this.#item.name = 'Neural Debug: text as of launch';
    this.#item.text = '$(history) text as of launch';
    this.#item.tooltip =
      'The program was edited. What is predicted and shown is its text as of launch. Select to restart with the new text.';
    this.#item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
    this.#item.command = 'workbench.action.debug.restart';
    this.#item.accessibilityInformation = {
      label: 'The program was edited; what is shown is its text as of launch. Restart with the new text.',
      role: 'button',
    };
    this.#subscriptions = [
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        this.#changed(document);
      }),
      vscode.workspace.onDidSaveTextDocument((document) => {
        this.#changed(document);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.#changed(document);
      }),
      vscode.debug.onDidTerminateDebugSession(({ id }) => {
        this.#running.delete(id);
        this.#forget(id);
      }),
      vscode.debug.onDidChangeActiveDebugSession(() => {
        this.#show();
      }),
    ];
  }

  /**
   * A session was launched, or restarted, with the text that its file has then: what is not saved is told to it at
   * once, before it stops.
   */
  began(session: vscode.DebugSession): void {
    this.#running.set(session.id, session);
    this.#forget(session.id);
    const document = vscode.workspace.textDocuments.find((one) => isProgramOf(session, one));
    if (document && unsavedText(document) !== null) void this.#tell(session, document);
  }

  /** A session is over, or begins again: its text is to be asked for anew, and no answer to come is of use. */
  #forget(sessionId: string): void {
    clearTimeout(this.#delays.get(sessionId));
    this.#delays.delete(sessionId);
    this.#asked.delete(sessionId);
    this.#texts.delete(sessionId);
    this.#edited.delete(sessionId);
    this.#show();
  }

  /**
   * By a line of a document, from 1, the line of the text that a session predicts; null where the document has that
   * text, or has nothing to do with it.
   */
  async linesThen(
    session: vscode.DebugSession,
    document: vscode.TextDocument,
  ): Promise<ReadonlyMap<number, number> | null> {
    if (!isProgramOf(session, document)) return null;
    const then = await this.#textOf(session);
    const now = splitLines(document.getText());
    const isSame = then?.length === now.length && then.every((line, index) => line === now[index]);
    return then === null || isSame ? null : sameLines(then, now);
  }

  dispose(): void {
    for (const each of this.#subscriptions) each.dispose();
    for (const each of this.#delays.values()) clearTimeout(each);
    this.#item.dispose();
  }

  #changed(document: vscode.TextDocument): void {
    for (const session of this.#running.values()) {
      if (isProgramOf(session, document)) this.#tellSoon(session, document);
    }
  }

  #tellSoon(session: vscode.DebugSession, document: vscode.TextDocument): void {
    clearTimeout(this.#delays.get(session.id));
    this.#delays.set(
      session.id,
      setTimeout(() => void this.#tell(session, document), delay),
    );
  }

  async #tell(session: vscode.DebugSession, document: vscode.TextDocument): Promise<void> {
    this.#delays.delete(session.id);
    const question = { text: unsavedText(document) };
    this.#asked.set(session.id, question);
    let hasChanged = false;
    try {
      const said: unknown = await session.customRequest('neuralDebug/editorText', question);
      ({ hasChanged } = answer.parse(said));
    } catch {
      // The session has ended meanwhile.
    }
    if (this.#asked.get(session.id) !== question) return;
    if (hasChanged) this.#edited.add(session.id);
    else this.#edited.delete(session.id);
    this.#show();
  }

  #show(): void {
    const session = vscode.debug.activeDebugSession;
    if (session && this.#edited.has(session.id)) this.#item.show();
    else this.#item.hide();
  }

  #textOf(session: vscode.DebugSession): Promise<readonly string[] | null> {
    let text = this.#texts.get(session.id);
    if (!text) this.#texts.set(session.id, (text = askText(session)));
    return text;
  }
}

async function askText(session: vscode.DebugSession): Promise<readonly string[] | null> {
  try {
    const said: unknown = await session.customRequest('source', { sourceReference: 0 });
    return splitLines(content.parse(said).content);
  } catch {
    return null;
  }
}

/** What a document has that no file has; null where there is nothing, also of one that was closed without saving. */
function unsavedText(document: vscode.TextDocument): string | null {
  const hasSome = !document.isClosed && (document.isDirty || document.isUntitled);
  return hasSome ? document.getText() : null;
}

function isProgramOf(session: vscode.DebugSession, document: vscode.TextDocument): boolean {
  return session.type === debugType && session.configuration['program'] === programName(document.uri);
}
