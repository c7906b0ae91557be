import type { KeyFor } from '../debugger/open';

/** The environment variables that scripts rely on. */
export const environment = {
  apiKey: 'NEURAL_DEBUG_API_KEY',
  baseUrl: 'NEURAL_DEBUG_BASE_URL',
  model: 'NEURAL_DEBUG_MODEL',
  dapToken: 'NEURAL_DEBUG_DAP_TOKEN',
} as const;

/**
 * The key of the environment, for the origin of a base URL that the user typed or set in the environment.
 * No other origin gets it.
 *
 * @param baseUrl the URL the key belongs to, or null
 */
export function environmentKey(baseUrl: string | null): KeyFor {
  const key = process.env[environment.apiKey] ?? null;
  return (origin) => {
    const isBound = baseUrl !== null && URL.canParse(baseUrl) && new URL(baseUrl).origin === origin;
    return Promise.resolve(isBound ? key : null);
  };
}

/**
 * The key of the environment for a debug adapter, whose clients name the server. It is bound to the base URL
 * of the environment; where that is not set, to servers on this computer.
 */
export function adapterKey(): KeyFor {
  const baseUrl = process.env[environment.baseUrl];
  if (baseUrl !== undefined) return environmentKey(baseUrl);
  return (origin) => {
    const { hostname } = new URL(origin);
    return environmentKey(['127.0.0.1', 'localhost', '[::1]'].includes(hostname) ? origin : null)(origin);
  };
}
