import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { FakeServer } from '../completion/fakeServer';
import { DapClient } from '../support/dapClient';
import { has } from '../support/transcript';

const recordings = fileURLToPath(new URL('recordings', import.meta.url));

let client: DapClient;
afterEach(() => client.end());

async function expectTranscript(name: string, folder = recordings): Promise<void> {
  const text = client.transcript([
    [folder, folder === recordings ? 'RECORDINGS' : 'FOLDER'],
    [/http:\/\/[\d.]+:\d+/g, 'http://SERVER'],
  ]);
  await expect(text).toMatchFileSnapshot(`golden/${name}.txt`);
}

it('tells how far a prediction is, and ends it when it is cancelled', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'neural-debug-progress-'));
  const program = join(folder, 'slow.py');
  writeFileSync(
    program,
    'def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n',
  );
  const answers: ServerResponse[] = [];
  const server = await FakeServer.start((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    answers.push(response);
  });
  const asked = (count: number) => expect.poll(() => answers.length, { timeout: 15_000 }).toBe(count);
  const say = (text: string) =>
    answers
      .at(-1)
      ?.write(`data: ${JSON.stringify({ choices: [{ index: 0, text, finish_reason: null }] })}\n\n`);
  const frame = (locals: object, line: string, kind = 'line') =>
    `<|${kind}_sep|>${JSON.stringify(locals)}<|action_sep|>${line}\n<|frame_sep|>`;
  try {
    client = new DapClient();
    const slow = { baseUrl: `${server.origin}/v1`, model: 'slow', profile: 'generic' };
    const can = { supportsProgressReporting: true };
    await client.launch({ program, entry: 'f(3)', stopOnEntry: true, server: slow }, can);
    await client.ask('configurationDone');
    await asked(1);
    say(
      frame({}, '    return f(3)') +
        frame({ n: '3' }, 'def f(n):', 'call') +
        frame({ n: '..' }, '    total = 0'),
    );
    await client.event('stopped');
    await client.ask('continue', { threadId: 1 });
    await asked(2);
    // The beginning shows a progress of its own where the machine is slow.
    const progressId = 'prediction-2';
    const progress = async (name: string) => {
      while (!has((await client.event(name)).body, { progressId }));
    };
    await progress('progressStart');
    say(frame({ n: '..', total: '0' }, '    for i in range(n):'));
    await progress('progressUpdate');
    await client.ask('cancel', { progressId });
    await client.event('stopped');
    expect((await client.stack())[0]).toMatchObject({ line: 3 });
    await server.left;
    // What depends on how fast the machine is.
    const steady = client.messages.filter(
      (message) => message.type !== 'event' || !/"prediction-1"|usage/.test(JSON.stringify(message)),
    );
    client.messages.splice(0, client.messages.length, ...steady);
    await expectTranscript('progress', folder);
  } finally {
    await client.end();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
});

it('begins anew, and ends, when it is asked to', async () => {
  client = new DapClient();
  await client.launch({ world: 'recording', recording: `${recordings}/recursion.jsonl`, stopOnEntry: true });
  await client.start('/project/31-recursion-step-over.py', [4]);
  await client.move('continue');
  const places = async () => (await client.stack()).map(({ name, line }) => [name, line]);
  const before = await places();
  await client.ask('restart');
  expect((await client.event('stopped')).body).toMatchObject({ reason: 'entry' });
  await client.move('continue');
  // What was set stays set.
  expect(await places()).toEqual(before);
  await client.ask('terminate');
  await client.event('terminated');
  await expectTranscript('restart');
});
