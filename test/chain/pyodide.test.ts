import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canRunPyodide } from '../../adapter/sandbox/pyodide';
import { neuralDebug, rows, type Running, startNeuralDebug } from '../support/cli';
import { lineDiff } from '../support/lineDiff';
import { play, type Script } from '../support/sessions';

/** All cases and ways to go through them, instead of a few: each run starts a Pyodide, or two. */
const isFull = process.env['NEURAL_DEBUG_FULL'] === '1';

/** Pyodide takes seconds to start, more on a busy machine. */
const patience = 180_000;

const folder = join(import.meta.dirname, '../cases');
const all = readdirSync(folder)
  .filter((file) => file.endsWith('.py'))
  .map((file) => file.replace('.py', ''));
const sample = new Set(['02-listcomp-frame', '32-threads', '36-loop-else-finally']);
const cases = all.filter((name) => isFull || sample.has(name));

/** Why Pyodide's Python gives other events than CPython 3.11, whose events the cases tell. */
const reasons = {
  inlined: 'Since 3.12 list, set and dict comprehensions run in the frame that they stand in.',
  unrolled: 'Since 3.14 all() and any() of a generator expression are a loop in the frame of their caller.',
  classNames: 'Since 3.13 and 3.14 a class body has more names: __firstlineno__ and others.',
  managers: 'Since 3.13 a with statement tells the line of each of its managers, and not its own.',
  division: 'Since 3.14 the message of every division by zero is the same.',
  oneLine: 'Since 3.14 a loop on one line tells its line once more at its end.',
  threads: 'Pyodide has no threads.',
} as const;

const differing: Readonly<Record<string, readonly (keyof typeof reasons)[]>> = {
  '01-genexpr-next': ['unrolled'],
  '02-listcomp-frame': ['inlined'],
  '06-with-exit-line': ['classNames', 'managers'],
  '08-finally-return': ['division'],
  '16-repr-raises': ['classNames'],
  '17-repr-side-effect': ['classNames'],
  '18-cyclic': ['classNames'],
  '24-walrus': ['unrolled', 'inlined'],
  '29-sys-exit': ['inlined'],
  '32-threads': ['threads'],
  '37-same-line-statements': ['oneLine'],
  '41-implicit-dunder-calls': ['classNames', 'inlined'],
};

/** Values that the cases describe by the program's own code, or cut in another way. */
const describedOtherwise =
  /<repr raised |\b(Node|Half|Cash|Door|Guard)\(|<Meter object>|<threading\.|<Thread\(|\(\d+ chars\)|<[\w.]+ object>|\.\.\. \+\d+ more/;

interface Event {
  readonly event: string;
  readonly function: string;
  readonly line: number;
  readonly depth: number;
  readonly locals: Readonly<Record<string, string>>;
  readonly argument: string | null;
  readonly thread: string | null;
}

function shown(event: Event): string {
  const value = (repr: string) => (describedOtherwise.test(repr) ? '…' : repr);
  const locals = Object.entries(event.locals)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, repr]) => `${name}=${value(repr)}`);
  return [
    ...[event.event, event.function, event.line, `^${event.depth}`],
    ...(event.thread === null ? [] : [`(${event.thread})`]),
    ...locals,
    ...(event.argument === null ? [] : ['→', value(event.argument)]),
  ].join(' ');
}

/** The events that a case says CPython 3.11 makes, after the module's call. */
function expectedEvents(name: string): Event[] {
  const text = readFileSync(join(folder, 'expected', `${name}.jsonl`), 'utf8');
  return rows(text)
    .slice(1, -1)
    .map((row) => ({
      event: String(row['ev']),
      function: String(row['fn']),
      line: Number(row['line']),
      depth: Number(row['depth']),
      locals: row['locals'] as Event['locals'],
      argument: typeof row['arg'] === 'string' ? argumentOf(String(row['ev']), row['arg']) : null,
      thread: typeof row['thread'] === 'string' ? row['thread'] : null,
    }));
}

