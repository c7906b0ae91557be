import type * as vscode from 'vscode';
import { z } from 'zod';
import type { LanguageFeatures } from './languageFeatures';

const answer = z.object({ text: z.string().nullable() });
const message = z.object({ type: z.literal('event'), event: z.string() });

/** Milliseconds after a stop, so that the editor asks for the stack and the variables first. */
const delay = 300;
/** The time of a transfer times this is waited for until the next one: long trajectories are sent seldom. */
const rest = 20;

/** Tells the language server of a session's trajectory: after stops, and at the end. */
export class TrajectoryTracker implements vscode.DebugAdapterTrackerFactory {
  constructor(private readonly features: LanguageFeatures) {}

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    let timer: NodeJS.Timeout | null = null;
    let notBefore = 0;
    const tell = async () => {
      const begin = Date.now();
      try {
        const { text } = answer.parse(await session.customRequest('neuralDebug/recording'));
        if (text !== null) await this.features.tellTrajectory(text);
      } catch {
        // The session is over, or its trajectory is too long to be shown beside the text.
      }
      notBefore = Date.now() + (Date.now() - begin) * rest;
    };
    const tellIn = (wait: number) => {
      if (timer) clearTimeout(timer);
      timer = setTimeout(() => void tell(), wait);
    };
    return {
      onDidSendMessage: (sent) => {
        const { data } = message.safeParse(sent);
        if (data?.event === 'stopped') tellIn(Math.max(delay, notBefore - Date.now()));
        else if (data?.event === 'terminated') tellIn(0);
      },
      onWillStopSession: () => {
        if (timer) clearTimeout(timer);
      },
    };
  }
}
