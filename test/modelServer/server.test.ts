import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  defaultLimits,
  type ModelServer,
  type ModelServerLimits,
  startModelServer,
  startupNotice,
} from '../../adapter/modelServer/server';

const model = 'neural-debug-reference-cwm';

/** A prompt of a source context and frames. */
function promptOf(source: string, ...frames: string[]): string {
  return `<|begin_of_text|><|trace_context_start|>${source}<|frame_sep|>${frames.join('')}`;
}

const factorial = `def fact(n):
    if n < 2:
        return 1
    return n * fact(n - 1)

def main():  # << START_OF_TRACE
    return fact(2)
`;

const factorialFrames = [
  '<|call_sep|>{}<|action_sep|>def main():\n<|frame_sep|>',
  '<|line_sep|>{}<|action_sep|>    return fact(2)\n<|frame_sep|>',
  '<|call_sep|>{"n": "2"}<|action_sep|>def fact(n):\n<|frame_sep|>',
  '<|line_sep|>{"n": ".."}<|action_sep|>    if n < 2:\n<|frame_sep|>',
  '<|line_sep|>{"n": ".."}<|action_sep|>    return n * fact(n - 1)\n<|frame_sep|>',
  '<|call_sep|>{"n": "1"}<|action_sep|>def fact(n):\n<|frame_sep|>',
  '<|line_sep|>{"n": ".."}<|action_sep|>    if n < 2:\n<|frame_sep|>',
  '<|line_sep|>{"n": ".."}<|action_sep|>        return 1\n<|frame_sep|>',
  '<|return_sep|><|action_sep|>        return 1\n<|arg_sep|>"1"<|frame_sep|>',
  '<|return_sep|><|action_sep|>    return n * fact(n - 1)\n<|arg_sep|>"2"<|frame_sep|>',
  '<|return_sep|><|action_sep|>    return fact(2)\n<|arg_sep|>"2"<|frame_sep|>',
];

const endless = `def main():  # << START_OF_TRACE
    n = 0
    while True:
        n += 1
`;

let shared: ModelServer;
const own: ModelServer[] = [];
let folder: string;

beforeAll(async () => {
  shared = await startModelServer({ port: 0 });
  folder = await mkdtemp(join(tmpdir(), 'model-server-'));
});

afterEach(async () => {
  await Promise.all(own.splice(0).map((server) => server.close()));
});

afterAll(async () => {
  await shared.close();
  await rm(folder, { recursive: true });
});

async function limited(limits: Partial<ModelServerLimits>): Promise<ModelServer> {
  const server = await startModelServer({ port: 0, limits });
  own.push(server);
  return server;
}

function clientOf(server: ModelServer) {
  return new OpenAI({ baseURL: server.url, apiKey: server.token, maxRetries: 0 });
}

/** The whole answer to a prompt. */
async function complete(
  prompt: string,
  fields: Partial<OpenAI.CompletionCreateParamsNonStreaming> = {},
  server = shared,
) {
  return clientOf(server).completions.create({ model, prompt, max_tokens: 100_000, ...fields });
}

async function textAfter(prompt: string, server = shared): Promise<string> {
  const answer = await complete(prompt, {}, server);
  expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: null });
  return answer.choices[0]?.text ?? '';
}

async function refusalOf(prompt: string, server = shared) {
  const refused: unknown = await complete(prompt, {}, server).then(
    (answer) => expect.unreachable(`answered ${answer.choices[0]?.text ?? ''}`),
    (thrown: unknown) => thrown,
  );
  return refused as InstanceType<typeof OpenAI.APIError>;
}