/** The cases tell an exception as `Type: repr`. */
function argumentOf(event: string, text: string): string {
  return event === 'exception' ? text.slice(text.indexOf(': ') + 2) : text;
}

/** Goes through a program state by state with the command line, to its end. */
async function runThrough(name: string): Promise<Event[]> {
  const args = [
    '--world',
    'reference',
    '--sandbox',
    'pyodide',
    '--json',
    '--all-states',
    '--show-definitions',
  ];
  const most = 100;
  const { code, stdout, stderr } = await neuralDebug([
    ...['run', join(folder, `${name}.py`), ...args],
    ...['--commands', `i; ${'s; '.repeat(most)}`],
  ]);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/Python 3\.14\.\d+ in a sandbox \(Pyodide\)/);
  const stops = rows(stdout).filter(({ reason }) => reason !== undefined);
  expect(stops[0]).toMatchObject({ reason: 'entry' });
  const end = stops.findIndex(({ reason }) => reason === 'end');
  expect(end).toBeGreaterThan(0);
  return stops.slice(0, end).map((row) => ({
    event: String(row['event']),
    function: String(row['function']),
    line: Number(row['line']),
    depth: Number(row['depth']),
    locals: row['locals'] as Event['locals'],
    argument: typeof row['arg'] === 'string' ? row['arg'] : null,
    thread: typeof row['thread'] === 'string' ? row['thread'] : null,
  }));
}

describe.skipIf(!canRunPyodide())(
  'run --world reference --sandbox pyodide (skipped where Pyodide is not installed)',
  { timeout: patience },
  () => {
    it.each(cases)('gives the events of %s, but for those of the newer Python', async (name) => {
      const events = await runThrough(name);
      const differences = lineDiff(expectedEvents(name).map(shown), events.map(shown));
      const why = differing[name] ?? [];
      expect(differences.length > 0, 'it differs from 3.11').toBe(why.length > 0);
      if (why.length === 0) return;
      const text = [...why.map((reason) => `# ${reasons[reason]}`), ...differences, ''].join('\n');
      await expect(text).toMatchFileSnapshot(`pyodide/${name}.txt`);
    });

    it('names the differences of cases that there are', () => {
      const known = readdirSync(join(import.meta.dirname, 'pyodide')).map((file) => file.replace('.txt', ''));
      expect(known.sort()).toEqual(Object.keys(differing).sort());
      expect(all).toEqual(expect.arrayContaining(known));
    });
  },
);

const scripts: Record<string, Script> = {
  'step into': { requests: 'stepIn' },
  'step over': { requests: 'next' },
  'exceptions raised': { requests: 'continue', raised: true },
  'breakpoints on all lines': {
    breakpoints: Array.from({ length: 60 }, (_, line) => line),
    requests: 'continue',
  },
  'back and forth': { requests: ['stepIn', 'next', 'next', 'stepBack', 'next', 'stepBack', 'stepOut'] },
};

describe.skipIf(!canRunPyodide())(
  'serve --sandbox pyodide (skipped where Pyodide is not installed)',
  { timeout: patience },
  () => {
    let server: Running;
    let baseUrl = '';
    let token = '';
    beforeAll(async () => {
      server = startNeuralDebug(['serve', '--sandbox', 'pyodide']);
      baseUrl = await server.line();
      token = await server.line();
    }, patience);
    afterAll(() => server.stop());

    for (const name of cases) {
      const program = join(folder, `${name}.py`);
      it.each(Object.entries(scripts).filter((_, index) => isFull || index === 0))(
        `stops in ${name} as the real run: %s`,
        async (_, script) => {
          const mode = cases.indexOf(name) % 2 === 0 ? 'ids' : 'text';
          const predicted = await play(
            { program, world: 'server', server: { baseUrl, format: 'cwm', mode } },
            script,
            token,
          );
          const real = await play({ program, world: 'reference', sandbox: 'pyodide' }, script);
          expect(predicted).toEqual(real);
        },
      );
    }
  },
);
