import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiKeys } from '../../src/servers/apiKeys';
import type { Settings } from '../../src/settings';

const settings = vi.hoisted(() => ({ baseUrl: '' }));
// The settings are the editor's, which is not there.
vi.mock('../../src/settings', () => ({
  readSettings: (): Settings => ({
    server: settings.baseUrl === '' ? null : { baseUrl: settings.baseUrl },
    python: null,
    sandbox: null,
  }),
}));

const origin = 'https://models.example';
const malformed = ['localhost:8000/v1', 'models.example', 'https://me:secret@models.example/v1'];

/** The keys, with secrets that are only kept here. */
function apiKeys(): ApiKeys {
  const secrets = new Map<string, string>();
  return new ApiKeys({
    get: (name) => Promise.resolve(secrets.get(name)),
    store: (name, value) => Promise.resolve(void secrets.set(name, value)),
    delete: (name) => Promise.resolve(void secrets.delete(name)),
  });
}

beforeEach(() => {
  settings.baseUrl = '';
  vi.stubEnv('NEURAL_DEBUG_BASE_URL', undefined);
  vi.stubEnv('NEURAL_DEBUG_API_KEY', 'of the variable');
});

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the key of a server', () => {
  it('is the stored one of its origin', async () => {
    const keys = apiKeys();
    await keys.store(origin, 'stored');
    expect(await keys.keyFor(origin)).toBe('stored');
    expect(await keys.keyFor('https://models.example:444')).toBeNull();
    await keys.store(origin, '');
    expect(await keys.keyFor(origin)).toBeNull();
  });

  it('is that of the variable for the server of the settings only', async () => {
    settings.baseUrl = `${origin}/v1`;
    expect(await apiKeys().keyFor(origin)).toBe('of the variable');
    expect(await apiKeys().keyFor('http://models.example')).toBeNull();
  });

  it('is that of the variable for the server of the other variable where that is set', async () => {
    settings.baseUrl = 'https://settings.example/v1';
    vi.stubEnv('NEURAL_DEBUG_BASE_URL', `${origin}/v1`);
    expect(await apiKeys().keyFor(origin)).toBe('of the variable');
    expect(await apiKeys().keyFor('https://settings.example')).toBeNull();
  });

  it('is none, and no fault, where the settings hold no address', async () => {
    for (const baseUrl of malformed) {
      settings.baseUrl = baseUrl;
      expect(await apiKeys().keyFor(origin)).toBeNull();
    }
  });

  it('is none where the variable holds no address: the settings’ server is not meant then', async () => {
    settings.baseUrl = `${origin}/v1`;
    for (const baseUrl of malformed) {
      vi.stubEnv('NEURAL_DEBUG_BASE_URL', baseUrl);
      expect(await apiKeys().keyFor(origin)).toBeNull();
    }
  });

  it('is the stored one also where settings and variable hold no address', async () => {
    settings.baseUrl = 'localhost:8000/v1';
    vi.stubEnv('NEURAL_DEBUG_BASE_URL', 'localhost:8000/v1');
    const keys = apiKeys();
    await keys.store(origin, 'stored');
    expect(await keys.keyFor(origin)).toBe('stored');
  });
});
