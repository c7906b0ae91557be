import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { createRequire } from 'node:module';
import * as vscode from 'vscode';
import { inFolder, openFile, until } from './debugging';
import type { Group } from './run';

/** The extension under test. */
export function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension('neural-debug.neural-debug');
  assert.ok(found, 'The extension is there.');
  return found;
}

/** The extension's bundles that the extension host has loaded. */
function loadedBundles(): string[] {
  return Object.keys(createRequire(__filename).cache)
    .filter((path) => path.startsWith(extension().extensionPath))
    .map((path) => basename(path))
    .filter((name) => ['extension.cjs', 'wiring.cjs', 'languageClient.cjs'].includes(name));
}

export const activation: Group = {
  name: 'activation',
  tests: {
    async 'nothing is loaded before a Python file is there, and little by activation itself'() {
      assert.equal(extension().isActive, false);
      assert.deepEqual(loadedBundles(), []);
      await extension().activate();
      assert.deepEqual(loadedBundles(), ['extension.cjs']);
    },
    async 'a Python file loads the rest, and gets lenses'() {
      const { document } = await openFile(inFolder('lenses.py'), 'def double(n):\n    return 2 * n\n');
      await until(() => loadedBundles().length === 3, 'all bundles');
      const lenses = await until(async () => {
        const seen = await vscode.commands.executeCommand<vscode.CodeLens[]>(
          'vscode.executeCodeLensProvider',
          document.uri,
          10,
        );
        return seen.length >= 2 && seen;
      }, 'the lenses');
      assert.deepEqual(
        lenses.map(({ command }) => command?.command),
        ['neuralDebug.debugFunction', 'neuralDebug.guessInput'],
      );
    },
  },
};
