import { parseConfiguration } from '../../adapter/debugger/configuration';
import type { Stop } from '../../adapter/debugger/debugger';
import { openDebugger, type Opened } from '../../adapter/debugger/open';
import type { ForwardRequest } from '../../adapter/debugger/stepping';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';

/** A request of a scripted session. */
export type Request = ForwardRequest | 'stepBack' | 'reverseContinue';

/** A stop, as it is compared between worlds. */
export interface SeenStop {
  readonly reason: string;
  readonly event?: string;
  readonly function?: string;
  readonly line?: number;
  readonly depth?: number;
  readonly locals?: Readonly<Record<string, string | null>> | null;
  readonly argument?: string | null;
}

/** How a scripted session is set up. */
export interface Script {
  readonly breakpoints?: readonly number[];
  readonly raised?: boolean;
  /** Whether the beginning is a stop; it is, unless this is false. */
  readonly stopOnEntry?: boolean;
  /** The requests, or one that is repeated until the program ends, or for 150 stops. */
  readonly requests: readonly Request[] | Request;
}

/** The most stops that a repeated request makes. */
const mostStops = 150;

/**
 * Plays a script against a world.
 *
 * @param configuration what `launch` takes
 * @param token the server's key
 * @returns the stops, each with what the cwm format can carry of its state
 */
export async function play(
  configuration: object,
  script: Script,
  token: string | null = null,
): Promise<SeenStop[]> {
  const opened = await openDebugger(parseConfiguration(configuration), () => Promise.resolve(token));
  const { debugger: session } = opened;
  try {
    session.breakpoints.setLines((script.breakpoints ?? []).map((line) => ({ line, condition: null })));
    session.breakpoints.raised = script.raised ?? false;
    const see = await projector(opened);
    const stops = [see(await session.start(script.stopOnEntry ?? true))];
    const { requests } = script;
    for (let count = 0; count < (typeof requests === 'string' ? mostStops : requests.length); count++) {
      const request = typeof requests === 'string' ? requests : requests[count];
      if (!request) break;
      const stop =
        request === 'stepBack' || request === 'reverseContinue'
          ? await session.back(request)
          : await session.forward(request);
      stops.push(see(stop));
      if (typeof requests === 'string' && (stop.reason === 'end' || stop.reason === 'entry')) break;
    }
    return stops.filter((stop) => stop !== null);
  } finally {
    await session.close();
    await opened.evaluator.close();
  }
}

/** Null where the format has no such state: one of another thread. */
async function projector({ debugger: session }: Opened): Promise<(stop: Stop) => SeenStop | null> {
  const { trajectory, source } = session;
  const format = await createCwmFormat(trajectory.program, source);
  return ({ reason, state }) => {
    if (state < 0) return { reason };
    const projected = format.project(trajectory.state(state));
    if (!projected) return null;
    return {
      reason,
      event: projected.event,
      function: projected.function,
      line: projected.line,
      depth: trajectory.frame(state).depth,
      locals:
        projected.locals && Object.fromEntries([...projected.locals].map(([name, { repr }]) => [name, repr])),
      argument: projected.argument?.repr ?? null,
    };
  };
}
