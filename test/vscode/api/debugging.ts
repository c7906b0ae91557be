import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { z } from 'zod';

/** How long something may take before it counts as not happening, on a machine that does other work too: ms. */
const patience = 20_000;

/** Waits until a look gives something other than null, undefined or false. */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string | (() => string),
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = Date.now() + patience;
  for (;;) {
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) return seen as NonNullable<Exclude<T, false>>;
    if (Date.now() > deadline) throw new Error(`Not seen: ${typeof what === 'string' ? what : what()}`);
    await sleep(50);
  }
}

/** The path of something in the folder that is open. */
export function inFolder(...path: readonly string[]): string {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder, 'A folder is open.');
  return join(folder.uri.fsPath, ...path);
}

/** Writes a file and opens it in an editor. */
export async function openFile(path: string, content: string | Uint8Array): Promise<vscode.TextEditor> {
  await writeFile(path, content);
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(path));
}

const frames = z.object({
  stackFrames: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      line: z.int(),
      source: z.object({ path: z.string().optional() }).optional(),
    }),
  ),
});
const scopesShape = z.object({ scopes: z.array(z.object({ variablesReference: z.int() })) });
const rowsShape = z.object({
  variables: z.array(z.object({ name: z.string(), value: z.string(), evaluateName: z.string().optional() })),
});
const event = z.object({
  type: z.literal('event'),
  event: z.string(),
  body: z.object({ reason: z.string().optional(), output: z.string().optional() }).optional(),
});

/** A session under test, with what its adapter said. */
export class Debugged {
  readonly stops: string[] = [];
  readonly output: string[] = [];
  /** Whether the adapter said that the session is over. */
  ended = false;
  /** Whether the session is over for the editor, too. */
  isGone = false;
  /** When the editor and the adapter last spoke, in milliseconds. */
  lastMessage = 0;

  constructor(readonly session: vscode.DebugSession) {}

  /**
   * Whether the editor has nothing more to ask. A session that ends while the editor still takes in a stop stays
   * its active one.
   */
  get isQuiet(): boolean {
    return this.ended || Date.now() - this.lastMessage > 500;
  }

  /** Ends the session as a person does, who has seen the last stop. */
  async stop(): Promise<void> {
    if (this.isGone) return;
    await until(() => this.isQuiet, 'the end of what the editor asks about the last stop');
    await vscode.debug.stopDebugging(this.session);
    await until(() => this.isGone, `the end of ${this.session.name}`);
  }

  /** Waits for a number of stops since the start. */
  async stopped(count = this.stops.length + 1): Promise<void> {
    await until(
      () => this.stops.length >= count || this.ended,
      () =>
        `stop ${count} of ${this.session.name}; so far: ${this.stops.join(', ')}; ${this.output.join('')}`,
    );
    if (this.stops.length < count) throw new Error(`${this.session.name} ended: ${this.output.join('')}`);
  }

  /** Sends a request after which the session stops again. */
  async go(request: 'next' | 'continue' | 'stepIn' | 'stepBack' | 'reverseContinue'): Promise<void> {
    const count = this.stops.length + 1;
    await this.session.customRequest(request, { threadId: 1 });
    await this.stopped(count);
  }

  async topFrame(): Promise<z.infer<typeof frames>['stackFrames'][number]> {
    const said: unknown = await this.session.customRequest('stackTrace', { threadId: 1 });
    const [top] = frames.parse(said).stackFrames;
    assert.ok(top, 'The session has a frame.');
    return top;
  }

  async line(): Promise<number> {
    return (await this.topFrame()).line;
  }

  /** What an expression gives in the top frame. */
  async valueOf(expression: string): Promise<string> {
    const frameId = (await this.topFrame()).id;
    const said: unknown = await this.session.customRequest('evaluate', {
      expression,
      frameId,
      context: 'watch',
    });
    return z.object({ result: z.string() }).parse(said).result;
  }

