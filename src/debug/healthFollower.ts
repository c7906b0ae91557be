import type * as vscode from 'vscode';
import { z } from 'zod';
import { type Health, healthShape } from '../servers/statusWords';
import type { SessionStatus } from '../views/sessionStatus';
import type { Failures, ForwardRequest } from './failures';

const healthEvent = z.object({ event: z.literal('neuralDebug/health'), body: healthShape });
const usageEvent = z.object({
  event: z.literal('neuralDebug/usage'),
  body: z.object({ completionTokens: z.number() }),
});
const endEvent = z.object({ event: z.literal('terminated') });
const forwardRequest = z.object({
  type: z.literal('request'),
  command: z.enum(['next', 'stepIn', 'stepOut', 'continue', 'restart']),
  arguments: z.looseObject({ threadId: z.int().optional(), targetId: z.int().optional() }).optional(),
});

/** Keeps the status bar at how what answers does, and meets its failures with what can be done. */
export class HealthFollower implements vscode.DebugAdapterTrackerFactory {
  constructor(
    private readonly status: SessionStatus,
    private readonly failures: Failures,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    let last: ForwardRequest | null = null;
    const ended = () => {
      this.status.ended(session);
      this.failures.ended(session);
    };
    return {
      onWillReceiveMessage: (message: unknown) => {
        const { data } = forwardRequest.safeParse(message);
        if (!data) return;
        last = { command: data.command, ...data.arguments };
        this.failures.goesOn(session);
      },
      onDidSendMessage: (message: unknown) => {
        const health = healthEvent.safeParse(message).data?.body;
        if (health) {
          this.status.noted(session, health);
          this.#log(session, health);
          if (health.state === 'failed' && health.during !== 'question')
            this.failures.meet(session, health, last);
        }
        const used = usageEvent.safeParse(message).data?.body;
        if (used && used.completionTokens > 0) this.status.noted(session, { state: 'answers' });
        if (endEvent.safeParse(message).success) ended();
      },
      onExit: ended,
    };
  }

  #log({ name }: vscode.DebugSession, health: Health): void {
    if (health.state === 'failed')
      this.log.error(`${name}: ${health.message} ${health.wayOut} (${health.code})`);
    else this.log.info(`${name}: ${health.state === 'slow' ? 'no answer for some seconds' : health.state}`);
  }
}
