import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SourceTraits } from '../../adapter/completion/completion';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';
import { parsePrompt } from '../../adapter/format/cwm/prompt';
import { PythonSource } from '../../adapter/python/source';
import { compare, type Compared } from './cwmSupport';

const charactersPerToken = 3;

const loops = `def inner(n, label):
    total = 0
    for i in range(n):
        total += i
    return total


def outer(n):
    seen = []
    note = 'kept' * 10
    for k in range(n):
        seen.append(inner(k, note))
    try:
        seen[n]
    except IndexError as error:
        note = repr(error)
    return seen, note
`;

const programs = [
  { name: 'loops', source: loops, entry: 'outer(12)' },
  ...readdirSync(join(import.meta.dirname, 'programs'))
    // That one fits into any context.
    .filter((file) => file.endsWith('.py') && file !== 'tabs.py')
    .map((name) => ({
      name,
      source: readFileSync(join(import.meta.dirname, 'programs', name), 'utf8'),
      entry: null,
    })),
];

describe('prompts longer than the context', () => {
  const results = new Map<string, Compared>();

  beforeAll(async () => {
    for (const [index, result] of (await compare(programs)).entries()) {
      results.set(programs[index]?.name ?? '', result);
    }
  }, 120_000);

  /** The prompts after each state, in a context that is so many tokens larger than the source. */
  async function prompts(name: string, room: number) {
    const { trajectory, format } = results.get(name) ?? {};
    if (!trajectory || !format) throw new Error(`${name} was not compared.`);
    const whole = (from: number) => {
      const prompt = format.prompt(trajectory, from, 'one');
      if (prompt.kind !== 'text') throw new Error('CWM prompts are text.');
      return prompt.text;
    };
    const contextTokens = Math.floor(whole(-1).length / charactersPerToken) + room;
    const traits: SourceTraits = { contextTokens, charactersPerToken, separatesControl: false };
    const source = await PythonSource.parse(trajectory.program.source);
    const windowed = await createCwmFormat(trajectory.program, source, () => traits);
    const texts = Array.from({ length: trajectory.length }, (_, index) => {
      const prompt = windowed.prompt(trajectory, index, 'one');
      if (prompt.kind !== 'text') throw new Error('CWM prompts are text.');
      return { text: prompt.text, dropped: prompt.droppedFrames?.count ?? 0 };
    });
    return { texts, whole, trajectory, most: contextTokens * charactersPerToken };
  }

  const names = programs.map(({ name }) => name);

  it.each(names)('%s: fit, and say how many frames were left out', async (name) => {
    const { texts, whole, most } = await prompts(name, 700);
    for (const [index, { text, dropped }] of texts.entries()) {
      expect(text.length).toBeLessThanOrEqual(most * 0.9);
      expect(dropped + parsePrompt(text).frames.length).toBe(parsePrompt(whole(index)).frames.length);
    }
    expect(texts.at(-1)?.dropped).toBeGreaterThan(0);
  });

  it.each(names)('%s: say of each frame what the whole prompt says', async (name) => {
    const { texts, whole, trajectory } = await prompts(name, 700);
    for (const index of [...texts.keys()].filter((at) => at % 7 === 0 || at === trajectory.length - 1)) {
      const { text, dropped } = texts[index] ?? { text: '', dropped: 0 };
      // The wrapper shows in the names of a model's values, not in ours.
      const framesOf = (prompt: string) => parsePrompt(prompt.replaceAll(/_*main\.<locals>\./g, '')).frames;
      const all = framesOf(whole(index));
      const [seed, ...shown] = framesOf(text);
      expect(seed).toEqual(all[0]);
      expect(shown).toEqual(all.slice(1 + dropped));
    }
  });

  it.each(names)('%s: go on from each other between two drops, which are few', async (name) => {
    const { texts } = await prompts(name, 700);
    let drops = 0;
    for (const [index, { text, dropped }] of texts.entries()) {
      const before = texts[index - 1];
      if (before?.dropped === dropped) expect(text.startsWith(before.text)).toBe(true);
      else drops++;
    }
    expect(drops).toBeLessThan(texts.length / 8);
  });

  it('a context that hardly holds the source keeps the newest frame', async () => {
    const { texts } = await prompts('loops', 10);
    expect(parsePrompt(texts.at(-1)?.text ?? '').frames.length).toBeGreaterThanOrEqual(2);
  });
});
