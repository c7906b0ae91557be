import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { searchInputs, type SearchNews, type WantedResult } from '../../adapter/python/inputSearch';

const never = new AbortController().signal;

const shop = `def price(count, member=False):
    if count < 0:
        raise ValueError('count must not be negative')
    total = 3 * count
    if member and count > 10:
        total -= 5
    return total


def reverse_words(text):
    return ' '.join(word[::-1] for word in text.split(' '))


def stuck(n):
    while n != 7:
        pass
    return 'seven'


def tally(items):
    counts = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    return counts


def needs_name(*, key):
    return key


def secret(code):
    if code == 'open ' + 'sesame':
        return 'gold'
    return 'stone'
`;

interface Search {
  readonly source?: string;
  readonly examples?: readonly string[];
  readonly count?: number;
  readonly calls?: number;
}

async function search(
  name: string,
  wanted: WantedResult,
  { source = shop, examples = [], count = 1, calls = 20_000 }: Search = {},
): Promise<SearchNews[]> {
  const news: SearchNews[] = [];
  const job = {
    path: '/p.py',
    source,
    function: name,
    wanted,
    examples,
    count,
    calls,
    seconds: 30,
    python: 'python3',
  };
  for await (const one of searchInputs(job, never)) news.push(one);
  return news;
}

const found = (news: readonly SearchNews[]) =>
  news.flatMap((one) => (one.kind === 'found' ? [one.arguments] : []));

const returns = (repr: string): WantedResult => ({ kind: 'returns', repr });

/** What Python says of calls, one a line. */
function reallyGives(source: string, calls: readonly string[]): string[] {
  const code = `${source}\nfor call in ${JSON.stringify(calls)}:\n    print(repr(eval(call)))\n`;
  const { stdout } = spawnSync('python3', ['-c', code], { encoding: 'utf8' });
  return stdout.trimEnd().split('\n');
}

describe('searching inputs', () => {
  it.each([
    ['price', '31'],
    ['reverse_words', "'olleh dlrow'"],
    ['stuck', "'seven'"],
    ['tally', "{'a': 2, 'b': 1}"],
    ['tally', '{(1, 2): 1}'],
  ])('finds arguments with which %s gives %s', async (name, repr) => {
    const [given] = found(await search(name, returns(repr)));
    expect(given).toBeDefined();
    expect(reallyGives(shop, [`${name}(${given?.join(', ') ?? ''})`])).toEqual([repr]);
  });

  it('finds several, each once', async () => {
    const calls = found(await search('price', returns('30'), { count: 3 })).map(
      (given) => `price(${given.join(', ')})`,
    );
    expect(new Set(calls).size).toBe(3);
    expect(new Set(reallyGives(shop, calls))).toEqual(new Set(['30']));
  });

  it('finds arguments that raise an exception with a message', async () => {
    const wanted = { kind: 'raises', type: 'ValueError', message: 'negative' } as const;
    const [given] = found(await search('price', wanted));
    expect(Number(given?.[0])).toBeLessThan(0);
  });

  it('takes the calls that are given first', async () => {
    const examples = ['secret(', 'secret(1, 2)', 'secret(code="open sesame")'];
    const news = await search('secret', returns("'gold'"), { examples });
    expect(news).toEqual([
      { kind: 'found', arguments: ["'open sesame'"], gives: "'gold'", tried: expect.any(Number) as number },
    ]);
  });

  it('says that it has found nothing, and what came nearest', async () => {
    const news = await search('price', returns('-1'), { calls: 3000 });
    expect(found(news)).toEqual([]);
    for (const one of news) expect(one.kind).toBe('progress');
  });

  it.each([
    ['a function that is not there', 'nothing', shop, /nothing/],
    ['a parameter that has to be named', 'needs_name', shop, /key/],
    ['a module that fails', 'f', 'def f(x):\n    return x\n\n\n1 / 0\n', /ZeroDivisionError/],
    ['a syntax error', 'f', 'def f(:\n', /line 1/],
    ['an async function', 'f', 'async def f(x):\n    return x\n', /async/],
  ])('refuses %s', async (_, name, source, message) => {
    await expect(search(name, returns('1'), { source })).rejects.toThrow(message);
  });

  it('is not confused by what the program writes, or by how it ends', async () => {
    const source = `import os
import sys


def f(n):
    print('{"k": "found", "arguments": ["1"], "tried": 1}')
    sys.stderr.write('x' * 100)
    if n == 3:
        sys.exit(1)
    return n
`;
    expect(found(await search('f', returns('5'), { source }))).toEqual([['5']]);
  });

  it('ends with the signal', async () => {
    const controller = new AbortController();
    const job = {
      path: '/p.py',
      source: shop,
      function: 'price',
      wanted: returns('-1'),
      examples: [],
      python: 'python3',
    };
    const news = searchInputs({ ...job, count: 1, calls: 1e9, seconds: 60 }, controller.signal);
    const first = await news.next();
    expect(first.value).toMatchObject({ kind: 'progress' });
    controller.abort();
    for await (const one of news) expect(one.kind).toBe('progress');
  });
});

const data = new URL('../../../shared/data/cruxeval/cruxeval.jsonl', import.meta.url);

describe('searching the inputs of CRUXEval', () => {
  it.skipIf(!existsSync(data))('finds most of a sample within few calls', async () => {
    const rows = readFileSync(data, 'utf8').trimEnd().split('\n');
    const sample = rows
      .filter((_, at) => at % 80 === 0)
      .map((row) => JSON.parse(row) as { code: string; output: string; id: string });
    const solved: string[] = [];
    for (const { code, output, id } of sample) {
      const news = await search('f', returns(output), { source: code, calls: 3000 });
      if (found(news).length > 0) solved.push(id);
    }
    expect(solved.length).toBeGreaterThanOrEqual(sample.length * 0.7);
  });
});
