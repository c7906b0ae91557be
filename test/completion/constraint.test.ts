import { afterEach, expect, it } from 'vitest';
import type { Prompt } from '../../adapter/completion/completion';
import { cwmControlText } from '../../adapter/format/cwm/controlText';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';
import { PythonSource } from '../../adapter/python/source';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { step } from '../support/steps';
import { client, collect, FakeServer, sendStream } from './fakeServer';

let server: FakeServer | null = null;
afterEach(() => server?.stop());

const source = 'def f(n):\n    if n > (1):\n        a = "x"\n    return n\n';

/** The prompt at the `if` of the program. */
async function promptAtIf(): Promise<Prompt> {
  const program = { path: '/p.py', source, entry: 'f(1)', args: [] };
  const format = await createCwmFormat(program, await PythonSource.parse(source));
  const trajectory = new Trajectory(program);
  let at = -1;
  for (const state of [step('call', 'f', 1, { n: '1' }), step('line', 'f', 2, { n: '1' })]) {
    at = trajectory.append(at, { name: 'step_into' }, state);
  }
  return format.prompt(trajectory, at, 'one');
}

async function sent(profile: 'vllm' | 'llama.cpp' | 'generic', constrain: boolean) {
  server = await FakeServer.start((_, response) => {
    sendStream(response, 'data: {"choices":[{"text":"x","finish_reason":"stop"}]}\n\n');
  });
  const source = client(server.baseUrl, { profile, mode: 'text', constrain, control: cwmControlText });
  await collect(source, await promptAtIf());
  return server.received.at(-1)?.body ?? {};
}

it('is not sent unless it is wanted, nor to servers that have no such field', async () => {
  expect(await sent('vllm', false)).not.toHaveProperty('structured_outputs');
  expect(await sent('generic', true)).not.toHaveProperty('grammar');
});

it('holds vLLM to the frames that can follow, by a regular expression', async () => {
  const body = await sent('vllm', true);
  const { regex } = body['structured_outputs'] as { regex: string };
  const fits = (text: string) => new RegExp(`^(${regex})$`, 'u').test(text);
  const line = (text: string, locals = '{"n": ".."}') =>
    `<|line_sep|>${locals}<|action_sep|>${text}\n<|frame_sep|>`;
  expect(fits(line('        a = "x"'))).toBe(true);
  expect(fits(line('    return n', '{}'))).toBe(true);
  expect(fits(line('    return n', '{"n": "\'\\"\'", "m": "1"}') + line('anything'))).toBe(true);
  expect(fits('<|call_sep|>{"n": "0"}<|action_sep|>def f(n):\n<|frame_sep|>')).toBe(true);
  expect(fits('<|exception_sep|><|action_sep|>    if n > (1):\n<|arg_sep|>"TypeError"<|frame_sep|>')).toBe(
    true,
  );
  expect(fits(line('    if n > (1):'))).toBe(false);
  expect(fits(line('    return n', '{"n": 1}'))).toBe(false);
  expect(fits('<|return_sep|><|action_sep|>    return n\n<|arg_sep|>"1"<|frame_sep|>')).toBe(false);
});

it('holds llama.cpp to them by a grammar', async () => {
  const grammar = (await sent('llama.cpp', true))['grammar'] as string;
  expect(grammar).toContain(
    '("<|line_sep|>") json-object ("<|action_sep|>") ("        a = \\"x\\"\\n" | "    return n\\n") ("<|frame_sep|>")',
  );
  expect(grammar).toMatch(/^root ::= \(.*\) rest$/m);
});
