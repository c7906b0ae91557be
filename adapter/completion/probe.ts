import { z } from 'zod';
import { CatalogueError, errors } from '../errors';
import { readAnswerChunk, type AnswerPiece } from './answerChunk';
import type { ControlText } from './completion';
import { guardedFetch, type Timeouts } from './guardedFetch';
import { mayTakeIds, productNames, type ServerProfile } from './profile';
import { textFields } from './requestBody';
import type { ServerAddress } from './serverAddress';
import { isPassing, refusalError, ServerRefusal, withoutSecret } from './serverFaults';
import { TokenIds, type Tokenize } from './tokenIds';

/** What is known of a server. */
export interface ServerFacts {
  readonly profile: ServerProfile;
  /** What the server is, with its version where it tells. */
  readonly product: string;
  /** The model that answers; null where the server lists none. */
  readonly model: string | null;
  /** How many tokens a prompt and its answer may have together; null where nothing tells. */
  readonly contextTokens: number | null;
  /** Whether answers come with log-probabilities; null where that was not tried. */
  readonly logprobs: boolean | null;
  /** Whether the model, or its tokenizer, has the format's control tokens; null where that was not tried. */
  readonly knowsFormat: boolean | null;
  /** How prompts are encoded as ids; null where they are sent as text. */
  readonly ids: TokenIds | null;
  /** Whether the server puts a begin-of-text before texts that have one. */
  readonly addsBegin: boolean;
  /** What people should know, in sentences. */
  readonly notes: readonly string[];
  /** What kept the server from being asked all of it; null where it was. */
  readonly missed: CatalogueError | null;
}

/** What is to be found out. */
export interface ProbeRequest {
  readonly server: ServerAddress;
  readonly apiKey: string | null;
  /** What the user says that the server is. */
  readonly profile: ServerProfile | 'auto';
  /** How prompts are to go: as ids where that is possible, or only in one way. */
  readonly mode: 'auto' | 'ids' | 'text';
  readonly model: string | null;
  /** The control tokens of the format; null for chats. */
  readonly control: ControlText | null;
  readonly timeouts: Timeouts;
}

/** How long the server's other routes may take to answer, and how long one token may take, in milliseconds. */
const patience = { route: 3_000, token: 20_000 } as const;

/** The fault of a server that does not have a route. */
const routeUnknown = 310;

/** What is known of a server that was not asked. */
export function factsUnasked(profile: ServerProfile, notes: readonly string[] = []): ServerFacts {
  return {
    profile,
    product: productNames[profile],
    model: null,
    contextTokens: null,
    logprobs: null,
    knowsFormat: null,
    ids: null,
    addsBegin: false,
    notes,
    missed: null,
  };
}

/**
 * Asks a server what it is, by its cheap routes, and whether it can carry the format, by one token. What it does
 * not tell is left open: only what makes a format impossible is an error.
 *
 * @returns null where the server could not be reached
 * @throws CatalogueError where the server cannot carry the format; where ids are wanted, also for a server that
 *   could not be asked
 */
export async function probeServer(request: ProbeRequest, signal: AbortSignal): Promise<ServerFacts | null> {
  if (request.profile === 'fgserve') throw errors.serverIsFgserve(request.server.baseUrl);
  const probe = new Probe(request, signal);
  return probe.run();
}

/** What a person reads of a server: `vLLM 0.12.0, ids mode, context 131072 tokens, log-probabilities`. */
export function describeFacts(facts: ServerFacts, isText: boolean): string {
  const { product, contextTokens, logprobs, ids } = facts;
  return [
    product,
    ...(isText ? [ids ? 'ids mode' : 'text mode'] : []),
    ...(contextTokens === null || contextTokens === Infinity ? [] : [`context ${contextTokens} tokens`]),
    ...(logprobs === null ? [] : [logprobs ? 'log-probabilities' : 'no log-probabilities']),
  ].join(', ');
}

