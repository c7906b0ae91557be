import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/try.mjs', import.meta.url));

function tried(...options: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...options], { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

describe('npm run try says before it installs anything', () => {
  it('that a port is taken', async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { status, said } = tried('--port', `${port}`);
    server.close();
    expect(status).toBe(1);
    expect(said).toContain(`Port ${port} is taken by another program. Give another with "-- --port N"`);
    expect(said).not.toContain('Installing');
  });

  it('that a port is none', () => {
    const { status, said } = tried('--port', '70000');
    expect(status).toBe(1);
    expect(said).toContain('"70000" is no port.');
  });

  it('that a folder is not there', () => {
    const { status, said } = tried('--folder', '/not/there');
    expect(status).toBe(1);
    expect(said).toContain('There is no folder /not/there.');
  });

  it('that an option is not known', () => {
    const { status, said } = tried('--prot', '1');
    expect(status).toBe(1);
    expect(said).toContain("Unknown option '--prot'");
    expect(said).not.toContain('    at ');
  });
});
