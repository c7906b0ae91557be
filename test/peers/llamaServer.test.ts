import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cwmControlText } from '../../adapter/format/cwm/controlText';
import { answerOf, clientOf, faultOf, type Peer, startPeer } from './peer';
import { testPeer } from './peerTests';
import { contextTokens, frame, writeTinyModel } from './tinyModel';

/*
 * The adapter with llama.cpp's real server. Opt-in: set NEURAL_DEBUG_LLAMA_SERVER to the command that starts it, as
 * CONTRIBUTING.md says.
 */

const command = process.env['NEURAL_DEBUG_LLAMA_SERVER'];

const slots = z.array(
  z.looseObject({
    is_processing: z.boolean(),
    next_token: z.array(z.looseObject({ n_decoded: z.number() })).optional(),
  }),
);

describe.skipIf(command === undefined)('llama.cpp’s server', () => {
  let folder = '';
  let peer: Peer;
  let plain: Peer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'neural-debug-llama-'));
    const model = join(folder, 'tiny.gguf');
    writeTinyModel('gguf', model);
    const start = (more: readonly string[]) =>
      startPeer(
        command ?? '',
        (port) => [
          ...['-m', model, '--host', '127.0.0.1', '--port', String(port), '-c', String(contextTokens)],
          ...['-np', '1', '-t', '1', '-a', 'tiny', ...more],
        ],
        60,
      );
    [peer, plain] = await Promise.all([start(['--special']), start([])]);
  }, 90_000);
  afterAll(async () => {
    await Promise.all([peer.stop(), plain.stop()]);
    await rm(folder, { recursive: true });
  });

  testPeer({
    product: /^llama\.cpp b\d/,
    peer: () => peer,
    activity: async () => {
      const told = slots.parse(await (await fetch(`${peer.origin}/slots`)).json());
      return {
        isWriting: told.some((slot) => slot.is_processing),
        written: told[0]?.next_token?.[0]?.n_decoded ?? 0,
      };
    },
    tellsStop: false,
  });

  it('is read by ids where it leaves control tokens out', async () => {
    const prompt = { kind: 'text', text: cwmControlText.example, stop: [] } as const;
    expect((await answerOf(clientOf(plain), prompt, 30)).text).toBe(frame.repeat(3));
  });

  it('has one error that names the switch where control tokens are lost', async () => {
    const { signal } = new AbortController();
    const fault = await faultOf(clientOf(plain, { mode: 'text' }).ready(signal));
    expect(fault.code).toBe(325);
    expect(fault.wayOut).toContain('--special');
  });
});
