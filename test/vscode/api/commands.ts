import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { z } from 'zod';
import { extension } from './activation';
import { debug, inFolder, openFile } from './debugging';
import type { Group } from './run';

const manifest = z.object({
  contributes: z.object({
    commands: z.array(z.object({ command: z.string() })),
    debuggers: z.array(z.object({ variables: z.record(z.string(), z.string()) })),
    menus: z.record(z.string(), z.array(z.object({ command: z.string().optional() }))),
  }),
});

export const commands: Group = {
  name: 'commands',
  tests: {
    async 'those that are registered are those that package.json names'() {
      // With a session all has been loaded that registers any.
      await openFile(inFolder('plain.py'), 'x = 1\nprint(x)\n');
      await debug({ program: inFolder('plain.py') });
      const { contributes } = manifest.parse(extension().packageJSON);
      const named = [
        ...contributes.commands.map(({ command }) => command),
        ...contributes.debuggers.flatMap(({ variables }) => Object.values(variables)),
      ].sort();
      // The editor makes commands of its own for our views.
      const ofViews =
        /^neuralDebug\.\w+\.(focus|open|removeView|resetViewLocation|toggleVisibility)$|\.collapseAll$/;
      const registered = (await vscode.commands.getCommands(true)).filter(
        (command) => command.startsWith('neuralDebug.') && !ofViews.test(command),
      );
      assert.deepEqual(registered.sort(), named);
      const inMenus = Object.values(contributes.menus)
        .flat()
        .flatMap(({ command }) => (command?.startsWith('neuralDebug.') ? [command] : []));
      assert.deepEqual(
        inMenus.filter((command) => !named.includes(command)),
        [],
      );
    },
  },
};
