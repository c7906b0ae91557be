import type * as vscode from 'vscode';

const languages: ReadonlySet<string> = new Set(['python', 'neural-debug-recording', 'cwm-trace']);
const header = /^\{\s*"recording"\s*:\s*"neural-debug"/;

/** Whether the language server has something for a document. */
export function isServed({ languageId }: vscode.TextDocument): boolean {
  return languages.has(languageId);
}

/** Whether a file of JSON lines begins as our recordings do. */
export function isUnmarkedRecording(document: vscode.TextDocument): boolean {
  return document.languageId === 'jsonl' && header.test(document.lineAt(0).text.slice(0, 100));
}
