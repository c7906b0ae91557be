import * as vscode from 'vscode';
import type { LanguageClient, LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';
import type { z } from 'zod';
import {
  type ExampleCalls,
  exampleCallsRequest,
  exampleCallsResult,
  recordingTextRequest,
  recordingTextResult,
  trajectoryFileRequest,
} from '../../adapter/lsp/protocol';
import { isServed, isUnmarkedRecording } from './documents';
import { functionLenses } from './lenses';
import type { WhileDebugging } from './whileDebugging';

/** How often a server that ended by itself is started again. */
const maxRestarts = 3;

/**
 * What the language server gives to Python files, recordings and traces. The server, a process of its own, starts
 * with the first such document and not before.
 */
export class LanguageFeatures implements vscode.Disposable {
  #client: Promise<LanguageClient> | null = null;
  readonly #subscriptions: vscode.Disposable[] = [];

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly debugging: WhileDebugging,
  ) {
    this.#subscriptions.push(
      debugging.onDidChange(() => void this.#refreshHints()),
      vscode.workspace.onDidOpenTextDocument((document) => {
        this.#meet(document);
      }),
    );
    // After activation, so that nothing waits for it.
    const later = setTimeout(() => {
      vscode.workspace.textDocuments.forEach((document) => {
        this.#meet(document);
      });
    }, 0);
    this.#subscriptions.push(
      new vscode.Disposable(() => {
        clearTimeout(later);
      }),
    );
  }

  /** The calls of a function that are written somewhere; null where the file has no such function. */
  exampleCalls(uri: string, name: string): Promise<ExampleCalls> {
    return this.#request(exampleCallsResult, exampleCallsRequest, { uri, function: name });
  }

  /** A recording or trace as a recording of a program with a path; null where nothing in it can be read. */
  recordingText(uri: string, programPath: string): Promise<z.infer<typeof recordingTextResult>> {
    return this.#request(recordingTextResult, recordingTextRequest, { uri, programPath });
  }

  /** Whether the language server was started: without it nobody would show a trajectory. */
  get isStarted(): boolean {
    return this.#client !== null;
  }

  /** Tells of a session's newest trajectory by a recording's file, which is needed until this is done. */
  async tellTrajectory(path: string): Promise<void> {
    const client = await this.#client;
    await client?.sendRequest(trajectoryFileRequest, { path });
  }

  dispose(): void {
    for (const each of this.#subscriptions) each.dispose();
    void this.#client?.then((client) => client.dispose()).catch(() => undefined);
  }

  async #request<T>(shape: z.ZodType<T>, method: string, parameters: object): Promise<T> {
    const client = await this.#started();
    return shape.parse(await client.sendRequest(method, parameters));
  }

  #meet(document: vscode.TextDocument): void {
    if (isUnmarkedRecording(document)) {
      void vscode.languages.setTextDocumentLanguage(document, 'neural-debug-recording');
    } else if (isServed(document)) {
      this.#started().catch((thrown: unknown) => {
        this.log.error('The language server does not start:', String(thrown));
      });
    }
  }

  /** Has the editor ask anew for the hints of all documents that it shows. */
  async #refreshHints(): Promise<void> {
    const client = await this.#client?.catch(() => null);
    const hints = client?.getFeature('textDocument/inlayHint');
    for (const { document } of vscode.window.visibleTextEditors) {
      if (isServed(document)) hints?.getProvider(document)?.onDidChangeInlayHints.fire();
    }
  }

  #started(): Promise<LanguageClient> {
    return (this.#client ??= this.#start());
  }

  async #start(): Promise<LanguageClient> {
    const { CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn, TransportKind } =
      await import('vscode-languageclient/node');
    const server: ServerOptions = {
      module: this.context.asAbsolutePath('dist/cli.cjs'),
      args: ['lsp'],
      transport: TransportKind.stdio,
    };
    let restarts = 0;
    const options: LanguageClientOptions = {
      documentSelector: [
        { scheme: 'file', language: 'python' },
        { scheme: 'untitled', language: 'python' },
        { language: 'neural-debug-recording' },
        { language: 'cwm-trace' },
      ],
      initializationOptions: { functionLenses, debugRecordingCommand: 'neuralDebug.debugRecording' },
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      markdown: { isTrusted: false, supportHtml: false },
      middleware: {
        provideInlayHints: (document, range, token, next) =>
          this.debugging.hidesHints(document) ? [] : next(document, range, token),
        provideHover: (document, position, token, next) =>
          this.debugging.hidesHovers(document) ? null : next(document, position, token),
      },
      // The user did not ask for the server: its failures go to the log.
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({
          action: ++restarts > maxRestarts ? CloseAction.DoNotRestart : CloseAction.Restart,
          handled: true,
        }),
      },
    };
    const client = new LanguageClient('neuralDebug', 'Neural Debug', server, options);
    await client.start();
    return client;
  }
}
