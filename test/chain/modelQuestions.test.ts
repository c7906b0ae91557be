import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../adapter/debugger/configuration';
import { askModel, describeGuess } from '../../adapter/debugger/modelQuestion';
import { openDebugger, type Opened } from '../../adapter/debugger/open';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';

const folder = mkdtempSync(join(tmpdir(), 'neural-debug-questions-'));
const program = join(folder, 'asked.py');
let server: ModelServer;
let opened: Opened;

beforeAll(async () => {
  writeFileSync(
    program,
    'class Box:\n    pass\n\n\ndef double(x):\n    return x * 2\n\n\ndef f(n, words):\n    box = Box()\n    return n\n',
  );
  server = await startModelServer({ port: 0 });
  opened = await openDebugger(
    parseConfiguration({ program, entry: 'f(3, ["a", "b"])', server: { baseUrl: server.url } }),
    () => Promise.resolve(server.token),
  );
  await opened.debugger.start(true);
  await opened.debugger.forward('next');
});
afterAll(async () => {
  await opened.debugger.close();
  await opened.evaluator.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

function ask(expression: string) {
  const { debugger: session } = opened;
  return askModel(session, session.cursor, expression, AbortSignal.timeout(20_000));
}

describe('a question to the model', () => {
  it.each([
    ['n + len(words)', '5', false],
    ['[double(k) for k in range(n)]', '[0, 2, 4]', false],
    ['" ".join(words * 2)', "'a b a b'", false],
    ['words[n]', "IndexError('list index out of range')", true],
  ])('%s is answered, and the session stays as it was', async (expression, repr, raises) => {
    const { trajectory, cursor } = opened.debugger;
    const length = trajectory.length;
    const guess = await ask(expression);
    expect(guess).toEqual({ repr, raises, confidence: 1 });
    expect(describeGuess(guess)).toContain("the model's guess, 100% sure");
    expect([opened.debugger.cursor, trajectory.length, trajectory.next(cursor)]).toEqual([
      cursor,
      length,
      null,
    ]);
  });

  it.each([
    ['n +', 'no Python expression'],
    ['n) + (n', 'no Python expression'],
    ['n)\n\nprint(1', 'no Python expression'],
    ['box', 'box is no value that can be written'],
  ])('%j is refused with the reason', async (expression, reason) => {
    await expect(ask(expression)).rejects.toThrow(reason);
  });

  it('is refused where no model of the format answers', async () => {
    for (const world of [{ world: 'reference' }, { server: { baseUrl: server.url, format: 'chat' } }]) {
      const other = await openDebugger(parseConfiguration({ program, entry: 'f(1, [])', ...world }), () =>
        Promise.resolve(null),
      );
      await expect(askModel(other.debugger, -1, '1', AbortSignal.timeout(1_000))).rejects.toThrow(
        'cannot be asked',
      );
      await other.debugger.close();
      await other.evaluator.close();
    }
  });
});
