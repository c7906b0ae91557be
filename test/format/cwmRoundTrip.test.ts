import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compare, type Compared } from './cwmSupport';

const cases = join(import.meta.dirname, '../cases');

/** Cuts two traces that a limit ended at the length of the shorter one. */
function expectEqual({ read, real, ending, how }: Compared): void {
  const length = how === 'cut' ? Math.min(read.length, real.length) : undefined;
  expect(read.slice(0, length)).toEqual(real.slice(0, length));
  expect(ending).toBe(how);
}

describe('scripts of the cases', () => {
  const names = readdirSync(cases).filter((file) => file.endsWith('.py'));
  const compared = new Map<string, Compared>();

  beforeAll(async () => {
    const sources = names.map((name) => ({ source: readFileSync(join(cases, name), 'utf8'), entry: null }));
    for (const [index, result] of (await compare(sources)).entries())
      compared.set(names[index] ?? '', result);
  }, 120_000);

  it.each(names)('%s: read as it happens, without doubt, and sent back as it was written', (name) => {
    const result = compared.get(name);
    if (!result) throw new Error(`${name} was not compared.`);
    expectEqual(result);
    const { format, trajectory, text, doubts } = result;
    const begin = format.prompt(trajectory, 0, 'many');
    const all = format.prompt(trajectory, trajectory.length - 1, 'many');
    if (begin.kind !== 'text' || all.kind !== 'text') throw new Error('CWM prompts are text.');
    expect(begin.text + text).toBe(`${all.text}<|end_of_text|>`);
    expect(doubts.filter((doubt) => doubt !== null)).toEqual([]);
  });
});
