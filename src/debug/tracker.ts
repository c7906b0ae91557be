import type * as vscode from 'vscode';

/**
 * Writes the session's protocol messages to the log at debug level. No message holds a key: the adapter asks
 * for keys apart from the protocol.
 */
export class LogTracker implements vscode.DebugAdapterTrackerFactory {
  constructor(private readonly log: vscode.LogOutputChannel) {}

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    const { log } = this;
    return {
      onWillStartSession: () => {
        log.info(`Session started: ${session.name}`);
      },
      onWillReceiveMessage: (message) => {
        log.debug(`→ ${JSON.stringify(message)}`);
      },
      onDidSendMessage: (message) => {
        log.debug(`← ${JSON.stringify(message)}`);
      },
      onError: (error) => {
        log.error(error);
      },
      onWillStopSession: () => {
        log.info(`Session ended: ${session.name}`);
      },
    };
  }
}
