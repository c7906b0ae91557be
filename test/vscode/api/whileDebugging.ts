import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { debug, inFolder, isActive, openFile, until } from './debugging';
import type { Group } from './run';

const loops = `def f(n):
    for i in range(n):
        n += 1
    return n


print(f(3))
`;

async function hintsOf(uri: vscode.Uri): Promise<number> {
  const range = new vscode.Range(0, 0, 7, 0);
  const hints = await vscode.commands.executeCommand<vscode.InlayHint[] | undefined>(
    'vscode.executeInlayHintProvider',
    uri,
    range,
  );
  return hints?.length ?? 0;
}

async function hovers(uri: vscode.Uri): Promise<number> {
  const at = new vscode.Position(3, 11);
  return (await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', uri, at))
    .length;
}

const inlineValues = async (uri: vscode.Uri, frameId: number) =>
  (
    await vscode.commands.executeCommand<vscode.InlineValue[]>(
      'vscode.executeInlineValueProvider',
      uri,
      new vscode.Range(0, 0, 7, 0),
      { frameId, stoppedLocation: new vscode.Range(3, 0, 3, 1) },
    )
  ).length;

export const whileDebugging: Group = {
  name: 'what stands beside lines',
  tests: {
    async 'comes from one side only: from the session, or else from what was predicted before'() {
      const path = inFolder('sides.py');
      await openFile(path, loops);
      const uri = vscode.Uri.file(path);
      const session = await debug({ program: path });
      await session.go('stepIn');
      for (let steps = 0; steps < 20 && (await session.line()) !== 4; steps++) await session.go('next');
      assert.equal(await session.line(), 4);
      await until(async () => (await hintsOf(uri)) === 0, 'no hints in a session');
      const { id } = await session.topFrame();
      await until(async () => (await inlineValues(uri, id)) > 0, 'values of the session');

      const setting = vscode.workspace.getConfiguration('debug');
      await setting.update('inlineValues', 'off', vscode.ConfigurationTarget.Global);
      try {
        await until(async () => (await hintsOf(uri)) === 1, 'hints where the editor shows no values');
      } finally {
        await setting.update('inlineValues', undefined, vscode.ConfigurationTarget.Global);
      }
      await until(async () => (await hintsOf(uri)) === 0, 'no hints again');

      await session.stop();
      await until(async () => (await hintsOf(uri)) === 1, 'the hint of what was predicted');
      await until(async () => (await hovers(uri)) > 0, 'a hover with what was predicted');
    },
    async 'is nothing of ours while another debugger is looked at, and comes back'() {
      const path = inFolder('sides.py');
      await openFile(path, loops);
      const uri = vscode.Uri.file(path);
      const ours = await debug({ program: path });
      await ours.go('continue');
      await ours.stop();
      await until(async () => (await hintsOf(uri)) === 1, 'the hint of what was predicted');

      const theirs = await debug({ type: 'other-python', program: path });
      await isActive('other-python');
      assert.equal(await hintsOf(uri), 0);
      assert.equal(await hovers(uri), 0);
      await theirs.stop();
      await isActive(null);
      await until(async () => (await hintsOf(uri)) === 1, 'the hint again');
      await until(async () => (await hovers(uri)) > 0, 'the hover again');
    },
  },
};
