import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endLine, headerLine, stateLine } from '../../adapter/trajectory/recording';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { DapClient } from '../support/dapClient';
import { step } from '../support/steps';

const source = `def square(n):
    return n * n


def total(a, b):
    one = square(a)
    result = one + square(b)
    return result
`;

/** What a model predicted of `total(2, 3)`: `result` should be 13. */
const predicted = [
  step('call', 'total', 5, { a: '2', b: '3' }),
  step('line', 'total', 6, { a: '2', b: '3' }),
  step('call', 'square', 1, { n: '2' }),
  step('line', 'square', 2, { n: '2' }, { confidence: 0.9 }),
  step('return', 'square', 2, { n: '2' }, { argument: '4' }),
  step('line', 'total', 7, { a: '2', b: '3', one: '4' }),
  step('call', 'square', 1, { n: '3' }),
  step('line', 'square', 2, { n: '3' }),
  step('return', 'square', 2, { n: '3' }, { argument: '9' }),
  step('line', 'total', 8, { a: '2', b: '3', one: '4', result: '14' }),
  step('return', 'total', 8, { a: '2', b: '3', one: '4', result: '14' }, { argument: '14' }),
];

let folder = '';
let client: DapClient;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'neural-debug-tree-'));
  const program = { path: join(folder, 'total.py'), source, entry: 'total(2, 3)', args: [] };
  writeFileSync(program.path, source);
  const trajectory = new Trajectory(program);
  let lines = headerLine(program, { name: 'a model', isReal: false });
  let last = -1;
  for (const one of predicted) {
    last = trajectory.append(last, { name: 'step_into' }, one);
    lines += stateLine(trajectory, last);
  }
  lines += endLine({ kind: 'end', how: 'returned', notes: [], text: null, output: null });
  writeFileSync(join(folder, 'total.jsonl'), lines);
  client = new DapClient();
  await client.launch({ world: 'recording', recording: join(folder, 'total.jsonl'), stopOnEntry: true });
  await client.start(program.path);
});

afterEach(async () => {
  await client.end();
  rmSync(folder, { recursive: true });
});

interface Node {
  readonly state: number;
  readonly label: string;
  readonly isCurrent: boolean;
  readonly verdict: string | null;
}

async function below(parent: number | null): Promise<readonly Node[]> {
  const { nodes } = await client.ask<{ nodes: Node[] }>('neuralDebug/stateTree', { parent });
  return nodes;
}

async function locals(): Promise<readonly DebugProtocol.Variable[]> {
  const [frame] = await client.stack();
  const { scopes } = await client.ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: frame?.id });
  const variablesReference = scopes[0]?.variablesReference;
  return (await client.ask<DebugProtocol.VariablesResponse['body']>('variables', { variablesReference }))
    .variables;
}

