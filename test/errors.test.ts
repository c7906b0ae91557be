import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

describe('the catalogue of errors', () => {
  it('has a number for each error, and each number once', () => {
    const source = readFileSync(new URL('../adapter/errors.ts', import.meta.url), 'utf8');
    const numbers = Array.from(source.matchAll(/\bentry\((\d+)/g), ([, number]) => number);
    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([]);
  });
});
