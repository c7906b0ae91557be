import { afterEach, describe, expect, it } from 'vitest';
import { Comparison } from '../../adapter/debugger/comparison';
import { recordSteps } from '../../adapter/debugger/record';
import { createCwmFormat } from '../../adapter/format/cwm/cwmFormat';
import { PythonSource } from '../../adapter/python/source';
import type { Program } from '../../adapter/trajectory/program';
import type { Prediction, Step, Value } from '../../adapter/trajectory/state';
import { Trajectory } from '../../adapter/trajectory/trajectory';
import { RecordingWorld } from '../../adapter/world/recording';
import { ReferenceWorld } from '../../adapter/world/reference';
import type { World } from '../../adapter/world/world';
import { recordedSteps } from '../support/recordings';

const signal = new AbortController().signal;
const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

const source = `def total(prices):
    result = 0
    for price in prices:
        result += price
    return result


def main():
    seen = {1, 2}
    answer = total([3, 4])
    return answer
`;
const program: Program = { path: '/p.py', source, entry: 'main()', args: [] };

function reference(of: Program): World {
  const world = new ReferenceWorld(of);
  worlds.push(world);
  return world;
}

async function realSteps(of: Program): Promise<Step[]> {
  const trajectory = new Trajectory(of);
  const steps: Step[] = [];
  const request = { trajectory, action: { name: 'step_into' }, wanted: 'many', signal } as const;
  for await (const batch of reference(of).predict({ ...request, from: -1 })) {
    recordSteps(trajectory, trajectory.length - 1, batch);
    steps.push(...batch);
  }
  return steps;
}

/** Compares what a prediction says, altered from what really happens, with a real run. */
async function compare(of: Program, alter: (steps: Step[]) => Step[], project?: World['project']) {
  const steps = alter(await realSteps(of));
  const predicting = new RecordingWorld({ world: { name: 'a test', isReal: false } }, recordedSteps(steps));
  if (project) predicting.project = project as RecordingWorld['project'];
  const trajectory = new Trajectory(of);
  recordSteps(trajectory, -1, steps);
  const comparison = new Comparison(trajectory, predicting, reference(of));
  const last = trajectory.length - 1;
  return { trajectory, comparison, summary: await comparison.compare(last, signal) };
}

/** Changes the states for which a condition holds. */
function altered(
  steps: readonly Step[],
  isMeant: (step: Prediction) => boolean,
  change: (step: Prediction) => Prediction,
): Step[] {
  return steps.map((step) => (step.kind === 'state' && isMeant(step) ? change(step) : step));
}

const onLine = (line: number) => (step: Prediction) =>
  step.state.event === 'line' && step.state.line === line;

function withLocal(step: Prediction, name: string, repr: string | null): Prediction {
  const locals = new Map<string, Value>([...(step.state.locals ?? []), [name, { repr, confidence: null }]]);
  return { ...step, state: { ...step.state, locals } };
}

describe('a comparison with a real run', () => {
  it('finds that all agrees, and how the program ended', async () => {
    const { summary, trajectory } = await compare(program, (steps) => steps);
    expect(summary).toMatchObject({
      states: trajectory.length,
      agreeing: trajectory.length,
      firstDivergence: null,
      leftAt: null,
    });
  });

  it('gives a wrong value beside the true one, and the first state that has it', async () => {
    const { summary, trajectory, comparison } = await compare(program, (steps) =>
      altered(steps, onLine(11), (step) => withLocal(step, 'answer', '8')),
    );
    const first = summary.firstDivergence ?? -1;
    expect(trajectory.line(first)).toBe(11);
    expect(comparison.at(first)?.locals.get('answer')).toEqual({ verdict: 'different', real: '7' });
    expect(comparison.at(first)?.locals.get('seen')?.verdict).toBe('same');
    expect(summary).toMatchObject({
      states: trajectory.length,
      agreeing: trajectory.length - 1,
      leftAt: null,
    });
  });

  it('says nothing of values that were not predicted', async () => {
    const { summary, trajectory, comparison } = await compare(program, (steps) =>
      altered(steps, onLine(11), (step) => withLocal(step, 'answer', null)),
    );
    const last = trajectory.length - 2;
    expect(comparison.at(last)?.locals.get('answer')).toEqual({ verdict: 'unknown', real: '7' });
    expect(summary.firstDivergence).toBeNull();
  });

  it('takes a set in another order for the same', async () => {
    const { summary } = await compare(program, (steps) =>
      altered(
        steps,
        (step) => step.state.locals?.has('seen') ?? false,
        (step) => withLocal(step, 'seen', '{2, 1}'),
      ),
    );
    expect(summary.firstDivergence).toBeNull();
  });

  it('ends where the prediction takes another way', async () => {
    const { summary, trajectory, comparison } = await compare(program, (steps) =>
      steps.filter((step) => step.kind !== 'state' || !onLine(4)(step)),
    );
    const left = summary.leftAt ?? -1;
    expect(comparison.at(left)).toMatchObject({ position: 'different', real: { line: 4 } });
    expect(summary.firstDivergence).toBe(left);
    expect(comparison.at(left + 1)).toBeNull();
    expect(trajectory.length).toBeGreaterThan(left + 1);
  });

  it('says where the real run is over though states are predicted', async () => {
    const { summary, comparison } = await compare(program, (steps) => {
      const states = steps.filter((step) => step.kind === 'state');
      const again = states.find((step) => step.state.event === 'call');
      return again ? [...states, again] : states;
    });
    expect(summary.realEnding?.how).toBe('returned');
    expect(comparison.at(summary.leftAt ?? -1)?.real).toBeNull();
  });

  it.each([
    ['', `import os\n${source}\nx = main()\n`],
    [
      ', nor what decorators do before the beginning',
      `def deco(f):\n    return f\n\n\n@deco\n${source}\nx = main()\n`,
    ],
  ])('counts only what the predicting format can carry%s', async (_, text) => {
    const script: Program = {
      path: '/s.py',
      source: text,
      entry: null,
      args: [],
    };
    const format = await createCwmFormat(script, await PythonSource.parse(script.source));
    const carried = (steps: readonly Step[]): Step[] => {
      let hasBegun = false;
      return steps.flatMap((step): Step[] => {
        if (step.kind === 'end') return [step];
        const state = format.project(step.state);
        const isModule = step.state.function === '<module>';
        hasBegun ||= isModule && state?.event === 'line';
        return state && (hasBegun || isModule) ? [{ ...step, state }] : [];
      });
    };
    const { summary } = await compare(script, carried, (state) => format.project(state));
    expect(summary.firstDivergence).toBeNull();
    expect(summary.states).toBeGreaterThan(8);
    expect(summary.agreeing).toBe(summary.states);
  });

  it('tells why a real run could not be compared', async () => {
    const broken: Program = { ...program, entry: 'missing()' };
    const predicting = new RecordingWorld({ world: { name: 'a test', isReal: false } }, recordedSteps([]));
    const trajectory = new Trajectory(broken);
    recordSteps(trajectory, -1, await realSteps(program));
    const comparison = new Comparison(trajectory, predicting, reference(broken));
    await expect(comparison.compare(3, signal)).rejects.toThrow(/missing/);
  });
});
