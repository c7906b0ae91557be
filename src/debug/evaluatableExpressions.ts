import * as vscode from 'vscode';
import { PythonSource } from '../../adapter/python/source';
import type { EditedPrograms } from './editedProgram';

/**
 * Tells which expression a hover is about: the whole of `d["k"]` or `a.b`, and nothing in strings and
 * comments. Without it the editor would take the single word.
 */
class ExpressionProvider implements vscode.EvaluatableExpressionProvider {
  #newest: {
    readonly document: vscode.TextDocument;
    readonly version: number;
    readonly source: Promise<PythonSource>;
  } | null = null;

  constructor(private readonly edited: EditedPrograms) {}

  async provideEvaluatableExpression(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.EvaluatableExpression | null> {
    const session = vscode.debug.activeDebugSession;
    const then = session ? await this.edited.linesThen(session, document) : null;
    // What is written on a line that was edited since was not predicted.
    if (then && !then.has(position.line + 1)) return null;
    const source = await this.#parse(document);
    const { line, character } = position;
    // The position is the boundary nearest to the mouse: it may be the end of what the mouse is over.
    const found = source.expressionAt(line + 1, character) ?? source.expressionAt(line + 1, character - 1);
    return (
      found &&
      new vscode.EvaluatableExpression(
        new vscode.Range(found.line - 1, found.startColumn, found.line - 1, found.endColumn),
        found.text,
      )
    );
  }

  #parse(document: vscode.TextDocument): Promise<PythonSource> {
    const newest = this.#newest;
    if (newest?.document === document && newest.version === document.version) return newest.source;
    const source = PythonSource.parse(document.getText());
    this.#newest = { document, version: document.version, source };
    return source;
  }
}

/** Provides hovers for Python. */
export function registerEvaluatableExpressions(edited: EditedPrograms): vscode.Disposable {
  return vscode.languages.registerEvaluatableExpressionProvider('python', new ExpressionProvider(edited));
}
