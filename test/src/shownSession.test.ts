import { describe, expect, it } from 'vitest';
import { shownSession } from '../../src/views/shownSession';

const sessions = new Map(
  ['first', 'last', 'starting'].map((name) => [name, { name, answering: name === 'starting' ? null : {} }]),
);
const shown = (active?: { id: string; type: string }) => shownSession(sessions, active)?.name;

describe('the session that the status bar is about', () => {
  it('is the one that is looked at, even before it has stopped', () => {
    expect(shown({ id: 'first', type: 'neural-debug' })).toBe('first');
    expect(shown({ id: 'starting', type: 'neural-debug' })).toBe('starting');
  });

  it('is the one that stopped last where none that runs is looked at', () => {
    expect(shown()).toBe('last');
    expect(shown({ id: 'ended', type: 'neural-debug' })).toBe('last');
  });

  it('is none while another debugger is looked at', () => {
    expect(shown({ id: 'other', type: 'python' })).toBeUndefined();
  });
});
