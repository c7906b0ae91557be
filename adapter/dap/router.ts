import { ProtocolServer } from '@vscode/debugadapter/lib/protocol';
import { Event, Response } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { asCatalogueError, errors, errorText } from '../errors';
import { shownText } from '../shownText';

/**
 * Answers one request: the response's body, or nothing where the protocol has none.
 *
 * @param signal that the client wants no answer any more
 */
export type Handler = (
  args: unknown,
  signal: AbortSignal,
) => object | undefined | Promise<object | undefined>;

/** An answer that goes out before the work that it begins. */
export class AnswerFirst {
  constructor(
    readonly body: object | undefined,
    readonly work: () => Promise<void>,
  ) {}
}

/**
 * Speaks the Debug Adapter Protocol: finds the handler of each request and answers it, whatever happens, once
 * and in one place.
 */
export abstract class Router extends ProtocolServer {
  protected abstract readonly handlers: Readonly<Record<string, Handler>>;
  /** Requests whose failures nobody asked about: they fail without a notification. */
  protected abstract readonly quiet: ReadonlySet<string>;

  /** The requests that are not answered yet, by their numbers. */
  readonly #unanswered = new Map<number, AbortController>();

  constructor() {
    super();
    // Messages that cannot be read are no reason to end.
    this.on('error', () => undefined);
  }

  protected emitEvent(event: string, body?: object): void {
    this.sendEvent(new Event(event, body));
  }

  protected override dispatchRequest(request: DebugProtocol.Request): void {
    void this.#answer(request);
  }

  async #answer(request: DebugProtocol.Request): Promise<void> {
    const response: DebugProtocol.Response = new Response(request);
    let work: (() => Promise<void>) | null = null;
    const cancelling = new AbortController();
    this.#unanswered.set(request.seq, cancelling);
    try {
      const handler = Object.hasOwn(this.handlers, request.command)
        ? this.handlers[request.command]
        : undefined;
      if (!handler) throw errors.unknownRequest(request.command);
      const answer = await handler(request.arguments, cancelling.signal);
      if (answer instanceof AnswerFirst) work = answer.work;
      const body = answer instanceof AnswerFirst ? answer.body : answer;
      if (body) response.body = body;
    } catch (thrown) {
      const error = asCatalogueError(thrown);
      response.success = false;
      // The protocol's own word.
      response.message = cancelling.signal.aborted ? 'cancelled' : shownText(error.message);
      const isQuiet = this.quiet.has(request.command);
      const text = isQuiet ? error.message : errorText(error);
      // Braces would stand for variables of the message.
      const format = shownText(text).replaceAll('{', '(').replaceAll('}', ')');
      response.body = {
        error: { id: error.code, format, showUser: !isQuiet } satisfies DebugProtocol.Message,
      };
    } finally {
      this.#unanswered.delete(request.seq);
    }
    this.sendResponse(response);
    await work?.().catch((thrown: unknown) => {
      this.failed(asCatalogueError(thrown));
    });
  }

  /** Ends the work on a request that is not answered yet; others are over. */
  protected cancelRequest(number: number): void {
    this.#unanswered.get(number)?.abort(errors.requestCancelled());
  }

  /** Work that went on after its answer has failed. */
  protected abstract failed(error: ReturnType<typeof asCatalogueError>): void;
}
