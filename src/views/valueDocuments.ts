import * as vscode from 'vscode';

const scheme = 'neural-debug-value';

/** How many values are kept for documents that are open, the newest. */
const most = 50;

/** Whole values as documents that cannot be edited, and that nobody is asked to save. */
export class ValueDocuments implements vscode.TextDocumentContentProvider {
  readonly #values = new Map<string, string>();
  #count = 0;

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  }

  /** Shows a value. */
  async open(name: string, value: string): Promise<void> {
    const title = name.replace(/[^\w.[\]'" -]/g, '_').slice(0, 60);
    const uri = vscode.Uri.from({ scheme, path: `/${++this.#count}/${title}.py` });
    this.#values.set(uri.toString(), value);
    for (const old of [...this.#values.keys()].slice(0, -most)) this.#values.delete(old);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#values.get(uri.toString()) ?? 'The session that this value was in is over.';
  }
}
