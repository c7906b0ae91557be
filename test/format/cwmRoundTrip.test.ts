import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compare, type Compared } from './cwmSupport';

const cases = join(import.meta.dirname, '../cases');

/** Cuts two traces that a limit ended at the length of the shorter one. */
function expectEqual({ read, real, ending, how }: Compared): void {
  const length = how === 'cut' ? Math.min(read.length, real.length) : undefined;
  expect(read.slice(0, length)).toEqual(real.slice(0, length));
  expect(ending).toBe(how);
}

describe('scripts of the cases', () => {
  for (const name of readdirSync(cases).filter((file) => file.endsWith('.py'))) {
    it(name, async () => {
      const source = readFileSync(join(cases, name), 'utf8');
      const compared = await compare(source, null);
      expectEqual(compared);
      const { format, trajectory, text } = compared;
      // What was read is sent back as it was written.
      const begin = format.prompt(trajectory, 0, 'many');
      const all = format.prompt(trajectory, trajectory.length - 1, 'many');
      if (begin.kind !== 'text' || all.kind !== 'text') throw new Error('CWM prompts are text.');
      expect(begin.text + text).toBe(`${all.text}<|end_of_text|>`);
      expect(compared.doubts.filter((doubt) => doubt !== null)).toEqual([]);
    });
  }
});
