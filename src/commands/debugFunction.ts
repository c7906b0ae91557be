import * as vscode from 'vscode';
import { errors } from '../../adapter/errors';
import type { ExampleCalls } from '../../adapter/lsp/protocol';
import { shortText } from '../../adapter/shownText';
import { functionCall } from '../debug/configurationProvider';
import { typedCall } from '../languageClient/callChoice';
import type { LanguageFeatures } from '../languageClient/languageFeatures';
import { showError } from '../messages';

const origins = { doctest: 'doctest', call: 'call', parameters: 'test' } as const;

/** The call of a function that a person wants to debug. */
interface ChosenCall {
  readonly document: vscode.TextDocument;
  readonly call: string;
}

/**
 * Debugs a call of a function: asks which, and offers those that doctests, the file and its tests show.
 *
 * @param uri the document's URI; without it the active editor's document, and the function at the cursor
 */
export async function debugFunction(
  features: LanguageFeatures,
  uri?: unknown,
  name?: unknown,
): Promise<void> {
  const target = typeof uri === 'string' && typeof name === 'string' ? { uri, name } : null;
  const chosen = await askCall(features, target);
  if (!chosen) return;
  const { document, call } = chosen;
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(document.uri), {
    ...functionCall,
    name: `Neural Debug: ${shortText(call, 60)}`,
    program: document.uri.fsPath,
    entry: call,
  });
}

/** Asks for a call of the function at the cursor; undefined, which ends a launch, where there is none. */
export async function askCallAtCursor(features: LanguageFeatures): Promise<string | undefined> {
  return (await askCall(features, null))?.call;
}

/** @param named the function; null for the one at the cursor */
async function askCall(
  features: LanguageFeatures,
  named: { readonly uri: string; readonly name: string } | null,
): Promise<ChosenCall | null> {
  const target = named ?? (await functionAtCursor());
  if (!target) {
    void showError(errors.noFunctionHere());
    return null;
  }
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(target.uri, true));
  const examples = await features.exampleCalls(document.uri.toString(), target.name);
  if (!examples) {
    void showError(errors.noSuchFunction(document.uri.fsPath, target.name));
    return null;
  }
  const call = await chooseCall(target.name, examples);
  return call === null ? null : { document, call };
}

/** The innermost function around the cursor that a lens is above. */
async function functionAtCursor(): Promise<{ uri: string; name: string } | null> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'python') return null;
  const { PythonSource } = await import('../../adapter/python/source');
  const { functionsOf } = await import('../../adapter/python/functions');
  const line = editor.selection.active.line + 1;
  const around = functionsOf(await PythonSource.parse(editor.document.getText()))
    .filter(({ node }) => node.line <= line && line <= node.endLine)
    .at(-1);
  return around ? { uri: editor.document.uri.toString(), name: around.qualifiedName } : null;
}

interface CallItem extends vscode.QuickPickItem {
  readonly call: string;
}

/** Asks for the call, in a list that also takes what is typed; null where the user leaves it. */
async function chooseCall(
  name: string,
  { signature, calls }: NonNullable<ExampleCalls>,
): Promise<string | null> {
  const offered: CallItem[] = calls.map(({ call, origin, file, line }) => ({
    call,
    label: call,
    description: `${origins[origin]}, ${file}:${line}`,
  }));
  const pick = vscode.window.createQuickPick<CallItem>();
  pick.title = `Neural Debug: ${signature}`;
  pick.placeholder = calls.length === 0 ? 'Type the arguments' : 'Type the arguments, or choose a call';
  pick.ignoreFocusOut = true;
  pick.items = offered;
  pick.onDidChangeValue((value) => {
    const call = typedCall(value, name);
    const typed = call === null || offered.some((item) => item.call === call) ? [] : [call];
    pick.items = [...typed.map((each) => ({ call: each, label: each, alwaysShow: true })), ...offered];
  });
  try {
    return await new Promise((resolve) => {
      pick.onDidAccept(() => {
        resolve(pick.selectedItems[0]?.call ?? null);
      });
      pick.onDidHide(() => {
        resolve(null);
      });
      pick.show();
    });
  } finally {
    pick.dispose();
  }
}
