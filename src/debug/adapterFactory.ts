import type { DebugProtocol } from '@vscode/debugprotocol';
import * as vscode from 'vscode';
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
  constructor(private readonly keys: ApiKeys) {}

  async createDebugAdapterDescriptor(): Promise<vscode.DebugAdapterDescriptor> {
    // Loaded with the first session, so that the editor's start does not wait for it.
    const { NeuralDebugSession } = await import('../../adapter/dap/session');
    const session = new NeuralDebugSession({ keyFor: (origin: string) => this.keys.keyFor(origin) });
    const adapter = Object.assign(
      new vscode.Disposable(() => {
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
