import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { type Debugged, debug, inFolder, isActive, openFile } from './debugging';
import type { Group } from './run';

async function inlineValues(path: string, debugged: Debugged): Promise<vscode.InlineValue[]> {
  return vscode.commands.executeCommand(
    'vscode.executeInlineValueProvider',
    vscode.Uri.file(path),
    new vscode.Range(0, 0, 9, 0),
    { frameId: (await debugged.topFrame()).id, stoppedLocation: new vscode.Range(1, 0, 1, 1) },
  );
}

export const otherDebugger: Group = {
  name: 'another debugger for Python',
  tests: {
    async 'that is looked at has no values of ours beside its lines; ours come with our session'() {
      const path = inFolder('both.py');
      await openFile(path, 'first = 1\nsecond = first + 1\nprint(second)\n');
      const theirs = await debug({ type: 'other-python', program: path });
      const ours = await debug({ program: path });
      await ours.go('next');
      // A stop takes the focus only from its own session.
      await isActive('other-python');
      assert.deepEqual(await inlineValues(path, theirs), []);
      assert.deepEqual(await theirs.locals(), { other: '"theirs"' });

      await theirs.stop();
      await isActive('neural-debug');
      await ours.go('next');
      assert.equal((await ours.locals())['second'], '2');
      assert.notDeepEqual(await inlineValues(path, ours), []);
    },
    async 'alone is left alone'() {
      const path = inFolder('theirs.py');
      await openFile(path, 'first = 1\nprint(first)\n');
      const theirs = await debug({ type: 'other-python', program: path });
      await isActive('other-python');
      assert.deepEqual(await inlineValues(path, theirs), []);
      await theirs.stop();
      await isActive(null);
    },
  },
};
