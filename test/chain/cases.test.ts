import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startModelServer } from '../../adapter/modelServer/server';
import { play, type Script } from '../support/sessions';

const folder = new URL('../cases/', import.meta.url).pathname;
const cases = readdirSync(folder).filter((name) => name.endsWith('.py'));

const scripts: Record<string, Script> = {
  'step into': { requests: 'stepIn' },
  'step over': { requests: 'next' },
  'step out': {
    requests: ['stepIn', 'stepIn', 'stepIn', 'stepOut', 'stepOut', 'stepIn', 'stepIn', 'stepOut'],
  },
  continue: { requests: 'continue' },
  'exceptions raised': { requests: 'continue', raised: true },
  'back and forth': {
    requests: [
      'stepIn',
      'stepIn',
      'next',
      'next',
      'stepBack',
      'next',
      'stepBack',
      'stepBack',
      'stepIn',
      'reverseContinue',
    ],
  },
};

/** Both ways that prompts go with each case, else one with each second case. */
const isFull = process.env['NEURAL_DEBUG_FULL'] === '1';
const modes = ['ids', 'text'] as const;

/** Breakpoints on every third line, continued through: lines in deep frames, in loops, on several frames. */
const everyThirdLine = [0, 1, 2].map((rest) =>
  Array.from({ length: 60 }, (_, line) => line).filter((line) => line % 3 === rest),
);

describe('over HTTP against the model server, as in a real run', () => {
  let server: Awaited<ReturnType<typeof startModelServer>>;
  beforeAll(async () => {
    server = await startModelServer({ port: 0 });
  });
  afterAll(async () => {
    await server.close();
  });

  const chosen = cases.flatMap((name, index) =>
    modes.filter((_, at) => isFull || at === index % modes.length).map((mode) => ({ name, mode })),
  );
  for (const { name, mode } of chosen) {
    const program = `${folder}${name}`;
    const compare = async (script: Script): Promise<void> => {
      const before = server.requests();
      const predicted = await play(
        { program, world: 'server', server: { baseUrl: server.url, format: 'cwm', mode } },
        script,
        server.token,
      );
      expect(server.requests(), 'requests that the server counted').toBeGreaterThan(before);
      expect(predicted).toEqual(await play({ program, world: 'reference' }, script));
    };

    describe(`${name} in ${mode}`, () => {
      it.each(Object.entries(scripts))('%s', (_, script) => compare(script));
      it('breakpoints', async () => {
        for (const breakpoints of everyThirdLine) await compare({ breakpoints, requests: 'continue' });
      });
    });
  }
});
