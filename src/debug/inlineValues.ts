import * as vscode from 'vscode';
import { z } from 'zod';
import { debugType } from './debugType';

const answer = z.object({ lines: z.array(z.object({ line: z.int(), text: z.string() })) });

/** Shows beside the lines of a frame what their names were when the lines ran. */
class InlineValues implements vscode.InlineValuesProvider {
  async provideInlineValues(
    document: vscode.TextDocument,
    viewPort: vscode.Range,
    context: vscode.InlineValueContext,
  ): Promise<vscode.InlineValue[]> {
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== debugType) return [];
    const said: unknown = await session.customRequest('neuralDebug/inlineValues', {
      frameId: context.frameId,
    });
    const parsed = answer.safeParse(said);
    if (!parsed.success) return [];
    return parsed.data.lines
      .map(({ line, text }) => ({ line: line - 1, text }))
      .filter(
        ({ line }) => line < document.lineCount && viewPort.start.line <= line && line <= viewPort.end.line,
      )
      .map(({ line, text }) => new vscode.InlineValueText(document.lineAt(line).range, text));
  }
}

/** Provides inline values for Python. */
export function registerInlineValues(): vscode.Disposable {
  return vscode.languages.registerInlineValuesProvider('python', new InlineValues());
}
