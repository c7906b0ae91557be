import * as vscode from 'vscode';
import { errors } from '../../adapter/errors';
import type { ApiKeys } from '../servers/apiKeys';
import { readSettings } from '../settings';
import type { ExampleCalls } from '../../adapter/lsp/protocol';
import { shortText, shownText } from '../../adapter/shownText';
import { functionCall } from '../debug/configurationProvider';
import { startSession } from '../debug/startSession';
import { programIn } from '../debug/unsavedText';
import { typedCall } from '../languageClient/callChoice';
import type { LanguageFeatures } from '../languageClient/languageFeatures';
import { showError } from '../messages';

const origins = { doctest: 'doctest', call: 'call', parameters: 'test' } as const;

/** Where calls to offer come from. */
export interface CallSources {
  readonly features: LanguageFeatures;
  /** For the server with the model that makes calls up. */
  readonly keys: ApiKeys;
}

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
  { features, keys }: CallSources,
  uri?: unknown,
  name?: unknown,
): Promise<void> {
  const target = typeof uri === 'string' && typeof name === 'string' ? { uri, name } : null;
  const chosen = await askCall({ features, keys }, target);
  if (!chosen) return;
  const { document, call } = chosen;
  const configuration = {
    ...functionCall,
    name: `Neural Debug: ${shortText(call, 60)}`,
    ...programIn(document),
    entry: call,
  };
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  await startSession(folder, configuration);
}

/** Asks for a call of the function at the cursor; undefined, which ends a launch, where there is none. */
export async function askCallAtCursor(sources: CallSources): Promise<string | undefined> {
  return (await askCall(sources, null))?.call;
}

/** @param named the function; null for the one at the cursor */
async function askCall(
  { features, keys }: CallSources,
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
  const call = await chooseCall(target.name, examples, makerFor(document, target.name, keys));
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
  /** Null for the entry that lets the model make some up. */
  readonly call: string | null;
}

/** Who makes calls up, and what that says to the user. */
interface CallMaker {
  readonly item: CallItem;
  make(signal: AbortSignal): Promise<readonly string[]>;
}

/** How many calls the model is asked for. */
const madeUpCount = 5;

/** The chat model of the settings, where there is one. Nothing is asked of it before it is told to. */
function makerFor(document: vscode.TextDocument, name: string, keys: ApiKeys): CallMaker | null {
  const { server } = readSettings();
  if (server?.format !== 'chat') return null;
  return {
    item: {
      call: null,
      label: '$(sparkle) Let the model make some up',
      detail: `Sends the text of this file to ${server.model ?? 'the model'} at ${server.baseUrl}. Nothing is run.`,
      alwaysShow: true,
    },
    make: async (signal) => {
      // Loaded when it is first wanted, so that the editor's start does not wait for it.
      const { askForCalls } = await import('../servers/madeUpCalls');
      const of = { source: document.getText(), function: name, count: madeUpCount };
      return askForCalls(of, server, keys, signal);
    },
  };
}

/** Asks for the call, in a list that also takes what is typed; null where the user leaves it. */
async function chooseCall(
  name: string,
  { signature, writing, calls }: NonNullable<ExampleCalls>,
  maker: CallMaker | null,
): Promise<string | null> {
  let offered: readonly CallItem[] = calls.map(({ call, origin, file, line }) => ({
    call,
    label: call,
    description: `${origins[origin]}, ${file}:${line}`,
  }));
  const what = writing.callee === null ? 'the whole call' : 'the arguments';
  const pick = vscode.window.createQuickPick<CallItem>();
  const show = () => {
    const call = typedCall(pick.value, name, writing);
    const typed = call === null || offered.some((item) => item.call === call) ? [] : [call];
    pick.items = [
      ...typed.map((each) => ({ call: each, label: each, alwaysShow: true })),
      ...offered,
      ...(maker ? [maker.item] : []),
    ];
  };
  const stop = new AbortController();
  const addMadeUp = async () => {
    if (!maker || pick.busy) return;
    pick.busy = true;
    pick.placeholder = 'The model is asked for calls…';
    try {
      const made = (await maker.make(stop.signal)).map((call) => writing.before + call + writing.after);
      const known = new Set(offered.map(({ call }) => call));
      const items = made
        .filter((call) => !known.has(call) && call === shownText(call))
        .map((call): CallItem => ({
          call,
          label: call,
          description: 'made up by the model',
          alwaysShow: true,
        }));
      offered = [...items, ...offered];
      pick.placeholder =
        items.length === 0 ? 'The model gave no other calls' : `Type ${what}, or choose a call`;
      show();
    } catch (thrown) {
      if (stop.signal.aborted) return;
      pick.hide();
      void showError(thrown);
    } finally {
      pick.busy = false;
    }
  };
  pick.title = `Neural Debug: ${signature}`;
  pick.placeholder = calls.length === 0 ? `Type ${what}` : `Type ${what}, or choose a call`;
  pick.ignoreFocusOut = true;
  show();
  pick.onDidChangeValue(show);
  try {
    return await new Promise((resolve) => {
      pick.onDidAccept(() => {
        const [chosen] = pick.selectedItems;
        if (chosen && chosen.call === null) void addMadeUp();
        else resolve(chosen?.call ?? null);
      });
      pick.onDidHide(() => {
        resolve(null);
      });
      pick.show();
    });
  } finally {
    stop.abort();
    pick.dispose();
  }
}
