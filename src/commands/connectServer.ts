import * as vscode from 'vscode';
import { asCatalogueError } from '../../adapter/errors';
import { shownText } from '../../adapter/shownText';
import type { ApiKeys } from '../servers/apiKeys';
import {
  inWords,
  localServers,
  modelsOf,
  refusesKey,
  suitability,
  withVersion,
  type Suitability,
} from '../servers/inquiry';
import { isUnencrypted, originOf } from '../servers/origin';
import { readSettings, type ServerConfiguration, storeServer } from '../settings';
import { askChoice, askText, back, left, type TitleButton } from './questions';

const title = 'Connect a Model Server';
const totalSteps = 3;

const formatLabels = { cwm: 'CWM', chat: 'Chat' } as const;

/**
 * Asks for the server that predicts, gets to know it, and stores it in the user's settings. Nothing is sent before
 * an address is given or a search of this computer is asked for, and no source is sent at all.
 *
 * @param known the server that was used so far, whose address can be changed
 * @returns the server, or null where the user left the questions
 */
export async function connectServer(
  keys: ApiKeys,
  known: ServerConfiguration | null = readSettings().server,
): Promise<ServerConfiguration | null> {
  const connected = await new Connecting(keys, known).run();
  if (!connected) return null;
  const { server, found } = connected;
  // The session, where one waits for this, goes on meanwhile.
  void vscode.window.showInformationMessage(`Connected: ${shownText(inWords(found).join(' '))}`);
  return server;
}

/**
 * Asks for a server's key and stores it; an empty answer forgets the stored one.
 *
 * @param known the server that the key is likely for, whose address can be changed
 */
export async function setApiKey(
  keys: ApiKeys,
  known: ServerConfiguration | null = readSettings().server,
): Promise<void> {
  const question = { title: 'Set API Key', totalSteps: 2 };
  let baseUrl = known?.baseUrl ?? '';
  for (;;) {
    const given = await askText({
      ...question,
      step: 1,
      canGoBack: false,
      prompt: 'The server that the key is for. The key is sent to no other.',
      value: baseUrl,
      problem: baseUrlProblem,
    });
    if (given === left || given === back) return;
    baseUrl = given;
    const origin = originOf(baseUrl);
    const key = await askText({
      ...question,
      step: 2,
      canGoBack: true,
      prompt: `API key for ${origin}, kept in the editor’s secret storage. Empty: none.`,
      password: true,
    });
    if (key === left) return;
    if (key === back) continue;
    await keys.store(origin, key);
    void vscode.window.showInformationMessage(
      key === '' ? `No key is stored for ${origin} any more.` : `The key for ${origin} is stored.`,
    );
    return;
  }
}

interface Connected {
  readonly server: ServerConfiguration;
  readonly found: Suitability;
}

/** What is to be done next. */
type Next = 'address' | 'search' | 'key' | 'models' | 'model' | 'name' | 'probe' | 'format' | 'left';

const searchButton: TitleButton<'search'> = {
  iconPath: new vscode.ThemeIcon('search'),
  tooltip: 'Look for servers on this computer, at their usual ports',
  answer: 'search',
};
const keyButton: TitleButton<'key'> = {
  iconPath: new vscode.ThemeIcon('key'),
  tooltip: 'Give the server’s API key',
  answer: 'key',
};

/** The questions. Each answer is kept while one goes back or tries again. */
class Connecting {
  #baseUrl: string;
  #model: string;
  #models: readonly string[] = [];
  #found: readonly Suitability[] = [];
  #chosen: Suitability | null = null;
  /** The keys that were typed, by the origin that each is for. They are stored at the end only. */
  readonly #typedKeys = new Map<string, string>();
  /** What is done once a key was given. */
  #afterKey: Next = 'models';

  constructor(
    private readonly keys: ApiKeys,
    known: ServerConfiguration | null,
  ) {
    this.#baseUrl = known?.baseUrl ?? '';
    this.#model = known?.model ?? '';
  }

