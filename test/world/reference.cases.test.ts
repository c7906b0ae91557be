import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Ending } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { ReferenceWorld } from '../../adapter/world/reference';

const folder = join(import.meta.dirname, '../cases');
const names = readdirSync(folder).filter((name) => name.endsWith('.py'));

/** The events in the expected files are those of this version; others differ, in comprehensions above all. */
const version = execFileSync('python3', ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
  encoding: 'utf8',
}).trim();

interface ExpectedEvent {
  readonly ev: string;
  readonly fn: string;
  readonly line: number;
  readonly depth: number;
  readonly locals: Readonly<Record<string, string>>;
  readonly arg?: string;
  readonly thread?: string;
}

/** Values that were described by running code of the program or of a library, which the product never does. */
const describedOtherwise =
  /<repr raised |\b(Node|Half|Cash|Door|Guard)\(|<Meter object>|<threading\.|<Thread\(|\(\d+ chars\)|<[\w.]+ object>/;

describe.skipIf(version !== '3.11')('cases, under Python 3.11', () => {
  it.each(names)('gives the events of %s', async (name) => {
    const program = {
      path: join(folder, name),
      source: readFileSync(join(folder, name), 'utf8'),
      entry: null,
      args: [],
    };
    const { trajectory, ending } = await follow(new ReferenceWorld(program), new Trajectory(program));
    const expected = readFileSync(join(folder, 'expected', name.replace('.py', '.jsonl')), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ExpectedEvent)
      .slice(0, -1);

    const events = Array.from({ length: trajectory.length }, (_, index) => {
      const { depth, thread } = trajectory.frame(index);
      const { event, function: fn, line } = trajectory.state(index);
      return `${event} ${fn} ${line} depth ${depth} ${thread ?? ''}`;
    });
    expect(events).toEqual(
      expected.map(({ ev, fn, line, depth, thread }) => `${ev} ${fn} ${line} depth ${depth} ${thread ?? ''}`),
    );
    for (const [index, { ev, locals, arg }] of expected.entries()) {
      const state = trajectory.state(index);
      const shown = Object.fromEntries([...(state.locals ?? [])].map(([local, { repr }]) => [local, repr]));
      const same = Object.entries(locals).map(([local, repr]): [string, unknown] => [
        local,
        describedOtherwise.test(repr) ? shown[local] : repr,
      ]);
      expect([index, shown]).toEqual([index, Object.fromEntries(same)]);
      expect([...(state.locals?.keys() ?? [])]).toEqual(Object.keys(locals));
      if (arg !== undefined && !describedOtherwise.test(arg)) {
        const text = ev === 'exception' ? arg.slice(arg.indexOf(': ') + 2) : arg;
        expect({ index, argument: state.argument?.repr }).toEqual({ index, argument: text });
      }
    }
    expect(ending?.how).toBe(name.startsWith('29') ? 'exited' : 'returned');
  });
});

async function follow(world: ReferenceWorld, trajectory: Trajectory) {
  let last = -1;
  let ending: Ending | null = null;
  const request = {
    trajectory,
    from: -1,
    action: { name: 'step_into' },
    wanted: 'many',
    signal: new AbortController().signal,
  } as const;
  for await (const steps of world.predict(request)) {
    for (const step of steps) {
      if (step.kind === 'end') ending = step;
      else last = trajectory.append(last, { name: 'step_into' }, step);
    }
  }
  await world.close();
  return { trajectory, ending };
}
