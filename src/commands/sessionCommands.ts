import { basename } from 'node:path';
import * as vscode from 'vscode';
import { z } from 'zod';
import { undimmed } from '../../adapter/dap/styling';
import { errors } from '../../adapter/errors';
import { shortText, shownName } from '../../adapter/shownText';
import { debugType } from '../debug/debugType';
import { request } from '../debug/requests';
import { showError } from '../messages';
import type { RealRuns } from '../servers/realRuns';
import type { StateTree, TreeEntry } from '../views/stateTree';
import { ValueDocuments } from '../views/valueDocuments';
import { showAlternatives } from './alternatives';
import { runBackToCursor } from './runBackToCursor';
import { saveRecording } from './saveRecording';

/** The commands on the states and values of a running session. */
export class SessionCommands {
  readonly #documents = new ValueDocuments();
  /** The sessions that are over: what is chosen later than that has no answer. */
  readonly #ended = new WeakSet<vscode.DebugSession>();

  constructor(
    private readonly tree: StateTree,
    private readonly realRuns: RealRuns,
  ) {}

  register(): vscode.Disposable {
    const commands: Readonly<Record<string, (...args: never[]) => Promise<void> | void>> = {
      goToState: (at: unknown) => this.#goToState(activeSession(), this.#stateOrSelected(at)),
      showMoreStates: (entry: TreeEntry | undefined) => this.#showMore(entry),
      whatIf: (at: unknown) => this.#whatIf(at),
      sampleAgain: (at: unknown) => this.#sampleAgain(at),
      alternatives: (at: unknown) => this.#alternatives(at),
      runBackToCursor: () => runBackToCursor(activeSession()),
      whyValue: (at: unknown) => this.#whyValue(at),
      openValue: (at: unknown) => this.#openValue(at),
      copyValue: (at: unknown) => this.#copyValue(at),
      compareWithRealRun: () => this.#compare(),
      saveRecording: () => saveRecording(activeSession()),
    };
    return vscode.Disposable.from(
      this.#documents.register(),
      vscode.debug.onDidTerminateDebugSession((session) => {
        this.#ended.add(session);
      }),
      ...Object.entries(commands).map(([name, run]) =>
        vscode.commands.registerCommand(`neuralDebug.${name}`, async (...args: never[]) => {
          try {
            await run(...args);
          } catch (thrown) {
            await showError(thrown);
          }
        }),
      ),
    );
  }

