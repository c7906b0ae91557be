import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasPythonGrammar, scopesOf, tokenize } from './grammars';

const recording = 'source.neural-debug-recording';
const cwm = 'source.cwm-trace';

const state = (locals: Readonly<Record<string, string | null>>, more: object = {}) =>
  JSON.stringify({
    event: 'line',
    function: 'f',
    line: 3,
    depth: 1,
    locals,
    argument: null,
    activation: 7,
    ...more,
  });

async function lineOf(grammar: string, text: string) {
  const [pieces] = await tokenize(grammar, text);
  return pieces ?? [];
}

describe('the grammar of recordings', () => {
  it('names events, functions, locals, numbers and keys', async () => {
    const pieces = await lineOf(recording, state({ total: '12' }));
    expect(scopesOf(pieces, 'line')).toContain('keyword.control.event.neural-debug-recording');
    expect(scopesOf(pieces, 'f')).toContain('entity.name.function.neural-debug-recording');
    expect(scopesOf(pieces, 'total')).toContain('variable.other.neural-debug-recording');
    expect(scopesOf(pieces, '12')).toContain('meta.embedded.inline.python');
    expect(scopesOf(pieces, '"depth"')).toContain('support.type.property-name.neural-debug-recording');
    expect(scopesOf(pieces, '3')).toContain('constant.numeric.neural-debug-recording');
    expect(scopesOf(pieces, 'null')).toContain('constant.language.neural-debug-recording');
  });

  it.each([
    ['a comment sign', '<Foo #3>'],
    ['an open string', "'abc…"],
    ['open triple quotes', '"""'],
    ['open brackets', '[1, [2, …'],
    ['a backslash at the end', '\\'],
  ])('lets nothing of a value run on: %s', async (_, repr) => {
    const [first, second] = await tokenize(recording, `${state({ odd: repr })}\n${state({ next: '1' })}`);
    expect(scopesOf(first ?? [], 'activation')).toContain(
      'support.type.property-name.neural-debug-recording',
    );
    expect(scopesOf(first ?? [], '7').join(' ')).not.toMatch(/python/);
    expect(scopesOf(second ?? [], 'next')).toContain('variable.other.neural-debug-recording');
  });

  it('takes names that look like the format’s own for locals', async () => {
    const pieces = await lineOf(recording, state({ argument: '5', event: 'None' }));
    expect(scopesOf(pieces, 'argument')).toContain('variable.other.neural-debug-recording');
  });

  it('reads real recordings without anything illegal', async () => {
    for (const name of ['recursion', 'threads', 'generator', 'uncaught']) {
      const file = new URL(`../dap/recordings/${name}.jsonl`, import.meta.url);
      const lines = await tokenize(recording, readFileSync(file, 'utf8'));
      const illegal = lines
        .flat()
        .filter(({ scopes }) => scopes.includes('invalid.illegal.neural-debug-recording'));
      expect(illegal).toEqual([]);
    }
  });

  it('marks what is no JSON', async () => {
    const pieces = await lineOf(recording, '{"event": Line}');
    expect(scopesOf(pieces, 'Line')).toContain('invalid.illegal.neural-debug-recording');
  });

  it.skipIf(!hasPythonGrammar)('embeds Python (needs VS Code of the end-to-end tests)', async () => {
    const header = JSON.stringify({
      recording: 'neural-debug',
      program: { source: "# no code\ndef f(x):\n    return 'a'\n", entry: 'f(3)' },
    });
    const pieces = await lineOf(recording, header);
    expect(scopesOf(pieces, 'def').join(' ')).toMatch(/storage\.type/);
    expect(scopesOf(pieces, 'return').join(' ')).toMatch(/keyword\.control\.flow\.python/);
    const value = await lineOf(recording, state({ names: "['ada', None]" }));
    expect(scopesOf(value, 'None').join(' ')).toMatch(/constant\.language\.python/);
    expect(scopesOf(value, 'ada').join(' ')).toMatch(/string\.quoted\.single\.python/);
  });
});

