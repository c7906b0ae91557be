import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { z } from 'zod';
import { type Debugged, debug, inFolder, openFile, until } from './debugging';
import type { Group } from './run';

const about = z.object({ kind: z.string(), isReal: z.boolean(), state: z.int() });
const tree = z.object({ nodes: z.array(z.object({ label: z.string() })) });

async function rootLabels({ session }: Debugged): Promise<string[]> {
  const page = { parent: null, after: null, count: 10 };
  const said: unknown = await session.customRequest('neuralDebug/stateTree', page);
  return tree.parse(said).nodes.map(({ label }) => label);
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
      assert.notDeepEqual(await rootLabels(left), await rootLabels(right));

      await vscode.debug.stopDebugging(left.session);
      await until(() => left.ended, 'the end of the first');
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
  },
};
