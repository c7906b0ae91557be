import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { z } from 'zod';
import { debug, hoverAt, inFolder, openFile, startedBy, until } from './debugging';
import type { Group } from './run';

const program = `def double(n):
    return 2 * n


def main():
    one = double(4)
    other = double(one)
    return other


print(main())
`;

/** What a CWM model is sent and answers for a small program. */
const trace = `<|begin_of_text|><|trace_context_start|>def double(n):
    return 2 * n

def main():  # << START_OF_TRACE
    m = double(4)
    return m
<|frame_sep|><|call_sep|>{}<|action_sep|>def main():  # << START_OF_TRACE
<|frame_sep|><|line_sep|>{}<|action_sep|>    m = double(4)
<|frame_sep|><|call_sep|>{"n": "4"}<|action_sep|>def double(n):
<|frame_sep|><|line_sep|>{"n": ".."}<|action_sep|>    return 2 * n
<|frame_sep|><|return_sep|><|action_sep|>    return 2 * n
<|arg_sep|>"8"<|frame_sep|><|line_sep|>{"m": "8"}<|action_sep|>    return m
<|frame_sep|><|return_sep|><|action_sep|>    return m
<|arg_sep|>"8"<|frame_sep|><|end_of_text|>`;

let recorded: Promise<{ text: string; path: string }> | null = null;

/** A recording of a real run of the program, made once, and where it is to lie beside the program. */
const record = () => (recorded ??= makeRecording());

async function makeRecording(): Promise<{ text: string; path: string }> {
  await openFile(inFolder('doubles.py'), program);
  const debugged = await debug({ program: inFolder('doubles.py'), world: 'reference' });
  await debugged.go('continue');
  const said: unknown = await debugged.session.customRequest('neuralDebug/recording');
  const { text } = z.object({ text: z.string() }).parse(said);
  await debugged.stop();
  return { text, path: inFolder('doubles.trace.jsonl') };
}

/** Something that the language server gives: it starts with the first document, so it may be late. */
async function given<T>(command: string, uri: vscode.Uri, ...more: unknown[]): Promise<T[]> {
  return until(async () => {
    const all = await vscode.commands.executeCommand<T[] | undefined>(command, uri, ...more);
    return all && all.length > 0 && all;
  }, command);
}

interface Fold {
  readonly start: number;
  readonly end: number;
}

const foldsOf = async (uri: vscode.Uri) =>
  (await given<Fold>('vscode.executeFoldingRangeProvider', uri)).map(({ start, end }) => [start, end]);

/** The names of the symbols, each with those in it. */
const outline = (symbols: readonly vscode.DocumentSymbol[]): string =>
  symbols
    .map(({ name, children }) => (children.length > 0 ? `${name}(${outline(children)})` : name))
    .join(' ');

const symbolsOf = async (uri: vscode.Uri) =>
  outline(await given<vscode.DocumentSymbol>('vscode.executeDocumentSymbolProvider', uri));

async function problemsOf(uri: vscode.Uri): Promise<vscode.Diagnostic[]> {
  return until(() => {
    const all = vscode.languages.getDiagnostics(uri);
    return all.length > 0 && all;
  }, 'a problem');
}