  async run(): Promise<Connected | null> {
    const steps: Readonly<Record<Exclude<Next, 'left'>, () => Promise<Next>>> = {
      address: () => this.#address(),
      search: () => this.#search(),
      key: () => this.#key(),
      models: () => this.#list(),
      model: () => this.#choose(),
      name: () => this.#name(),
      probe: () => this.#probe(),
      format: () => this.#format(),
    };
    let next: Next = 'address';
    while (!this.#chosen) {
      if (next === 'left') return null;
      next = await steps[next]();
    }
    const origin = originOf(this.#baseUrl);
    const server: ServerConfiguration = {
      baseUrl: this.#baseUrl,
      model: this.#model,
      format: this.#chosen.format,
    };
    const typed = this.#typedKeys.get(origin);
    if (typed !== undefined) await this.keys.store(origin, typed);
    await storeServer(server);
    return { server, found: this.#chosen };
  }

  async #address(): Promise<Next> {
    const given = await askText<'search'>({
      title,
      step: 1,
      totalSteps,
      canGoBack: false,
      buttons: [searchButton],
      prompt: 'Base URL of an OpenAI-compatible server. The source of the programs you debug is sent there.',
      placeholder: 'http://127.0.0.1:8000/v1',
      value: this.#baseUrl,
      problem: baseUrlProblem,
    });
    if (given === left || given === back) return 'left';
    if (given === 'search') return 'search';
    this.#baseUrl = given;
    return 'models';
  }

  async #search(): Promise<Next> {
    const servers = await withProgress('Looking for servers on this computer', localServers);
    if (!servers) return 'address';
    const other = {
      label: '$(edit) Another address…',
      detail: servers.length > 0 ? '' : 'Nothing answers at the usual ports: 8000, 8080, 11434, 1234.',
      baseUrl: null,
    };
    const items = servers.map(({ baseUrl, models }) => ({
      label: `$(server) ${baseUrl}`,
      detail: models.length > 0 ? shownText(models.join(', ')) : 'It asks for a key.',
      baseUrl,
    }));
    const chosen = await askChoice({
      title,
      step: 1,
      totalSteps,
      canGoBack: true,
      placeholder: 'Servers that answer on this computer',
      items: [...items, other],
    });
    if (chosen === left) return 'left';
    if (chosen === back || chosen.baseUrl === null) return 'address';
    this.#baseUrl = chosen.baseUrl;
    return 'models';
  }

  async #key(): Promise<Next> {
    const origin = originOf(this.#baseUrl);
    const unencrypted = isUnencrypted(origin) ? ' The connection is not encrypted: others may read it.' : '';
    const key = await askText({
      title,
      step: 1,
      totalSteps,
      canGoBack: true,
      prompt: `API key for ${origin}, kept in the editor’s secret storage and sent nowhere else.${unencrypted}`,
      password: true,
    });
    if (key === left) return 'left';
    if (key === back) return 'address';
    this.#typedKeys.set(origin, key);
    return this.#afterKey;
  }

