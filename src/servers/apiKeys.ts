import type * as vscode from 'vscode';
import { readSettings } from '../settings';
import { sameOrigin } from './origin';

/** The variable that holds a server's key where none is stored. */
const keyVariable = 'NEURAL_DEBUG_API_KEY';
/** The variable that names that server; where it is not set, it is the settings' server. */
const serverVariable = 'NEURAL_DEBUG_BASE_URL';

/** The API keys, each bound to the origin of the server that it was given for. */
export class ApiKeys {
  constructor(private readonly secrets: Pick<vscode.SecretStorage, 'get' | 'store' | 'delete'>) {}

  /** The key of a server, or null where it needs none. Never another server's. */
  async keyFor(origin: string): Promise<string | null> {
    const stored = await this.secrets.get(secretName(origin));
    if (stored !== undefined) return stored;
    const baseUrl = process.env[serverVariable] || readSettings().server?.baseUrl;
    // Where the variable or the setting holds no address, the key is for no server.
    const isItsServer = baseUrl !== undefined && sameOrigin(baseUrl, origin);
    return (isItsServer && process.env[keyVariable]) || null;
  }

  /** Stores the key of a server; an empty one is forgotten. */
  async store(origin: string, key: string): Promise<void> {
    if (key === '') await this.secrets.delete(secretName(origin));
    else await this.secrets.store(secretName(origin), key);
  }
}

function secretName(origin: string): string {
  return `apiKey ${origin}`;
}
