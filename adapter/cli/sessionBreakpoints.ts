import type {
  Breakpoints,
  DataBreakpoint,
  FunctionBreakpoint,
  LineBreakpoint,
} from '../debugger/breakpoints';
import { watchedVariable } from '../debugger/dataBreakpoints';
import type { Debugger } from '../debugger/debugger';
import { defaultDoubtThreshold, parseThreshold } from '../debugger/doubt';
import { parseExceptionTypes } from '../debugger/exceptionTypes';
import { functionsNamed } from '../debugger/functionBreakpoints';
import { parseHitCondition } from '../debugger/hitCondition';
import { parseLogMessage } from '../debugger/logMessage';

/** A breakpoint as it was set, by its number. */
type Numbered = (
  | { readonly kind: 'line'; readonly set: LineBreakpoint }
  | { readonly kind: 'function'; readonly set: FunctionBreakpoint }
  | { readonly kind: 'data'; readonly set: DataBreakpoint }
) & { readonly place: string; readonly isTemporary: boolean };

/** What a command about breakpoints comes to: an answer in words, or what is wrong. */
export type BreakpointAnswer = { readonly text: string } | { readonly problem: string };

const filters = ['raised', 'uncaught', 'doubt'] as const;
type Filter = (typeof filters)[number];

/** The breakpoints of a session that commands drive: they have numbers, as in pdb. */
export class SessionBreakpoints {
  readonly #all = new Map<number, Numbered>();
  #next = 1;

  constructor(private readonly session: () => Debugger) {}