  /** @param session the one that a command began in: while it waited, another one may have become the active one */
  async #goToState(session: vscode.DebugSession, state: number): Promise<void> {
    await this.#ask(session, 'neuralDebug/goToState', { state });
  }

  /** Asks a session that may have ended while a person was asked: the editor would show nothing of that. */
  async #ask(session: vscode.DebugSession, command: string, args: object): Promise<unknown> {
    if (this.#ended.has(session)) throw errors.sessionEnded();
    return request(session, command, args);
  }

  /** The state that a command is meant for; bound to a key it is given none, and means the selected one. */
  #stateOrSelected(at: unknown): number {
    const state = stateAt(at ?? this.tree.selected);
    if (state === null) throw errors.nothingSelected('a state');
    return state;
  }

  async #showMore(given: TreeEntry | undefined): Promise<void> {
    const entry = given ?? this.tree.selected;
    if (entry?.kind !== 'more' && entry?.kind !== 'earlier')
      throw errors.nothingSelected('"Show more…" or "Show earlier…"');
    await this.tree.more(entry);
  }

  /** Asks for an edit, and makes it in the row's frame, the state that is meant, or the frame that is looked at. */
  async #whatIf(at: unknown): Promise<void> {
    const session = activeSession();
    const row = variableOf(at);
    if (row) {
      const value = await askValue(row.name, row.value);
      if (value === undefined) return;
      // The adapter knows which frame the row is in, and refuses what is past.
      await this.#ask(session, 'setVariable', { ...row.place, value });
      return;
    }
    const state = at === undefined ? null : stateOf(at);
    const frameId = state === null ? focusedFrame(session) : undefined;
    const edit = await askEdit();
    if (!edit) return;
    if (state !== null) await this.#goToState(session, state);
    // Without a frame it is the one on top.
    await this.#ask(session, 'setExpression', { expression: edit.name, value: edit.text, frameId });
  }

  async #sampleAgain(at: unknown): Promise<void> {
    const session = activeSession();
    if (at !== undefined) await this.#goToState(session, stateOf(at));
    const count = 5;
    const samples = await vscode.window.withProgress(
      { location: { viewId: 'neuralDebug.stateTree' }, title: 'Sampling the next state' },
      () => request(session, 'neuralDebug/sampleAgain', { count }),
    );
    const { groups, notes } = samplesShape.parse(samples);
    this.tree.refresh();
    const chosen = await vscode.window.showQuickPick(
      groups.map((group) => ({
        label: `${Math.round(group.share * 100)}%  ${describeSample(group)}`,
        detail: `${group.count} of ${count} samples agree`,
        branch: group.branch,
      })),
      {
        title: 'Sampled next states',
        placeHolder: notes[0] ?? 'Choose one to follow its branch',
        // What is shown is drawn anew meanwhile, by which the editor takes the focus.
        ignoreFocusOut: true,
      },
    );
    if (chosen && chosen.branch !== null) {
      await this.#ask(session, 'neuralDebug/switchBranch', { branch: chosen.branch });
    }
  }

  async #alternatives(at: unknown): Promise<void> {
    const row = variableOf(at);
    const state = stateAt(at);
    await showAlternatives(activeSession(), row ? row.place : state === null ? {} : { state });
    this.tree.refresh();
  }

  /** Tells where a value came from, and goes there, or further back. */
  async #whyValue(at: unknown): Promise<void> {
    const session = activeSession();
    const row = variableOf(at);
    const asked = row || at === undefined ? null : stateOf(at);
    if (asked !== null) await this.#goToState(session, asked);
    // Where it went somewhere else, the frame that has the focus may still be one of the place before.
    const focused = asked === null ? focusedFrame(session) : undefined;
    // Rows are those of the frame that has the focus.
    const frameId = focused ?? (await topFrame(session));
    let name = row?.name ?? (await askName(session, frameId));
    let state: number | null = asked;
    while (name !== undefined) {
      const origin = originShape.parse(
        await this.#ask(session, 'neuralDebug/origin', { name, state, frameId }),
      );
      const here = {
        label: `$(debug-stackframe) ${origin.name} = ${origin.value}`,
        detail: `${origin.how}${origin.confidence === null ? '' : `, ${Math.round(origin.confidence * 100)}% sure`}`,
        state: origin.state,
        next: null,
      };
      const sources = origin.from.map((one) => ({
        label: `$(${one.kind === 'returned' ? 'debug-step-out' : 'symbol-variable'}) ${one.name} = ${one.value}`,
        detail: one.kind === 'returned' ? 'returned by a call on that line' : 'read on that line',
        state: one.state,
        next: one.kind === 'local' ? one.name : null,
      }));
      const chosen: (typeof sources)[number] | typeof here | undefined = await vscode.window.showQuickPick(
        [here, ...sources],
        {
          title: `Why is ${origin.name} ${origin.value}?`,
          placeHolder: 'Choose a value to look further back',
          ignoreFocusOut: true,
        },
      );
      if (!chosen) return;
      if (chosen.next === null) {
        await this.#goToState(session, chosen.state);
        return;
      }
      name = chosen.next;
      state = chosen.state;
    }
  }

  async #openValue(at: unknown): Promise<void> {
    const { name, value } = await this.#wholeValue(at);
    await this.#documents.open(name, value);
  }

  async #copyValue(at: unknown): Promise<void> {
    const { kind, value, isLiteral } = await this.#wholeValue(at);
    await vscode.env.clipboard.writeText(value);
    const words = isLiteral
      ? `Copied the ${kind}.`
      : `Copied the ${kind}; not all of it is a Python literal.`;
    void vscode.window.setStatusBarMessage(words, 3_000);
  }

  /** The whole of a variable, or of a state of the tree, as Python. */
  async #wholeValue(at: unknown) {
    const session = activeSession();
    const row = variableOf(at);
    if (row) {
      const said: unknown = await request(session, 'neuralDebug/value', row.place);
      return { kind: 'value', name: row.name, ...wholeShape.parse(said) };
    }
    const state = this.#stateOrSelected(at);
    const said: unknown = await request(session, 'neuralDebug/wholeState', { state });
    return { kind: 'state', ...wholeShape.extend({ name: z.string() }).parse(said) };
  }

  async #compare(): Promise<void> {
    const session = activeSession();
    const { program, recording } = sourcesShape.parse(session.configuration);
    const agreed = recording
      ? await this.realRuns.askForRecorded(shownName(basename(recording)))
      : await this.realRuns.ask(
          `${shownName(basename(program))} will be run, to compare the prediction with it.`,
        );
    if (!agreed) return;
    const said = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: 'Comparing with a real run' },
      () => request(session, 'neuralDebug/compare'),
    );
    const summary = comparisonShape.parse(said);
    this.tree.refresh();
    const first = summary.firstDivergence;
    const agree = `${summary.agreeing} of ${summary.states} states agree with the real run.`;
    if (!first) {
      void vscode.window.showInformationMessage(agree);
      return;
    }
    const go = 'Go There';
    const answer = await vscode.window.showWarningMessage(`${agree} ${describeDivergence(first)}`, go);
    if (answer === go) await this.#goToState(session, first.state);
  }
}

