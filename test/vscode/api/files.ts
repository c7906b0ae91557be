import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { breakpoint, debug, inFolder, leaveNothing, openFile, start, startedBy, until } from './debugging';
import type { Group } from './run';

const doubling = 'n = 21\nn *= 2\nprint(n)\n';

/** Debugs a file by the command, to a breakpoint in its third line. */
async function doubles(path: string): Promise<void> {
  vscode.debug.addBreakpoints([breakpoint(path, 3)]);
  const debugged = await startedBy(() => vscode.commands.executeCommand('neuralDebug.debugFile'));
  await debugged.stopped(1);
  const { line, source } = await debugged.topFrame();
  assert.equal(line, 3);
  // What a session says of files comes as their URIs where the editor is somewhere else.
  const at = source?.path ?? '';
  assert.equal(at.startsWith('vscode-remote:') ? vscode.Uri.parse(at, true).path : at, path);
  assert.equal((await debugged.locals())['n'], '42');
}

/** A folder that is not below the one that is open. */
async function elsewhere(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'neural-debug-elsewhere-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Debugs a text that was never saved, up to its third line. */
async function debugUnsaved() {
  const document = await vscode.workspace.openTextDocument({ language: 'python', content: doubling });
  await vscode.window.showTextDocument(document);
  vscode.debug.addBreakpoints([
    new vscode.SourceBreakpoint(new vscode.Location(document.uri, new vscode.Position(2, 0))),
  ]);
  const debugged = await startedBy(() => vscode.commands.executeCommand('neuralDebug.debugFile'));
  await debugged.stopped(1);
  return { document, debugged };
}

export const files: Group = {
  name: 'a file',
  tests: {
    async 'outside of the folder that is open'() {
      await elsewhere(async (folder) => {
        const path = join(folder, 'outside.py');
        await openFile(path, doubling);
        await doubles(path);
      });
    },
    async 'with a path of spaces, other letters and signs that URIs use'() {
      const folder = inFolder('a b', 'ü 世界 #1 100%25 50%');
      await mkdir(folder, { recursive: true });
      const path = join(folder, 'it’s #2 & 3% [x] {y}.py');
      await openFile(path, doubling);
      await doubles(path);
    },
    async 'gets lenses at such a path that start a session'() {
      const folder = inFolder('a b', 'ü #1 50%');
      await mkdir(folder, { recursive: true });
      const path = join(folder, 'fn #2 3%.py');
      const { document } = await openFile(
        path,
        'def double(n):\n    """\n    >>> double(2)\n    4\n    """\n    return 2 * n\n',
      );
      const lenses = await until(async () => {
        const seen = await vscode.commands.executeCommand<vscode.CodeLens[]>(
          'vscode.executeCodeLensProvider',
          document.uri,
          10,
        );
        return seen.length > 0 && seen;
      }, 'the lenses');
      const uri: unknown = lenses[0]?.command?.arguments?.[0];
      assert.equal(vscode.Uri.parse(String(uri), true).fsPath, path);
    },
    async 'in a folder that is read only, where nothing is written'() {
      await elsewhere(async (folder) => {
        const path = join(folder, 'fixed.py');
        await writeFile(path, doubling);
        await chmod(path, 0o444);
        await chmod(folder, 0o555);
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(path));
        await doubles(path);
        await leaveNothing();
        assert.deepEqual(await readdir(folder), [basename(path)]);
        await chmod(folder, 0o755);
      });
    },
    async 'with Windows line ends, a byte order mark, or an encoding of its own'() {
      const kinds = {
        'crlf.py': doubling.replaceAll('\n', '\r\n'),
        'bom.py': `\ufeff${doubling}`,
        'both.py': `\ufeff${doubling.replaceAll('\n', '\r\n')}`,
      };
      for (const [name, content] of Object.entries(kinds)) {
        await openFile(inFolder(name), content);
        await doubles(inFolder(name));
        await leaveNothing();
      }
      const latin = inFolder('latin.py');
      await openFile(latin, Buffer.from('# coding: latin-1\nname = "Zoë"\nprint(name)\n', 'latin1'));
      const debugged = await debug({ program: latin });
      await debugged.go('next');
      assert.equal((await debugged.locals())['name'], "'Zoë'");
    },
    async 'in an encoding that it does not name is refused, with the line'() {
      const path = inFolder('undeclared.py');
      await openFile(path, Buffer.from('name = 1\nother = "Zoë"\n', 'latin1'));
      const debugged = await refused(path);
      assert.match(debugged, /line 2/);
    },
    async 'with a syntax error is refused, with the line'() {
      const path = inFolder('broken.py');
      await openFile(path, 'x = 1\nif x\n    print(x)\n');
      assert.match(await refused(path), /line 2/);
    },
    async 'that is long is debugged like any other'() {
      const path = inFolder('long.py');
      const rows = Array.from({ length: 2000 }, (_, i) => `    "k${i}": [${i}, ${2 * i}],\n`);
      const functions = Array.from({ length: 500 }, (_, i) => `def f${i}(n):\n    return n + ${i}\n\n`);
      const text = `${functions.join('')}\ntable = {\n${rows.join('')}}\nn = f499(table["k5"][1])\nprint(n)\n`;
      await openFile(path, text);
      vscode.debug.addBreakpoints([breakpoint(path, text.split('\n').length - 1)]);
      const debugged = await debug({ program: path, world: 'reference', stopOnEntry: false });
      assert.equal(await debugged.valueOf('n'), '509');
    },
    async 'that was never saved is debugged as it stands'() {
      const { document, debugged } = await debugUnsaved();
      assert.equal(await debugged.line(), 3);
      assert.equal((await debugged.locals())['n'], '42');
      // The frame leads to the text that is open, not to a file that is not there.
      await until(() => vscode.window.activeTextEditor?.document === document, 'the text in its editor');
      assert.equal(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).length, 1);
    },
    async 'that was never saved is run back in, and restarted with the text that it has then'() {
      const { document, debugged } = await debugUnsaved();
      // The editor puts the cursor on the line of the stop.
      await until(() => debugged.isQuiet, 'the end of what the editor asks about the stop');
      const editor = await vscode.window.showTextDocument(document);
      editor.selection = new vscode.Selection(1, 0, 1, 0);
      await vscode.commands.executeCommand('neuralDebug.runBackToCursor');
      await debugged.stopped(2);
      assert.equal(await debugged.line(), 2);

      await until(() => debugged.isQuiet, 'the end of what the editor asks about the stop');
      await editor.edit((edit) => {
        edit.replace(new vscode.Range(0, 4, 0, 6), '30');
      });
      await vscode.commands.executeCommand('workbench.action.debug.restart');
      await debugged.stopped(3);
      assert.equal((await debugged.locals())['n'], '60');
    },
    async 'is what is debugged: a text of another kind is refused'() {
      const shown = vscode.workspace.registerTextDocumentContentProvider('neural-debug-test', {
        provideTextDocumentContent: () => doubling,
      });
      try {
        const uri = vscode.Uri.from({ scheme: 'neural-debug-test', path: inFolder('counting.py') });
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
        const isDebugged = await vscode.debug.startDebugging(undefined, {
          type: 'neural-debug',
          request: 'launch',
          name: 'another kind',
          program: '${file}',
        });
        assert.equal(isDebugged, false);
      } finally {
        shown.dispose();
      }
    },
  },
};

/** What the editor is told of a program that cannot be debugged. It is shown in a dialog, which tests refuse. */
async function refused(program: string): Promise<string> {
  try {
    await start({ program });
  } catch (thrown) {
    return String(thrown);
  }
  throw new Error('The session began.');
}