describe('the state tree of a session', () => {
  it('is read node by node, and leads to any state', async () => {
    await client.move('continue');
    const [root] = await below(null);
    expect(root?.label).toBe('total(a=2, b=3)');
    const children = await below(root?.state ?? -1);
    expect(children.map(({ label }) => label)).toEqual([
      'one = square(a)',
      'square(n=2)',
      'result = one + square(b)',
      'square(n=3)',
      'return result',
      'return 14',
    ]);
    const stopped = client.event('stopped');
    await client.ask('neuralDebug/goToState', { state: children[2]?.state });
    await stopped;
    expect((await client.stack())[0]).toMatchObject({ line: 7, name: 'total' });
    expect((await below(root?.state ?? -1)).filter(({ isCurrent }) => isCurrent)).toHaveLength(1);
  });

  it('tells the calls around a state, and where a value came from', async () => {
    await client.move('continue');
    const { node, ancestors } = await client.ask<{ node: Node; ancestors: Node[] }>('neuralDebug/treeNode', {
      state: 7,
    });
    expect([...ancestors, node].map(({ label }) => label)).toEqual([
      'total(a=2, b=3)',
      'square(n=3)',
      'return n * n',
    ]);
    expect(await client.ask('neuralDebug/origin', { state: 9, name: 'result' })).toMatchObject({
      value: '14',
      line: 7,
      how: 'by line 7',
      from: [{ name: 'one' }, { name: 'b' }, { name: 'square()' }],
    });
  });

  it('explains a name in the frame that is meant, and sets nothing in the callers', async () => {
    await client.move('continue');
    const stopped = client.event('stopped');
    await client.ask('neuralDebug/goToState', { state: 7 });
    await stopped;
    const [inner, outer] = await client.stack();
    expect(outer?.name).toBe('total');
    await expect(client.ask('neuralDebug/origin', { name: 'one' })).rejects.toThrow(/one is not known/);
    expect(await client.ask('neuralDebug/origin', { name: 'one', frameId: outer?.id })).toMatchObject({
      value: '4',
      how: 'by line 6',
      from: [{ name: 'a' }, { name: 'square()' }],
    });
    expect(await client.ask('neuralDebug/origin', { name: 'n', frameId: inner?.id })).toMatchObject({
      value: '3',
    });
    // The first call of square is over.
    for (const frameId of [4, 0, 99])
      await expect(client.ask('neuralDebug/origin', { name: 'n', frameId })).rejects.toThrow(/not a frame/);
    const { scopes } = await client.ask<DebugProtocol.ScopesResponse['body']>('scopes', {
      frameId: outer?.id,
    });
    const variablesReference = scopes[0]?.variablesReference;
    await expect(client.ask('setVariable', { variablesReference, name: 'one', value: '5' })).rejects.toThrow(
      /Only the frame on top can be changed/,
    );
  });

  it('writes states as Python, and what Python cannot read in comments', async () => {
    await client.move('continue');
    expect(await client.ask('neuralDebug/wholeState', { state: 8 })).toEqual({
      name: 'square, line 2',
      value: '# square, line 2, predicted\nn = 3\n# returned:\n9\n',
      isLiteral: true,
    });
  });

  it('names a state that there is not', async () => {
    await expect(client.ask('neuralDebug/wholeState', { state: 99 })).rejects.toThrow(/no state 99/);
    await expect(client.ask('neuralDebug/goToState', { state: 99 })).rejects.toThrow(/no state 99/);
    await expect(client.ask('neuralDebug/stateTree', { parent: 99 })).rejects.toThrow(/no state 99/);
    await expect(client.ask('neuralDebug/origin', { name: 'missing' })).rejects.toThrow(/missing/);
  });
});

describe('a comparison with a real run', () => {
  it('marks each value, and says where the prediction first differs', async () => {
    await client.move('next');
    await client.move('next');
    const shown = client.event('stopped');
    const summary = await client.ask('neuralDebug/compare');
    expect((await shown).body).toMatchObject({
      description: expect.stringMatching(/, a real run comes here with other values/) as string,
    });
    expect(summary).toMatchObject({
      with: expect.stringMatching(/^Python 3/) as string,
      states: 10,
      agreeing: 9,
      firstDivergence: { state: 9, line: 8, position: 'same', values: [{ name: 'result', real: '13' }] },
      leftAt: null,
    });
    const values = new Map((await locals()).map(({ name, value }) => [name, value]));
    expect(values.get('one')).toBe('4  # ✓ really so');
    expect(values.get('result')).toBe('14  # ✗ really 13');
    const nodes = await below(0);
    expect(nodes.map(({ verdict }) => verdict)).toEqual(['same', 'same', 'same', 'same', 'different', null]);
    // Stops on the way that was compared say so.
    expect((await client.move('stepBack')).description).toMatch(/^Predicted: step, as in a real run/);
    expect((await client.move('next')).description).toMatch(/, a real run comes here with other values/);
  });

  it('is refused before the program has stopped', async () => {
    const other = new DapClient();
    try {
      await other.launch({ world: 'recording', recording: join(folder, 'total.jsonl') });
      await expect(other.ask('neuralDebug/compare')).rejects.toThrow(/configurationDone/);
    } finally {
      await other.end();
    }
  });
});
