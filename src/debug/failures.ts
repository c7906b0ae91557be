import * as vscode from 'vscode';
import { z } from 'zod';
import { CatalogueError } from '../../adapter/errors';
import { connectServer } from '../commands/connectServer';
import { type ErrorAction, showError } from '../messages';
import type { ApiKeys } from '../servers/apiKeys';
import { configurationAgain, goesOnWith, serverAttributesOf, serverOf } from '../servers/sessionServer';
import { type Failure, isKeyFault } from '../servers/statusWords';
import { readSettings } from '../settings';
import { askForWorld } from './missingServer';
import { startSession } from './startSession';
import { takeTextNow } from './unsavedText';

/** A request that goes on, as the editor sent it. */
export interface ForwardRequest {
  readonly command: 'next' | 'stepIn' | 'stepOut' | 'continue' | 'restart';
  readonly threadId?: number | undefined;
  readonly targetId?: number | undefined;
}

/** The editor's own commands for requests: with them it knows that the thread runs. */
const editorCommands: Readonly<Record<ForwardRequest['command'], string>> = {
  next: 'stepOver',
  stepIn: 'stepInto',
  stepOut: 'stepOut',
  continue: 'continue',
  restart: 'restart',
};

/** What failed in a session last. */
interface Failed {
  readonly failure: Failure;
  /** The request that failed; null for the session's beginning. */
  readonly request: ForwardRequest | null;
  /** Whether it is the settings that name its server. */
  readonly isOfSettings: boolean;
}

/**
 * Meets failures of what answers with one message that says what can be done. A session that ended with one is begun
 * again, one that goes on tries its last request again: nothing of it is lost.
 */
export class Failures {
  /** What failed in sessions that go on, until it is asked for again. */
  readonly #failed = new Map<string, Failed>();
  readonly #ended = new WeakSet<vscode.DebugSession>();

  constructor(private readonly keys: ApiKeys) {}

  /** Something failed: shows it, with what can be done. */
  meet(session: vscode.DebugSession, failure: Failure, request: ForwardRequest | null): void {
    const server = serverOf(session);
    const isOfSettings = readSettings().server?.baseUrl === server?.baseUrl;
    const failed: Failed = { failure, request, isOfSettings };
    this.#failed.set(session.id, failed);
    const { message, wayOut, code } = failure;
    const actions: ErrorAction[] = [
      ...(server ? [{ title: 'Connect…', run: () => this.connect(session, failed) }] : []),
      { title: 'Try Again', run: () => this.tryAgain(session, failed) },
      { title: 'Use Another World…', run: () => this.otherWorld(session) },
      { title: 'Show Log', run: () => vscode.commands.executeCommand('neuralDebug.showLog') },
    ];
    void showError(new CatalogueError(code, 'nobody', message, wayOut), ...actions).catch(showError);
  }

  /** Something is asked for in a session: what failed before is past. */
  goesOn(session: vscode.DebugSession): void {
    this.#failed.delete(session.id);
  }

  ended(session: vscode.DebugSession): void {
    this.#ended.add(session);
    this.#failed.delete(session.id);
  }

  /** Asks again for what failed: the session's beginning, or its last request. */
  async tryAgain(session: vscode.DebugSession, failed = this.#failed.get(session.id)): Promise<void> {
    if (!failed) return;
    const { failure, request, isOfSettings } = failed;
    const settings = readSettings().server;
    const own = serverAttributesOf(session);
    // Another server may have been connected meanwhile.
    const server = isOfSettings && settings ? { ...own, model: undefined, ...settings } : own;
    if (this.#isOver(session, failed)) {
      await startAgain(session, own ? { server } : {});
      return;
    }
    // It was tried again already, or the session is somewhere else.
    if (this.#failed.get(session.id) !== failed) return;
    // A key is read once for a connection.
    if (server && isKeyFault(failure)) await reconnect(session, server);
    if (request) await askAgain(session, request);
  }

  /** Lets another server go on, or begin again where the session ended. */
  async connect(session: vscode.DebugSession, failed = this.#failed.get(session.id)): Promise<void> {
    const server = await connectServer(this.keys, serverOf(session));
    if (!server) return;
    if (serverOf(session) === null || this.#isOver(session, failed)) {
      await startAgain(session, { world: 'server', server });
      return;
    }
    await reconnect(session, { ...server });
    if (failed?.request && this.#failed.get(session.id) === failed) await askAgain(session, failed.request);
  }

  /** Begins the program anew with something else that tells its states. This session's states stay. */
  async otherWorld(session: vscode.DebugSession): Promise<void> {
    const program = z.string().catch('the program').parse(session.configuration['program']);
    const world = await askForWorld(program, 'other');
    if (world === null) return;
    if (world === 'connect') await this.connect(session);
    else if (world === 'reference') await startAgain(session, { world: 'reference', recording: undefined });
    else await startAgain(session, { world: 'recording', recording: world.recording });
  }

  #isOver(session: vscode.DebugSession, failed: Failed | undefined): boolean {
    return failed?.failure.during === 'start' || this.#ended.has(session);
  }
}

async function reconnect(
  session: vscode.DebugSession,
  server: Readonly<Record<string, unknown>>,
): Promise<void> {
  await session.customRequest('neuralDebug/reconnect', { server });
  // Only now: until then, and where that failed, the server before is the one that is asked.
  goesOnWith(session, server);
}

async function askAgain(
  session: vscode.DebugSession,
  { command, threadId, targetId }: ForwardRequest,
): Promise<void> {
  if (targetId !== undefined) {
    await session.customRequest(command, { threadId, targetId });
    return;
  }
  const thread = { sessionId: session.id, threadId: `thread:${session.id}:${threadId ?? 1}` };
  await vscode.commands.executeCommand(
    `workbench.action.debug.${editorCommands[command]}`,
    undefined,
    thread,
  );
}

async function startAgain(
  session: vscode.DebugSession,
  changes: Readonly<Record<string, unknown>>,
): Promise<void> {
  // The user wants this session beside the one that is there.
  const again = configurationAgain(session, { ...changes, suppressMultipleSessionWarning: true });
  takeTextNow(again);
  await startSession(session.workspaceFolder, again);
}
