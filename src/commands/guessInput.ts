import { basename } from 'node:path';
import * as vscode from 'vscode';
import { connect } from '../../adapter/debugger/server';
import { parseConfiguration } from '../../adapter/debugger/configuration';
import { openReference, openWorldFor } from '../../adapter/debugger/open';
import { errors } from '../../adapter/errors';
import { describeWanted, wantedException, wantedValue } from '../../adapter/inputs/wantedResult';
import type { WantedResult } from '../../adapter/python/inputSearch';
import { PythonSource } from '../../adapter/python/source';
import { choosePython } from '../../adapter/sandbox/python';
import { shownName } from '../../adapter/shownText';
import type { Program } from '../../adapter/trajectory/program';
import { showError } from '../messages';
import type { ApiKeys } from '../servers/apiKeys';
import { originOf } from '../servers/origin';
import type { RealRuns } from '../servers/realRuns';
import { readSettings } from '../settings';
import { pythonDocument } from './pythonDocument';
import { GuessList, type GuessListOptions } from './guessList';

/** How many guesses are made, and how long a search may take. */
const limits = { count: 5, seconds: 30 } as const;

/** The command "Guess Input from Output": which arguments make a function give this? */
export class GuessInput {
  constructor(
    private readonly keys: ApiKeys,
    private readonly realRuns: RealRuns,
  ) {}

  /**
   * @param uri the file; the active editor's where none is given
   * @param name the function; it is asked for where none is given
   */
  async run(uri?: vscode.Uri, name?: string): Promise<void> {
    try {
      // Before anything is asked: nobody could guess.
      if (!vscode.workspace.isTrusted && readSettings().server?.format !== 'chat')
        throw errors.runInUntrustedWorkspace();
      const document = uri
        ? await vscode.workspace.openTextDocument(uri)
        : await pythonDocument('Guess input from output');
      if (!document) return;
      const source = await PythonSource.parse(document.getText());
      const chosen = name ?? (await chooseFunction(source, document));
      const wanted = chosen === undefined ? undefined : await askWanted(chosen);
      if (chosen === undefined || !wanted) return;
      const program = { path: document.uri.fsPath, source: document.getText(), entry: null, args: [] };
      const options = await this.#options(program, chosen, wanted);
      if (options) await new GuessList(options, document).show();
    } catch (thrown) {
      await showError(thrown);
    }
  }

  /** Who guesses, and who checks: what the user chooses where there is a choice. */
  async #options(program: Program, name: string, wanted: WantedResult): Promise<GuessListOptions | null> {
    const { server, python, sandbox } = readSettings();
    const file = basename(program.path);
    const model = {
      label: `$(sparkle) Ask ${server?.model ?? 'the model'}`,
      detail: 'A chat model reasons backwards; each guess is predicted forwards. The program is not run.',
    };
    const search = {
      label: '$(search) Search by real calls',
      detail: vscode.workspace.isTrusted
        ? `This really runs ${file} on this computer, and calls ${name} many times.`
        : 'This workspace is not trusted, so nothing of it is run.',
    };
    const choices = server?.format === 'chat' ? [model, search] : [search];
    const chosen = await vscode.window.showQuickPick(choices, {
      title: `Guess input: ${name} ${describeWanted(wanted)}`,
      placeHolder: 'Who guesses?',
      ignoreFocusOut: true,
    });
    if (!chosen) return null;
    const configuration = parseConfiguration({ program: program.path, server, python, sandbox });
    const keyFor = (origin: string) => this.keys.keyFor(origin);
    const predict = server ? (called: Program) => openWorldFor(configuration, called, keyFor) : null;
    const of = {
      ...{ program, function: name, wanted, count: limits.count, predict },
      run: (called: Program) => openReference(configuration, called),
      agree: (what: string) => this.realRuns.ask(what),
    };
    if (chosen === search) {
      if (
        !(await this.realRuns.ask(
          `${shownName(file)} will be run, and ${shownName(name)} called many times.`,
        ))
      )
        return null;
      const using = await choosePython(sandbox, python);
      return { ...of, source: { kind: 'search', seconds: limits.seconds, python: using } };
    }
    const given = configuration.server;
    if (!given) throw errors.noServer();
    const completions = connect(given, await keyFor(originOf(given.baseUrl)));
    return { ...of, source: { kind: 'model', completions } };
  }
}

/** Asks which function; the one at the cursor comes first. */
async function chooseFunction(
  source: PythonSource,
  document: vscode.TextDocument,
): Promise<string | undefined> {
  const functions = source.units.filter(
    ({ kind, parent }) => kind === 'function' && parent?.kind === 'module',
  );
  if (functions.length === 0) throw errors.noFunction(basename(document.uri.fsPath));
  const editor = vscode.window.activeTextEditor;
  const cursor = editor?.document === document ? editor.selection.active.line + 1 : 0;
  const isAtCursor = (unit: (typeof functions)[number]) =>
    unit.firstLine <= cursor && cursor <= unit.lastLine;
  const items = functions
    .map((unit) => ({
      label: unit.name,
      description: `(${unit.parameters.join(', ')})`,
      rank: isAtCursor(unit) ? 0 : 1,
    }))
    .sort((one, other) => one.rank - other.rank);
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Guess input (1/2): the function',
    placeHolder: 'Which function’s input?',
    matchOnDescription: true,
  });
  return chosen?.label;
}

async function askWanted(name: string): Promise<WantedResult | undefined> {
  const text = await vscode.window.showInputBox({
    title: 'Guess input (2/2): the output',
    prompt: `What should ${name} return? A Python literal; or “raise ValueError” for an exception.`,
    placeHolder: "[1, 2]  or  'text'  or  raise ValueError",
    ignoreFocusOut: true,
    validateInput: (given) => {
      try {
        readWanted(given);
        return null;
      } catch (thrown) {
        return thrown instanceof Error ? thrown.message : String(thrown);
      }
    },
  });
  return text === undefined ? undefined : readWanted(text);
}

function readWanted(text: string): WantedResult {
  const [, exception] = /^\s*raises?\s+(.*)$/s.exec(text) ?? [];
  return exception === undefined ? wantedValue(text) : wantedException(exception);
}