const prompt = `<|begin_of_text|><|trace_context_start|>def f(n):  # << START_OF_TRACE
    """Open <|line_sep|> text."""
    return n + 1
<|frame_sep|><|call_sep|>{"n": "3", "s": "'#'"}<|action_sep|>def f(n):  # << START_OF_TRACE
<|frame_sep|><|line_sep|>{"n": ".."}<|action_sep|>    return n + 1
<|frame_sep|><|return_sep|><|action_sep|>    return n + 1
<|arg_sep|>"4"<|frame_sep|><|end_of_text|>`;

describe('the grammar of CWM traces', () => {
  it('names tokens, events, locals and what is unchanged', async () => {
    const lines = await tokenize(cwm, prompt);
    const [first = [], , , call = [], line = [], , last = []] = lines;
    expect(scopesOf(first, '<|trace_context_start|>')).toContain('keyword.control.token.cwm-trace');
    expect(scopesOf(first, '# << START_OF_TRACE')).toContain('keyword.other.marker.cwm-trace');
    expect(scopesOf(call, '<|call_sep|>')).toContain('keyword.control.event.cwm-trace');
    expect(scopesOf(call, 'n')).toContain('variable.other.cwm-trace');
    expect(scopesOf(call, '3')).toContain('meta.embedded.inline.python');
    expect(scopesOf(line, '..')).toContain('comment.unchanged.cwm-trace');
    expect(scopesOf(line, 'return')).toContain('meta.embedded.inline.python');
    expect(scopesOf(last, '<|arg_sep|>')).toContain('keyword.control.token.cwm-trace');
    expect(scopesOf(last, '4')).toContain('meta.embedded.inline.python');
    expect(scopesOf(last, '<|end_of_text|>')).toContain('keyword.control.token.cwm-trace');
  });

  it('ends the source at the first frame, whatever the source leaves open', async () => {
    const lines = await tokenize(cwm, prompt.replace('text."""', 'text.'));
    const [, inside = [], , call = []] = lines;
    expect(scopesOf(inside, 'Open').join(' ')).toMatch(/meta\.embedded\.block\.python/);
    expect(scopesOf(call, '<|call_sep|>')).toContain('keyword.control.event.cwm-trace');
    expect(scopesOf(call, '<|call_sep|>').join(' ')).not.toMatch(/embedded/);
  });

  it.skipIf(!hasPythonGrammar)('embeds Python (needs VS Code of the end-to-end tests)', async () => {
    const [first = [], , third = [], , line = []] = await tokenize(cwm, prompt);
    expect(scopesOf(first, 'def').join(' ')).toMatch(/storage\.type\.function\.python/);
    expect(scopesOf(third, 'return').join(' ')).toMatch(/keyword\.control\.flow\.python/);
    expect(scopesOf(line, 'return').join(' ')).toMatch(/keyword\.control\.flow\.python/);
  });
});

describe('what the package contributes', () => {
  const manifest = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as unknown as {
    contributes: {
      languages: { id: string; firstLine: string; configuration: string }[];
      grammars: { language: string; scopeName: string; path: string }[];
    };
  };

  it('has a grammar and a configuration for each language', () => {
    for (const { id, configuration } of manifest.contributes.languages) {
      const grammar = manifest.contributes.grammars.find(({ language }) => language === id);
      const read = (path: string) =>
        JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')) as { scopeName?: string };
      expect(read(grammar?.path ?? '').scopeName).toBe(grammar?.scopeName);
      expect(() => read(configuration)).not.toThrow();
    }
  });

  it('knows recordings and traces by their first lines', () => {
    const firstLine = (id: string) =>
      new RegExp(manifest.contributes.languages.find((language) => language.id === id)?.firstLine ?? '$^');
    const header = readFileSync(new URL('../dap/recordings/recursion.jsonl', import.meta.url), 'utf8');
    expect(firstLine('neural-debug-recording').test(header)).toBe(true);
    expect(firstLine('neural-debug-recording').test('{"messages": []}')).toBe(false);
    expect(firstLine('cwm-trace').test(prompt)).toBe(true);
    expect(firstLine('cwm-trace').test('def f(): pass')).toBe(false);
  });
});
