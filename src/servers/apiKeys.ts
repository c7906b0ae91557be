import type * as vscode from 'vscode';
import { readSettings } from '../settings';
import { originOf } from './origin';

/** The variable that holds the key of the settings' server where none is stored. */
const environmentVariable = 'NEURAL_DEBUG_API_KEY';

/** The API keys, each bound to the origin of the server that it was given for. */
export class ApiKeys {
  constructor(private readonly secrets: vscode.SecretStorage) {}

  /** The key of a server, or null where it needs none. Never another server's. */
  async keyFor(origin: string): Promise<string | null> {
    const stored = await this.secrets.get(secretName(origin));
    if (stored !== undefined) return stored;
    const { server } = readSettings();
    const ofSettings = server !== null && originOf(server.baseUrl) === origin;
    return (ofSettings && process.env[environmentVariable]) || null;
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
