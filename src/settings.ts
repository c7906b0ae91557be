import * as vscode from 'vscode';
import { z } from 'zod';

const serverFormat = z.enum(['cwm', 'chat']).catch('cwm');
const sandboxKind = z.enum(['python', 'pyodide']).nullable().catch(null);
const text = z.string().catch('');

/** A server that predicts, as the debug adapter takes it. */
export interface ServerConfiguration {
  readonly baseUrl: string;
  readonly model?: string;
  readonly format?: 'cwm' | 'chat';
}

/** The user's settings. All are of machine scope, so that no workspace can say where source is sent. */
export interface Settings {
  /** The server that predicts, or null where none is set. */
  readonly server: ServerConfiguration | null;
  /** The Python interpreter's path, or null for the search path's `python3`. */
  readonly python: string | null;
  /** Which kind of Python evaluates and runs, or null: an interpreter where there is one, else Pyodide. */
  readonly sandbox: 'python' | 'pyodide' | null;
}

export function readSettings(): Settings {
  const settings = vscode.workspace.getConfiguration('neuralDebug');
  const baseUrl = text.parse(settings.get('server.baseUrl')).trim();
  const model = text.parse(settings.get('server.model')).trim();
  const format = serverFormat.parse(settings.get('server.format'));
  const python = text.parse(settings.get('python')).trim();
  return {
    server: baseUrl === '' ? null : { baseUrl, format, ...(model === '' ? {} : { model }) },
    python: python === '' ? null : python,
    sandbox: sandboxKind.parse(settings.get('sandbox')),
  };
}

/** Stores the server that predicts in the user's settings. */
export async function storeServer(server: ServerConfiguration): Promise<void> {
  const settings = vscode.workspace.getConfiguration('neuralDebug');
  await settings.update('server.baseUrl', server.baseUrl, vscode.ConfigurationTarget.Global);
  await settings.update('server.model', server.model ?? '', vscode.ConfigurationTarget.Global);
  await settings.update('server.format', server.format, vscode.ConfigurationTarget.Global);
}
