import { describe, expect, it } from 'vitest';
import { isUnencrypted, originOf } from '../../src/servers/origin';
import { configurationAgain, serverOf } from '../../src/servers/sessionServer';

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

describe('a configuration that is begun again', () => {
  it('is what it was, but for changes and what the editor has added', () => {
    const configuration = {
      type: 'neural-debug',
      request: 'launch',
      name: 'n',
      program: '/p.py',
      __sessionId: 'x',
    };
    expect(configurationAgain(configuration, { world: 'reference' })).toEqual({
      type: 'neural-debug',
      request: 'launch',
      name: 'n',
      program: '/p.py',
      world: 'reference',
    });
    expect(configuration).toHaveProperty('__sessionId');
  });
});
