import type { DebugProtocol } from '@vscode/debugprotocol';
import { NeuralDebugSession, type SessionOptions } from '../../adapter/dap/session';

/** A message of a conversation, as a transcript shows it. */
type Message = DebugProtocol.Request | DebugProtocol.Response | DebugProtocol.Event;

/** A debug adapter client in the test's process: it speaks to a session as an inline adapter's editor does. */
export class DapClient {
  readonly session: NeuralDebugSession;
  /** All messages, in order. */
  readonly messages: Message[] = [];
  readonly #responses = new Map<number, (response: DebugProtocol.Response) => void>();
  readonly #waiting: { event: string; resolve: (event: DebugProtocol.Event) => void }[] = [];
  /** Events that nobody waited for yet. */
  readonly #events: DebugProtocol.Event[] = [];
  #sequence = 1;

  constructor(options: SessionOptions = {}) {
    this.session = new NeuralDebugSession(options);
    this.session.onDidSendMessage((message) => {
      this.#receive(structuredClone(message) as DebugProtocol.Response | DebugProtocol.Event);
    });
  }

  /** Sends a request; resolves with its response, whether it succeeded or not. */
  request(command: string, args?: object): Promise<DebugProtocol.Response> {
    const request: DebugProtocol.Request = {
      seq: this.#sequence++,
      type: 'request',
      command,
      arguments: args,
    };
    this.messages.push(request);
    const response = new Promise<DebugProtocol.Response>((resolve) => {
      this.#responses.set(request.seq, resolve);
    });
    this.session.handleMessage(request);
    return response;
  }

  /** Sends a request that must succeed; resolves with the response's body. */
  async ask<Body>(command: string, args?: object): Promise<Body> {
    const response = await this.request(command, args);
    if (!response.success) throw new Error(`${command} failed: ${response.message ?? ''}`);
    return response.body as Body;
  }

  /** The next event of a kind: one that came and was not taken yet, or one that comes. */
  event(name: string): Promise<DebugProtocol.Event> {
    const index = this.#events.findIndex(({ event }) => event === name);
    const [seen] = index < 0 ? [] : this.#events.splice(index, 1);
    if (seen) return Promise.resolve(seen);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`No "${name}" event came. The conversation:\n${this.transcript()}`));
      }, 15_000);
      this.#waiting.push({
        event: name,
        resolve: (event) => {
          clearTimeout(timer);
          resolve(event);
        },
      });
    });
  }

  /**
   * Launches up to where breakpoints can be set.
   *
   * @param can what the client says that it can do
   */
  async launch(args: object, can: object = {}): Promise<void> {
    const counts = { linesStartAt1: true, columnsStartAt1: true };
    await this.ask('initialize', { adapterID: 'neural-debug', ...counts, ...can });
    await this.ask('launch', args);
    await this.event('initialized');
  }

  /** Sets breakpoints, ends the configuration and waits for the first stop. */
  async start(path: string, lines: readonly number[] = [], filters: readonly string[] = ['uncaught']) {
    await this.ask('setBreakpoints', { source: { path }, breakpoints: lines.map((line) => ({ line })) });
    await this.ask('setExceptionBreakpoints', { filters });
    await this.ask('configurationDone');
    return this.event('stopped');
  }

  /** A request that moves, and the stop it leads to. */
  async move(command: string): Promise<DebugProtocol.StoppedEvent['body']> {
    await this.ask(command, { threadId: 1 });
    const stopped = await this.event('stopped');
    return stopped.body as DebugProtocol.StoppedEvent['body'];
  }

  async stack(threadId = 1): Promise<DebugProtocol.StackFrame[]> {
    const body = await this.ask<DebugProtocol.StackTraceResponse['body']>('stackTrace', { threadId });
    return body.stackFrames;
  }

  /** The variables of a frame's first scope, by name. */
  async locals(frame = 0): Promise<Record<string, string>> {
    const at = (await this.stack())[frame];
    const { scopes } = await this.ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: at?.id });
    const { variables } = await this.ask<DebugProtocol.VariablesResponse['body']>('variables', {
      variablesReference: scopes[0]?.variablesReference,
    });
    return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
  }

  async end(): Promise<void> {
    await this.request('disconnect');
    this.session.dispose();
  }

  /**
   * The conversation as text: sequence numbers left out, and paths and versions replaced.
   *
   * @param replacements what stands for what differs between machines
   */
  transcript(replacements: readonly (readonly [string | RegExp, string])[] = []): string {
    const text = this.messages
      .map((message) => {
        if (message.type === 'request')
          return `> ${(message as DebugProtocol.Request).command} ${show((message as DebugProtocol.Request).arguments)}`;
        if (message.type === 'event') {
          const event = message as DebugProtocol.Event;
          return `< event ${event.event} ${show(event.body)}`;
        }
        const response = message as DebugProtocol.Response;
        return `< ${response.success ? 'response' : 'ERROR'} ${response.command} ${show(response.body)}`;
      })
      .join('\n');
    return `${replacements.reduce((result, [what, by]) => result.replaceAll(what, by), text)}\n`;
  }

  #receive(message: DebugProtocol.Response | DebugProtocol.Event): void {
    this.messages.push(message);
    if ('request_seq' in message) {
      this.#responses.get(message.request_seq)?.(message);
      this.#responses.delete(message.request_seq);
      return;
    }
    const index = this.#waiting.findIndex(({ event }) => event === message.event);
    const [waiting] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (waiting) waiting.resolve(message);
    else this.#events.push(message);
  }
}

function show(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}
