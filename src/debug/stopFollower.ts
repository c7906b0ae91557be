import type * as vscode from 'vscode';
import { z } from 'zod';
import { healthShape } from '../servers/statusWords';
import type { SessionStatus } from '../views/sessionStatus';
import type { StateTree } from '../views/stateTree';
import { achieved } from '../walkthrough';
import type { EditedPrograms } from './editedProgram';
import { takeTextNow } from './unsavedText';

const request = z.object({ type: z.literal('request'), command: z.string() });
/** A restart, with the configuration as VS Code sends it. */
const restart = z.object({
  command: z.literal('restart'),
  arguments: z.object({
    arguments: z.custom<Record<string, unknown>>((given) => typeof given === 'object' && given !== null),
  }),
});
/** The session has another text from now on. */
const began = z.object({
  type: z.literal('response'),
  command: z.enum(['launch', 'restart']),
  success: z.literal(true),
});
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
        // The editor knows the configuration as of launch only. What is changed in the message reaches the adapter.
        if (command === 'restart') {
          const again = restart.safeParse(message).data;
          if (again) takeTextNow(again.arguments.arguments);
        }
        if (command === 'stepBack' || command === 'reverseContinue') achieved('wentBack');
      },
      onDidSendMessage: (message: unknown) => {
        if (began.safeParse(message).success) this.edited.began(session);
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
