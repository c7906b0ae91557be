import * as vscode from 'vscode';
import { basename } from 'node:path';
import { asCatalogueError, errors } from '../../adapter/errors';
import {
  type Check,
  checkCall,
  type Guess,
  guessInputs,
  type GuessOptions,
} from '../../adapter/inputs/guess';
import { describeOutcome } from '../../adapter/inputs/outcome';
import { describeWanted } from '../../adapter/inputs/wantedResult';
import { doctestInsertion } from '../../adapter/python/doctest';
import { PythonSource } from '../../adapter/python/source';
import { shortText, shownName } from '../../adapter/shownText';
import type { Program } from '../../adapter/trajectory/program';
import type { World } from '../../adapter/world/world';
import { debugType } from '../debug/debugType';
import { startSession } from '../debug/startSession';
import { programIn } from '../debug/unsavedText';
import { showError } from '../messages';
import { achieved } from '../walkthrough';

const copy: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('copy'), tooltip: 'Copy the call' };
const keep: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('beaker'),
  tooltip: 'Insert it as a doctest',
};
const predict: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('sparkle'), tooltip: 'Predict it' };
const run: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('play'), tooltip: 'Really run it' };

/** What is guessed, and how guesses are checked. */
export interface GuessListOptions extends Omit<GuessOptions, 'checker'> {
  /** Makes the world that predicts a guessed call; null where no server is connected. */
  readonly predict: ((program: Program) => Promise<World>) | null;
  /** Makes the one that really runs it. */
  readonly run: (program: Program) => Promise<World>;
  /** Asks whether something may really be run, which is said in a sentence. */
  readonly agree: (what: string) => Promise<boolean>;
}

/** A guess, and what is known of it. */
interface Entry {
  readonly guess: Guess;
  predicted: Check | null;
  real: Check | null;
  /** Why it could not be checked, or null. */
  problem: string | null;
}

interface GuessItem extends vscode.QuickPickItem {
  readonly entry: Entry;
}

/** The guesses, as they come and as they are checked. One that is chosen is debugged; leaving the list ends it all. */
export class GuessList {
  readonly #list = vscode.window.createQuickPick<GuessItem>();
  readonly #stop = new AbortController();
  readonly #entries: Entry[] = [];
  /** The predictions that run, one after the other. */
  #predictions: Promise<void> = Promise.resolve();
  /** Whether the model could not be asked. */
  #hasFailed = false;

  constructor(
    private readonly options: GuessListOptions,
    private readonly document: vscode.TextDocument,
  ) {}

