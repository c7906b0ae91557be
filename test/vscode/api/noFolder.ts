import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { breakpoint, openFile, startedBy } from './debugging';
import type { Group } from './run';

export const noFolder: Group = {
  name: 'no folder open',
  tests: {
    async 'a file is debugged all the same'() {
      const folder = await mkdtemp(join(tmpdir(), 'neural-debug-alone-'));
      const path = join(folder, 'alone.py');
      try {
        await openFile(path, 'n = 21\nn *= 2\nprint(n)\n');
        vscode.debug.addBreakpoints([breakpoint(path, 3)]);
        const debugged = await startedBy(() => vscode.commands.executeCommand('neuralDebug.debugFile'));
        await debugged.stopped(1);
        assert.equal(await debugged.line(), 3);
        assert.equal((await debugged.locals())['n'], '42');
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  },
};
