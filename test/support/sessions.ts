import { parseConfiguration } from '../../adapter/debugger/configuration';
import { followBranch } from '../../adapter/debugger/branches';
import type { Debugger } from '../../adapter/debugger/debugger';
import type { Stop } from '../../adapter/debugger/stop';
import { openDebugger, type Opened } from '../../adapter/debugger/open';
import type { ForwardRequest } from '../../adapter/debugger/stepping';
import { changeOf } from '../../adapter/debugger/whatIf';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';
import type { ExpressionEvaluator } from '../../adapter/python/expressions';

/**
 * A request of a scripted session; `set` gives values to places as a person writes them, `jump` goes on from
 * another line, `branch` goes to a branch by its number.
 */
export type Request =
  | ForwardRequest
  | 'stepBack'
  | 'reverseContinue'
  | { readonly set: readonly [place: string, value: string] }
  | { readonly jump: number }
  | { readonly branch: number };

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
  /** The most stops that a repeated request makes; 150 where nothing is said. */
  readonly mostStops?: number;
}

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
    const { requests, mostStops = 150 } = script;
    const isRepeated = isRequest(requests);
    const wanted = isRequest(requests) ? Array<Request>(mostStops).fill(requests) : requests;
    for (const request of wanted) {
      const stop = await ask(session, request, opened.evaluator);
      stops.push(see(stop));
      if (isRepeated && (stop.reason === 'end' || stop.reason === 'entry')) break;
    }
    return stops.filter((stop) => stop !== null);
  } finally {
    await session.close();
    await opened.evaluator.close();
  }
}

function isRequest(requests: Script['requests']): requests is Request {
  return typeof requests === 'string' || !('length' in requests);
}

/** @throws CatalogueError */
async function ask(session: Debugger, request: Request, evaluator: ExpressionEvaluator): Promise<Stop> {
  if (request === 'stepBack' || request === 'reverseContinue') return session.back(request);
  if (typeof request === 'string') return session.forward(request);
  if ('jump' in request) return session.whatIf({ locals: new Map(), line: request.jump });
  const { trajectory, cursor } = session;
  if ('branch' in request) return session.goTo(followBranch(trajectory, request.branch, cursor) ?? cursor);
  const locals = trajectory.locals(cursor)?.locals ?? new Map<string, never>();
  return session.whatIf(await changeOf(...request.set, locals, evaluator));
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
