import OpenAI, { APIConnectionTimeoutError, APIError } from 'openai';
import { z } from 'zod';
import { CatalogueError, errors } from '../errors';
import { readAnswerChunk } from './answerChunk';
import type { CompletionChunk, CompletionSource, ControlText, Prompt, SourceTraits } from './completion';
import { concede, type Concessions, fewestTokens } from './concessions';
import { withoutEcho } from './echo';
import { guardedFetch, type Timeouts } from './guardedFetch';
import { IdAnswer } from './idAnswer';
import { describeFacts, factsUnasked, firstTextModel, probeServer, type ServerFacts } from './probe';
import type { ServerProfile } from './profile';
import { chatBody, type RequestOptions, type ServerFields, textBody } from './requestBody';
import { idEncoding, PromptBodyWriter, textEncoding } from './promptBody';
import { serverAddress, type ServerAddress } from './serverAddress';
import {
  isTooLong,
  refusalError,
  serverMessage,
  ServerRefusal,
  hideSecret,
  withoutSecret,
} from './serverFaults';
import { type RequestMeter, type Usage, UsageMeter, type UsageTotals } from './usage';

export interface OpenAiServerOptions {
  /** Where the server is, up to and with its version: `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  /** The key, which is sent to the origin of `baseUrl` and nowhere else; null for none. */
  readonly apiKey: string | null;
  /** The model; null for the first that the server lists. */
  readonly model: string | null;
  /** Null: the server's own. */
  readonly temperature: number | null;
  readonly topP: number | null;
  /** What the server is; `auto`: it is asked. `generic` servers are asked nothing. */
  readonly profile: ServerProfile | 'auto';
  /** How text prompts go: as token ids where the server can take them, or only in one way. */
  readonly mode: 'auto' | 'ids' | 'text';
  /** How many tokens a prompt and its answer may have together; null: what the server tells. */
  readonly context: number | null;
  /** Whether answers are held to what can follow, where the server can do that. */
  readonly constrain: boolean;
  /** The control tokens of the format of text prompts; null for chats. */
  readonly control: ControlText | null;
  readonly timeouts: Timeouts;
  /** Fields that are added to the body of every request, such as `chat_template_kwargs`. */
  readonly extraBody: ServerFields;
}

/** A local server may load its model for the first request; once it writes, it does not pause for long. */
export const defaultTimeouts: Timeouts = { firstByte: 120_000, stall: 60_000 };

type Route = 'chat' | 'text';

/** How often a server is probed that does not let itself be asked all: each time costs some seconds at worst. */
const mostProbes = 3;

/** Errors of a server that is not there: when it is back, it may be another one. */
const awayCodes: ReadonlySet<number> = new Set([303, 304, 305, 306]);
/** The error of a server that does not have the model. */
const modelUnknownCode = 309;

const modelList = z.object({ data: z.array(z.object({ id: z.string().min(1) })) });

/** Traces have more characters a token than this, so that prompts are not thought shorter than they are. */
const fewestCharactersPerToken = 2.5;

/** A shorter prompt does not tell how many characters of longer ones make a token. */
const shortestMeasured = 400;

/** Room that is left in the context beside a prompt and its answer, in tokens. */
const spareTokens = 16;

/** How much longer than estimated a prompt may be, as a part of it: its newest text is not like all before. */
const spareShare = 0.05;

/** No token is longer than this many characters on average, so an answer beyond it ignores its limit. */
const charactersPerToken = 64;

/**
 * A server with the OpenAI API, as `CompletionSource`. What the server refuses of what is useful but not
 * necessary (a schema, log-probabilities, usage, sampling parameters, the name of the token limit) is left
 * out, which is remembered for as long as the object lives.
 *
 * An aborted signal ends the iteration with the signal's reason: the DOMException named `AbortError`, unless
 * whoever aborted gave another. `close` ends requests in the same way.
 */
