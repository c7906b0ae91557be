import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startModelServer } from '../../adapter/modelServer/server';
import { play, type Script } from '../support/sessions';

const programs = {
  literal: `def f(n):
    sep = '<|frame_sep|>'
    parts = []
    for i in range(n):
        parts.append(sep + '<|line_sep|>' * i)
    return sep.join(parts)


print(len(f(3)))
`,
};

describe('whatever way prompts go to the server, stops are those of a real run', () => {
  let server: Awaited<ReturnType<typeof startModelServer>>;
  let folder = '';
  beforeAll(async () => {
    server = await startModelServer({ port: 0 });
    folder = mkdtempSync(join(tmpdir(), 'neural-debug-modes-'));
    for (const [name, source] of Object.entries(programs)) writeFileSync(join(folder, `${name}.py`), source);
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const compare = async (name: keyof typeof programs, script: Script, options: object): Promise<void> => {
    const program = join(folder, `${name}.py`);
    const predicted = await play(
      { program, world: 'server', server: { baseUrl: server.url, ...options } },
      script,
      server.token,
    );
    expect(predicted).toEqual(await play({ program, world: 'reference' }, script));
  };

  it.each(['ids', 'text'])('%s, also where the program holds control text', async (mode) => {
    await compare('literal', { requests: 'stepIn' }, { mode });
  });
});
