import { describe, expect, it } from 'vitest';
import { choosePython, chooseWorld, readLaunchFields } from '../../src/debug/launchConfiguration';
import type { Settings } from '../../src/settings';

const none: Settings = { server: null, python: null, sandbox: null };
const connected: Settings = {
  server: { baseUrl: 'https://models.example/v1', model: 'cwm', format: 'cwm' },
  python: '/usr/bin/python3',
  sandbox: null,
};
const nobody: ReadonlySet<string> = new Set();

const choose = (configuration: object, settings = connected, confirmed = nobody) =>
  chooseWorld(readLaunchFields(configuration), settings, confirmed);

describe('readLaunchFields', () => {
  it('names the argument that is wrong', () => {
    expect(() => readLaunchFields({ world: 'dream' })).toThrow(/world/);
    expect(() => readLaunchFields({ server: { baseUrl: 8000 } })).toThrow(/server\.baseUrl/);
  });

  it('leaves to the adapter what it does not read', () => {
    const { server } = readLaunchFields({ type: 'x', budget: 3, server: { baseUrl: 'http://a', more: 1 } });
    expect(server).toEqual({ baseUrl: 'http://a', more: 1 });
  });
});

describe('chooseWorld', () => {
  it('asks where nothing says what predicts', () => {
    expect(choose({}, none)).toEqual({ world: 'ask' });
    expect(choose({ world: 'server' }, none)).toEqual({ world: 'ask' });
    expect(choose({ server: { model: 'm' } }, none)).toEqual({ world: 'ask' });
  });

  it('never falls back to a real run', () => {
    for (const settings of [none, connected]) {
      for (const configuration of [{}, { world: 'server' }, { recording: 'r' }, { server: {} }]) {
        expect(choose(configuration, settings).world).not.toBe('reference');
      }
    }
  });

  it('takes the server of the settings, without asking', () => {
    expect(choose({})).toEqual({ world: 'server', server: connected.server, unconfirmedOrigin: null });
  });

  it('lets a configuration refine the server of the settings', () => {
    expect(choose({ server: { model: 'other', temperature: 1 } })).toEqual({
      world: 'server',
      server: { baseUrl: 'https://models.example/v1', model: 'other', format: 'cwm', temperature: 1 },
      unconfirmedOrigin: null,
    });
  });

  it('asks for a server that only the configuration names, by its origin', () => {
    const server = { baseUrl: 'https://elsewhere.example:8443/v1', format: 'chat' };
    const origin = 'https://elsewhere.example:8443';
    expect(choose({ server })).toEqual({ world: 'server', server, unconfirmedOrigin: origin });
    expect(choose({ server }, none)).toEqual({ world: 'server', server, unconfirmedOrigin: origin });
    expect(choose({ server }, connected, new Set([origin]))).toMatchObject({ unconfirmedOrigin: null });
  });

  it('takes scheme, host and port for the origin', () => {
    const unconfirmed = (baseUrl: string) => choose({ server: { baseUrl } });
    expect(unconfirmed('https://models.example/other/v1')).toMatchObject({ unconfirmedOrigin: null });
    expect(unconfirmed('https://models.example:443/v1')).toMatchObject({ unconfirmedOrigin: null });
    for (const other of ['http://models.example', 'https://models.example:444', 'https://a.models.example']) {
      expect(unconfirmed(`${other}/v1`)).toMatchObject({ unconfirmedOrigin: other });
    }
  });

  it('asks for a server that the configuration names also where the settings hold no address', () => {
    const server = { baseUrl: 'http://localhost:8000/v1' };
    for (const baseUrl of ['localhost:8000/v1', 'https://u:p@models.example/v1']) {
      const malformed = { ...connected, server: { baseUrl } };
      const unconfirmedOrigin = 'http://localhost:8000';
      expect(choose({ server }, malformed)).toEqual({ world: 'server', server, unconfirmedOrigin });
    }
  });

  it.each(['', 'localhost:8000', 'file:///etc/passwd', 'javascript:alert(1)'])('refuses %j', (baseUrl) => {
    expect(() => choose({ server: { baseUrl } })).toThrow(/not the base URL/);
  });

  it('refuses a password in a URL, and does not repeat it', () => {
    expect(() => choose({ server: { baseUrl: 'https://u:hunter2@models.example/v1' } })).toThrow(
      /^(?!.*hunter2).*password/,
    );
  });

  it('takes a recording for what it is', () => {
    expect(choose({ recording: 'r.jsonl' }, none)).toEqual({ world: 'recording' });
    expect(choose({ world: 'reference' }, none)).toEqual({ world: 'reference' });
  });
});

describe('choosePython', () => {
  it('prefers the configuration in a trusted workspace, and refuses it in another', () => {
    const fields = readLaunchFields({ python: './evil' });
    expect(choosePython(fields, connected, true)).toBe('./evil');
    expect(() => choosePython(fields, connected, false)).toThrow(/untrusted/);
    expect(choosePython(readLaunchFields({}), connected, false)).toBe('/usr/bin/python3');
    expect(choosePython(readLaunchFields({}), none, true)).toBeNull();
  });
});
