import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cwmControlText } from '../../adapter/format/cwm/controlText';
import { answerOf, clientOf, type Peer, startPeer } from './peer';
import { testPeer } from './peerTests';
import { contextTokens, frame, writeTinyModel } from './tinyModel';

/*
 * The adapter with vLLM. Opt-in: set NEURAL_DEBUG_VLLM to the command that starts its OpenAI-compatible server, as
 * CONTRIBUTING.md says.
 */

const command = process.env['NEURAL_DEBUG_VLLM'];

describe.skipIf(command === undefined)('vLLM', () => {
  let folder = '';
  let peer: Peer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'neural-debug-vllm-'));
    const model = join(folder, 'tiny');
    writeTinyModel('hf', model);
    peer = await startPeer(
      command ?? '',
      (port) => [
        ...['--model', model, '--served-model-name', 'tiny', '--host', '127.0.0.1', '--port', String(port)],
        ...['--dtype', 'float32', '--max-model-len', String(contextTokens), '--max-num-seqs', '4'],
        ...['--enforce-eager', '--enable-prompt-tokens-details'],
      ],
      1_200,
    );
    // The first token after the start can take longer than a probe waits.
    await fetch(`${peer.baseUrl}/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tiny', prompt: 'a', max_tokens: 1 }),
    });
  }, 1_300_000);
  afterAll(async () => {
    await peer.stop();
    await rm(folder, { recursive: true });
  });

  /** A metric's sum over its labels. */
  const metric = (page: string, name: string) =>
    [...page.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );

  testPeer({
    product: /^vLLM \d+\.\d+/,
    peer: () => peer,
    activity: async () => {
      const page = await (await fetch(`${peer.origin}/metrics`)).text();
      return {
        isWriting: metric(page, 'vllm:num_requests_running') > 0,
        written: metric(page, 'vllm:generation_tokens_total'),
      };
    },
    tellsStop: true,
  });

  it('tells the usage of an answer that is left', { timeout: 300_000 }, async () => {
    const source = clientOf(peer);
    const { signal } = new AbortController();
    const prompt = { kind: 'text', text: cwmControlText.example, stop: [] } as const;
    let text = '';
    for await (const chunk of source.complete(prompt, { maxTokens: 500, signal })) {
      if (chunk.kind === 'text') text += chunk.text;
      if (text.length > frame.length) break;
    }
    expect(source.usage.promptTokens).toBeGreaterThan(0);
    expect(source.usage.completionTokens).toBeLessThan(500);
    expect((await answerOf(source, prompt, 10)).text).toBe(frame);
  });
});
