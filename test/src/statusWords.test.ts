import { describe, expect, it } from 'vitest';
import {
  type Answering,
  type Health,
  healthShape,
  statusActions,
  type StatusSubject,
  statusWords,
} from '../../src/servers/statusWords';

const server = { baseUrl: 'https://models.example/v1', model: 'facebook/cwm', format: 'cwm' } as const;
const predicting: Answering = {
  isReal: false,
  kind: 'server',
  name: 'facebook/cwm at https://models.example/v1 (vLLM 0.12.0, ids mode)',
  words: 'Predicting with facebook/cwm at https://models.example/v1 (vLLM 0.12.0, ids mode)',
};
const running: Answering = {
  isReal: true,
  kind: 'reference',
  name: 'Python 3.11.2',
  words: 'Running with Python 3.11.2',
};
const refused: Health = {
  state: 'failed',
  code: 303,
  message: 'Nothing answers at https://models.example/v1: the connection was refused.',
  wayOut: 'Start the server, or correct the address and the port.',
  during: 'step',
};
const nothing: StatusSubject = { answering: null, server: null, known: null, canTryAgain: false };
const known = (health: Health) => ({ health, at: new Date(0) });
const words = (subject: Partial<StatusSubject>) => statusWords({ ...nothing, ...subject }, () => '14:03:12');
const actions = (subject: Partial<StatusSubject>) => statusActions({ ...nothing, ...subject });

describe('the status', () => {
  it('says in a session what answers, and whether that is real', () => {
    expect(words({ answering: predicting, server })).toMatchObject({
      text: '$(sparkle) predicted: facebook/cwm',
      label: 'Neural Debug, predicted: facebook/cwm',
      level: 'calm',
    });
    expect(words({ answering: running })).toMatchObject({
      text: '$(play-circle) real run: Python 3.11.2',
      sentences: ['Running with Python 3.11.2.', 'The values of this session are those of a real run.'],
    });
  });

  it('tells a failure and a silence by icon, text, colour and in sentences', () => {
    const failed = words({ answering: predicting, server, known: known(refused) });
    expect(failed).toMatchObject({ text: '$(error) predicted: facebook/cwm, failed', level: 'error' });
    expect(failed.sentences.join(' ')).toMatch(
      /It failed at 14:03:12: Nothing answers.*\(303\) Start the server/,
    );
    const slow = words({ answering: predicting, server, known: known({ state: 'slow' }) });
    expect(slow).toMatchObject({ text: '$(watch) predicted: facebook/cwm, no answer yet', level: 'warning' });
    expect(slow.label).toContain('no answer yet');
  });

  it('says outside of sessions what is set, and only what is known', () => {
    expect(words({ server })).toMatchObject({ text: '$(sparkle) facebook/cwm', level: 'calm' });
    expect(words({ server }).sentences).toContain('It was not asked yet.');
    expect(words({ server: { baseUrl: 'http://127.0.0.1:8000/v1' } }).text).toBe(
      '$(sparkle) the first model of 127.0.0.1:8000',
    );
    // Nothing waits for it then.
    const failed = words({ server, known: known(refused) });
    expect(failed).toMatchObject({ text: '$(error) facebook/cwm, failed', level: 'calm' });
    expect(words({ server, known: known({ state: 'answers' }) }).sentences).toContain(
      'It answered at 14:03:12.',
    );
    expect(words({}).sentences).toEqual(['No model server is connected to Neural Debug.']);
  });

  it('shows no address that is none, and no control characters of a model’s name', () => {
    const odd = { baseUrl: 'not an address', model: 'a\u202eb\u0007' };
    expect(words({ server: odd }).text).toBe('$(sparkle) a\\u202eb\\x07');
    expect(words({ server: { baseUrl: 'not an address' } }).text).toBe(
      '$(sparkle) the first model of not an address',
    );
  });
});

describe('what is offered', () => {
  it('begins with what mends what failed', () => {
    const session = { answering: predicting, server };
    expect(actions({ ...session, known: known(refused), canTryAgain: true })[0]).toBe('tryAgain');
    expect(actions({ ...session, known: known({ state: 'slow' }) })[0]).toBe('stopWaiting');
    const badKey = known({ ...refused, code: 308 });
    expect(actions({ ...session, known: badKey, canTryAgain: true }).slice(0, 2)).toEqual([
      'tryAgain',
      'setKey',
    ]);
  });

  it('fits what is there', () => {
    expect(actions({})).toEqual(['connect', 'showLog', 'openSettings']);
    expect(actions({ server })).toEqual(['test', 'connect', 'setKey', 'showLog', 'openSettings']);
    expect(actions({ answering: running })).toEqual(['connect', 'otherWorld', 'showLog', 'openSettings']);
    // A server that is not asked in this session is not what its actions are about.
    expect(actions({ answering: running, server })).not.toContain('test');
    for (const one of [{}, { server }, { answering: predicting, server, known: known(refused) }]) {
      expect(new Set(actions(one)).size).toBe(actions(one).length);
    }
  });
});

describe('what the debug adapter tells', () => {
  it('is read as it is, and nothing else is', () => {
    expect(healthShape.parse(refused)).toEqual(refused);
    expect(healthShape.safeParse({ state: 'failed' }).success).toBe(false);
    expect(healthShape.safeParse({ state: 'asleep' }).success).toBe(false);
  });
});
