import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Guess, guessInputs, type GuessOptions } from '../../adapter/inputs/guess';
import { madeUpCalls } from '../../adapter/inputs/madeUpCalls';
import { isWanted } from '../../adapter/inputs/outcome';
import { describeWanted, wantedException, wantedValue } from '../../adapter/inputs/wantedResult';
import { writtenCalls } from '../../adapter/inputs/writtenCalls';
import { findFunction } from '../../adapter/python/functions';
import { PythonSource } from '../../adapter/python/source';
import type { Program } from '../../adapter/trajectory/program';
import { ReferenceWorld } from '../../adapter/world/reference';
import { client, FakeServer, sendStream } from '../completion/fakeServer';

const program: Program = {
  path: '/p.py',
  source: `def add(a, b):
    if b == 0:
        raise ValueError('b must not be 0')
    return a + b
`,
  entry: null,
  args: [],
};
const never = new AbortController().signal;
const byReference = (of: Program) => Promise.resolve(new ReferenceWorld(of));

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function guesses(options: Partial<GuessOptions> & Pick<GuessOptions, 'source' | 'wanted'>) {
  const all: Guess[] = [];
  const given = { program, function: 'add', count: 2, checker: byReference, ...options };
  for await (const news of guessInputs(given, never)) if (news.kind === 'guess') all.push(news.guess);
  return all;
}

/** A chat server that gives an answer, whatever it is asked. */
async function chatServer(answer: string) {
  const server = await FakeServer.start((_, response) => {
    const chunk = { choices: [{ index: 0, delta: { content: answer }, finish_reason: null }] };
    const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    const lines = [JSON.stringify(chunk), JSON.stringify(last), '[DONE]'];
    sendStream(response, lines.map((line) => `data: ${line}\n\n`).join(''));
  });
  cleanUps.push(() => server.stop());
  return { server, completions: client(server.baseUrl) };
}

describe('what is wanted', () => {
  it('is a literal, or an exception', () => {
    expect(wantedValue(' [1, 2] ')).toEqual({ kind: 'returns', repr: '[1, 2]' });
    expect(wantedException('ValueError: bad')).toEqual({
      kind: 'raises',
      type: 'ValueError',
      message: 'bad',
    });
    expect(describeWanted(wantedException('KeyError'))).toBe('raises KeyError');
  });

  it.each(['f(1)', '__import__("os")', '', '<Foo object>'])('is not %s', (text) => {
    expect(() => wantedValue(text)).toThrow(/literal/);
  });

  it.each(['', '1', 'a b'])('is no exception called %s', (text) => {
    expect(() => wantedException(text)).toThrow(/exception/);
  });

  it('is told from what is another value, whatever the order of a set', () => {
    const returned = (repr: string | null) =>
      ({ kind: 'returns', value: { repr, confidence: null } }) as const;
    expect(isWanted(returned('{2, 1}'), wantedValue('{1, 2}'))).toBe('same');
    expect(isWanted(returned('True'), wantedValue('1'))).toBe('different');
    expect(isWanted(returned(null), wantedValue('1'))).toBe('unknown');
    expect(isWanted(returned("ValueError('x')"), wantedException('ValueError'))).toBe('different');
  });
});

describe('guesses of a search', () => {
  const source = { kind: 'search', seconds: 30, python: 'python3' } as const;

  it('are checked by following the call', async () => {
    const [first, second] = await guesses({ source, wanted: wantedValue('12') });
    for (const guess of [first, second]) {
      expect(guess).toMatchObject({ by: 'search', check: { isReal: true, verdict: 'same' } });
      expect(guess?.check?.outcome).toEqual({ kind: 'returns', value: { repr: '12', confidence: null } });
    }
    expect(first?.call).not.toBe(second?.call);
  });

  it('may lead to an exception', async () => {
    const wanted = wantedException('ValueError: must not be 0');
    const [guess] = await guesses({ source, wanted, count: 1 });
    expect(guess?.arguments[1]).toBe('0');
    expect(guess?.check).toMatchObject({
      verdict: 'same',
      outcome: { kind: 'raises', exception: { repr: "ValueError('b must not be 0')" } },
    });
  });
});

