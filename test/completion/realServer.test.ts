import { describe, expect, it } from 'vitest';
import { defaultTimeouts, OpenAiServer } from '../../adapter/completion/openaiServer';
import { createChatFormat } from '../../adapter/format/chat/chatFormat';
import { PythonSource } from '../../adapter/python/source';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { CatalogueError } from '../../adapter/errors';
import { brief, program, source } from '../format/chat/support';

/** The base URL of a real server; its model and key, where it needs them, come the same way. */
const baseUrl = process.env['NEURAL_DEBUG_CHAT_BASE_URL'];

/**
 * The chat format against a real model. It is skipped without NEURAL_DEBUG_CHAT_BASE_URL, such as
 * http://127.0.0.1:8080/v1 (and NEURAL_DEBUG_CHAT_MODEL, NEURAL_DEBUG_CHAT_API_KEY where they are needed).
 * What a model predicts is not judged, only that it can be read.
 */
describe.skipIf(baseUrl === undefined)('a real chat server', () => {
  const server = () =>
    new OpenAiServer({
      baseUrl: baseUrl ?? '',
      apiKey: process.env['NEURAL_DEBUG_CHAT_API_KEY'] ?? null,
      model: process.env['NEURAL_DEBUG_CHAT_MODEL'] ?? null,
      temperature: 0,
      topP: null,
      profile: 'auto',
      mode: 'auto',
      context: null,
      constrain: false,
      control: null,
      timeouts: { ...defaultTimeouts, firstByte: 300_000 },
      extraBody: {},
    });
  const { signal } = new AbortController();

  it('lists a model', async () => {
    expect((await server().listModels(signal)).length).toBeGreaterThan(0);
  });

  it('predicts states that can be read', { timeout: 600_000 }, async ({ annotate }) => {
    const of = program(source);
    const format = createChatFormat(of, await PythonSource.parse(source));
    const trajectory = new Trajectory(of);
    let at = -1;
    for (const step of format.opening) {
      if (step.kind === 'state') at = trajectory.append(at, { name: 'step_into' }, step);
    }
    const lines: string[] = [];
    const answers = server();
    for (let turn = 0; turn < 2; turn++) {
      const reader = format.reader(trajectory, at);
      let text = '';
      try {
        const prompt = format.prompt(trajectory, at, turn === 0 ? 'one' : 'many');
        for await (const chunk of answers.complete(prompt, { maxTokens: 700, signal })) {
          if (chunk.kind === 'text') text += chunk.text;
          for (const step of reader.read(chunk)) {
            lines.push(brief(step));
            if (step.kind === 'state') at = trajectory.append(at, { name: 'step_into' }, step);
          }
        }
      } catch (thrown) {
        if (!(thrown instanceof CatalogueError) || thrown.code < 400) throw thrown;
        lines.push(`${thrown.code}: ${thrown.message}`);
      }
      expect(text).not.toBe('');
    }
    await annotate(`${answers.name}:\n${lines.join('\n')}`);
  });
});