const tokens = z.int().positive().nullish().catch(null);
const listedModel = z.looseObject({
  id: z.string().min(1),
  owned_by: z.string().nullish().catch(null),
  max_model_len: tokens,
  context_length: tokens,
  context_window: tokens,
  meta: z.looseObject({ n_ctx: tokens }).nullish().catch(null),
});
const modelList = z.looseObject({ data: z.array(listedModel) });
type ListedModel = z.infer<typeof listedModel>;

const version = z.looseObject({ version: z.string().max(100) });
const llamaProps = z.looseObject({
  build_info: z.string().max(100).nullish().catch(null),
  default_generation_settings: z.looseObject({ n_ctx: tokens }).nullish().catch(null),
});
const lmStudioModels = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), loaded_context_length: tokens, max_context_length: tokens })),
});
const tokenized = z.looseObject({ tokens: z.array(z.int().nonnegative()) });

/** A server's answer to a GET request. */
interface Answer {
  readonly json: unknown;
  readonly header: string;
}

class Probe {
  readonly #base: string;
  /** The base URL without its version: servers' own routes are there. */
  readonly #root: string;
  readonly #quick;
  readonly #patient;
  readonly #notes: string[] = [];
  #missed: CatalogueError | null = null;

  constructor(
    private readonly request: ProbeRequest,
    private readonly signal: AbortSignal,
  ) {
    const { server, apiKey, timeouts } = request;
    this.#base = server.baseUrl;
    this.#root = server.baseUrl.replace(/\/v\d+$/, '');
    const guard = (limit: number) => {
      const firstByte = Math.min(limit, timeouts.firstByte);
      const stall = Math.min(limit, timeouts.stall);
      return guardedFetch({ server, apiKey, timeouts: { firstByte, stall }, wholeAnswers: true });
    };
    this.#quick = guard(patience.route);
    this.#patient = guard(patience.token);
  }