  async #keyOf(origin: string): Promise<string | null> {
    const typed = this.#typedKeys.get(origin);
    return typed === undefined ? this.keys.keyFor(origin) : typed || null;
  }

  async #list(): Promise<Next> {
    const key = await this.#keyOf(originOf(this.#baseUrl));
    try {
      const models = await withProgress(`Asking ${this.#baseUrl} for its models`, (signal) =>
        modelsOf(this.#baseUrl, key, signal),
      );
      if (!models) return 'address';
      this.#models = models;
      return 'model';
    } catch (thrown) {
      return this.#failed(thrown, 'models');
    }
  }

  async #choose(): Promise<Next> {
    const models = this.#models.map((name) => ({ label: shownText(name), name }));
    // What is chosen already stands first.
    models.sort((one, other) => Number(other.name === this.#model) - Number(one.name === this.#model));
    const chosen = await askChoice({
      title,
      step: 2,
      totalSteps,
      canGoBack: true,
      buttons: [keyButton],
      placeholder: `The model, of those that ${this.#baseUrl} lists`,
      items: [...models, { label: '$(edit) Another name…', name: null }],
    });
    if (chosen === left) return 'left';
    if (chosen === back) return 'address';
    if (chosen === 'key') {
      this.#afterKey = 'models';
      return 'key';
    }
    if (chosen.name === null) return 'name';
    this.#model = chosen.name;
    return 'probe';
  }

  async #name(): Promise<Next> {
    const name = await askText({
      title,
      step: 2,
      totalSteps,
      canGoBack: true,
      prompt: 'Name of the model, as the server knows it.',
      value: this.#model,
      problem: (text) => (text.trim() === '' ? 'Give the name of a model.' : null),
    });
    if (name === left) return 'left';
    if (name === back) return this.#models.length > 0 ? 'model' : 'address';
    this.#model = name;
    return 'probe';
  }

  async #probe(): Promise<Next> {
    const key = await this.#keyOf(originOf(this.#baseUrl));
    const server = { baseUrl: this.#baseUrl, model: this.#model };
    try {
      const found = await withProgress(`Finding out what ${this.#baseUrl} can do`, (signal) =>
        suitability(server, key, signal),
      );
      if (!found) return this.#models.length > 0 ? 'model' : 'name';
      this.#found = found;
      return 'format';
    } catch (thrown) {
      return this.#failed(thrown, 'probe');
    }
  }

  async #format(): Promise<Next> {
    const items = this.#found.map((found, at) => ({
      label: `${found.fits ? '' : '$(circle-slash) '}${formatLabels[found.format]}`,
      description: !found.fits ? 'not with this server' : at === 0 ? 'recommended' : '',
      detail: shownText(inWords(found).join(' ')),
      found,
    }));
    const chosen = await askChoice({
      title,
      step: 3,
      totalSteps,
      canGoBack: true,
      placeholder: 'How the model is asked',
      items,
    });
    if (chosen === left) return 'left';
    if (chosen === back) return this.#models.length > 0 ? 'model' : 'name';
    if (!chosen.found.fits) return 'format';
    this.#chosen = chosen.found;
    return 'left';
  }

  /** Says what failed, with what can be done about it. What was typed stays. */
  async #failed(thrown: unknown, retry: Next): Promise<Next> {
    const { message, wayOut, code } = asCatalogueError(thrown);
    if (refusesKey(thrown) && (await this.#keyOf(originOf(this.#baseUrl))) === null) {
      this.#afterKey = retry;
      return 'key';
    }
    const versioned = withVersion(this.#baseUrl);
    const ways: readonly { readonly title: string; readonly next: () => Next }[] = [
      ...(versioned !== null && isOtherPlace.has(code)
        ? [
            {
              title: `Use ${versioned}`,
              next: (): Next => {
                this.#baseUrl = versioned;
                return retry;
              },
            },
          ]
        : []),
      ...(refusesKey(thrown)
        ? [
            {
              title: 'Give Another Key',
              next: (): Next => {
                this.#afterKey = retry;
                return 'key';
              },
            },
          ]
        : []),
      { title: 'Try Again', next: () => retry },
      { title: 'Change the Address', next: () => 'address' },
      ...(lacksModels.has(code) ? [{ title: 'Name the Model', next: (): Next => 'name' }] : []),
    ];
    const chosen = await vscode.window.showErrorMessage(
      shownText(message),
      { modal: true, detail: `${wayOut} (${code})` },
      ...ways.map((way) => way.title),
    );
    // Cancel leads back to what was typed.
    return ways.find((way) => way.title === chosen)?.next() ?? 'address';
  }
}

/** Faults of an address that leads to something else than the API. */
const isOtherPlace: ReadonlySet<number> = new Set([307, 310, 315, 320]);
/** Faults after which a model can still be named, or another one. */
const lacksModels: ReadonlySet<number> = new Set([309, 310, 323]);

/**
 * Waits for a server, with a way to stop waiting.
 *
 * @returns null where the user did not want to wait
 */
export async function withProgress<T>(
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const options = { location: vscode.ProgressLocation.Notification, title: what, cancellable: true };
  return vscode.window.withProgress(options, async (_progress, token) => {
    const waiting = new AbortController();
    const cancelled = token.onCancellationRequested(() => {
      waiting.abort();
    });
    try {
      return await work(waiting.signal);
    } catch (thrown) {
      if (waiting.signal.aborted) return null;
      throw thrown;
    } finally {
      cancelled.dispose();
    }
  });
}

function baseUrlProblem(text: string): string | null {
  try {
    originOf(text.trim());
    return null;
  } catch (thrown) {
    const { message, wayOut } = asCatalogueError(thrown);
    return `${message} ${wayOut}`;
  }
}