export const traces: Group = {
  name: 'recordings and traces',
  tests: {
    async 'a recording is known, folds, has symbols, and tells locals in full'() {
      const { text, path } = await record();
      const { document } = await openFile(path, text);
      const { uri } = document;
      assert.equal(document.languageId, 'neural-debug-recording');
      const lines = text.split('\n');
      const calls = lines.flatMap((line, at) => (line.includes('"event":"call"') ? [at] : []));
      const folds = await foldsOf(uri);
      assert.deepEqual(
        folds.map(([start]) => start),
        calls,
      );
      assert.equal(await symbolsOf(uri), '<module>(main(double double))');
      // The second call's line names nothing of the caller's, and one's value only as what has not changed.
      const at = lines.findIndex((line) => line.includes('"other":"16"'));
      const told = await hoverAt(uri, new vscode.Position(at, 5));
      assert.match(told, /one = 8/);
      assert.match(told, /other = 16/);
      assert.match(told, /return other/);
      assert.deepEqual(vscode.languages.getDiagnostics(uri), []);
    },
    async 'a recording under another name is known by its first line, and no other JSON is'() {
      const { text } = await record();
      await openFile(inFolder('states.jsonl'), text);
      await until(
        () => vscode.window.activeTextEditor?.document.languageId === 'neural-debug-recording',
        'the language of the recording',
      );
      const other = await openFile(inFolder('messages.jsonl'), '{"messages": []}\n');
      assert.equal(other.document.languageId, 'jsonl');
    },
    async 'what is wrong in a recording is marked where it is'() {
      const { text } = await record();
      const lines = text.split('\n');
      const at = lines.findIndex((line) => line.includes('"event":"return"'));
      const broken = lines.with(at, lines[at]?.replace('"return"', '"retrun"') ?? '').join('\n');
      const { document } = await openFile(inFolder('broken.trace.jsonl'), broken);
      const [problem, ...others] = await problemsOf(document.uri);
      assert.deepEqual(others, []);
      assert.equal(problem?.range.start.line, at);
      assert.equal(document.getText(problem.range), '"retrun"');
      assert.equal(problem.severity, vscode.DiagnosticSeverity.Error);
    },
    async 'a recording is debugged without running anything'() {
      const { text, path } = await record();
      const { document } = await openFile(path, text.replaceAll('"16"', '"17"'));
      const lenses = await given<vscode.CodeLens>('vscode.executeCodeLensProvider', document.uri, 5);
      const [command] = lenses.flatMap((lens) => lens.command ?? []);
      assert.equal(command?.title, 'Debug This Recording');
      const debugged = await startedBy(() =>
        vscode.commands.executeCommand(command.command, ...((command.arguments ?? []) as unknown[])),
      );
      await debugged.stopped(1);
      assert.equal((await debugged.topFrame()).name, '<module>');
      // With it the program can be begun anew with something else that tells its states.
      assert.equal(debugged.session.configuration['program'], inFolder('doubles.py'));
      vscode.debug.addBreakpoints([
        new vscode.SourceBreakpoint(
          new vscode.Location(vscode.Uri.file(inFolder('doubles.py')), new vscode.Position(7, 0)),
        ),
      ]);
      await debugged.go('continue');
      // What is recorded is shown, not what the program would do.
      assert.deepEqual(await debugged.locals(), { one: '8', other: '17' });
    },
    async 'a recording is found in the folder that is open, where its path is relative'() {
      const { text, path } = await record();
      await writeFile(path, text);
      const debugged = await debug({ world: 'recording', recording: basename(path) });
      assert.equal((await debugged.topFrame()).name, '<module>');
      assert.equal(debugged.session.configuration['recording'], path);
    },
    async 'a raw trace is known, folds, has symbols, tells locals in full, and is debugged'() {
      const path = inFolder('double.cwm');
      const { document } = await openFile(path, trace);
      const { uri } = document;
      assert.equal(document.languageId, 'cwm-trace');
      assert.equal(await symbolsOf(uri), 'main(double)');
      const lines = trace.split('\n');
      const starts = lines.flatMap((line, at) => (line.includes('<|call_sep|>') ? [at] : []));
      assert.deepEqual(
        (await foldsOf(uri)).map(([start]) => start),
        starts,
      );
      const at = lines.findIndex((line) => line.includes('{"n": ".."}'));
      assert.match(await hoverAt(uri, new vscode.Position(at, lines[at]?.indexOf('".."') ?? 0)), /n = 4/);
      assert.deepEqual(vscode.languages.getDiagnostics(uri), []);
      const debugged = await startedBy(() =>
        vscode.commands.executeCommand('neuralDebug.debugRecording', uri),
      );
      await debugged.stopped(1);
      await debugged.go('stepIn');
      assert.equal((await debugged.topFrame()).name, 'double');
      assert.deepEqual(await debugged.locals(), { n: '4' });
    },
    async 'what is wrong in a raw trace is marked in its line'() {
      const broken = trace.replace('{"m": "8"}', '{"m": "8');
      const { document } = await openFile(inFolder('broken.cwm'), broken);
      const [problem] = await problemsOf(document.uri);
      const line = broken.split('\n').findIndex((text) => text.includes('{"m": "8<'));
      assert.equal(problem?.range.start.line, line);
      assert.match(problem.message, /locals/);
      assert.equal(document.getText(problem.range), '{"m": "8');
    },
    async 'what was predicted stays beside the lines of loops and branches'() {
      const path = inFolder('loops.py');
      await openFile(
        path,
        'def f(n):\n    for i in range(n):\n        if i == 1:\n            n += 1\n    return n\n\n\nprint(f(3))\n',
      );
      const debugged = await debug({ program: path });
      await debugged.go('continue');
      await debugged.stop();
      const uri = vscode.Uri.file(path);
      const hints = await given<vscode.InlayHint>(
        'vscode.executeInlayHintProvider',
        uri,
        new vscode.Range(0, 0, 8, 0),
      );
      const shown = hints.map(({ position, label }) => [
        position.line + 1,
        typeof label === 'string' ? label : label.map(({ value }) => value).join(''),
      ]);
      assert.deepEqual(shown, [
        [2, 'i = 0, 1, 2'],
        [3, 'True ×1, False ×2'],
      ]);
      const told = await hoverAt(uri, new vscode.Position(4, 11));
      assert.match(told, /n = 4/);
      assert.match(told, /predicted/);
      await writeFile(path, '');
    },
  },
};
