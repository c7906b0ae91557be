import * as vscode from 'vscode';
import { debugType } from './debugType';

/** The file of the active editor, as a script. */
const predictFile: vscode.DebugConfiguration = {
  type: debugType,
  request: 'launch',
  name: 'Predict this file',
  program: '${file}',
};

/** A call, which is asked for, of the function that the cursor is in. */
const predictFunction: vscode.DebugConfiguration = {
  type: debugType,
  request: 'launch',
  name: 'Predict function at cursor',
  program: '${file}',
  entry: '${command:callAtCursor}',
  stopOnEntry: true,
};

/**
 * The configurations that the editor lists without a launch.json, for the Python file that is looked at. Their names
 * stay the same, for the editor finds the one that was started last by its name.
 */
export const dynamicConfigurations: vscode.DebugConfigurationProvider = {
  provideDebugConfigurations: () =>
    vscode.window.activeTextEditor?.document.languageId === 'python' ? [predictFile, predictFunction] : [],
};
