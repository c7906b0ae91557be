import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type Diagnostic,
  type InitializeResult,
  type Position,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  createProtocolConnection,
} from 'vscode-languageserver/node';

const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

/** A client of the real language server in a process of its own. */
export class LspClient {
  readonly #diagnostics = new Map<string, Diagnostic[]>();
  #waiting: (() => void)[] = [];
  refreshes = 0;
  /** What came on standard error. */
  errors = '';

  private constructor(
    readonly connection: ProtocolConnection,
    readonly initialized: InitializeResult,
    private readonly exited: Promise<number | null>,
  ) {}

  /** @param options what the client is able to do, as `initializationOptions` */
  static async start(folder: string | null = null, options: unknown = {}): Promise<LspClient> {
    const child = spawn(process.execPath, [cli, 'lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'pipe'] });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const connection = createProtocolConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    connection.onRequest('client/registerCapability', () => null);
    connection.listen();
    const initialized: InitializeResult = await connection.sendRequest('initialize', {
      processId: process.pid,
      rootUri: null,
      workspaceFolders: folder === null ? null : [{ uri: pathToFileURL(folder).href, name: 'workspace' }],
      capabilities: {
        workspace: {
          inlayHint: { refreshSupport: true },
          didChangeWatchedFiles: { dynamicRegistration: true },
        },
      },
      initializationOptions: options,
    });
    const client = new LspClient(connection, initialized, exited);
    child.stderr.on('data', (piece) => (client.errors += String(piece)));
    connection.onRequest('workspace/inlayHint/refresh', () => {
      client.refreshes++;
      client.#wake();
      return null;
    });
    connection.onNotification('textDocument/publishDiagnostics', (given: unknown) => {
      const { uri, diagnostics } = given as { uri: string; diagnostics: Diagnostic[] };
      client.#diagnostics.set(uri, diagnostics);
      client.#wake();
    });
    await connection.sendNotification('initialized', {});
    return client;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const done of waiting) done();
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((done) => this.#waiting.push(done));
  }

  async open(uri: string, languageId: string, text: string): Promise<void> {
    const textDocument = { uri, languageId, version: 1, text };
    await this.connection.sendNotification('textDocument/didOpen', { textDocument });
  }

  /** Replaces the whole text. */
  async change(uri: string, version: number, text: string): Promise<void> {
    this.#diagnostics.delete(uri);
    await this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ text }],
    });
  }

  /** A request about a document, perhaps at a position. */
  request<T>(method: string, uri: string, position?: Position, more: object = {}): Promise<T> {
    return this.connection.sendRequest(`textDocument/${method}`, {
      textDocument: { uri },
      ...(position ? { position } : {}),
      ...more,
    });
  }

  /** The Markdown of a hover, or null. */
  async hover(uri: string, line: number, character: number): Promise<string | null> {
    const hover = await this.request<{ contents: { value: string } } | null>('hover', uri, {
      line,
      character,
    });
    return hover?.contents.value ?? null;
  }

  /** The problems of a document, once they were told. */
  async diagnostics(uri: string): Promise<Diagnostic[]> {
    await this.#until(() => this.#diagnostics.has(uri));
    return this.#diagnostics.get(uri) ?? [];
  }

  /** Tells of a debug session's trajectory, and waits until the server has read it. */
  async giveTrajectory(text: string): Promise<void> {
    const before = this.refreshes;
    await this.connection.sendNotification('neuralDebug/trajectory', { text });
    await this.#until(() => this.refreshes > before);
  }

  /** Tells of a debug session's trajectory by a file, which is gone afterwards, as the extension does. */
  async giveTrajectoryFile(text: string): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'neural-debug-trajectory-'));
    try {
      const path = join(folder, 'given.ndtrace');
      writeFileSync(path, text);
      await this.connection.sendRequest('neuralDebug/trajectoryFile', { path });
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /** Ends the server as the protocol says, and gives its exit code. */
  async stop(): Promise<number | null> {
    await this.connection.sendRequest('shutdown');
    await this.connection.sendNotification('exit');
    const code = await this.exited;
    this.connection.dispose();
    return code;
  }
}