  /** The top frame's locals. */
  async locals(): Promise<Record<string, string>> {
    const { id } = await this.topFrame();
    const scopes: unknown = await this.session.customRequest('scopes', { frameId: id });
    const [first] = scopesShape.parse(scopes).scopes;
    const rows: unknown = await this.session.customRequest('variables', first);
    // The least confidence has no name that an expression could use, and is no local.
    const { variables } = rowsShape.parse(rows);
    return Object.fromEntries(
      variables.filter(({ evaluateName }) => evaluateName).map(({ name, value }) => [name, value]),
    );
  }
}

const known = new Map<string, Debugged>();
let isWatching = false;

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  vscode.debug.onDidTerminateDebugSession(({ id }) => {
    const debugged = known.get(id);
    if (debugged) debugged.isGone = true;
  });
  vscode.debug.registerDebugAdapterTrackerFactory('*', {
    createDebugAdapterTracker: (session) => {
      const debugged = new Debugged(session);
      known.set(session.id, debugged);
      return {
        onWillReceiveMessage: () => {
          debugged.lastMessage = Date.now();
        },
        onDidSendMessage: (message: unknown) => {
          debugged.lastMessage = Date.now();
          const { data } = event.safeParse(message);
          if (data?.event === 'stopped') debugged.stops.push(data.body?.reason ?? '');
          else if (data?.event === 'output') debugged.output.push(data.body?.output ?? '');
          else if (data?.event === 'terminated') debugged.ended = true;
        },
        onWillStopSession: () => {
          debugged.ended = true;
        },
      };
    },
  });
}

/** Starts a session and waits for its first stop. */
export async function debug(configuration: Partial<vscode.DebugConfiguration>): Promise<Debugged> {
  const debugged = await start(configuration);
  await debugged.stopped(1);
  return debugged;
}

/** Starts a session. */
export async function start(configuration: Partial<vscode.DebugConfiguration>): Promise<Debugged> {
  return startedBy(() =>
    vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], {
      type: 'neural-debug',
      request: 'launch',
      name: `session ${known.size + 1}`,
      stopOnEntry: true,
      ...configuration,
    }),
  );
}

/** The session that something starts. */
export async function startedBy(work: () => Thenable<unknown>): Promise<Debugged> {
  watch();
  const before = new Set(known.keys());
  await work();
  return until(() => [...known].find(([id]) => !before.has(id))?.[1], 'a session');
}

/** Waits until a session is the active one. */
export async function isActive(type: string | null): Promise<void> {
  await until(
    () => (vscode.debug.activeDebugSession?.type ?? null) === type,
    `${type ?? 'no session'} as the active session`,
  );
}

export function breakpoint(path: string, line: number): vscode.SourceBreakpoint {
  return new vscode.SourceBreakpoint(
    new vscode.Location(vscode.Uri.file(path), new vscode.Position(line - 1, 0)),
  );
}

/** What the hovers over a place in a document say, once there are some. */
export async function hoverAt(uri: vscode.Uri, at: vscode.Position): Promise<string> {
  return until(async () => {
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      uri,
      at,
    );
    const said = hovers.flatMap(({ contents }) => contents);
    const text = said.map((one) => (one instanceof vscode.MarkdownString ? one.value : '')).join('\n');
    return text !== '' && text;
  }, 'a hover');
}

/** Ends all sessions, takes all breakpoints away, and closes all editors, whatever is unsaved. */
export async function leaveNothing(): Promise<void> {
  vscode.debug.removeBreakpoints(vscode.debug.breakpoints);
  // One after the other: of several that end at once the editor may keep one as the active one.
  for (const debugged of known.values()) await debugged.stop();
  await until(() => vscode.debug.activeDebugSession === undefined, 'the end of the sessions');
  await until(async () => {
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    return vscode.window.tabGroups.all.every(({ tabs }) => tabs.length === 0);
  }, 'the end of the editors');
}
