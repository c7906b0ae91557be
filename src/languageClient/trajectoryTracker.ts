import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as vscode from 'vscode';
import { z } from 'zod';
import type { AdapterFactory } from '../debug/adapterFactory';
import type { LanguageFeatures } from './languageFeatures';

const message = z.object({ type: z.literal('event'), event: z.string() });

/** Milliseconds after a stop, so that the editor asks for the stack and the variables first. */
const delay = 300;
/** The time of a transfer times this is waited for until the next one: long trajectories are sent seldom. */
const rest = 20;
/** Longer trajectories are not shown beside the text. */
const mostStates = 100_000;

/** Tells the language server of a session's trajectory: after stops, and at the end. */
export class TrajectoryTracker implements vscode.DebugAdapterTrackerFactory {
  constructor(
    private readonly features: LanguageFeatures,
    private readonly adapters: AdapterFactory,
  ) {}

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    let timer: NodeJS.Timeout | null = null;
    let notBefore = 0;
    const tell = async () => {
      const begin = Date.now();
      try {
        await this.#tell(session);
      } catch {
        // Nothing is recorded yet, or no file can be written: the text is shown without values.
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

  /**
   * By a file, which only this user can read: as a message of the session, some megabytes would go through the
   * editor's window and back, and stop everything in the extension host meanwhile.
   */
  async #tell(session: vscode.DebugSession): Promise<void> {
    if (!this.features.isStarted) return;
    const folder = await mkdtemp(join(tmpdir(), 'neural-debug-'));
    try {
      const path = join(folder, 'trajectory.ndtrace');
      if (await this.adapters.record(session, path, mostStates)) await this.features.tellTrajectory(path);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