describe('guesses of a chat model', () => {
  it('are checked, right or wrong, and are literals only', async () => {
    const answer = JSON.stringify({
      guesses: [
        { arguments: ['5', '7'] },
        { arguments: ['__import__("os").getcwd()', '1'] },
        { arguments: ['6', '7'] },
      ],
    });
    const { completions, server } = await chatServer(`Let me think. {a + b} = 12.\n${answer}`);
    const all = await guesses({
      source: { kind: 'model', completions },
      wanted: wantedValue('12'),
      count: 5,
    });
    expect(all.map(({ call, check }) => [call, check?.verdict])).toEqual([
      ['add(5, 7)', 'same'],
      ['add(6, 7)', 'different'],
    ]);
    expect(JSON.stringify(server.received[0]?.body)).toContain('returns 12');
  });

  it('that cannot be read are an error that shows them', async () => {
    const { completions } = await chatServer('I do not know.');
    const source = { kind: 'model', completions } as const;
    await expect(guesses({ source, wanted: wantedValue('12') })).rejects.toThrow(/I do not know/);
  });
});

describe('calls that are written', () => {
  it('are those of the file and of the tests beside it, and what a search tries first', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'neural-debug-examples-'));
    cleanUps.push(() => {
      rmSync(folder, { recursive: true });
    });
    mkdirSync(join(folder, 'tests'));
    const code = [
      'def secret(word):',
      "    '''",
      '    >>> secret("a")',
      "    'stone'",
      "    '''",
      "    return 'gold' if word == 'open ' + 'sesame' else 'stone'",
      '',
    ].join('\n');
    const path = join(folder, 'p.py');
    const rows =
      '@pytest.mark.parametrize("given", ["open sesame", "c"])\ndef test(given):\n    p.secret(given)\n';
    writeFileSync(join(folder, 'test_p.py'), 'from p import secret\nassert secret("b") == "stone"\n');
    writeFileSync(join(folder, 'other.py'), 'secret("no test")\n');
    writeFileSync(join(folder, 'tests', 'word_test.py'), rows);
    writeFileSync(join(folder, 'tests', 'test_more.py'), 'hidden("d")\n');
    const parsed = await PythonSource.parse(code);
    const definition = findFunction(parsed, 'secret');
    const calls = definition ? await writtenCalls(parsed, path, definition) : [];
    expect(calls.map(({ call, test }) => [call, test && basename(test)])).toEqual([
      ['secret("a")', null],
      ['secret("b")', 'test_p.py'],
      ['secret("open sesame")', 'word_test.py'],
      ['secret("c")', 'word_test.py'],
    ]);
    const [guess] = await guesses({
      program: { ...program, path, source: code },
      function: 'secret',
      source: { kind: 'search', seconds: 30, python: 'python3' },
      wanted: wantedValue("'gold'"),
      count: 1,
    });
    expect(guess?.call).toBe("secret('open sesame')");
  });
});

describe('calls that a model makes up', () => {
  const shop = `async def fetch(n): return n
class Cart:
    def add(self, n): return n
`;
  const ask = async (answer: string, name: string) => {
    const { server, completions } = await chatServer(answer);
    const calls = await madeUpCalls({ source: shop, function: name, count: 3 }, completions, never);
    completions.close();
    return { calls, server };
  };

  it('are kept where they are calls of the function with literals', async () => {
    const answer = `I think. {"calls": ["Cart().add(1)", "print(Cart().add([2]))", "Cart().add(open('f'))", "Cart.add(3)", "x", "Cart().add(1)"]}`;
    const { calls, server } = await ask(answer, 'Cart.add');
    expect(calls).toEqual(['Cart().add(1)', 'Cart().add([2])']);
    expect(JSON.stringify(server.received)).toContain('class Cart');
  });

  it('are the bare calls of coroutines', async () => {
    const { calls } = await ask('{"calls": ["asyncio.run(fetch(1))", "await fetch(2)"]}', 'fetch');
    expect(calls).toEqual(['fetch(1)', 'fetch(2)']);
  });

  it('are an error where the answer cannot be read', async () => {
    await expect(ask('no idea', 'fetch')).rejects.toThrow(/no idea/);
  });
});
