import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CodeLens, DocumentSymbol, FoldingRange, Location } from 'vscode-languageserver/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LspClient } from './client';

const read = (name: string) =>
  readFileSync(new URL(`../dap/recordings/${name}.jsonl`, import.meta.url), 'utf8');

let client: LspClient;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-lsp-'));
  client = await LspClient.start(folder, { debugRecordingCommand: 'neuralDebug.debugRecording' });
});

afterAll(async () => {
  expect(await client.stop()).toBe(0);
  expect(client.errors).toBe('');
  rmSync(folder, { recursive: true });
});

let opened = 0;

async function open(text: string, languageId = 'neural-debug-recording', name?: string): Promise<string> {
  const uri = pathToFileURL(join(folder, name ?? `document${++opened}`)).href;
  await client.open(uri, languageId, text);
  return uri;
}

const header = (more: object = {}) =>
  `${JSON.stringify({
    recording: 'neural-debug',
    version: 1,
    world: 'a model',
    real: false,
    program: { path: '/p.py', source: 'x = 1\nx = 2\n', entry: null, args: [], ...more },
  })}\n`;

const line = (more: object = {}) =>
  `${JSON.stringify({ event: 'line', function: '<module>', line: 1, depth: 0, locals: {}, argument: null, ...more })}\n`;

const outline = (symbols: readonly DocumentSymbol[], depth = 0): string[] =>
  symbols.flatMap(({ name, detail, range, children = [] }) => [
    `${'  '.repeat(depth)}${name} [${detail ?? ''}] ${range.start.line + 1}-${range.end.line + 1}`,
    ...outline(children, depth + 1),
  ]);

