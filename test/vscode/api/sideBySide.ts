import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { z } from 'zod';
import { type Debugged, debug, inFolder, openFile, startedBy, until } from './debugging';
import type { Group } from './run';

const about = z.object({ kind: z.string(), isReal: z.boolean(), state: z.int() });
const tree = z.object({ nodes: z.array(z.object({ state: z.int(), label: z.string() })) });

/** What the state tree shows in the module. */
async function statementsIn({ session }: Debugged): Promise<string[]> {
  const page = async (parent: number | null) => {
    const said: unknown = await session.customRequest('neuralDebug/stateTree', {
      parent,
      after: null,
      count: 10,
    });
    return tree.parse(said).nodes;
  };
  const [module] = await page(null);
  assert.ok(module);
  return (await page(module.state)).map(({ label }) => label);
}

export const sideBySide: Group = {
  name: 'sessions side by side',
  tests: {
    async 'have each their own states, and end by themselves'() {
      await openFile(inFolder('left.py'), 'left = 1\nleft += 1\nleft += 1\nprint(left)\n');
      await openFile(inFolder('right.py'), 'right = 10\nright += 10\nprint(right)\n');
      const left = await debug({ program: inFolder('left.py') });
      const right = await debug({ program: inFolder('right.py'), world: 'reference' });
      await left.go('next');
      await right.go('next');
      await left.go('next');
      await right.go('next');
      await right.go('stepBack');
      assert.deepEqual(await left.locals(), { left: '2' });
      assert.deepEqual(await right.locals(), { right: '10' });
      assert.equal(left.stops.length, 3);
      const worlds = [left, right].map(async ({ session }) =>
        about.parse(await session.customRequest('neuralDebug/about')),
      );
      assert.deepEqual(
        (await Promise.all(worlds)).map(({ isReal }) => isReal),
        [false, true],
      );
      assert.notDeepEqual(await statementsIn(left), await statementsIn(right));

      await left.stop();
      await right.go('next');
      assert.equal(await right.line(), 3);
      assert.equal(right.ended, false);
    },
    async 'of one file do not share what is changed in one'() {
      const program = inFolder('same.py');
      await openFile(program, 'n = 1\nm = n + 1\nprint(m)\n');
      const one = await debug({ program });
      const other = await debug({ program });
      await one.go('next');
      await other.go('next');
      const { id } = await one.topFrame();
      await one.session.customRequest('setExpression', { expression: 'n', value: '41', frameId: id });
      await one.go('next');
      await other.go('next');
      assert.equal((await one.locals())['m'], '42');
      assert.equal((await other.locals())['m'], '2');
    },
    async 'of one file are each told of edits that are not saved, also of those before they began'() {
      const program = inFolder('unsaved.py');
      const editor = await openFile(program, 'n = 1\nm = n + 1\nprint(m)\n');
      const one = await debug({ program });
      const other = await debug({ program });
      const type = (text: string) =>
        editor.edit((edit) => {
          edit.insert(new vscode.Position(0, 0), text);
        });
      await type('# One.\n');
      for (const each of [one, other])
        await until(() => each.output.join('').includes('has changed since the session began'), 'the edit');
      await one.stop();
      await other.stop();

      // The editor would save it first, if it was not told otherwise.
      await type('# Two.\n');
      const late = await startedBy(() =>
        vscode.debug.startDebugging(
          vscode.workspace.workspaceFolders?.[0],
          { type: 'neural-debug', request: 'launch', name: 'late', program, stopOnEntry: true },
          { suppressSaveBeforeStart: true },
        ),
      );
      await until(() => late.output.join('').includes('has changed since the session began'), 'the edit');
    },
  },
};
