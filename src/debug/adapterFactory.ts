import type { DebugProtocol } from '@vscode/debugprotocol';
import * as vscode from 'vscode';
import type { NeuralDebugSession } from '../../adapter/dap/session';
import type { ApiKeys } from '../servers/apiKeys';
import { readLaunchFields } from './launchConfiguration';

/** Loads what a session will need while the editor is still busy with its start. */
export function prepareAdapter(settled: vscode.DebugConfiguration): void {
  // After the editor has its answer, which would wait otherwise.
  setImmediate(() => {
    void (async () => {
      const { sandbox, python } = readLaunchFields(settled);
      await import('../../adapter/dap/session');
      const { prepareToOpen } = await import('../../adapter/debugger/open');
      await prepareToOpen({ sandbox: sandbox || null, python: python || null });
      // What fails here fails in the session, too, which says so.
    })().catch(() => undefined);
  });
}

/** Makes the debug adapter of a session, inside the extension host. */
export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  readonly #adapters = new Map<string, NeuralDebugSession>();

  constructor(private readonly keys: ApiKeys) {}

  /**
   * Writes what a session has recorded into a file, as the request `neuralDebug/recording` does, also when the editor
   * asks the session for nothing more.
   *
   * @param mostStates nothing is written where there are more
   * @returns whether it was written
   */
  async record({ id }: vscode.DebugSession, path: string, mostStates: number): Promise<boolean> {
    const recorded = await this.#adapters.get(id)?.record(path, mostStates);
    return recorded !== undefined && recorded.states <= mostStates;
  }

  async createDebugAdapterDescriptor({ id }: vscode.DebugSession): Promise<vscode.DebugAdapterDescriptor> {
    // Loaded with the first session, so that the editor's start does not wait for it.
    const { NeuralDebugSession } = await import('../../adapter/dap/session');
    const session = new NeuralDebugSession({
      keyFor: (origin: string) => this.keys.keyFor(origin),
      showsFailures: true,
    });
    this.#adapters.set(id, session);
    const adapter = Object.assign(
      new vscode.Disposable(() => {
        this.#adapters.delete(id);
        session.dispose();
      }),
      {
        onDidSendMessage: session.onDidSendMessage,
        handleMessage: (message: vscode.DebugProtocolMessage) => {
          // The editor's type says nothing of messages: they are the protocol's.
          session.handleMessage(message as DebugProtocol.ProtocolMessage);
        },
      },
    );
    return new vscode.DebugAdapterInlineImplementation(adapter);
  }
}