describe('recordings', () => {
  it('fold along the call tree, and have it for symbols', async () => {
    const uri = await open(read('recursion'));
    const symbols = await client.request<DocumentSymbol[]>('documentSymbol', uri);
    expect(outline(symbols)).toMatchInlineSnapshot(`
      [
        "<module> [line 0] 2-29",
        "  run [line 7] 6-28",
        "    fact [line 1: n=4] 8-26",
        "      fact [line 1: n=3] 11-24",
        "        fact [line 1: n=2] 14-22",
        "          fact [line 1: n=1] 17-20",
      ]
    `);
    const folds = await client.request<FoldingRange[]>('foldingRange', uri);
    expect(folds.map(({ startLine, endLine }) => `${startLine + 1}-${endLine + 1}`)).toMatchInlineSnapshot(`
      [
        "2-29",
        "6-28",
        "8-26",
        "11-24",
        "14-22",
        "17-20",
      ]
    `);
  });

  it('show a state with the locals, what changed, and the source line', async () => {
    const uri = await open(read('recursion'));
    expect(await client.hover(uri, 8, 3)).toMatchInlineSnapshot(`
      "**fact** before line 2, depth 2 (predicted\\: a model)

      \`\`\`python
      if n < 2:
      \`\`\`

      \`\`\`python
      n = 4
      \`\`\`"
    `);
    expect(await client.hover(uri, 0, 3)).toMatchInlineSnapshot(
      `"**31\\-recursion\\-step\\-over\\.py** (predicted\\: a model): 28 states, 6 calls"`,
    );
  });

  it('let nothing of a program be a link or a fence', async () => {
    const evil = '```\n[x](command:workbench.action.quit) <img src=x>';
    const uri = await open(
      header({ source: evil }) +
        line({ locals: { '[a](command:b)': evil, b: '\u202e\u001b[31m' }, doubt: '[c](command:d) <b>' }),
    );
    const hover = (await client.hover(uri, 1, 2)) ?? '';
    expect(hover).not.toMatch(/(?!\n)[\p{Bidi_Control}\p{Cc}]/u);
    const outside = hover.replace(/^(`{3,})python\n[^]*?\n\1$/gm, '');
    expect(outside).not.toMatch(/(?<!\\)[[\]<>]/);
    expect(outside).toContain('Doubtful');
  });

  it.each([
    ['no JSON', '{"event": "line", oops}\n', 'oops', 601],
    ['a wrong word', line({ event: 'lime' }), '"lime"', 601],
    ['a wrong part of a part', line({ locals: { a: '1', b: 2 } }), '2', 601],
    ['a wrong confidence', line({ confidences: { x: 1.5 } }), '1.5', 601],
    ['a missing name', line({ depth: undefined }), null, 601],
    ['an empty object', '{}\n', '{}', 601],
    ['a cut line', '{"event": "li', '"li', 601],
    ['something after the end', `{"end": "returned"}\n  ${line()}`, line().trim(), 601],
  ])('are told what is wrong, and where: %s', async (_, text, place, code) => {
    const whole = header() + line() + text;
    const uri = await open(whole);
    const [problem, ...others] = await client.diagnostics(uri);
    expect(others).toEqual([]);
    expect(problem?.code).toBe(code);
    if (place === null) return;
    const lines = whole.split('\n');
    const { start, end } = problem?.range ?? {
      start: { line: 0, character: 0 },
      end: { line: 0, character: 0 },
    };
    expect(lines[start.line]?.slice(start.character, end.character)).toBe(place);
  });

  it('go on after a line that is wrong, and are read again when it is mended', async () => {
    const uri = await open(header() + line({ line: -1 }) + line({ locals: { x: '7' } }));
    expect(await client.diagnostics(uri)).toHaveLength(1);
    expect(await client.hover(uri, 2, 4)).toContain('x = 7');
    await client.change(uri, 2, header() + line({ line: 1 }) + line({ locals: { x: '8' } }));
    expect(await client.diagnostics(uri)).toEqual([]);
    expect(await client.hover(uri, 2, 4)).toContain('x = 8');
  });

  it('say that they are no recording, or one of another version', async () => {
    const other = await open('{"hello": 1}\n');
    expect((await client.diagnostics(other))[0]?.message).toMatch(/recording/i);
    const uri = await open(header().replace('"version":1', '"version":7') + line());
    const [problem] = await client.diagnostics(uri);
    expect(problem?.code).toBe(602);
    expect(problem?.range.start.character).toBe(header().indexOf('1,"world'));
  });

  it('lead to the line of the program, where its file is', async () => {
    writeFileSync(join(folder, 'prog.py'), 'x = 1\nx = 2\n');
    const uri = await open(header({ path: '/nowhere/prog.py' }) + line({ line: 2 }));
    const at = { line: 1, character: 4 };
    const found = await client.request<Location | null>('definition', uri, at);
    expect(found).toEqual({
      uri: pathToFileURL(join(folder, 'prog.py')).href,
      range: { start: { line: 1, character: 0 }, end: { line: 1, character: 0 } },
    });
    const [link] = await client.request<{ target: string; range: Location['range'] }[]>('documentLink', uri);
    expect(link?.target).toBe(found?.uri);
    expect(
      header({ path: '/nowhere/prog.py' }).slice(link?.range.start.character, link?.range.end.character),
    ).toBe('"/nowhere/prog.py"');
    const gone = await open(header({ path: '//host/share/gone.py' }) + line());
    expect(await client.request('definition', gone, at)).toBeNull();
    expect(await client.request('documentLink', gone)).toEqual([]);
  });

  it('offer to be debugged, known by their first line too', async () => {
    for (const language of ['neural-debug-recording', 'jsonl']) {
      const uri = await open(read('recursion'), language);
      const lenses = await client.request<CodeLens[]>('codeLens', uri);
      expect(lenses.map(({ command }) => [command?.title, command?.command, command?.arguments])).toEqual([
        ['Debug This Recording', 'neuralDebug.debugRecording', [uri]],
      ]);
    }
    const other = await open('{"messages": []}\n', 'jsonl');
    expect(await client.request('codeLens', other)).toBeNull();
    expect(await client.request('documentSymbol', other)).toBeNull();
  });

  it('keep no more than a reader can use of deep and wide call trees', async () => {
    const call = (depth: number, activation: number) =>
      line({ event: 'call', function: 'f', depth, activation, line: 1 });
    const deep = Array.from({ length: 3_000 }, (_, depth) => call(depth, depth)).join('');
    const uri = await open(header() + deep);
    const symbols = await client.request<DocumentSymbol[]>('documentSymbol', uri);
    expect(outline(symbols)).toHaveLength(201);
    expect(symbols[0]?.detail).toMatch(/201 of 3000 calls/);
    const folds = await client.request<FoldingRange[]>('foldingRange', uri);
    expect(folds).toHaveLength(2_999);
  });
});

const source = `def squares(n):
    for i in range(n):
        yield i * i

def main():  # << START_OF_TRACE
    total = 0
    for s in squares(2):
        total += s
`;
const frames = readFileSync(new URL('../format/fixtures/squares.txt', import.meta.url), 'utf8');
const trace = `<|begin_of_text|><|trace_context_start|>${source}<|frame_sep|><|call_sep|>{}<|action_sep|>def main():  # << START_OF_TRACE
<|frame_sep|>${frames.replaceAll('<|frame_sep|>\n', '<|frame_sep|>')}`;

describe('raw traces', () => {
  it('fold along the call tree, and have it for symbols', async () => {
    const uri = await open(trace, 'cwm-trace');
    const symbols = await client.request<DocumentSymbol[]>('documentSymbol', uri);
    expect(outline(symbols)).toMatchInlineSnapshot(`
      [
        "main [line 5] 9-28",
        "  squares [line 1: n=2] 12-16",
        "  squares [line 3, resumed: n=2, i=0] 18-22",
        "  squares [line 3, resumed: n=2, i=1] 24-27",
      ]
    `);
    const folds = await client.request<FoldingRange[]>('foldingRange', uri);
    expect(folds.map(({ startLine, endLine }) => `${startLine + 1}-${endLine + 1}`)).toMatchInlineSnapshot(`
      [
        "9-28",
        "12-15",
        "18-21",
        "24-26",
      ]
    `);
    expect(await client.diagnostics(uri)).toEqual([]);
  });

  it('show what is abbreviated in full, and lead to the line in their own source', async () => {
    const uri = await open(trace, 'cwm-trace');
    const lines = trace.split('\n');
    const at = lines.findIndex((text) => text.includes('{"total": "..", "s": "1"}'));
    const character = lines[at]?.indexOf('{"total"') ?? 0;
    const hover = await client.hover(uri, at, character);
    expect(hover).toMatchInlineSnapshot(`
      "**main** before line 8, depth 0 (predicted\\: a trace in the format cwm)

      \`\`\`python
      total += s
      \`\`\`

      \`\`\`python
      total = 0
      s = 1  # was 0
      \`\`\`"
    `);
    const found = await client.request<Location>('definition', uri, { line: at, character });
    expect(lines[found.range.start.line]).toContain('total += s');
  });

  it.each([
    ['locals that are none', '{"total": "0"}', '{"total": 0', /frame 3 has locals that are no JSON object/],
    [
      'no kind',
      '<|line_sep|>{"total": "0"}',
      '{"total": "0"}',
      /frame 3 does not begin with the token of a kind/,
    ],
    ['no value', '<|arg_sep|>"0"', '<|arg_sep|>"0', /has no value that is a JSON string/],
    ['a frame that is cut', '<|frame_sep|><|end_of_text|>', '', /ends within a frame/],
    ['no mark', '# << START_OF_TRACE', '# START', /no function's line has the comment/],
    ['no context', '<|trace_context_start|>', '', /does not begin with/],
  ])('are told what is wrong: %s', async (_, from, to, message) => {
    const uri = await open(trace.replace(from, to), 'cwm-trace');
    const problems = await client.diagnostics(uri);
    expect(
      problems.flatMap(({ message: said }) => (typeof said === 'string' ? [said] : [])).join('\n'),
    ).toMatch(message);
  });

  it('can be given as a recording with the program under a path', async () => {
    const uri = await open(trace, 'cwm-trace');
    const result = await client.connection.sendRequest<{ text: string; source: string }>(
      'neuralDebug/recordingText',
      { uri, programPath: '/tmp/squares.py' },
    );
    expect(result.source).toBe(source.replace('  # << START_OF_TRACE', ''));
    const again = await open(result.text);
    expect(await client.diagnostics(again)).toEqual([]);
    expect(result.text.split('\n')[0]).toContain('"path":"/tmp/squares.py"');
    expect(result.text.trimEnd().split('\n')).toHaveLength(21);
  });
});
