import { describe, expect, it } from 'vitest';
import { isUnencrypted, originIn, originOf, sameOrigin } from '../../src/servers/origin';
import {
  configurationAgain,
  goesOnWith,
  serverAttributesOf,
  serverOf,
} from '../../src/servers/sessionServer';

describe('an origin', () => {
  it('is scheme, host and port, whatever way the address is written', () => {
    expect(originOf('https://Models.Example/v1')).toBe('https://models.example');
    expect(originOf('https://models.example:443/other')).toBe('https://models.example');
    expect(originOf('http://[::1]:8000/v1')).toBe('http://[::1]:8000');
    expect(originOf('http://models.example/v1')).not.toBe(originOf('https://models.example/v1'));
  });

  it('is that of a server, with nothing secret in it', () => {
    for (const text of ['', 'models.example', 'file:///v1', 'javascript:alert(1)', 'http://'])
      expect(() => originOf(text)).toThrow(/not the base URL/);
    expect(() => originOf('https://me:secret@models.example/v1')).toThrow(/user name or a password/);
  });

  it('is compared with what settings and variables hold, whatever that is', () => {
    expect(sameOrigin('https://Models.Example:443/v1', 'https://models.example')).toBe(true);
    expect(sameOrigin('http://models.example', 'https://models.example')).toBe(false);
    expect(sameOrigin('https://models.example.evil.example', 'https://models.example')).toBe(false);
    // What is no address is the same as nothing, not even as itself.
    for (const text of [
      '',
      'localhost:8000/v1',
      'null',
      'file:///v1',
      'https://me:secret@models.example/v1',
    ]) {
      expect(originIn(text)).toBeNull();
      expect(sameOrigin(text, 'https://models.example')).toBe(false);
      expect(sameOrigin(text, text)).toBe(false);
    }
  });

  it('is known to be read along where it is plain and leaves this computer', () => {
    expect(['http://10.0.0.7:8000', 'http://models.example'].map(isUnencrypted)).toEqual([true, true]);
    const safe = ['http://127.0.0.1:8000', 'http://localhost', 'http://[::1]:1', 'https://models.example'];
    expect(safe.filter(isUnencrypted)).toEqual([]);
  });
});

describe('the server of a session', () => {
  const server = { baseUrl: 'http://127.0.0.1:8000/v1', model: 'm', format: 'chat', temperature: 1 };

  it('is the one of its configuration', () => {
    const { baseUrl, model, format } = server;
    expect(serverOf({ configuration: { world: 'server', server } })).toEqual({ baseUrl, model, format });
    expect(serverOf({ configuration: { server: { baseUrl } } })).toEqual({ baseUrl });
  });

  it('is none where something else answers, or it is not readable', () => {
    for (const configuration of [
      { world: 'reference', server },
      { world: 'server' },
      { server: { baseUrl: 'nowhere' } },
      { server: { baseUrl: 8000 } },
      null,
    ])
      expect(serverOf({ configuration })).toBeNull();
  });
});

describe('a session that was connected to another server', () => {
  const configuration = {
    ...{ type: 'neural-debug', request: 'launch', name: 'n', program: '/p.py', world: 'server' },
    server: { baseUrl: 'http://127.0.0.1:8000/v1', model: 'm', temperature: 1 },
  };
  const other = { baseUrl: 'https://models.example/v1', model: 'other', format: 'chat', seed: 7 };

  it('means that one from then on, whatever its configuration says', () => {
    const session = { configuration };
    expect(serverAttributesOf(session)).toEqual(configuration.server);
    goesOnWith(session, other);
    const { baseUrl, model, format } = other;
    expect(serverOf(session)).toEqual({ baseUrl, model, format });
    expect(serverAttributesOf(session)).toEqual(other);
    // Another session of the same configuration does not.
    expect(serverOf({ configuration })).toMatchObject({ baseUrl: configuration.server.baseUrl });
  });

  it('is begun again with it, unless yet another one is wanted', () => {
    const session = { configuration };
    goesOnWith(session, other);
    expect(configurationAgain(session)).toEqual({ ...configuration, server: other });
    const third = { baseUrl: 'http://127.0.0.1:1/v1' };
    expect(configurationAgain(session, { server: third })).toMatchObject({ server: third });
  });

  it('has no attributes of a server where none is set', () => {
    for (const none of [null, {}, { server: null }, { server: 'm' }])
      expect(serverAttributesOf({ configuration: none })).toBeNull();
  });
});

describe('a configuration that is begun again', () => {
  it('is what it was, but for changes and what the editor has added', () => {
    const configuration = {
      type: 'neural-debug',
      request: 'launch',
      name: 'n',
      program: '/p.py',
      __sessionId: 'x',
    };
    expect(configurationAgain({ configuration }, { world: 'reference' })).toEqual({
      type: 'neural-debug',
      request: 'launch',
      name: 'n',
      program: '/p.py',
      world: 'reference',
    });
    expect(configuration).toHaveProperty('__sessionId');
  });
});
