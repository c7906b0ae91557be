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

  constructor(
    private readonly tree: StateTree,
    private readonly realRuns: RealRuns,
  ) {}

  register(): vscode.Disposable {
    const commands: Readonly<Record<string, (...args: never[]) => Promise<void> | void>> = {
      goToState: (at: unknown) => this.#goToState(at),
      showMoreStates: (entry: TreeEntry) => this.tree.more(entry),
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

  async #goToState(at: unknown): Promise<void> {
    await request(activeSession(), 'neuralDebug/goToState', { state: stateOf(at) });
  }

  /** Asks for an edit, and makes it in the state that is meant, or in the current one. */
  async #whatIf(at: unknown): Promise<void> {
    const session = activeSession();
    const row = variableOf(at);
    const value = row ? await askValue(row.name, row.value) : await askEdit();
    if (!value) return;
    if (!row && at !== undefined) await this.#goToState(at);
    await request(session, 'setExpression', {
      expression: value.name,
      value: value.text,
      frameId: await topFrame(session),
    });
  }

  async #sampleAgain(at: unknown): Promise<void> {
    const session = activeSession();
    if (at !== undefined) await this.#goToState(at);
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
      await request(session, 'neuralDebug/switchBranch', { branch: chosen.branch });
    }
  }

  async #alternatives(at: unknown): Promise<void> {
    const row = rowShape.safeParse(at);
    const { container, variable } = row.data ?? {};
    const node = stateShape.or(entryShape.transform(({ node }) => node)).safeParse(at);
    const of =
      container && variable
        ? { variablesReference: container.variablesReference, name: variable.name }
        : node.success
          ? { state: node.data.state }
          : {};
    await showAlternatives(activeSession(), of);
    this.tree.refresh();
  }

  /** Tells where a value came from, and goes there, or further back. */
  async #whyValue(at: unknown): Promise<void> {
    const session = activeSession();
    const row = variableOf(at);
    if (!row && at !== undefined) await this.#goToState(at);
    let name = row?.name ?? (await askName(session));
    let state: number | null = null;
    while (name !== undefined) {
      const origin = originShape.parse(await request(session, 'neuralDebug/origin', { name, state }));
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
        },
      );
      if (!chosen) return;
      if (chosen.next === null) {
        await this.#goToState({ state: chosen.state });
        return;
      }
      name = chosen.next;
      state = chosen.state;
    }
  }

  async #openValue(at: unknown): Promise<void> {
    const { name, value } = await wholeValue(at);
    await this.#documents.open(name, value);
  }

  async #copyValue(at: unknown): Promise<void> {
    const { kind, value, isLiteral } = await wholeValue(at);
    await vscode.env.clipboard.writeText(value);
    const words = isLiteral
      ? `Copied the ${kind}.`
      : `Copied the ${kind}; not all of it is a Python literal.`;
    void vscode.window.setStatusBarMessage(words, 3_000);
  }

  async #compare(): Promise<void> {
    const session = activeSession();
    const program = z.string().catch('the program').parse(session.configuration['program']);
    const agreed = await this.realRuns.ask(
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
    if (answer === go) await this.#goToState({ state: first.state });
  }
}

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

/** The state that a command is meant for: an entry of the tree, or a state itself. */
function stateOf(at: unknown): number {
  const entry = entryShape.safeParse(at);
  return entry.success ? entry.data.node.state : stateShape.parse(at).state;
}

/** What the variables view's menu says of a row. */
const rowShape = z.object({
  container: z.object({ variablesReference: z.int() }),
  variable: z.object({ name: z.string(), value: z.string(), evaluateName: z.string().optional() }),
});

function variableOf(at: unknown): { name: string; value: string; container: number } | null {
  const row = rowShape.safeParse(at);
  if (!row.success) return null;
  const { variable, container } = row.data;
  return {
    name: variable.evaluateName ?? variable.name,
    value: undimmed(variable.value),
    container: container.variablesReference,
  };
}

/** The whole of a variable, or of a state of the tree, as Python. */
async function wholeValue(at: unknown) {
  const session = activeSession();
  const entry = entryShape.safeParse(at);
  if (entry.success) {
    const said: unknown = await request(session, 'neuralDebug/wholeState', { state: entry.data.node.state });
    return { kind: 'state', ...wholeShape.extend({ name: z.string() }).parse(said) };
  }
  const { container, variable } = rowShape.parse(at);
  const said: unknown = await request(session, 'neuralDebug/value', {
    variablesReference: container.variablesReference,
    name: variable.name,
  });
  return { kind: 'value', name: variable.evaluateName ?? variable.name, ...wholeShape.parse(said) };
}

const wholeShape = z.object({ value: z.string(), isLiteral: z.boolean() });

async function askValue(name: string, value: string): Promise<{ name: string; text: string } | undefined> {
  const text = await vscode.window.showInputBox({
    title: `What if ${name} were…`,
    prompt: 'A Python literal, or an expression over known values. What follows is predicted anew.',
    value,
    ignoreFocusOut: true,
  });
  return text === undefined ? undefined : { name, text };
}

async function askEdit(): Promise<{ name: string; text: string } | undefined> {
  const given = await vscode.window.showInputBox({
    title: 'What if…',
    prompt: 'Another value, such as n = 3 or d["k"] = [1]. What follows is predicted anew.',
    placeHolder: 'n = 3',
    ignoreFocusOut: true,
    validateInput: (text) => (edit.test(text) ? null : 'Write a name and a value: n = 3'),
  });
  const [, name = '', text = ''] = edit.exec(given ?? '') ?? [];
  return name === '' ? undefined : { name, text };
}

const edit = /^\s*([^=\s][^=]*?)\s*=(?!=)\s*(\S.*?)\s*$/s;

async function topFrame(session: vscode.DebugSession): Promise<number> {
  const item = vscode.debug.activeStackItem;
  const threadId = item?.session === session ? item.threadId : 1;
  const said: unknown = await request(session, 'stackTrace', { threadId, startFrame: 0, levels: 1 });
  const { stackFrames } = z.object({ stackFrames: z.array(z.object({ id: z.int() })) }).parse(said);
  const [frame] = stackFrames;
  if (!frame) throw errors.noActiveSession();
  return frame.id;
}

async function askName(session: vscode.DebugSession): Promise<string | undefined> {
  const scopes: unknown = await request(session, 'scopes', { frameId: await topFrame(session) });
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
  return vscode.window.showQuickPick(names, { title: 'Why this value?', placeHolder: 'Which variable?' });
}
