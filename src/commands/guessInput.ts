import { basename } from 'node:path';
import * as vscode from 'vscode';
import { connect } from '../../adapter/debugger/server';
import { parseConfiguration } from '../../adapter/debugger/configuration';
import { openWorldFor } from '../../adapter/debugger/open';
import { errors } from '../../adapter/errors';
import { type Guess, guessInputs, type GuessOptions, type GuessSource } from '../../adapter/inputs/guess';
import { describeOutcome } from '../../adapter/inputs/outcome';
import { describeWanted, wantedException, wantedValue } from '../../adapter/inputs/wantedResult';
import { doctestInsertion } from '../../adapter/python/doctest';
import type { WantedResult } from '../../adapter/python/inputSearch';
import { PythonSource } from '../../adapter/python/source';
import { choosePython } from '../../adapter/sandbox/python';
import { shortText, shownName } from '../../adapter/shownText';
import type { Program } from '../../adapter/trajectory/program';
import { debugType } from '../debug/debugType';
import { showError } from '../messages';
import type { ApiKeys } from '../servers/apiKeys';
import { originOf } from '../servers/origin';
import type { RealRuns } from '../servers/realRuns';
import { readSettings } from '../settings';
import { achieved } from '../walkthrough';
import { pythonDocument } from './pythonDocument';

/** How many guesses are made, and how long a search may take. */
const limits = { count: 5, seconds: 30 } as const;

const copy: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('copy'), tooltip: 'Copy the call' };
const keep: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('beaker'),
  tooltip: 'Insert it as a doctest',
};

interface GuessItem extends vscode.QuickPickItem {
  readonly guess?: Guess;
}

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
      if (options) await show(options, document);
    } catch (thrown) {
      await showError(thrown);
    }
  }

  /** Who guesses, and who checks: what the user chooses where there is a choice. */
  async #options(program: Program, name: string, wanted: WantedResult): Promise<GuessOptions | null> {
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
    const of = { program, function: name, wanted, count: limits.count };
    if (chosen === search) {
      if (
        !(await this.realRuns.ask(
          `${shownName(file)} will be run, and ${shownName(name)} called many times.`,
        ))
      )
        return null;
      const using = await choosePython(sandbox, python);
      const source = { kind: 'search', seconds: limits.seconds, python: using } as const;
      return { ...of, source, checker: null };
    }
    const given = configuration.server;
    if (!given) throw errors.noServer();
    const completions = connect(given, await keyFor(originOf(given.baseUrl)));
    const source: GuessSource = { kind: 'model', completions };
    return { ...of, source, checker: (called) => openWorldFor(configuration, called, keyFor) };
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

/** Shows guesses as they come. One that is chosen is debugged; leaving the list ends the guessing. */
async function show(options: GuessOptions, document: vscode.TextDocument): Promise<void> {
  const { function: name, wanted, source } = options;
  const stop = new AbortController();
  const list = vscode.window.createQuickPick<GuessItem>();
  list.title = `${name} ${shortText(describeWanted(wanted), 60)}: choose an input to debug`;
  list.placeholder = source.kind === 'search' ? 'Searching by real calls…' : 'The model is asked…';
  list.busy = true;
  list.ignoreFocusOut = true;
  const accepted = new Promise<Guess | null>((resolve) => {
    list.onDidAccept(() => {
      const [item] = list.selectedItems;
      if (item?.guess) resolve(item.guess);
    });
    list.onDidHide(() => {
      resolve(null);
    });
  });
  list.onDidTriggerItemButton(({ item, button }) => {
    if (!item.guess) return;
    void (button === copy ? copyCall(item.guess) : insertDoctest(item.guess, name, document));
  });
  list.show();
  const guessing = fill(list, options, stop.signal);
  const guess = await accepted;
  stop.abort();
  list.dispose();
  await guessing;
  if (source.kind === 'model') source.completions.close();
  if (guess) await debug(guess, document);
}

async function fill(
  list: vscode.QuickPick<GuessItem>,
  options: GuessOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const news of guessInputs(options, signal)) {
      if (signal.aborted) return;
      if (news.kind === 'guess') {
        if (news.guess.check?.verdict === 'same') achieved('hasGuessed');
        list.items = [...list.items, itemOf(news.guess)];
        continue;
      }
      const { tried, closest } = news;
      const nearest = closest
        ? `; nearest: ${options.function}(${closest.arguments.join(', ')}) gives ${closest.gives}`
        : '';
      list.placeholder = shortText(`${tried} calls tried${nearest}`, 150);
    }
    list.placeholder =
      list.items.length > 0 ? 'Choose an input to debug it' : 'No input was found that gives this';
  } catch (thrown) {
    if (signal.aborted) return;
    list.hide();
    await showError(thrown);
  } finally {
    list.busy = false;
  }
}

function itemOf(guess: Guess): GuessItem {
  const { call, check, by } = guess;
  const mark = check ? marks[check.verdict] : '$(question)';
  const how = check ? `${describeOutcome(check.outcome)}, ${check.isReal ? 'really' : 'as predicted'}` : '';
  const who = by === 'search' ? 'found by calling' : 'guessed by the model';
  return {
    label: `${mark} ${shortText(call, 200)}`,
    description: shortText(how || 'not checked', 100),
    detail: who,
    buttons: [copy, keep],
    alwaysShow: true,
    guess,
  };
}

const marks = { same: '$(check)', different: '$(close)', unknown: '$(question)' } as const;

async function copyCall({ call }: Guess): Promise<void> {
  await vscode.env.clipboard.writeText(call);
  void vscode.window.setStatusBarMessage(`Copied ${shortText(call, 80)}`, 3_000);
}

async function insertDoctest(guess: Guess, name: string, document: vscode.TextDocument): Promise<void> {
  const { call, check } = guess;
  const outcome = check?.outcome;
  const result =
    outcome?.kind === 'returns' && outcome.value.repr !== null
      ? ({ kind: 'returns', repr: outcome.value.repr } as const)
      : outcome?.kind === 'raises' && outcome.exception.repr !== null
        ? ({ kind: 'raises', exception: outcome.exception.repr } as const)
        : null;
  const source = await PythonSource.parse(document.getText());
  const insertion = result && doctestInsertion(source, name, call, result);
  if (!insertion) {
    await showError(errors.noPlaceForDoctest(name));
    return;
  }
  const edit = new vscode.WorkspaceEdit();
  edit.insert(document.uri, document.positionAt(insertion.offset), insertion.text);
  await vscode.workspace.applyEdit(edit);
}

async function debug({ call }: Guess, document: vscode.TextDocument): Promise<void> {
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  await vscode.debug.startDebugging(folder, {
    type: debugType,
    request: 'launch',
    name: `Neural Debug: ${shortText(call, 60)}`,
    program: document.uri.fsPath,
    entry: call,
    stopOnEntry: true,
  });
}
