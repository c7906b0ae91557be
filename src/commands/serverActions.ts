import * as vscode from 'vscode';
import { asCatalogueError } from '../../adapter/errors';
import { shownText } from '../../adapter/shownText';
import type { Failures } from '../debug/failures';
import type { ServerConfiguration } from '../settings';
import { showError } from '../messages';
import type { ApiKeys } from '../servers/apiKeys';
import { checked, inWords } from '../servers/inquiry';
import { originOf } from '../servers/origin';
import { type StatusAction, statusActions, statusWords } from '../servers/statusWords';
import type { SessionStatus } from '../views/sessionStatus';
import { connectServer, setApiKey, withProgress } from './connectServer';

interface Offer {
  readonly label: string;
  readonly detail: string;
  readonly run: () => Promise<unknown>;
}

/** What the status bar's item offers: what fits how what answers does. Nothing is asked before it is chosen. */
export class ServerActions {
  constructor(
    private readonly status: SessionStatus,
    private readonly failures: Failures,
    private readonly keys: ApiKeys,
  ) {}

  async choose(): Promise<void> {
    const { subject } = this.status;
    const { text, sentences } = statusWords(subject);
    const offers = this.#offers(subject);
    const items = statusActions(subject).map((action) => offers[action]);
    const chosen = await vscode.window.showQuickPick(items, {
      title: text.replace(/^\$\([^)]*\) /, ''),
      // What was found out last.
      placeHolder: sentences.slice(1).join(' '),
      // A stop that comes meanwhile moves the focus to the editor.
      ignoreFocusOut: true,
    });
    try {
      await chosen?.run();
    } catch (thrown) {
      await showError(thrown);
    }
  }

  #offers({ session, server, answering }: SessionStatus['subject']): Readonly<Record<StatusAction, Offer>> {
    const { keys, failures } = this;
    const at = server ? shownText(server.baseUrl) : '';
    const inSession = <Result>(run: (one: vscode.DebugSession) => Promise<Result> | Thenable<Result>) => {
      return async () => {
        if (session) await run(session);
      };
    };
    return {
      tryAgain: {
        label: '$(debug-rerun) Try again',
        detail: 'Asks again for what failed last; all that was predicted before is kept',
        run: inSession((one) => failures.tryAgain(one)),
      },
      stopWaiting: {
        label: '$(debug-pause) Stop waiting',
        detail: 'Stops at the last state that is known',
        run: inSession((one) => one.customRequest('pause', { threadId: 1 })),
      },
      test: {
        label: '$(pulse) Test the connection now',
        detail: `Asks ${at} what it is, and for a few tokens; no source is sent`,
        run: async () => {
          if (server) await this.#test(server);
        },
      },
      connect: {
        label: `$(plug) Connect ${server ? 'another' : 'a'} server…`,
        detail: answering?.kind === 'server' ? 'The session goes on with it' : 'It predicts from then on',
        run:
          session && answering?.kind === 'server'
            ? () => failures.connect(session)
            : () => connectServer(keys),
      },
      setKey: {
        label: '$(key) Set the API key…',
        detail: 'Kept in the editor’s secret storage, and sent to its server only',
        run: () => setApiKey(keys, server),
      },
      otherWorld: {
        label: '$(arrow-swap) Choose another world…',
        detail: 'Begins the program anew with a real run, a recording or another server',
        run: inSession((one) => failures.otherWorld(one)),
      },
      showLog: {
        label: '$(output) Show the log',
        detail: 'What editor and debug adapter said to each other',
        run: async () => vscode.commands.executeCommand('neuralDebug.showLog'),
      },
      openSettings: {
        label: '$(settings-gear) Open the settings',
        detail: 'Server, model, format, Python',
        run: async () =>
          vscode.commands.executeCommand('workbench.action.openSettings', '@ext:neural-debug.neural-debug'),
      },
    };
  }

  /** Asks a server what it is, and says in words what came of it. */
  async #test(server: ServerConfiguration): Promise<void> {
    try {
      const key = await this.keys.keyFor(originOf(server.baseUrl));
      const found = await withProgress(`Finding out what ${server.baseUrl} can do`, (signal) =>
        checked(server, key, signal),
      );
      if (!found) return;
      this.status.tested(server.baseUrl, null);
      void vscode.window.showInformationMessage(shownText(inWords(found).join(' ')));
    } catch (thrown) {
      const { code, message, wayOut } = asCatalogueError(thrown);
      this.status.tested(server.baseUrl, { state: 'failed', code, message, wayOut, during: 'question' });
      await showError(
        thrown,
        { title: 'Connect…', run: () => connectServer(this.keys, server) },
        { title: 'Try Again', run: () => this.#test(server) },
        { title: 'Show Log', run: () => vscode.commands.executeCommand('neuralDebug.showLog') },
      );
    }
  }
}
