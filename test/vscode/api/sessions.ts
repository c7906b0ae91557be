import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { breakpoint, debug, inFolder, openFile, startedBy, until } from './debugging';
import type { Group } from './run';

const counting = `total = 0
for n in [1, 2, 3]:
    total += n
print(total)
`;

export const sessions: Group = {
  name: 'a session',
  tests: {
    async 'starts for the open file without a launch.json, and stops at a breakpoint'() {
      const path = inFolder('counting.py');
      await openFile(path, counting);
      vscode.debug.addBreakpoints([breakpoint(path, 4)]);
      const debugged = await startedBy(() => vscode.commands.executeCommand('neuralDebug.debugFile'));
      await debugged.stopped(1);
      assert.equal(await debugged.line(), 4);
      assert.equal((await debugged.locals())['total'], '6');
    },
    async 'steps forwards and back, and runs to its end'() {
      const path = inFolder('counting.py');
      await openFile(path, counting);
      const debugged = await debug({ program: path });
      assert.equal(await debugged.line(), 1);
      await debugged.go('next');
      await debugged.go('next');
      assert.equal((await debugged.locals())['n'], '1');
      await debugged.go('stepBack');
      assert.equal(await debugged.line(), 2);
      await debugged.go('continue');
      await debugged.session.customRequest('continue', { threadId: 1 });
      await until(() => debugged.ended, 'the end');
      assert.match(debugged.output.join(''), /predicted output: 6/);
    },
    async 'begins again at the beginning when it is restarted'() {
      const path = inFolder('counting.py');
      await openFile(path, counting);
      const debugged = await debug({ program: path });
      await debugged.go('next');
      await debugged.go('next');
      await vscode.commands.executeCommand('workbench.action.debug.restart');
      await debugged.stopped(4);
      assert.equal(await debugged.line(), 1);
      await debugged.go('next');
      assert.equal(await debugged.line(), 2);
    },
    async 'goes on when its file is closed, and the file comes back with the next stop'() {
      const path = inFolder('counting.py');
      await openFile(path, counting);
      const debugged = await debug({ program: path });
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await vscode.commands.executeCommand('workbench.action.debug.stepOver');
      await debugged.stopped(2);
      assert.equal(await debugged.line(), 2);
      await until(
        () => vscode.window.activeTextEditor?.document.uri.fsPath === path,
        'the file in an editor',
      );
    },
    async 'goes on with the text that it was started with when its file is changed'() {
      const path = inFolder('edited.py');
      await openFile(path, counting);
      const debugged = await debug({ program: path });
      await debugged.go('next');
      await writeFile(path, 'x = 1\n');
      await debugged.go('next');
      assert.equal(await debugged.line(), 3);
      await debugged.go('continue');
      assert.equal((await debugged.locals())['total'], '6');
    },
    async 'goes on when its file is deleted'() {
      const path = inFolder('deleted.py');
      await openFile(path, counting);
      const debugged = await debug({ program: path });
      await vscode.workspace.fs.delete(vscode.Uri.file(path));
      await debugged.go('next');
      assert.equal(await debugged.line(), 2);
    },
  },
};
