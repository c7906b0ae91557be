import type * as vscode from 'vscode';
import { z } from 'zod';
import { healthShape } from '../servers/statusWords';
import type { SessionStatus } from '../views/sessionStatus';
import type { StateTree } from '../views/stateTree';
import { achieved } from '../walkthrough';
import type { EditedPrograms } from './editedProgram';

const request = z.object({ type: z.literal('request'), command: z.string() });
const event = z.object({ type: z.literal('event'), event: z.string() });

const about = z.object({
  kind: z.string(),
  isReal: z.boolean(),
  name: z.string(),
  words: z.string(),
  state: z.int(),
  health: healthShape,
});

/** Keeps the views at where sessions stand. */
export class StopFollower implements vscode.DebugAdapterTrackerFactory {
  constructor(
    private readonly tree: StateTree,
    private readonly status: SessionStatus,
    private readonly edited: EditedPrograms,
  ) {}

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    return {
      onWillReceiveMessage: (message: unknown) => {
        const command = request.safeParse(message).data?.command;
        if (command === 'restart') this.edited.restarted(session);
        if (command === 'stepBack' || command === 'reverseContinue') achieved('wentBack');
      },
      onDidSendMessage: (message: unknown) => {
        const parsed = event.safeParse(message);
        if (!parsed.success) return;
        if (parsed.data.event === 'stopped') void this.#stopped(session);
        else if (parsed.data.event === 'invalidated') this.tree.changed(session);
      },
    };
  }

  async #stopped(session: vscode.DebugSession): Promise<void> {
    let said: unknown;
    try {
      said = await session.customRequest('neuralDebug/about');
    } catch {
      // The session has ended meanwhile.
      return;
    }
    const parsed = about.safeParse(said);
    if (!parsed.success) return;
    achieved('hasStopped');
    this.status.show(session, parsed.data, parsed.data.health);
    await this.tree.follow(session, parsed.data.state);
  }
}
