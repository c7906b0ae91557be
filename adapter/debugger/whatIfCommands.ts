import { errors } from '../errors';
import type { Trajectory } from '../trajectory/trajectory';
import { type Alternatives, alternativesTo } from './alternatives';
import { branchesOf } from './branches';
import type { Stop } from './stop';
import { jump, restartFrame, setValue, switchBranch } from './moving';
import type { Opened } from './open';
import { maxSamples, type Samples } from './samples';

/** What a command came to. */
export interface CommandAnswer {
  /** Where it led; null where the session stays where it is. */
  readonly stop: Stop | null;
  /** What it tells, for people. */
  readonly lines: readonly string[];
  /** The same for scripts, one object each. */
  readonly rows: readonly object[];
}

interface WhatIfCommand {
  readonly words: readonly string[];
  /** What stands after the word. */
  readonly argument: string;
  readonly help: string;
  /**
   * @param state the state of the frame that is looked at
   * @throws CatalogueError where it cannot be obeyed
   */
  readonly run: (opened: Opened, state: number, argument: string) => Promise<CommandAnswer>;
}

/** The commands that change the state, and those that lead from branch to branch. */
export const whatIfCommands = {
  set: {
    words: ['set'],
    argument: 'NAME = VALUE',
    help: 'what if a local, or an item such as d["k"], had another value',
    run: async (opened, state, argument) => {
      const { target, value } = assignment(argument);
      return moved(await setValue(opened, state, target, value));
    },
  },
  jump: {
    words: ['jump', 'j'],
    argument: 'LINE',
    help: 'what if execution went on at another line of the function',
    run: async ({ debugger: session }, _, argument) => moved(await jump(session, numberIn(argument))),
  },
  restartFrame: {
    words: ['restart-frame', 'rf'],
    argument: '',
    help: 'go back to the first line of the frame',
    run: async ({ debugger: session }, state) => moved(await restartFrame(session, state)),
  },
  branches: {
    words: ['branches'],
    argument: '',
    help: 'what a change or another sample began',
    run: ({ debugger: { trajectory, cursor } }) => Promise.resolve(listed(trajectory, cursor)),
  },
  branch: {
    words: ['branch'],
    argument: 'N',
    help: 'go to a branch',
    run: async ({ debugger: session }, _, argument) => moved(await switchBranch(session, numberIn(argument))),
  },
  sample: {
    words: ['sample'],
    argument: '[N]',
    help: 'ask the model N times (3) what comes next, and group the answers',
    run: async ({ debugger: session }, _, argument) => {
      const count = argument === '' ? 3 : numberIn(argument);
      if (count < 1 || count > maxSamples)
        throw errors.commandArgument(`a number from 1 to ${maxSamples}`, argument);
      return sampled(session.trajectory, await session.sampleAgain(count));
    },
  },
  alternatives: {
    words: ['alternatives', 'alt'],
    argument: '[NAME] [N]',
    help: 'ask the model N times (5) for this state, or for a value where it was given, and share the answers out',
    run: async ({ debugger: session }, state, argument) => {
      // A name may have an item with spaces after it: `prices["per day"] 3`.
      const [, name = null, times = '5'] = /^([^\s\d].*?)?(?:(?:^|\s)(\d+))?$/s.exec(argument.trim()) ?? [
        null,
        null,
        argument,
      ];
      const count = numberIn(times);
      if (count < 1 || count > maxSamples)
        throw errors.commandArgument(`a number from 1 to ${maxSamples}`, argument);
      return alternativesTold(await alternativesTo(session, state, name?.trim() ?? null, count));
    },
  },
} as const satisfies Readonly<Record<string, WhatIfCommand>>;

/** The command that a word begins, or undefined. */
export function whatIfCommandOf(word: string): WhatIfCommand | undefined {
  const commands: readonly WhatIfCommand[] = Object.values(whatIfCommands);
  return commands.find(({ words }) => words.includes(word));
}

function moved(stop: Stop): CommandAnswer {
  return { stop, lines: [], rows: [] };
}

