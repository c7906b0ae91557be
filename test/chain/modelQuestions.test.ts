import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../adapter/debugger/configuration';
import { answerInWords, askModel, describeAnswer } from '../../adapter/debugger/modelQuestion';
import { openDebugger, type Opened } from '../../adapter/debugger/open';
import { type ModelServer, startModelServer } from '../../adapter/modelServer/server';

const folder = mkdtempSync(join(tmpdir(), 'neural-debug-questions-'));
const program = join(folder, 'asked.py');
let server: ModelServer;
let opened: Opened;

beforeAll(async () => {
  writeFileSync(
    program,
    [
      'count = 0',
      'RATES = {"a": 1}',
      'made = sorted([2, 1])',
      '',
      '',
      'class Box:',
      '    pass',
      '',
      '',
      'def double(x):',
      '    return x * 2 + count',
      '',
      '',
      'def f(n, words):',
      '    box = Box()',
      '    return n',
      '',
      '',
      'def g(n):',
      '    global count, made',
      '    count += n',
      '    RATES["b"] = count',
      '    made = None if n > 3 else id(n)',
      '    return count',
      '',
    ].join('\n'),
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

const signal = () => AbortSignal.timeout(20_000);

function ask(expression: string) {
  const { debugger: session } = opened;
  return askModel(session, session.cursor, expression, signal());
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
    expect(guess).toEqual({ repr, raises, confidence: 1, assumed: [] });
    expect(describeAnswer(guess)).toContain("the model's guess, 100% sure");
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
    ['n = 5', 'no Python expression'],
    ['n; n', 'no Python expression'],
    ['box', 'box is no value that can be written'],
  ])('%j is refused with the reason', async (expression, reason) => {
    await expect(ask(expression)).rejects.toThrow(reason);
  });

  it('carries names of the module that were changed, and says which it does not know', async () => {
    const asked = async (entry: string, expression: string) => {
      const { debugger: session, evaluator } = await openDebugger(
        parseConfiguration({ program, entry, server: { baseUrl: server.url } }),
        () => Promise.resolve(server.token),
      );
      await session.start(true);
      session.breakpoints.setLines([{ line: 24, condition: null }]);
      await session.forward('continue');
      const told = await answerInWords(session, evaluator, session.cursor, expression, signal());
      await session.close();
      await evaluator.close();
      return told;
    };
    expect(await asked('g(5)', '(count, RATES, double(1))')).toBe(
      "(5, {'a': 1, 'b': 5}, 7)   (the model's guess, 100% sure)",
    );
    expect(await asked('g(1)', 'len(str(made))')).toBe(
      "6   (the model's guess, 100% sure; takes made to be what the module's code gives)",
    );
  });

  it('is evaluated where a real run answers, or refused with the reason', async () => {
    const other = await openDebugger(
      parseConfiguration({ program, entry: 'f(1, [])', world: 'reference' }),
      () => Promise.resolve(null),
    );
    const { debugger: session, evaluator } = other;
    await session.start(true);
    const ask = (expression: string) =>
      answerInWords(session, evaluator, session.cursor, expression, signal());
    expect(await ask('n + len(words)')).toBe(
      '1   (evaluated exactly, not guessed: a real run answers, and guesses nothing)',
    );
    expect(await ask('words[0]')).toMatch(/^raises IndexError: .* \(evaluated exactly/);
    await expect(ask('double(n)')).rejects.toThrow(/is not asked: a real run answers.*does not tell it/);
    await expect(askModel(session, session.cursor, 'n', signal())).rejects.toThrow('cannot be asked');
    await session.close();
    await evaluator.close();
  });
});
