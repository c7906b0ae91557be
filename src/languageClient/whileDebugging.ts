import * as vscode from 'vscode';
import { z } from 'zod';
import { debugType } from '../debug/debugType';

const stack = z.object({
  type: z.literal('response'),
  command: z.literal('stackTrace'),
  body: z.object({
    stackFrames: z.array(
      z.object({
        source: z.object({ path: z.string().optional(), sourceReference: z.number().optional() }).optional(),
      }),
    ),
  }),
});

/**
 * Knows what the language server's values must not stand beside. In a session of ours the editor shows its values
 * beside the lines of the program: inlay hints there would say the same again. While another debugger is looked at,
 * what was predicted would look like what it says.
 */
export class WhileDebugging implements vscode.DebugAdapterTrackerFactory, vscode.Disposable {
  /** The files of the sessions' frames, as documents are named by `nameOf`, by session. */
  readonly #files = new Map<string, ReadonlySet<string>>();
  readonly #changed = new vscode.EventEmitter<void>();
  /** What is to be shown may have changed. */
  readonly onDidChange = this.#changed.event;
  readonly #listening: vscode.Disposable;

  constructor() {
    const changed = () => {
      this.#changed.fire();
    };
    this.#listening = vscode.Disposable.from(
      vscode.debug.onDidChangeActiveDebugSession(changed),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('debug.inlineValues')) changed();
      }),
    );
  }

  /** Whether a document is to have no inlay hints now. */
  hidesHints(document: vscode.TextDocument): boolean {
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== debugType) return this.hidesHovers(document);
    if (!this.#files.get(session.id)?.has(nameOf(document))) return false;
    const shown: unknown = vscode.workspace.getConfiguration('debug', document).get('inlineValues');
    return shown !== 'off' && shown !== false;
  }

  /** Whether a document is to have no hovers of the language server now. */
  hidesHovers({ languageId }: vscode.TextDocument): boolean {
    const session = vscode.debug.activeDebugSession;
    return languageId === 'python' && session !== undefined && session.type !== debugType;
  }

  createDebugAdapterTracker({ id }: vscode.DebugSession): vscode.DebugAdapterTracker {
    const ended = () => {
      if (this.#files.delete(id)) this.#changed.fire();
    };
    return {
      onDidSendMessage: (message: unknown) => {
        const { data } = stack.safeParse(message);
        if (!data) return;
        const files = new Set<string>();
        for (const { source } of data.body.stackFrames) {
          // A text that a reference names is shown in a document of its own.
          if (source?.path !== undefined && !source.sourceReference) files.add(source.path);
        }
        const before = this.#files.get(id) ?? new Set();
        if (files.size === before.size && [...files].every((file) => before.has(file))) return;
        this.#files.set(id, files);
        this.#changed.fire();
      },
      onWillStopSession: ended,
      onExit: ended,
    };
  }

  dispose(): void {
    this.#listening.dispose();
    this.#changed.dispose();
  }
}

/** A document as stacks name it: a file by its path, all else by its URI. */
function nameOf({ uri }: vscode.TextDocument): string {
  return uri.scheme === 'file' ? uri.fsPath : uri.toString();
}