  get #breakpoints(): Breakpoints {
    return this.session().breakpoints;
  }

  /** Sets one at `LINE` or `FUNCTION`, with `, CONDITION` or `:CONDITION` after it; without a place: lists all. */
  set(argument: string, isTemporary: boolean): BreakpointAnswer {
    if (argument === '') return { text: this.#listed() };
    const [, place = '', condition] = /^([^\s:,]+)\s*(?:[:,]\s*(\S.*))?$/s.exec(argument) ?? [];
    if (/^\d+$/.test(place)) return this.setLine(Number(place), condition ?? null, isTemporary);
    if (!/^[^\W\d][\w.<>]*(\(\))?$/u.test(place)) {
      return { problem: `A breakpoint is LINE or FUNCTION, with ", CONDITION" after it, not "${argument}".` };
    }
    const name = place.replace(/\(\)$/, '');
    if (functionsNamed(this.session().source, name).length === 0) {
      return { problem: `The file has no function ${name}.` };
    }
    const id = this.#next;
    const set = { id, function: name, condition: condition ?? null };
    return this.#add({ kind: 'function', set, place: `function ${name}`, isTemporary });
  }

  /** Sets one on a line, and says where it really sits. */
  setLine(
    line: number,
    condition: string | null,
    isTemporary = false,
    message: string | null = null,
  ): BreakpointAnswer {
    const actual = this.session().source.breakpointLine(line);
    if (actual === null) return { problem: `There is no code on line ${line}, nor after it in its block.` };
    const logMessage = message === null ? null : parseLogMessage(message);
    const set = { id: this.#next, line: actual, condition, logMessage };
    const added = this.#add({ kind: 'line', set, place: `line ${actual}`, isTemporary });
    if (actual === line || 'problem' in added) return added;
    return { text: `${added.text} Moved from line ${line}.` };
  }

  /** Writes a message where a line is reached: `LINE, MESSAGE`. */
  log(argument: string): BreakpointAnswer {
    const [, line, message = ''] = /^(\d+)\s*[:,]\s*(\S.*)$/s.exec(argument) ?? [];
    if (line === undefined) return { problem: 'log takes LINE, MESSAGE, such as: log 3, total is {total}' };
    return this.setLine(Number(line), null, false, message);
  }

  /** Watches a variable of the frame of a state: `NAME`, with `, CONDITION` after it. */
  watch(argument: string, state: number): BreakpointAnswer {
    const { source, trajectory } = this.session();
    const whole = watchedVariable(source, trajectory, state, argument);
    const [, path = argument, condition] = /^(.*?)\s*,\s*(\S.*)$/s.exec(argument) ?? [];
    const watched = 'problem' in whole ? watchedVariable(source, trajectory, state, path) : whole;
    if ('problem' in watched) return watched;
    const { variable } = watched;
    const set = { id: this.#next, variable, condition: 'problem' in whole ? (condition ?? null) : null };
    return this.#add({
      kind: 'data',
      set,
      place: `changes of ${variable.path} in ${variable.function}`,
      isTemporary: false,
    });
  }

  /** Changes a condition: `NUMBER CONDITION`; without a condition there is none. */
  condition(argument: string): BreakpointAnswer {
    const [, number, condition = ''] = /^(\d+)\s*(.*)$/s.exec(argument) ?? [];
    const known = this.#all.get(Number(number));
    if (!known) return { problem: 'condition takes the NUMBER of a breakpoint and a CONDITION.' };
    this.#change(Number(number), known, { condition: condition === '' ? null : condition });
    return { text: this.#describe(Number(number)) };
  }

  /** Passes over the next visits: `NUMBER COUNT`. They are counted from a state on, on every path. */
  async ignore(argument: string, state: number): Promise<BreakpointAnswer> {
    const [, number, count = '0'] = /^(\d+)(?:\s+(\d+))?$/.exec(argument) ?? [];
    const known = this.#all.get(Number(number));
    if (!known) return { problem: 'ignore takes the NUMBER of a breakpoint and a COUNT.' };
    const { trajectory } = this.session();
    const so = state < 0 ? 0 : ((await this.#breakpoints.hitsUpTo(Number(number), trajectory, state)) ?? 0);
    const hitCondition = Number(count) === 0 ? null : parseHitCondition(`>${so + Number(count)}`);
    this.#change(Number(number), known, { hitCondition });
    return {
      text:
        count === '0'
          ? `Breakpoint ${number} stops again.`
          : `The next ${count} hits of breakpoint ${number} are passed over.`,
    };
  }

  /** Removes those of some numbers, or on a line where none has the number, or on a function; without any: all. */
  clear(argument: string): BreakpointAnswer {
    if (argument === '') this.#all.clear();
    for (const word of argument.split(/[\s,]+/).filter((one) => one !== '')) {
      const places = [`line ${word}`, `function ${word}`];
      const found = this.#all.has(Number(word))
        ? [Number(word)]
        : [...this.#all].filter(([, { place }]) => places.includes(place)).map(([number]) => number);
      if (found.length === 0) return { problem: `There is no breakpoint ${word}.` };
      for (const number of found) this.#all.delete(number);
    }
    this.#apply();
    return { text: this.#all.size === 0 ? 'There are no breakpoints.' : this.#listed() };
  }

  /** Removes the temporary ones among those that stopped. */
  stoppedAt(numbers: readonly number[]): void {
    for (const number of numbers) if (this.#all.get(number)?.isTemporary) this.#all.delete(number);
    this.#apply();
  }

  /** Stops at a kind of exceptions or at doubts: `FILTER CONDITION`; `none`: at none of them; empty: tells. */
  catch(argument: string): BreakpointAnswer {
    const breakpoints = this.#breakpoints;
    const [, word = '', condition = ''] = /^(\S+)\s*(.*)$/s.exec(argument) ?? [];
    if (word === '') return { text: this.#caught() };
    const filter = filters.find((one) => one === word);
    if (word === 'none' && condition === '') {
      Object.assign(breakpoints, { raised: false, uncaught: false, doubtBelow: null });
    } else if (!filter) {
      return { problem: 'catch takes raised, uncaught or doubt, or none.' };
    } else {
      const problem = this.#catch(filter, condition);
      if (problem !== null) return { problem };
    }
    return { text: this.#caught() };
  }

  #catch(filter: Filter, condition: string): string | null {
    const breakpoints = this.#breakpoints;
    if (filter === 'doubt') {
      const threshold = condition === '' ? defaultDoubtThreshold : parseThreshold(condition);
      if (threshold === null)
        return 'catch doubt takes the least confidence, above 0 and up to 1, such as 0.8.';
      breakpoints.doubtBelow = threshold;
      return null;
    }
    const types = condition === '' ? null : parseExceptionTypes(condition);
    if (condition !== '' && types === null) return `catch ${filter} takes names of exception types.`;
    if (filter === 'raised') Object.assign(breakpoints, { raised: true, raisedTypes: types });
    else Object.assign(breakpoints, { uncaught: true, uncaughtTypes: types });
    return null;
  }

  #caught(): string {
    const { raised, raisedTypes, uncaught, uncaughtTypes, doubtBelow } = this.#breakpoints;
    const names = (filter: string, types: ReadonlySet<string> | null) =>
      types === null ? filter : `${filter} (${[...types].join(', ')})`;
    const set = [
      ...(raised ? [names('raised', raisedTypes)] : []),
      ...(uncaught ? [names('uncaught', uncaughtTypes)] : []),
    ];
    const doubts = doubtBelow === null ? '' : ` Stopping at doubts: below ${Math.round(doubtBelow * 100)}%.`;
    return `Stopping at exceptions: ${set.length > 0 ? set.join(', ') : 'none'}.${doubts}`;
  }

  #add(numbered: Numbered): BreakpointAnswer & { readonly text: string } {
    const number = this.#next++;
    this.#all.set(number, numbered);
    this.#apply();
    return { text: this.#describe(number) };
  }

  #change(number: number, known: Numbered, checks: Partial<LineBreakpoint>): void {
    const set = { ...known.set, ...checks };
    this.#all.set(number, { ...known, set } as Numbered);
    this.#apply();
  }

  #apply(): void {
    const all = [...this.#all.values()];
    this.#breakpoints.setLines(all.flatMap((one) => (one.kind === 'line' ? [one.set] : [])));
    this.#breakpoints.setFunctions(all.flatMap((one) => (one.kind === 'function' ? [one.set] : [])));
    this.#breakpoints.setData(all.flatMap((one) => (one.kind === 'data' ? [one.set] : [])));
  }

  #listed(): string {
    if (this.#all.size === 0) return 'There are no breakpoints.';
    return [...this.#all.keys()].map((number) => this.#describe(number)).join('\n');
  }

  #describe(number: number): string {
    const known = this.#all.get(number);
    if (!known) return '';
    const { place, isTemporary, set } = known;
    const what = known.kind === 'line' && known.set.logMessage ? 'Log point' : 'Breakpoint';
    const when = set.condition === null ? '' : ` if ${set.condition}`;
    const hits = set.hitCondition ? ` at hits ${set.hitCondition.text}` : '';
    return `${what} ${number} on ${place}${when}${hits}${isTemporary ? ', once' : ''}.`;
  }
}
