import { errors } from '../errors';
import { valueAt } from '../python/valuePath';
import { shortText } from '../shownText';
import type { Trajectory } from '../trajectory/trajectory';
import { branchesOf } from './branches';
import type { Debugger } from './debugger';
import { originOf, type Origin } from './provenance';

/** What else a world holds possible in the place of a predicted state or value, from samples of it. */
export interface Alternatives {
  /** The local, or the part of one, that is asked about; null for the state as a whole. */
  readonly name: string | null;
  /** The state that was predicted there: the one that gave the value. */
  readonly state: number;
  readonly line: number;
  /** What is shown: the value, or the state in words. */
  readonly shown: string;
  readonly drawn: number;
  /** The likeliest first; what is shown is among them also where no sample said it. */
  readonly rows: readonly Alternative[];
  /** What people should know, in sentences. */
  readonly notes: readonly string[];
}

export interface Alternative {
  /** The value, or the state in words. */
  readonly value: string;
  readonly count: number;
  /** The part of all samples that say so, 0 to 1. */
  readonly share: number;
  readonly isShown: boolean;
  /** The branch that goes on from it; null for the program's end. */
  readonly branch: number | null;
}

/**
 * Asks a world for samples of a state that is recorded already, and tells how they are shared out: over the whole
 * state, or over the values of a local, or a part of one, where it was given the one that it has. What they say becomes
 * branches, and what was followed is followed still.
 *
 * @param state the state that is looked at
 * @param name the local, or an expression that looks up a part of one; null for the state itself
 * @throws CatalogueError where the place was not predicted, or the world always says the same
 */
export async function alternativesTo(
  session: Debugger,
  state: number,
  name: string | null,
  count: number,
): Promise<Alternatives> {
  const { source, trajectory } = session;
  const origin = name === null ? null : originOf(source, trajectory, state, name);
  if (name !== null && !origin) throw errors.notPredicted(`${shortText(name, 200)} is not known here`);
  const at = origin?.state ?? state;
  const before = trajectory.previous(at);
  if (before < 0 || trajectory.action(at).name === 'what_if') {
    throw errors.noAlternatives(before < 0 ? 'the program begins with it' : 'you have set it yourself');
  }
  const samples = await session.sampleAgain(count, before);
  const shown = name === null ? describeState(trajectory, at) : (origin?.value.repr ?? 'not predicted');
  const rows = new Map<string, Alternative>();
  const branchOf = (one: number) =>
    branchesOf(trajectory, one).find(({ isCurrent }) => isCurrent)?.number ?? null;
  for (const { count: here, state: sampled } of samples.groups) {
    const value = origin
      ? valueOf(trajectory, at, sampled, origin)
      : sampled === null
        ? programEnds
        : describeState(trajectory, sampled);
    const known = rows.get(value);
    const all = here + (known?.count ?? 0);
    rows.set(value, {
      value,
      count: all,
      share: all / samples.drawn,
      isShown: value === shown,
      branch: known?.branch ?? (sampled === null ? null : branchOf(sampled)),
    });
  }
  if (!rows.has(shown)) {
    rows.set(shown, { value: shown, count: 0, share: 0, isShown: true, branch: branchOf(at) });
  }
  return {
    name,
    state: at,
    line: trajectory.line(at),
    shown,
    drawn: samples.drawn,
    rows: [...rows.values()].sort((one, other) => other.count - one.count),
    notes: samples.notes,
  };
}

/** What a sample says of a value in the place of a state. */
function valueOf(trajectory: Trajectory, at: number, sampled: number | null, { name, path }: Origin): string {
  if (sampled === null) return programEnds;
  const isSameFrame =
    trajectory.frame(sampled).function === trajectory.frame(at).function &&
    trajectory.frame(sampled).depth === trajectory.frame(at).depth;
  const locals = isSameFrame ? trajectory.locals(sampled)?.locals : undefined;
  const value = locals && valueAt(path, locals);
  return value ? (value.repr ?? 'not predicted') : `no ${name}: ${describeState(trajectory, sampled)}`;
}

const programEnds = 'the program ends';

/** A state in words: what happens, where, and what is new in it. */
function describeState(trajectory: Trajectory, state: number): string {
  const event = trajectory.event(state);
  const place = `${event} ${trajectory.frame(state).function}:${trajectory.line(state)}`;
  const previous = trajectory.previousInFrame(state);
  const before = previous === null ? null : trajectory.locals(previous)?.locals;
  const changes = [...(trajectory.state(state).locals ?? [])]
    .filter(([name, { repr }]) => before?.get(name)?.repr !== repr)
    .map(([name, { repr }]) => `${name} = ${repr ?? 'not predicted'}`);
  const argument = trajectory.argument(state)?.repr ?? null;
  return [place, [...changes, ...(argument === null ? [] : [argument])].join(', ')]
    .filter((part) => part !== '')
    .join('  ');
}