const sourcesShape = z.looseObject({
  program: z.string().catch('the program'),
  recording: z.string().nullish().catch(null),
});

const samplesShape = z.object({
  notes: z.array(z.string()),
  groups: z.array(
    z.object({
      count: z.int(),
      share: z.number(),
      branch: z.int().nullable(),
      event: z.string(),
      function: z.string().nullable(),
      line: z.int().nullable(),
      locals: z.record(z.string(), z.string().nullable()),
    }),
  ),
});

function describeSample(sample: z.infer<typeof samplesShape>['groups'][number]): string {
  if (sample.function === null) return 'the program ends';
  const changes = Object.entries(sample.locals).map(([name, repr]) => `${name} = ${repr ?? '?'}`);
  const place = `${sample.event} ${sample.function}:${sample.line ?? '?'}`;
  return shortText([place, ...changes].join('  '), 100);
}

const originShape = z.object({
  name: z.string(),
  value: z.string(),
  confidence: z.number().nullable(),
  state: z.int(),
  how: z.string(),
  from: z.array(
    z.object({
      name: z.string(),
      value: z.string(),
      state: z.int(),
      kind: z.enum(['local', 'returned']),
    }),
  ),
});

const comparisonShape = z.object({
  with: z.string(),
  states: z.int(),
  agreeing: z.int(),
  firstDivergence: z
    .object({
      state: z.int(),
      line: z.int(),
      position: z.string(),
      realLine: z.int().nullable(),
      values: z.array(z.object({ name: z.string(), real: z.string().nullable() })),
    })
    .nullable(),
});

function describeDivergence({
  line,
  position,
  realLine,
  values,
}: NonNullable<z.infer<typeof comparisonShape>['firstDivergence']>): string {
  if (position === 'different') {
    const really = realLine === null ? 'the real run has ended' : `the real run is on line ${realLine}`;
    return `The first difference is on line ${line}: ${really}.`;
  }
  const [value] = values;
  if (!value) return `The first difference is on line ${line}.`;
  return `The first difference is on line ${line}: ${value.name} is really ${value.real ?? 'not there'}.`;
}

function activeSession(): vscode.DebugSession {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== debugType) throw errors.noActiveSession();
  return session;
}

