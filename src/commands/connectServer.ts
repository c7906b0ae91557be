import * as vscode from 'vscode';
import { asCatalogueError } from '../../adapter/errors';
import type { ServerConfiguration } from '../debug/launchConfiguration';
import type { ApiKeys } from '../servers/apiKeys';
import { originOf } from '../servers/origin';
import { readSettings, storeServer } from '../settings';

const title = 'Connect a Model Server';

const formats = [
  {
    label: 'CWM',
    detail: 'facebook/cwm, or another model trained on its traces. The server needs /completions.',
    format: 'cwm',
  },
  {
    label: 'Chat',
    detail: 'Any instruction-following model. The server needs /chat/completions with JSON schemas.',
    format: 'chat',
  },
] as const;

/**
 * Asks for the server that predicts and stores it in the user's settings.
 *
 * @returns the server, or null where the user left the questions
 */
export async function connectServer(keys: ApiKeys): Promise<ServerConfiguration | null> {
  const known = readSettings().server;
  const baseUrl = await vscode.window.showInputBox({
    title: `${title} (1/4)`,
    prompt: 'Base URL of an OpenAI-compatible server. The source of the programs you debug is sent there.',
    placeHolder: 'http://127.0.0.1:8000/v1',
    value: known?.baseUrl ?? '',
    ignoreFocusOut: true,
    validateInput: baseUrlProblem,
  });
  if (baseUrl === undefined) return null;
  const model = await vscode.window.showInputBox({
    title: `${title} (2/4)`,
    prompt: 'Name of the model, as the server knows it. Empty: the server’s only model.',
    value: known?.model ?? '',
    ignoreFocusOut: true,
  });
  if (model === undefined) return null;
  const format = await vscode.window.showQuickPick(formats, {
    title: `${title} (3/4)`,
    placeHolder: 'How the model is asked',
    ignoreFocusOut: true,
  });
  if (format === undefined) return null;
  const server: ServerConfiguration = {
    baseUrl: baseUrl.trim(),
    format: format.format,
    ...(model.trim() === '' ? {} : { model: model.trim() }),
  };
  const origin = originOf(server.baseUrl);
  const key = await askKey(`${title} (4/4)`, origin);
  if (key === undefined) return null;
  await storeServer(server);
  if (key !== '') await keys.store(origin, key);
  return server;
}

/** Asks for a server's key and stores it; an empty answer forgets the stored one. */
export async function setApiKey(keys: ApiKeys): Promise<void> {
  const baseUrl = await vscode.window.showInputBox({
    title: 'Set API Key (1/2)',
    prompt: 'The server that the key is for. The key is sent to no other.',
    value: readSettings().server?.baseUrl ?? '',
    ignoreFocusOut: true,
    validateInput: baseUrlProblem,
  });
  if (baseUrl === undefined) return;
  const origin = originOf(baseUrl.trim());
  const key = await askKey('Set API Key (2/2)', origin);
  if (key === undefined) return;
  await keys.store(origin, key);
  void vscode.window.showInformationMessage(
    key === '' ? `No key is stored for ${origin} any more.` : `The key for ${origin} is stored.`,
  );
}

async function askKey(dialogTitle: string, origin: string): Promise<string | undefined> {
  const key = await vscode.window.showInputBox({
    title: dialogTitle,
    prompt: `API key for ${origin}, kept in the editor’s secret storage. Empty: none.`,
    password: true,
    ignoreFocusOut: true,
  });
  return key?.trim();
}

function baseUrlProblem(text: string): string | null {
  try {
    originOf(text.trim());
    return null;
  } catch (thrown) {
    const { message, wayOut } = asCatalogueError(thrown);
    return `${message} ${wayOut}`;
  }
}