export class OpenAiServer implements CompletionSource {
  readonly #server: ServerAddress;
  readonly #options: OpenAiServerOptions;
  readonly #apiKey: string | null;
  readonly #client: OpenAI;
  readonly #closing = new AbortController();
  readonly #meter = new UsageMeter();
  #bodies = new PromptBodyWriter();
  #facts: ServerFacts | null = null;
  #probes = 0;
  #charactersPerToken = fewestCharactersPerToken;
  readonly #concessions: Record<Route, Concessions>;
  #model: string | null;

  /** @throws CatalogueError for an address or a key that cannot be used */
  constructor(options: OpenAiServerOptions) {
    this.#server = serverAddress(options.baseUrl);
    this.#options = options;
    this.#apiKey = options.apiKey?.trim() || null;
    // Else the error of the header would show the key.
    if (this.#apiKey !== null && !/^[\x21-\x7e]+$/.test(this.#apiKey)) {
      throw errors.serverKey(this.#server.baseUrl);
    }
    this.#model = options.model?.trim() || null;
    const asked: Concessions = {
      responseFormat: 'json_schema',
      tokenLimit: 'max_tokens',
      tokenLimitTried: false,
      mostTokens: Infinity,
      logprobs: true,
      usage: true,
      sampling: true,
    };
    this.#concessions = { chat: asked, text: asked };
    this.#client = new OpenAI({
      baseURL: this.#server.baseUrl,
      // The client wants a key; what is sent is decided in guardedFetch.
      apiKey: 'unused',
      // Null keeps the client from taking these from the environment.
      adminAPIKey: null,
      organization: null,
      project: null,
      logLevel: 'off',
      maxRetries: 0,
      // guardedFetch is first, and tells what happened.
      timeout: options.timeouts.firstByte + 10_000,
      fetch: guardedFetch({ server: this.#server, apiKey: this.#apiKey, timeouts: options.timeouts }),
    });
  }

  get name(): string {
    const model = this.#model === null ? 'the first model' : withoutSecret(this.#model, this.#apiKey);
    const plain = `${model} at ${this.#server.baseUrl}`;
    if (!this.#facts || this.#facts.profile === 'generic') return plain;
    return `${plain} (${describeFacts({ ...this.#facts, ...this.traits }, this.#options.control !== null)})`;
  }

  get traits(): SourceTraits {
    // The stand-in has no context that could be full.
    const told = this.#facts?.profile === 'neural-debug' ? Infinity : null;
    return {
      contextTokens: this.#options.context ?? this.#facts?.contextTokens ?? told,
      charactersPerToken: this.#charactersPerToken,
      separatesControl: (this.#facts?.ids ?? null) !== null,
    };
  }

  get notes(): readonly string[] {
    return this.#facts?.notes ?? [];
  }

  readonly hide = (text: string): string => hideSecret(text, this.#apiKey);

  get usage(): UsageTotals {
    return this.#meter.totals;
  }

  /** What was found out about the server; null before `ready`, and while it cannot be reached. */
  get facts(): ServerFacts | null {
    return this.#facts;
  }

  async ready(signal: AbortSignal): Promise<void> {
    if (this.#facts && (this.#facts.missed === null || this.#probes >= mostProbes)) return;
    this.#probes++;
    const { profile, mode, control, timeouts } = this.#options;
    const isAsked = profile !== 'generic' || mode === 'ids';
    const request = this.#request(signal);
    try {
      const facts = isAsked
        ? await probeServer(
            {
              server: this.#server,
              apiKey: this.#apiKey,
              profile,
              mode,
              control,
              model: this.#model,
              timeouts,
            },
            request.signal,
          )
        : factsUnasked(profile);
      if (!facts) return;
      this.#facts = facts;
      this.#model ??= facts.model;
      const { ids, addsBegin } = facts;
      const encoding = ids ? idEncoding((text) => ids.encode(text)) : null;
      this.#bodies = new PromptBodyWriter(encoding ?? textEncoding(addsBegin ? control?.begin : null));
      if (facts.profile === 'hosted') {
        this.#concessions.chat = { ...this.#concessions.chat, tokenLimit: 'max_completion_tokens' };
      }
    } catch (thrown) {
      throw request.signal.aborted ? request.signal.reason : this.#fault(thrown, 'GET /models');
    } finally {
      request.release();
    }
  }

  /**
   * The names of the models that the server lists, in its order.
   *
   * @throws CatalogueError naming the server, the cause and the way out
   */
  async listModels(signal: AbortSignal): Promise<readonly string[]> {
    const request = this.#request(signal);
    try {
      const listed = modelList.safeParse(await this.#client.get('/models', { signal: request.signal }));
      if (!listed.success)
        throw errors.serverSendsOther(this.#server.baseUrl, 'its list of models has another shape');
      return listed.data.data.map(({ id }) => id);
    } catch (thrown) {
      throw request.signal.aborted ? request.signal.reason : this.#fault(thrown, 'GET /models');
    } finally {
      request.release();
    }
  }

  async *complete(
    prompt: Prompt,
    { maxTokens, signal, temperature: asked }: Parameters<CompletionSource['complete']>[1],
  ): AsyncGenerator<CompletionChunk> {
    const request = this.#request(signal);
    const route = prompt.kind === 'chat' ? 'POST /chat/completions' : 'POST /completions';
    let meter: RequestMeter | null = null;
    try {
      request.signal.throwIfAborted();
      // Once a prompt is asking for it is enough: what could not be found out is asked before the next one.
      if (!this.#facts) await this.ready(request.signal);
      this.#model ??= await this.#firstModel(request.signal);
      meter = this.#meter.begin();
      const { profile, ids } = this.#facts ?? factsUnasked('generic');
      const { topP, extraBody } = this.#options;
      const options = {
        model: this.#model,
        maxTokens: this.#fitting(prompt, maxTokens),
        temperature: asked ?? this.#options.temperature,
        topP,
        profile,
        asIds: ids !== null,
        control: this.#options.control,
        constrain: this.#options.constrain,
        extraBody,
      };
      const stream = await this.#open(prompt, options, meter, request.signal);
      yield* this.#read(stream, prompt, maxTokens, meter, request.signal);
    } catch (thrown) {
      if (request.signal.aborted) throw request.signal.reason;
      const fault = this.#fault(thrown, route, prompt);
      this.#forget(fault);
      throw fault;
    } finally {
      meter?.end();
      request.release();
    }
  }

  close(): void {
    this.#closing.abort();
  }

  /** A signal for one request: the caller's, and that of closing. */
  #request(signal: AbortSignal): { readonly signal: AbortSignal; readonly release: () => void } {
    const ending = new AbortController();
    const sources = [signal, this.#closing.signal];
    const releases = sources.map((source) => {
      const stop = () => {
        ending.abort(source.reason);
      };
      if (source.aborted) stop();
      source.addEventListener('abort', stop, { once: true });
      return () => {
        source.removeEventListener('abort', stop);
      };
    });
    return {
      signal: ending.signal,
      release: () => {
        for (const release of releases) release();
      },
    };
  }

  /** The first model that writes text: local servers list models for embeddings too. */
  async #firstModel(signal: AbortSignal): Promise<string> {
    const model = firstTextModel(await this.listModels(signal));
    if (model === null) throw errors.serverWithoutModels(this.#server.baseUrl);
    return model;
  }

  /** As many tokens as fit into the context after a prompt, where its size is known. */
  #fitting(prompt: Prompt, maxTokens: number): number {
    const { contextTokens, charactersPerToken } = this.traits;
    if (contextTokens === null || prompt.kind === 'chat') return maxTokens;
    const promptTokens = (1 + spareShare) * (prompt.text.length / charactersPerToken);
    const room = Math.floor(contextTokens - spareTokens - promptTokens);
    // Where hardly anything fits, the server says so best.
    return room < fewestTokens ? maxTokens : Math.min(maxTokens, room);
  }

  /** The body of a request to continue a text. */
  async #textBody(
    prompt: Extract<Prompt, { kind: 'text' }>,
    fields: object,
    meter: RequestMeter,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const ids = this.#facts?.ids ?? null;
    // Another probe may put others in their places meanwhile, for which nothing is prepared.
    const bodies = this.#bodies;
    if (ids) await ids.prepare(bodies.pieces(prompt), signal);
    const body = bodies.write(prompt, fields);
    if (ids) this.#measure(prompt, bodies.parts, meter);
    return body;
  }

  /** Takes note of how many tokens a prompt has. */
  #measure(prompt: Prompt, tokens: number, meter: RequestMeter | null = null): void {
    meter?.prompt(tokens);
    if (prompt.kind === 'chat' || prompt.text.length < shortestMeasured || tokens === 0) return;
    this.#charactersPerToken = prompt.text.length / tokens;
  }

  /** Sends the request, again with less where the server refuses a part that is not necessary. */
  async #open(
    prompt: Prompt,
    options: RequestOptions,
    meter: RequestMeter,
    signal: AbortSignal,
  ): Promise<AsyncIterable<unknown>> {
    let concessions = this.#concessions[routeOf(prompt)];
    let kept = concessions;
    for (;;) {
      try {
        const stream =
          prompt.kind === 'chat'
            ? await this.#client.chat.completions.create(chatBody(prompt, options, concessions), { signal })
            : await this.#client.post<AsyncIterable<unknown>>('/completions', {
                body: await this.#textBody(prompt, textBody(prompt, options, concessions), meter, signal),
                stream: true,
                signal,
              });
        this.#concessions[routeOf(prompt)] = kept;
        return stream;
      } catch (thrown) {
        const refusal = causeOf(thrown);
        if (!(refusal instanceof ServerRefusal)) throw thrown;
        const less = concede(concessions, refusal, routeOf(prompt), options.maxTokens);
        if (!less) throw thrown;
        concessions = less;
        // What does not fit into a context whose size is known is a matter of this prompt.
        const isOfPrompt = this.traits.contextTokens !== null && isTooLong(refusal);
        kept = isOfPrompt ? { ...less, mostTokens: kept.mostTokens } : less;
      }
    }
  }

  async *#read(
    stream: AsyncIterable<unknown>,
    prompt: Prompt,
    maxTokens: number,
    meter: RequestMeter,
    signal: AbortSignal,
  ): AsyncGenerator<CompletionChunk> {
    const server = this.#server.baseUrl;
    let finish: string | null = null;
    let stopString: string | null = null;
    let usage: Usage | null = null;
    let texts = 0;
    let chunks = 0;
    let room = maxTokens * charactersPerToken + 10_000;
    const { control } = this.#options;
    const ids = this.#facts?.ids ?? null;
    const byIds = ids && control && prompt.kind === 'text' ? new IdAnswer(ids, control) : null;
    try {
      for await (const chunk of stream) {
        const piece = readAnswerChunk(chunk);
        if (!piece) throw this.#otherChunk(chunk, prompt);
        chunks++;
        finish ??= piece.finish;
        stopString ??= piece.stopString;
        if (piece.usage) {
          usage = piece.usage;
          meter.told(usage);
          if (!ids) this.#measure(prompt, usage.promptTokens);
        }
        room -= piece.text.length;
        if (room < 0) throw errors.serverSendsTooMuch(server, `${maxTokens} tokens, its limit, can hold`);
        meter.tokens(piece.ids?.length ?? piece.tokens.length);
        // A piece whose ids are not told is read by its text.
        const read = byIds && (piece.ids !== null || piece.text === '') ? byIds.read(piece) : piece;
        if (read.text === '' && read.tokens.length === 0) continue;
        texts++;
        yield { kind: 'text', text: read.text, tokens: read.tokens };
      }
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      if (prompt.kind === 'chat' && texts > 0 && isEndTakenForText(thrown)) finish ??= 'stop';
      // After the finish reason only the usage is to come, and it may stay away.
      if (finish === null) throw thrown;
    }
    // The client ends an aborted stream without a word.
    signal.throwIfAborted();
    if (chunks === 0) throw errors.serverSendsNothing(server);
    if (finish === null) throw errors.serverCut(server);
    if (finish === 'content_filter' || finish === 'error' || finish === 'abort') {
      throw errors.serverWithholds(server, finish);
    }
    if (texts === 0) yield { kind: 'text', text: '', tokens: [] };
    yield { kind: 'end', reason: finish === 'length' ? 'length' : 'stop', stopString, usage };
  }

  /** What a chunk of another shape is: an error that the server reports, or nothing known. */
  #otherChunk(chunk: unknown, prompt: Prompt): CatalogueError {
    const body = JSON.stringify(chunk);
    return /"(object":"error|message|detail)"/.test(body)
      ? errors.serverStreamError(this.#server.baseUrl, this.#said(body, prompt))
      : errors.serverSendsOther(this.#server.baseUrl, 'a piece of its answer has another shape');
  }

  /** What the server says in an error's body, without the key and without what it repeats of a prompt. */
  #said(body: string, prompt: Prompt | null): string {
    return withoutEcho(serverMessage(body, this.#apiKey), textOf(prompt));
  }

  /** What was found out about a server that is not there any more, or has another model now, is asked anew. */
  #forget({ code }: CatalogueError): void {
    if (code !== modelUnknownCode && !awayCodes.has(code)) return;
    this.#model = this.#options.model?.trim() || null;
    this.#facts = null;
    this.#probes = 0;
  }

  /** Whatever was thrown as an error of the catalogue. */
  #fault(thrown: unknown, route: string, prompt: Prompt | null = null): CatalogueError {
    const server = this.#server.baseUrl;
    const cause = causeOf(thrown);
    if (cause instanceof CatalogueError) return cause;
    if (cause instanceof ServerRefusal) {
      const { status, said, isPage, retryAfter } = cause;
      const told = new ServerRefusal(status, withoutEcho(said, textOf(prompt)), isPage, retryAfter);
      // A server may call a model as it likes, by the key too.
      return refusalError(this.#server, told, route, this.#model === null ? null : this.hide(this.#model));
    }
    if (cause instanceof APIConnectionTimeoutError) {
      return errors.serverSilent(server, this.#options.timeouts.firstByte / 1000);
    }
    // The client throws the `error` field of a chunk like this.
    if (cause instanceof APIError) {
      return errors.serverStreamError(
        server,
        this.#said(JSON.stringify({ error: cause.error as unknown }), prompt),
      );
    }
    if (cause instanceof SyntaxError) {
      return errors.serverSendsOther(server, 'a piece of its answer is not JSON');
    }
    return errors.internal(thrown);
  }
}

/** The text of a prompt; empty where there is none. */
function textOf(prompt: Prompt | null): string {
  if (!prompt) return '';
  return prompt.kind === 'text' ? prompt.text : prompt.messages.map(({ content }) => content).join('\n');
}

function routeOf(prompt: Prompt): Route {
  return prompt.kind;
}

/**
 * Whether llama.cpp complains of the end-of-text after an answer: started with `--special`, it takes that token for
 * text, which no schema allows for. The answer itself has come by then.
 */
function isEndTakenForText(thrown: unknown): boolean {
  return (
    thrown instanceof APIError &&
    /does not match the expected [\w-]+ format/.test(JSON.stringify({ error: thrown.error as unknown }))
  );
}

/** What guardedFetch threw: the client wraps it. */
function causeOf(thrown: unknown): unknown {
  const cause = thrown instanceof APIError ? thrown.cause : undefined;
  return cause instanceof CatalogueError || cause instanceof ServerRefusal ? cause : thrown;
}
