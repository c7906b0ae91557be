import type * as vscode from 'vscode';
import { quietRequests } from '../../adapter/dap/quietRequests';

/** The debug adapter has refused a request of ours, and its answer says why. */
export class RefusedRequest extends Error {
  /**
   * @param message what the adapter answered
   * @param isShown whether the editor has shown it already
   */
  constructor(
    message: string,
    readonly isShown: boolean,
  ) {
    super(message);
  }
}

/**
 * Asks a session's debug adapter.
 *
 * @throws RefusedRequest where it refuses
 */
export async function request(
  session: vscode.DebugSession,
  command: string,
  args?: object,
): Promise<unknown> {
  try {
    return await session.customRequest(command, args);
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    throw new RefusedRequest(message, !quietRequests.has(command));
  }
}