/** Takes `TARGET = VALUE` apart, at the first `=` outside of brackets and quotes. */
function assignment(text: string): { target: string; value: string } {
  const [, target = '', value = ''] =
    /^((?:[^=[\]'"]|\[(?:[^[\]'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")*\])+?)\s*=(?!=)\s*(.*\S)\s*$/s.exec(
      text,
    ) ?? [];
  if (target.trim() === '') throw errors.commandArgument('NAME = VALUE', text);
  return { target: target.trim(), value };
}

function numberIn(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw errors.commandArgument('a number', text);
  return Number(text);
}

function listed(trajectory: Trajectory, cursor: number): CommandAnswer {
  const branches = branchesOf(trajectory, cursor);
  const placeOf = (state: number) => ({
    function: trajectory.frame(state).function,
    line: trajectory.line(state),
  });
  return {
    stop: null,
    lines: branches.map(({ number, first, length, label, isCurrent }) => {
      const { function: name, line } = placeOf(first);
      const states = length === 1 ? '1 state' : `${length} states`;
      return `${isCurrent ? '>' : ' '} ${number}  ${label}, from ${name}:${line}, ${states}`;
    }),
    rows: branches.map(({ number, first, length, label, isCurrent }) => ({
      branch: number,
      label,
      ...placeOf(first),
      length,
      isCurrent,
    })),
  };
}

/** What samples came to, a row for each group, and the branch that holds what it says. */
export function sampleRows(trajectory: Trajectory, { groups }: Samples): SampleRow[] {
  return groups.map(({ state, count, share }) => {
    if (state === null)
      return { count, share, branch: null, event: 'end', function: null, line: null, locals: {} };
    const previous = trajectory.previousInFrame(state);
    const before = previous === null ? null : trajectory.locals(previous)?.locals;
    const changed = [...(trajectory.state(state).locals ?? [])].filter(
      ([name, { repr }]) => before?.get(name)?.repr !== repr,
    );
    return {
      count,
      share,
      branch: branchesOf(trajectory, state).find(({ isCurrent }) => isCurrent)?.number ?? null,
      event: trajectory.event(state),
      function: trajectory.frame(state).function,
      line: trajectory.line(state),
      locals: Object.fromEntries(changed.map(([name, { repr }]) => [name, repr])),
      ...(trajectory.argument(state) ? { argument: trajectory.argument(state)?.repr ?? null } : {}),
    };
  });
}

/** A group of samples. */
export interface SampleRow {
  readonly count: number;
  readonly share: number;
  /** The branch that begins with it, or goes through it; null for the end. */
  readonly branch: number | null;
  readonly event: string;
  readonly function: string | null;
  readonly line: number | null;
  /** The locals that it gives other values. */
  readonly locals: Readonly<Record<string, string | null>>;
  /** A returned value or an exception. */
  readonly argument?: string | null;
}

function sampled(trajectory: Trajectory, samples: Samples): CommandAnswer {
  const rows = sampleRows(trajectory, samples);
  const lines = rows.map(({ count, branch, event, function: name, line, locals, argument }) => {
    const values = Object.entries(locals).map(([local, repr]) => `${local} = ${repr ?? 'not predicted'}`);
    const told = [...values, ...(argument ? [argument] : [])].join(', ');
    const where = name === null ? event : `${event} ${name}:${line ?? ''}`;
    const place = branch === null ? '' : `  (branch ${branch})`;
    return `${count} of ${samples.drawn}: ${where}${told === '' ? '' : `  ${told}`}${place}`;
  });
  return { stop: null, lines: [...lines, ...samples.notes], rows };
}

function alternativesTold({ name, line, drawn, rows, notes }: Alternatives): CommandAnswer {
  const what = name === null ? `this state, on line ${line}` : `${name}, given before line ${line}`;
  const lines = rows.map(({ value, count, share, isShown, branch }) => {
    const marks = [...(isShown ? ['shown'] : []), ...(branch === null ? [] : [`branch ${branch}`])].join(
      ', ',
    );
    return `${String(Math.round(share * 100)).padStart(3)}%  ${value}  (${count} of ${drawn}; ${marks})`;
  });
  return { stop: null, lines: [`${what}:`, ...lines, ...notes], rows };
}
