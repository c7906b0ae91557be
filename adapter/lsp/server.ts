import {
  type CodeLens,
  type Connection,
  createConnection,
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  type InitializeResult,
  TextDocuments,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { recordingLines } from '../trajectory/recording';
import { suggestCalls } from './callSuggestions';
import { functionLenses } from './codeLenses';
import { inlayHints } from './inlayHints';
import { kindOf, OpenDocuments } from './openDocuments';
import {
  type ClientOptions,
  exampleCallsParameters,
  exampleCallsRequest,
  initializationOptions,
  pushedSettings,
  recordingTextParameters,
  recordingTextRequest,
  type Settings,
  settingsShape,
  trajectoryFileParameters,
  trajectoryFileRequest,
  trajectoryNotification,
  trajectoryParameters,
} from './protocol';
import { pythonHover } from './pythonHover';
import { PredictedFile } from './pythonFile';
import { readRecordingFile } from './recordingFiles';
import { Breath } from './traceDocument';
import { definition, diagnostics, documentLinks, pathOf, traceHover } from './traceFeatures';
import { documentSymbols, foldingRanges } from './traceOutline';
import { TrajectoryStore } from './trajectoryStore';

/** Milliseconds without a change after which a document's problems are told. */
const diagnosticsDelay = 200;

/** The section of the client's settings that is the server's. */
const section = 'neuralDebug';

/** Serves the Language Server Protocol on standard input and output, until the client ends it. */
export function serveOnStandardStreams(): void {
  new LanguageServer(createConnection(process.stdin, process.stdout)).listen();
}

/**
 * A language server for recordings and raw traces, and for Python files of which a trajectory is known. It runs
 * nothing and asks no server: all it tells is read from texts.
 */
class LanguageServer {
  readonly #documents = new TextDocuments(TextDocument);
  readonly #open = new OpenDocuments();
  readonly #delays = new Map<string, NodeJS.Timeout>();
  #store = new TrajectoryStore();
  #options: ClientOptions = initializationOptions.parse({});
  #settings: Settings = settingsShape.parse({});
  #asksForSettings = false;
  #canRefreshHints = false;
  #canRefreshLenses = false;

  constructor(private readonly connection: Connection) {
    connection.onInitialize(({ capabilities, workspaceFolders, initializationOptions: given }) => {
      this.#options = initializationOptions.parse(given ?? {});
      const folders = (workspaceFolders ?? []).map(({ uri }) => pathOf(uri));
      this.#store = new TrajectoryStore(folders.filter((path) => path !== null));
      const { workspace } = capabilities;
      this.#canRefreshHints = workspace?.inlayHint?.refreshSupport ?? false;
      this.#canRefreshLenses = workspace?.codeLens?.refreshSupport ?? false;
      this.#asksForSettings = workspace?.configuration ?? false;
      connection.onInitialized(() => {
        if (workspace?.didChangeWatchedFiles?.dynamicRegistration) {
          const watchers = [{ globPattern: '**/*.{trace.jsonl,ndtrace}' }];
          void connection.client.register(DidChangeWatchedFilesNotification.type, { watchers });
        }
        if (workspace?.didChangeConfiguration?.dynamicRegistration) {
          void connection.client.register(DidChangeConfigurationNotification.type, { section });
        }
        if (this.#asksForSettings) void this.#askForSettings();
      });
      return initializeResult;
    });
    connection.onDidChangeConfiguration(({ settings }) => {
      if (this.#asksForSettings) {
        void this.#askForSettings();
        return;
      }
      const pushed = pushedSettings.safeParse(settings);
      if (!pushed.success) return;
      this.#settings = pushed.data.neuralDebug;
      this.#refresh();
    });
    connection.onDidChangeWatchedFiles(() => {
      this.#store.filesChanged();
      this.#refresh();
    });
    this.#serveTraces();
    this.#servePython();
    this.#serveDocuments();
  }

  listen(): void {
    this.#documents.listen(this.connection);
    this.connection.listen();
  }

  async #askForSettings(): Promise<void> {
    this.#settings = settingsShape.parse(await this.connection.workspace.getConfiguration(section));
    this.#refresh();
  }

  #serveDocuments(): void {
    this.#documents.onDidChangeContent(({ document }) => {
      clearTimeout(this.#delays.get(document.uri));
      const tell = () => void this.#tellProblems(document);
      this.#delays.set(document.uri, setTimeout(tell, diagnosticsDelay));
    });
    this.#documents.onDidClose(({ document: { uri } }) => {
      clearTimeout(this.#delays.get(uri));
      this.#delays.delete(uri);
      this.#open.close(uri);
      void this.connection.sendDiagnostics({ uri, diagnostics: [] });
    });
  }

  async #tellProblems(document: TextDocument): Promise<void> {
    const { uri, version } = document;
    const trace = await this.#open.trace(document);
    if (!trace || this.#documents.get(uri)?.version !== version) return;
    await this.connection.sendDiagnostics({ uri, version, diagnostics: diagnostics(trace, document) });
  }

  #serveTraces(): void {
    const { connection } = this;
    connection.onFoldingRanges(({ textDocument }) =>
      this.#withTrace(textDocument.uri, (trace, document) => foldingRanges(trace, document)),
    );
    connection.onDocumentSymbol(({ textDocument }) =>
      this.#withTrace(textDocument.uri, (trace, document) => documentSymbols(trace, document)),
    );
    connection.onDefinition(({ textDocument, position }) =>
      this.#withTrace(textDocument.uri, (trace, document) => definition(trace, document, position)),
    );
    connection.onDocumentLinks(({ textDocument }) =>
      this.#withTrace(textDocument.uri, (trace, document) => documentLinks(trace, document)),
    );
    connection.onRequest(recordingTextRequest, (given: unknown) => {
      const { uri, programPath } = recordingTextParameters.parse(given);
      return this.#withTrace(uri, async ({ program, trajectory, world }) => {
        if (!program || trajectory.length === 0) return null;
        const breath = new Breath();
        const lines: string[] = [];
        for (const line of recordingLines(trajectory, world, { ...program, path: programPath })) {
          lines.push(line);
          await breath.take(null);
        }
        return { text: lines.join(''), source: program.source };
      });
    });
  }

  async #withTrace<T>(
    uri: string,
    answer: (trace: NonNullable<Awaited<ReturnType<OpenDocuments['trace']>>>, document: TextDocument) => T,
  ): Promise<Awaited<T> | null> {
    const document = this.#documents.get(uri);
    const trace = document && (await this.#open.trace(document));
    return trace ? await answer(trace, document) : null;
  }

  #servePython(): void {
    const { connection } = this;
    connection.onHover(async ({ textDocument, position }) => {
      const document = this.#documents.get(textDocument.uri);
      if (!document) return null;
      if (kindOf(document) !== 'python') {
        const trace = await this.#open.trace(document);
        return trace && traceHover(trace, document, position);
      }
      const file = await this.#predicted(document);
      return file && pythonHover(file, position);
    });
    connection.languages.inlayHint.on(async ({ textDocument, range }) => {
      const document = this.#documents.get(textDocument.uri);
      if (!document || !this.#settings.inlayHints.enabled) return null;
      const file = await this.#predicted(document);
      return file && inlayHints(file, range);
    });
    connection.onCodeLens(async ({ textDocument }) => {
      const document = this.#documents.get(textDocument.uri);
      if (!document || !this.#settings.codeLens.enabled) return null;
      const { functionLenses: commands, debugRecordingCommand } = this.#options;
      const kind = kindOf(document);
      if (kind === 'python') {
        const source = commands.length === 0 ? null : await this.#open.python(document);
        return source && functionLenses(document.uri, source, commands);
      }
      return kind === 'other' || debugRecordingCommand === null
        ? null
        : [recordingLens(document.uri, debugRecordingCommand)];
    });
    connection.onRequest(exampleCallsRequest, async (given: unknown) => {
      const { uri, function: name } = exampleCallsParameters.parse(given);
      const document = this.#documents.get(uri);
      const source = document && (await this.#open.python(document));
      return source ? suggestCalls(source, pathOf(uri), name) : null;
    });
    connection.onNotification(trajectoryNotification, async (given: unknown) => {
      const { text } = trajectoryParameters.parse(given);
      if (await this.#store.give(text)) this.#refresh();
    });
    connection.onRequest(trajectoryFileRequest, async (given: unknown) => {
      const text = await readRecordingFile(trajectoryFileParameters.parse(given).path);
      if (text !== null && (await this.#store.give(text))) this.#refresh();
      return null;
    });
  }

  /** A Python file with the newest trajectory of it; null where none is known. */
  async #predicted(document: TextDocument): Promise<PredictedFile | null> {
    const path = pathOf(document.uri);
    const source = path === null ? null : await this.#open.python(document);
    if (path === null || !source) return null;
    const known = await this.#store.newestFor(path, source.text);
    return known && new PredictedFile(source, known);
  }

  #refresh(): void {
    if (this.#canRefreshHints) void this.connection.languages.inlayHint.refresh();
    if (this.#canRefreshLenses) void this.connection.sendRequest('workspace/codeLens/refresh');
  }
}

function recordingLens(uri: string, command: string): CodeLens {
  const start = { line: 0, character: 0 };
  return {
    range: { start, end: start },
    command: { title: 'Debug This Recording', command, arguments: [uri] },
  };
}

const initializeResult: InitializeResult = {
  serverInfo: { name: 'Neural Debug' },
  capabilities: {
    textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
    hoverProvider: true,
    foldingRangeProvider: true,
    documentSymbolProvider: true,
    definitionProvider: true,
    documentLinkProvider: {},
    codeLensProvider: {},
    inlayHintProvider: true,
  },
};