  /** Whether the list is closed, and nothing more is wanted. */
  #isOver(): boolean {
    return this.#stop.signal.aborted;
  }

  async show(): Promise<void> {
    const { function: name, wanted, source } = this.options;
    const list = this.#list;
    list.title = `${name} ${shortText(describeWanted(wanted), 60)}: choose an input to debug`;
    list.placeholder = source.kind === 'search' ? 'Searching by real calls…' : 'The model is asked…';
    list.busy = true;
    list.ignoreFocusOut = true;
    const accepted = new Promise<Guess | null>((resolve) => {
      list.onDidAccept(() => {
        const [item] = list.selectedItems;
        if (item) resolve(item.entry.guess);
      });
      list.onDidHide(() => {
        resolve(null);
      });
    });
    list.onDidTriggerItemButton(({ item: { entry }, button }) => {
      if (button === copy) void copyCall(entry.guess);
      else if (button === keep) void this.#insertDoctest(entry);
      else if (button === predict) void this.#predict(entry).catch(showError);
      else void this.#reallyRun(entry);
    });
    list.show();
    const guessing = this.#fill();
    const guess = await accepted;
    this.#stop.abort();
    list.dispose();
    await guessing;
    await this.#predictions;
    if (source.kind === 'model') source.completions.close();
    if (guess) await debug(guess, this.document);
  }

  async #fill(): Promise<void> {
    const list = this.#list;
    const { signal } = this.#stop;
    try {
      for await (const news of guessInputs({ ...this.options, checker: null }, signal)) {
        if (signal.aborted) return;
        if (news.kind === 'guess') {
          this.#add(news.guess);
          continue;
        }
        const { tried, closest } = news;
        const nearest = closest
          ? `; nearest: ${this.options.function}(${closest.arguments.join(', ')}) gives ${closest.gives}`
          : '';
        list.placeholder = shortText(`${tried} calls tried${nearest}`, 150);
      }
      list.placeholder =
        this.#entries.length > 0 ? 'Choose an input to debug it' : 'No input was found that gives this';
    } catch (thrown) {
      if (signal.aborted) return;
      list.hide();
      await showError(thrown);
    } finally {
      list.busy = false;
    }
  }

  #add(guess: Guess): void {
    // The search has really made the call; a model's guess is not checked yet.
    const entry: Entry = { guess, predicted: null, real: guess.check, problem: null };
    this.#entries.push(entry);
    this.#draw();
    // What a search finds stays on this computer unless a person wants it predicted, too.
    if (guess.by === 'model') this.#predictions = this.#predictions.then(() => this.#predictFirst(entry));
  }

  /** A check that nobody asked for. A server that failed once is not asked again. */
  async #predictFirst(entry: Entry): Promise<void> {
    if (this.#hasFailed || this.#isOver()) return;
    try {
      await this.#predict(entry);
    } catch (thrown) {
      this.#hasFailed = true;
      entry.problem = `not predicted: ${asCatalogueError(thrown).message}`;
      this.#draw();
    }
  }

  async #predict(entry: Entry): Promise<void> {
    const { predict: open } = this.options;
    if (!open) return;
    try {
      entry.predicted = await checkCall(this.options, entry.guess.call, open, this.#stop.signal);
    } catch (thrown) {
      if (this.#isOver()) return;
      throw thrown;
    }
    this.#draw();
  }

  async #reallyRun(entry: Entry): Promise<void> {
    const { program, agree, run: open } = this.options;
    const { call } = entry.guess;
    try {
      const what = `${shownName(basename(program.path))} will be run, and ${shownName(call)} called, to check the guess.`;
      if (!(await agree(what))) return;
      entry.real = await checkCall(this.options, call, open, this.#stop.signal);
      this.#draw();
    } catch (thrown) {
      if (!this.#isOver()) await showError(thrown);
    }
  }

  #draw(): void {
    if (this.#isOver()) return;
    if (this.#entries.some(({ real, predicted }) => (real ?? predicted)?.verdict === 'same'))
      achieved('hasGuessed');
    const [active] = this.#list.activeItems;
    const items = this.#entries.map((entry) => itemOf(entry, this.options.predict !== null));
    this.#list.keepScrollPosition = true;
    this.#list.items = items;
    const again = items.find(({ entry }) => entry === active?.entry);
    if (again) this.#list.activeItems = [again];
  }

  /** Writes a guess into the function's docstring, with what is known best of what it gives. */
  async #insertDoctest({ guess, real, predicted }: Entry): Promise<void> {
    const { function: name } = this.options;
    const outcome = (real ?? predicted)?.outcome;
    const result =
      outcome?.kind === 'returns' && outcome.value.repr !== null
        ? ({ kind: 'returns', repr: outcome.value.repr } as const)
        : outcome?.kind === 'raises' && outcome.exception.repr !== null
          ? ({ kind: 'raises', exception: outcome.exception.repr } as const)
          : null;
    const { document } = this;
    const source = await PythonSource.parse(document.getText());
    const insertion = result && doctestInsertion(source, name, guess.call, result);
    if (!insertion) {
      await showError(errors.noPlaceForDoctest(name));
      return;
    }
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, document.positionAt(insertion.offset), insertion.text);
    await vscode.workspace.applyEdit(edit);
  }
}

function itemOf(entry: Entry, canPredict: boolean): GuessItem {
  const { guess, real, predicted, problem } = entry;
  const best = real ?? predicted;
  const icon = {
    same: 'check',
    different: 'close',
    unknown: 'question',
  }[best?.verdict ?? 'unknown'];
  const who = guess.by === 'search' ? 'found by calling' : 'guessed by the model';
  return {
    label: `$(${icon}) ${shortText(guess.call, 200)}`,
    description: shortText(describeChecks(real, predicted), 100),
    detail: problem === null ? who : shortText(`${who}; ${problem}`, 150),
    buttons: [...(predicted || !canPredict ? [] : [predict]), ...(real ? [] : [run]), copy, keep],
    alwaysShow: true,
    entry,
  };
}

/** What a guess comes to: `returns 14, really and as predicted`. */
function describeChecks(real: Check | null, predicted: Check | null): string {
  const [really, asPredicted] = [real, predicted].map((check) => check && describeOutcome(check.outcome));
  if (really && really === asPredicted) return `${really}, really and as predicted`;
  const said = [really && `${really}, really`, asPredicted && `${asPredicted}, as predicted`].filter(Boolean);
  return said.length > 0 ? said.join('; ') : 'not checked';
}

async function copyCall({ call }: Guess): Promise<void> {
  await vscode.env.clipboard.writeText(call);
  void vscode.window.setStatusBarMessage(`Copied ${shortText(call, 80)}`, 3_000);
}

async function debug({ call }: Guess, document: vscode.TextDocument): Promise<void> {
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  await startSession(folder, {
    type: debugType,
    request: 'launch',
    name: `Neural Debug: ${shortText(call, 60)}`,
    ...programIn(document),
    entry: call,
    stopOnEntry: true,
  });
}
