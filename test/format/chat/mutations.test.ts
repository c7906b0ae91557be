import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CatalogueError } from '../../../adapter/errors';
import { isState, open, program, readAnswer, record, reply, source } from './support';

const names = ['wellBehaved', 'fenced', 'thinking', 'sloppy', 'single', 'lines', 'ending', 'raising'];
const fragments = [
  '{', '}', '[', ']', '"', "'", ',', ':', '\\', '\n', '```', 'null', '"states"', '"event"', '"line"', '"locals"',
  '"call"', '"return"', '"exception"', '"<module>"', '"double"', '-1', '1e999', '<think>', '</think>', '\u0000', '😀',
  '\ud800', '//', '{"event":"line"}', '"ended":true',
]; // prettier-ignore

const mutation = fc.record({
  at: fc.nat(3_000),
  remove: fc.nat(40),
  insert: fc.array(fc.constantFrom(...fragments), { maxLength: 4 }).map((parts) => parts.join('')),
});

describe('mutated answers', () => {
  it('end in states or in an error of the catalogue, and the states can be recorded', async () => {
    const of = program(source);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.array(mutation, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom('stop' as const, 'length' as const),
        async (name, mutations, pieces, reason) => {
          let answer = reply(name);
          for (const { at, remove, insert } of mutations) {
            const place = at % (answer.length + 1);
            answer = answer.slice(0, place) + insert + answer.slice(place + remove);
          }
          const opened = await open(of);
          const reader = opened.format.reader(opened.trajectory, opened.at);
          try {
            const steps = readAnswer(reader, answer, { pieces, reason });
            record(opened, steps);
            for (const { state } of steps.filter(isState)) {
              // The module's call event is on line 0.
              expect(state.line).toBeGreaterThanOrEqual(state.event === 'call' ? 0 : 1);
              expect(Number.isInteger(state.line)).toBe(true);
            }
            opened.format.prompt(opened.trajectory, opened.at, 'many');
          } catch (thrown) {
            if (!(thrown instanceof CatalogueError)) throw thrown;
            expect(thrown.code).toBeGreaterThanOrEqual(401);
          }
        },
      ),
      { numRuns: 600 },
    );
  });

  it('give the same states however the answer is cut into pieces', async () => {
    const of = program(source);
    for (const name of names) {
      const opened = await open(of);
      const read = (pieces: number) =>
        readAnswer(opened.format.reader(opened.trajectory, opened.at), reply(name), { pieces });
      const whole = read(100_000);
      for (const pieces of [1, 2, 3, 11]) expect(read(pieces), `${name} by ${pieces}`).toEqual(whole);
    }
  });

  it('do not hang on deep nesting', async () => {
    const { format, trajectory, at } = await open(program(source));
    const deep = `{"states":[{"event":"line","function":"<module>","line":10,"locals":{"main":${'['.repeat(50_000)}`;
    expect(readAnswer(format.reader(trajectory, at), deep, { pieces: 10_000 }).length).toBeLessThan(3);
  });
});