describe('a perfect CWM', () => {
  it('writes the whole trace after the source context', async () => {
    expect(await textAfter(promptOf(factorial))).toBe(factorialFrames.join(''));
  });

  it('goes on from every frame', async () => {
    for (let count = 1; count <= factorialFrames.length; count++) {
      const prompt = promptOf(factorial, ...factorialFrames.slice(0, count));
      expect(await textAfter(prompt)).toBe(factorialFrames.slice(count).join(''));
    }
  });

  it('gives one frame where the client stops at its end', async () => {
    let prompt = promptOf(factorial);
    for (const frame of factorialFrames) {
      const { choices } = await complete(prompt, { stop: '<|frame_sep|>' });
      expect(choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: '<|frame_sep|>' });
      expect(`${choices[0]?.text ?? ''}<|frame_sep|>`).toBe(frame);
      prompt += frame;
    }
    expect((await complete(prompt, { stop: '<|frame_sep|>' })).choices[0]).toMatchObject({
      text: '',
      finish_reason: 'stop',
      stop_reason: null,
    });
  });

  it('streams the same text', async () => {
    const stream = await clientOf(shared).completions.create({
      model,
      prompt: promptOf(factorial),
      max_tokens: 100_000,
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? '';
    expect(text).toBe(factorialFrames.join(''));
  });

  it('continues a frame that the prompt forces, if the program agrees', async () => {
    const before = factorialFrames.slice(0, 8);
    expect(await textAfter(promptOf(factorial, ...before, '<|return_sep|>'))).toBe(
      factorialFrames.slice(8).join('').slice('<|return_sep|>'.length),
    );
    const refused = await refusalOf(promptOf(factorial, ...factorialFrames.slice(0, 3), '<|return_sep|>'));
    expect(refused).toMatchObject({ status: 422, code: 'history_differs', param: 'prompt' });
    expect(refused.message).toContain('Frame 4 of the history');
  });

  it('refuses a history that is not what the program does', async () => {
    const changed = factorialFrames.map((frame) => frame.replace('{"n": "2"}', '{"n": "3"}'));
    const refused = await refusalOf(promptOf(factorial, ...changed.slice(0, 5)));
    expect(refused).toMatchObject({ status: 422, type: 'invalid_request_error', code: 'history_differs' });
    expect(refused.message).toContain('Frame 3 of the history is not what the program does.');
    expect(refused.message).toContain('The prompt has "n" = "3". The program has "n" = "2".');
  });

  it('tells which part of a prompt it knew', async () => {
    const source = `${factorial}# usage\n`;
    const first = await complete(promptOf(source), { max_tokens: 30 });
    expect(first.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
    const prompt = promptOf(source, first.choices[0]?.text ?? '');
    const second = await complete(prompt, { max_tokens: 10 });
    expect(second.usage?.prompt_tokens_details?.cached_tokens).toBe(second.usage?.prompt_tokens);
    const third = await complete(promptOf(source, ...factorialFrames.slice(0, 6)), { max_tokens: 10 });
    const cached = third.usage?.prompt_tokens_details?.cached_tokens ?? 0;
    expect(cached).toBeGreaterThan(second.usage?.prompt_tokens ?? Infinity);
    expect(cached).toBeLessThan(third.usage?.prompt_tokens ?? 0);
    const again = await complete(promptOf(source, ...factorialFrames.slice(0, 4)), { max_tokens: 10 });
    expect(again.usage?.prompt_tokens_details?.cached_tokens).toBe(again.usage?.prompt_tokens);
  });
});

describe('the entry function', () => {
  const add = 'def add(a, *, b=2):  # << START_OF_TRACE\n    return a + b\n';

  it('is called with the locals of the first frame', async () => {
    const seed = '<|call_sep|>{"a": "[1,2]", "b": "[3]"}<|action_sep|>def add(a, *, b=2):\n<|frame_sep|>';
    expect(await textAfter(promptOf(add, seed))).toBe(
      '<|line_sep|>{"a": "..", "b": ".."}<|action_sep|>    return a + b\n<|frame_sep|>' +
        '<|return_sep|><|action_sep|>    return a + b\n<|arg_sep|>"[1, 2, 3]"<|frame_sep|>',
    );
  });

  it('is not called without them', async () => {
    const refused = await refusalOf(promptOf(add));
    expect(refused).toMatchObject({ status: 400, code: 'seed_missing' });
    expect(refused.message).toContain('takes a, b');
    const half = '<|call_sep|>{"a": "1"}<|action_sep|>def add(a, *, b=2):\n<|frame_sep|>';
    expect((await refusalOf(promptOf(add, half))).message).toContain('takes b,');
  });

  it('is not called with what is no literal', async () => {
    const seed = '<|call_sep|>{"a": "exit()", "b": "1"}<|action_sep|>def add(a, *, b=2):\n<|frame_sep|>';
    expect(await refusalOf(promptOf(add, seed))).toMatchObject({ status: 422, param: 'prompt' });
  });

  it('has to be marked', async () => {
    const refused = await refusalOf(promptOf(factorial.replace('  # << START_OF_TRACE', '')));
    expect(refused).toMatchObject({ status: 400, code: 'prompt_unreadable' });
  });

  it('runs as __main__ where it stands for a script', async () => {
    const script = 'def main():  # << START_OF_TRACE\n    name = __name__\n    return name\n';
    expect(await textAfter(promptOf(script))).toContain('{"name": "\'__main__\'"}');
    const entry = `def f():\n    return __name__ == '__main__'\n\ndef main():  # << START_OF_TRACE\n    return f()\n`;
    expect(await textAfter(promptOf(entry))).toContain('<|arg_sep|>"False"');
  });

  it('may raise, and the trace ends with that', async () => {
    const raising = `def main():  # << START_OF_TRACE\n    raise KeyError('a')\n`;
    expect(await textAfter(promptOf(raising))).toBe(
      '<|call_sep|>{}<|action_sep|>def main():\n<|frame_sep|>' +
        `<|line_sep|>{}<|action_sep|>    raise KeyError('a')\n<|frame_sep|>` +
        `<|exception_sep|><|action_sep|>    raise KeyError('a')\n<|arg_sep|>"KeyError('a')"<|frame_sep|>` +
        `<|return_sep|><|action_sep|>    raise KeyError('a')\n<|arg_sep|>"None"<|frame_sep|>`,
    );
  });

  it('runs with control tokens in its text as they were', async () => {
    const source = `def main():  # << START_OF_TRACE\n    size = len('<|frame_sep\u200b|>')\n    return '<|x' + '|>', size\n`;
    const text = await textAfter(promptOf(source));
    expect(text).toContain('"size": "13"');
    expect(text).toContain(`<|arg_sep|>"('<|x\\u200b|>', 13)"`);
    expect(text).toContain(`<|action_sep|>    size = len('<|frame_sep\u200b|>')\n`);
  });
});

describe('a prompt that cannot be continued', () => {
  it.each([
    ['no trace', 'Hello', 400, 'prompt_unreadable'],
    ['a source without an end', '<|trace_context_start|>def f(): pass', 400, 'prompt_unreadable'],
    [
      'a source with a syntax error',
      promptOf('def f(:\n    pass\n\ndef main():  # << START_OF_TRACE\n    return f()\n'),
      422,
      'program_not_run',
    ],
    [
      'a source that fails before the trace',
      promptOf('1 / 0\n\ndef main():  # << START_OF_TRACE\n    return 1\n'),
      422,
      'program_not_run',
    ],
  ])('is refused: %s', async (_, prompt, status, code) => {
    expect(await refusalOf(prompt)).toMatchObject({ status, code, param: 'prompt' });
  });
});

describe('an endless program', () => {
  it('answers with its first frames', async () => {
    const { choices } = await complete(promptOf(endless), { max_tokens: 500 });
    expect(choices[0]).toMatchObject({ finish_reason: 'length' });
    expect(choices[0]?.text).toContain('{"n": "3"}');
  });

  it('is cut at a limit, which the stream tells as an error after what it wrote', async () => {
    const server = await limited({ events: 50 });
    const stream = await clientOf(server).completions.create({
      model,
      prompt: promptOf(endless),
      max_tokens: 1e6,
      stream: true,
    });
    let text = '';
    const read = (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.text ?? '';
    })();
    await expect(read).rejects.toMatchObject({ code: 'run_cut' });
    expect(text.split('<|frame_sep|>').length - 1).toBe(50);
    const refused = await refusalOf(promptOf(endless, text), server);
    expect(refused).toMatchObject({ status: 422, code: 'run_cut' });
    expect(refused.message).toContain('after 50 frames');
  });

  it('is ended when nobody waits for it any more', async () => {
    const file = join(folder, 'pid');
    const source = `import os, time\n\ndef main():  # << START_OF_TRACE\n    open(${JSON.stringify(file)}, 'w').write(str(os.getpid()))\n    time.sleep(1000)\n    return 1\n`;
    const client = new AbortController();
    const asked = clientOf(shared)
      .completions.create({ model, prompt: promptOf(source), max_tokens: 1e6 }, { signal: client.signal })
      .catch((thrown: unknown) => thrown);
    const pid = await vi.waitFor(
      async () => {
        const text = await readFile(file, 'utf8');
        expect(text).not.toBe('');
        return Number(text);
      },
      { timeout: 20_000, interval: 50 },
    );
    client.abort();
    await asked;
    await vi.waitFor(
      () => {
        expect(() => process.kill(pid, 0)).toThrow();
      },
      { timeout: 20_000, interval: 50 },
    );
  });

  it('is ended when the server closes', async () => {
    const server = await limited({});
    const stream = await clientOf(server).completions.create({
      model,
      prompt: promptOf(endless),
      max_tokens: 1e8,
      stream: true,
    });
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    await server.close();
    own.pop();
    await expect(
      (async () => {
        while (!(await iterator.next()).done);
      })(),
    ).rejects.toThrow();
  });
});

describe('several requests', () => {
  it('share one run', async () => {
    // A value that differs from run to run shows whether all were answered from one.
    const source = `import uuid\n\ndef main():  # << START_OF_TRACE\n    n = uuid.uuid4().hex\n    for _ in range(500):\n        m = n\n    return m\n`;
    const texts = await Promise.all(Array.from({ length: 6 }, () => textAfter(promptOf(source))));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]?.split('<|frame_sep|>').length).toBe(1006);
  });

  it('for more programs than are kept end the oldest that nobody uses', async () => {
    const server = await limited({ runs: 2 });
    for (let n = 0; n < 4; n++) {
      expect(await textAfter(promptOf(factorial.replace('fact(2)', `fact(${n})`)), server)).toContain(
        'return 1',
      );
    }
  });

  it('are told when no more programs can be followed', async () => {
    const server = await limited({ runs: 1 });
    const stream = await clientOf(server).completions.create({
      model,
      prompt: promptOf(endless),
      max_tokens: 1e8,
      stream: true,
    });
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    expect(await refusalOf(promptOf(factorial), server)).toMatchObject({
      status: 429,
      code: 'too_many_runs',
    });
    stream.controller.abort();
    await iterator.return?.();
    await vi.waitFor(
      async () => {
        expect(await textAfter(promptOf(factorial), server)).toBe(factorialFrames.join(''));
      },
      { timeout: 20_000 },
    );
  });
});

it('says at its start that it runs programs, and within which limits', () => {
  expect(startupNotice()).toContain('really runs');
  expect(startupNotice()).toContain(`${defaultLimits.seconds} seconds`);
  expect(startupNotice({ seconds: 7 })).toContain('7 seconds');
});
