import * as vscode from 'vscode';
import { z } from 'zod';
import { debugType } from './debugType';
import type { EditedPrograms } from './editedProgram';

const answer = z.object({ lines: z.array(z.object({ line: z.int(), text: z.string() })) });

/** Shows beside the lines of a frame what their names were when the lines ran. */
class InlineValues implements vscode.InlineValuesProvider {
  constructor(private readonly edited: EditedPrograms) {}

  async provideInlineValues(
    document: vscode.TextDocument,
    viewPort: vscode.Range,
    context: vscode.InlineValueContext,
  ): Promise<vscode.InlineValue[]> {
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== debugType) return [];
    const parsed = answer.safeParse(await askValues(session, context.frameId));
    if (!parsed.success) return [];
    const then = await this.edited.linesThen(session, document);
    const now = then && new Map(Array.from(then, ([line, older]) => [older, line]));
    return parsed.data.lines
      .map(({ line, text }) => ({ line: (now ? (now.get(line) ?? 0) : line) - 1, text }))
      .filter(({ line }) => line >= 0)
      .filter(
        ({ line }) => line < document.lineCount && viewPort.start.line <= line && line <= viewPort.end.line,
      )
      .map(({ line, text }) => new vscode.InlineValueText(document.lineAt(line).range, text));
  }
}

/** What stands beside the lines of a frame; null where the session has ended, or gone on, meanwhile. */
async function askValues(session: vscode.DebugSession, frameId: number): Promise<unknown> {
  try {
    return await session.customRequest('neuralDebug/inlineValues', { frameId });
  } catch {
    return null;
  }
}

/** Provides inline values for Python. */
export function registerInlineValues(edited: EditedPrograms): vscode.Disposable {
  return vscode.languages.registerInlineValuesProvider('python', new InlineValues(edited));
}