  async run(): Promise<ServerFacts | null> {
    const { profile: wanted, mode, control, server } = this.request;
    let listed: Answer | null;
    try {
      listed = await this.#get(`${this.#base}/models`);
    } catch (thrown) {
      if (!(thrown instanceof CatalogueError) || this.signal.aborted) throw thrown;
      // A prompt must not go as text where ids are wanted.
      if (mode === 'ids' && control) throw thrown;
      if (isUnreachable(thrown)) return null;
      // What this fault is will be told by the request that is meant.
      const given = wanted === 'auto' ? 'generic' : wanted;
      const notes = [`${server.baseUrl} was not recognized: ${thrown.message}`];
      return { ...factsUnasked(given, notes), missed: thrown };
    }
    if (!listed && !/\/v\d+$/.test(this.#base)) {
      this.#notes.push(
        `No list of models is at ${this.#base}/models. Most servers have theirs below /v1: try ${this.#base}/v1.`,
      );
    }
    const models = modelList.safeParse(listed?.json);
    if (listed && !models.success) {
      this.#missed = errors.serverSendsOther(server.baseUrl, 'its list of models has another shape');
    }
    const list = models.success ? models.data.data : [];
    const model = this.request.model ?? firstTextModel(list.map(({ id }) => id));
    const entry = list.find(({ id }) => id === model) ?? null;
    const profile = wanted === 'auto' ? await this.#recognize(list[0] ?? null, listed?.header ?? '') : wanted;
    if (profile === 'ollama' && control) throw errors.ollamaTemplates(server.baseUrl);
    const details = await this.#details(profile, model);
    const facts: ServerFacts = {
      ...factsUnasked(profile),
      product: details.product,
      model,
      contextTokens: contextOf(entry) ?? details.contextTokens,
    };
    if (profile === 'generic' && wanted === 'auto') {
      this.#notes.push('The server was not recognized: it is sent nothing but the fields of the OpenAI API.');
    }
    const tried =
      control && model !== null && profile !== 'hosted' ? await this.#try(facts, control, model) : facts;
    if (mode === 'ids' && control && !tried.ids) {
      throw this.#missed ?? errors.serverTakesNoIds(server.baseUrl, tried.product);
    }
    return { ...tried, notes: this.#notes, missed: this.#missed };
  }

  async #recognize(first: ListedModel | null, header: string): Promise<ServerProfile> {
    const owner = first?.owned_by?.toLowerCase() ?? '';
    if (owner === 'neural-debug') return 'neural-debug';
    if (owner === 'vllm') return 'vllm';
    if (owner === 'llamacpp' || /llama\.cpp/i.test(header)) return 'llama.cpp';
    if (new URL(this.#base).hostname === 'api.openai.com') return 'hosted';
    // Services on the network are not asked for routes that are others'.
    if (!isNear(this.#base)) return 'generic';
    if (owner === 'library' || version.safeParse((await this.#tryGet('/api/version'))?.json).success)
      return 'ollama';
    if (lmStudioModels.safeParse((await this.#tryGet('/api/v0/models'))?.json).success) return 'lm-studio';
    if (llamaProps.safeParse((await this.#tryGet('/props'))?.json).data?.default_generation_settings) {
      return 'llama.cpp';
    }
    return 'generic';
  }

  async #details(
    profile: ServerProfile,
    model: string | null,
  ): Promise<Pick<ServerFacts, 'product' | 'contextTokens'>> {
    const name = productNames[profile];
    const plain = { product: name, contextTokens: null };
    if (profile === 'vllm' || profile === 'ollama') {
      const route = profile === 'vllm' ? '/version' : '/api/version';
      const told = version.safeParse((await this.#tryGet(route))?.json);
      return told.success ? { ...plain, product: `${name} ${this.#shown(told.data.version)}` } : plain;
    }
    if (profile === 'llama.cpp') {
      const told = llamaProps.safeParse((await this.#tryGet('/props'))?.json).data;
      const build = told?.build_info ?? null;
      return {
        product: build === null ? name : `${name} ${this.#shown(build)}`,
        contextTokens: told?.default_generation_settings?.n_ctx ?? null,
      };
    }
    if (profile !== 'lm-studio') return plain;
    const told = lmStudioModels.safeParse((await this.#tryGet('/api/v0/models'))?.json).data;
    const entry = told?.data.find(({ id }) => id === model);
    return { ...plain, contextTokens: entry?.loaded_context_length ?? entry?.max_context_length ?? null };
  }

  /** Lets the model write one token, as ids where that may be possible. */
  async #try(facts: ServerFacts, control: ControlText, model: string): Promise<ServerFacts> {
    const ids =
      this.request.mode !== 'text' && mayTakeIds(facts.profile)
        ? await this.#ids(facts.profile, control, model)
        : null;
    if (ids) {
      await ids.prepare([control.example], this.signal);
      const piece = await this.#oneToken(facts.profile, model, ids.encode(control.example));
      if (piece?.ids?.length) return { ...facts, ids, knowsFormat: true, logprobs: piece.tokens.length > 0 };
    }
    const piece = await this.#oneToken(facts.profile, model, control.example);
    if (!piece) return facts;
    // A token without text that does not end the answer is one whose text the server leaves out.
    if (piece.text === '' && piece.finish !== 'stop' && (piece.usage?.completionTokens ?? 1) > 0) {
      throw errors.controlTokensLost(this.#base, facts.profile);
    }
    const knowsFormat = piece.text.trimStart().startsWith('<|');
    if (!knowsFormat) {
      this.#notes.push(
        `The model ${this.#shown(model)} did not begin a short trace with a control token: it may not know the format.`,
      );
    }
    const addsBegin = facts.profile === 'llama.cpp' && (await this.#addsBegin(control));
    return { ...facts, addsBegin, knowsFormat, logprobs: piece.tokens.length > 0 };
  }

  /** Whether llama.cpp makes two begin-of-text tokens of one, as it does with most models. */
  async #addsBegin({ begin }: ControlText): Promise<boolean> {
    const body = { content: begin, add_special: true, parse_special: true };
    try {
      const told = tokenized.safeParse(await this.#post(this.#root, '/tokenize', body, this.signal));
      const [first, second, ...more] = told.data?.tokens ?? [];
      return first !== undefined && first === second && more.length === 0;
    } catch (thrown) {
      this.#orNull(thrown);
      return false;
    }
  }

  async #ids(profile: ServerProfile, control: ControlText, model: string): Promise<TokenIds | null> {
    const tokenize: Tokenize = async (text, signal) => {
      const body =
        profile === 'llama.cpp'
          ? { content: text, add_special: false, parse_special: true }
          : { model, prompt: text, add_special_tokens: false };
      const told = tokenized.safeParse(await this.#post(this.#root, '/tokenize', body, signal));
      if (!told.success) throw errors.serverSendsOther(this.#base, 'its token ids have another shape');
      return told.data.tokens;
    };
    try {
      const ids = await TokenIds.of(control, tokenize, this.signal);
      if (!ids) {
        this.#notes.push(
          `The model ${this.#shown(model)} does not have the format’s control tokens: it sees them as text.`,
        );
      }
      return ids;
    } catch (thrown) {
      return this.#orNull(thrown);
    }
  }

  async #oneToken(
    profile: ServerProfile,
    model: string,
    prompt: string | readonly number[],
  ): Promise<AnswerPiece | null> {
    const body = {
      ...textFields(profile, typeof prompt !== 'string'),
      model,
      prompt,
      max_tokens: 1,
      temperature: 0,
      logprobs: 1,
    };
    try {
      return readAnswerChunk(await this.#post(this.#base, '/completions', body, this.signal));
    } catch (thrown) {
      // Without the route no trace can be continued at all.
      if (thrown instanceof CatalogueError && thrown.code === routeUnknown) this.#missed ??= thrown;
      return this.#orNull(thrown);
    }
  }

  async #get(url: string): Promise<Answer | null> {
    try {
      const response = await this.#quick(url, { method: 'GET', signal: this.signal });
      return { json: await response.json(), header: response.headers.get('server') ?? '' };
    } catch (thrown) {
      if (thrown instanceof ServerRefusal && thrown.status === 404) return null;
      throw this.#told(thrown, 'GET /models');
    }
  }

  /** Asks for what only some servers have: that it fails says nothing. */
  async #tryGet(route: string): Promise<Answer | null> {
    const missed = this.#missed;
    try {
      return await this.#get(this.#root + route);
    } catch (thrown) {
      const nothing = this.#orNull(thrown);
      this.#missed = missed;
      return nothing;
    }
  }

  async #post(base: string, route: string, body: object, signal: AbortSignal): Promise<unknown> {
    try {
      const response = await this.#patient(base + route, {
        method: 'POST',
        body: JSON.stringify(body),
        signal,
      });
      return await response.json();
    } catch (thrown) {
      throw this.#told(thrown, `POST ${route}`);
    }
  }

  /** A refusal as an error of the catalogue; anything else as it is. */
  #told(thrown: unknown, route: string): unknown {
    const { server, model } = this.request;
    return thrown instanceof ServerRefusal ? refusalError(server, thrown, route, model) : thrown;
  }

  /** What a probe does not learn stays open; only who aborts it ends it. */
  #orNull(thrown: unknown): null {
    if (this.signal.aborted) throw this.signal.reason;
    if (!(thrown instanceof CatalogueError)) throw thrown;
    if (isPassing(thrown)) this.#missed ??= thrown;
    return null;
  }

  /** What the server calls something, fit to be shown. */
  #shown(text: string): string {
    return withoutSecret(text.slice(0, 80), this.request.apiKey);
  }
}

/** The first model that writes text: local servers list models for embeddings too. */
export function firstTextModel(names: readonly string[]): string | null {
  return names.find((name) => !/embed|rerank|whisper/i.test(name)) ?? names[0] ?? null;
}

function contextOf(entry: ListedModel | null): number | null {
  return entry?.max_model_len ?? entry?.context_length ?? entry?.context_window ?? entry?.meta?.n_ctx ?? null;
}

/** Whether a server is on this computer or on a private network. */
function isNear(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return (
    /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\]|\[f[cd])/.test(hostname) ||
    !hostname.includes('.') ||
    hostname.endsWith('.local')
  );
}

/** Whether nothing answers at the address: a connection that is refused, or a host that is not known. */
function isUnreachable(thrown: unknown): boolean {
  return thrown instanceof CatalogueError && [303, 304, 305, 306].includes(thrown.code);
}