const stateShape = z.object({ state: z.int() });
const entryShape = z.object({ node: stateShape });

/** The state that a command is meant for: an entry of the tree, or a state itself; null where it is neither. */
function stateAt(at: unknown): number | null {
  const parsed = stateShape.or(entryShape.transform(({ node }) => node)).safeParse(at);
  return parsed.success ? parsed.data.state : null;
}

/** The state that a command was given. */
function stateOf(at: unknown): number {
  const state = stateAt(at);
  if (state === null) throw errors.nothingSelected('a state');
  return state;
}

/** What the variables view's menu says of a row. */
const rowShape = z.object({
  container: z.object({ variablesReference: z.int() }),
  variable: z.object({ name: z.string(), value: z.string(), evaluateName: z.string().optional() }),
});

/** A row of the variables: what it is in an expression, its value, and where the adapter finds it. */
interface VariableRow {
  readonly name: string;
  readonly value: string;
  readonly place: { readonly variablesReference: number; readonly name: string };
}

function variableOf(at: unknown): VariableRow | null {
  const row = rowShape.safeParse(at);
  if (!row.success) return null;
  const { variable, container } = row.data;
  return {
    name: variable.evaluateName ?? variable.name,
    value: undimmed(variable.value),
    place: { variablesReference: container.variablesReference, name: variable.name },
  };
}

const wholeShape = z.object({ value: z.string(), isLiteral: z.boolean() });

async function askValue(name: string, value: string): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: `What if ${name} were…`,
    prompt: 'A Python literal, or an expression over known values. What follows is predicted anew.',
    value,
    ignoreFocusOut: true,
  });
}

async function askEdit(): Promise<{ name: string; text: string } | undefined> {
  const given = await vscode.window.showInputBox({
    title: 'What if…',
    prompt: 'Another value, such as n = 3 or d["k"] = [1]. What follows is predicted anew.',
    placeHolder: 'n = 3',
    ignoreFocusOut: true,
    validateInput: (text) => (editPattern.test(text) ? null : 'Write a name and a value: n = 3'),
  });
  const [, name = '', text = ''] = editPattern.exec(given ?? '') ?? [];
  return name === '' ? undefined : { name, text };
}

const editPattern = /^\s*([^=\s][^=]*?)\s*=(?!=)\s*(\S.*?)\s*$/s;

/** The frame of a session that is looked at; undefined where there is none. */
function focusedFrame(session: vscode.DebugSession): number | undefined {
  const item = vscode.debug.activeStackItem;
  return item instanceof vscode.DebugStackFrame && item.session === session ? item.frameId : undefined;
}

async function topFrame(session: vscode.DebugSession): Promise<number> {
  const item = vscode.debug.activeStackItem;
  const threadId = item?.session === session ? item.threadId : 1;
  const said: unknown = await request(session, 'stackTrace', { threadId, startFrame: 0, levels: 1 });
  const { stackFrames } = z.object({ stackFrames: z.array(z.object({ id: z.int() })) }).parse(said);
  const [frame] = stackFrames;
  if (!frame) throw errors.noActiveSession();
  return frame.id;
}

async function askName(session: vscode.DebugSession, frameId: number): Promise<string | undefined> {
  const scopes: unknown = await request(session, 'scopes', { frameId });
  const references = z
    .object({ scopes: z.array(z.object({ variablesReference: z.int() })) })
    .parse(scopes)
    .scopes.slice(0, 1);
  const names: string[] = [];
  for (const { variablesReference } of references) {
    const rows: unknown = await request(session, 'variables', { variablesReference });
    const { variables } = z
      .object({ variables: z.array(z.object({ name: z.string(), evaluateName: z.string().optional() })) })
      .parse(rows);
    names.push(...variables.filter((one) => one.evaluateName !== undefined).map(({ name }) => name));
  }
  return vscode.window.showQuickPick(names, {
    title: 'Why this value?',
    placeHolder: 'Which variable?',
    ignoreFocusOut: true,
  });
}
