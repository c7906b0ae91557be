import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CodeUnit } from '../../adapter/python/codeUnits';
import { PythonSource } from '../../adapter/python/source';
import { cases, parseFile, unitNamed } from './programs';

const eventSchema = z.object({
  i: z.number(),
  ev: z.enum(['call', 'line', 'return', 'exception']),
  fn: z.string(),
  line: z.number(),
  locals: z.record(z.string(), z.string()),
  thread: z.string().optional(),
});
type Event = z.infer<typeof eventSchema>;

function eventsOf(path: string): Event[] {
  const file = join(dirname(path), 'expected', basename(path).replace(/\.py$/, '.jsonl'));
  const rows = readFileSync(file, 'utf8').trimEnd().split('\n').slice(0, -1);
  return rows.map((row) => eventSchema.parse(JSON.parse(row)));
}

interface Frame {
  readonly name: string;
  /** The units that it can be, by what was seen so far. */
  candidates: readonly CodeUnit[];
  lastLine: number | null;
  readonly resumed: boolean;
}

/** Follows the recorded events through the units; what does not fit is told. */
function misfits(source: PythonSource, events: readonly Event[]): string[] {
  const found: string[] = [];
  const stacks = new Map<string, Frame[]>();
  const keep = (frame: Frame, event: Event, what: string, holds: (unit: CodeUnit) => boolean) => {
    const kept = frame.candidates.filter(holds);
    if (kept.length === 0)
      found.push(`event ${event.i}: ${event.ev} of ${event.fn} on ${event.line}: ${what}`);
    else frame.candidates = kept;
  };
  for (const event of events) {
    const thread = event.thread ?? '';
    const stack = stacks.get(thread) ?? [];
    stacks.set(thread, stack);
    const known = source.unitsOfLine(event.line);
    if (event.ev === 'call') {
      const begun = source.units.filter((unit) => unit.name === event.fn && unit.callLine === event.line);
      const resumed = known.filter(
        (unit) => unit.name === event.fn && unit.isGenerator && unit.lines.has(event.line),
      );
      const isResumed =
        begun.length === 0 || (begun.every((unit) => unit.isGenerator) && !isNew(event, begun));
      stack.push({
        name: event.fn,
        candidates: isResumed ? resumed : begun,
        lastLine: null,
        resumed: isResumed,
      });
    }
    const frame = stack.at(-1);
    if (frame === undefined || frame.name !== event.fn) {
      found.push(`event ${event.i}: no frame of ${event.fn}`);
      break;
    }
    keep(frame, event, 'no unit', () => true);
    if (event.ev === 'line') {
      const { lastLine } = frame;
      keep(frame, event, 'no such line', (unit) => unit.lines.has(event.line) && known.includes(unit));
      if (lastLine !== null) {
        keep(frame, event, `cannot follow line ${lastLine}`, (unit) =>
          unit.successors(lastLine).includes(event.line),
        );
      } else if (!frame.resumed) {
        keep(frame, event, 'cannot be the first line', (unit) => unit.entryLines.includes(event.line));
      }
      frame.lastLine = event.line;
    }
    if (event.ev === 'return' && frame.lastLine !== null) {
      keep(frame, event, 'cannot return here', (unit) => unit.canLeaveFrom(event.line));
    }
    if (event.fn !== '<module>') {
      const names = Object.keys(event.locals);
      keep(frame, event, `locals ${names.join()}`, (unit) => names.every((name) => unit.names.has(name)));
    }
    if (event.ev === 'return') stack.pop();
  }
  return found;
}

/** A frame begins with its parameters and free variables only. */
function isNew(event: Event, units: readonly CodeUnit[]): boolean {
  return units.some((unit) =>
    Object.keys(event.locals).every((name) => unit.parameters.includes(name) || unit.freeNames.has(name)),
  );
}

describe('the events of the cases', () => {
  it.each(cases.map((path) => [basename(path), path] as const))('of %s fit', async (_, path) => {
    const events = eventsOf(path);
    expect(events.length).toBeGreaterThan(0);
    expect(misfits(await parseFile(path), events)).toEqual([]);
  });
});

const parse = (...lines: string[]) => PythonSource.parse(`${lines.join('\n')}\n`);

describe('units', () => {
  it('have the names that CPython gives them', async () => {
    const source = await parse(
      'class A:',
      '    def m(self):',
      '        return [lambda: {x: y for x, y in z} for z in self]',
      '    class B: pass',
      'def f():',
      '    global g',
      '    def g(): return {a for a in (b for b in ())}',
    );
    expect(source.units.map(({ qualifiedName }) => qualifiedName)).toEqual([
      '<module>',
      'A',
      'A.m',
      'A.m.<locals>.<listcomp>',
      'A.m.<locals>.<listcomp>.<lambda>',
      'A.m.<locals>.<listcomp>.<lambda>.<locals>.<dictcomp>',
      'A.B',
      'f',
      'g',
      'g.<locals>.<setcomp>',
      'g.<locals>.<genexpr>',
    ]);
    expect(source.units.map(({ id }) => id)).toEqual(source.units.map((_, index) => index));
    expect(unitNamed(source, 'A.B').parent).toBe(unitNamed(source, 'A'));
  });

  it('are called on their first decorator, and headed by their def', async () => {
    const source = await parse(
      '',
      '@a',
      '@b(',
      '    1)',
      'def f():',
      '    pass',
      '',
      'x = [',
      '  y for y in z]',
    );
    expect(unitNamed(source, 'f')).toMatchObject({ callLine: 2, headerLine: 5, firstLine: 2, lastLine: 6 });
    expect(source.module.callLine).toBe(0);
    expect(unitNamed(source, '<listcomp>')).toMatchObject({ callLine: 8, headerLine: 8, lastLine: 9 });
  });

  it('list their parameters in the order of f_locals', async () => {
    const source = await parse('def f(a, /, b: int = 1, *rest, c, d=2, **more): pass', 'def g(*, a): pass');
    expect(unitNamed(source, 'f').parameters).toEqual(['a', 'b', 'c', 'd', 'rest', 'more']);
    expect(unitNamed(source, 'g').parameters).toEqual(['a']);
  });

  it('hold every name that is bound in them', async () => {
    const source = await parse(
      'def f(p):',
      '    a, (b, *c), d.attribute, e[0] = p',
      '    for g in p: pass',
      '    with p as h, p as (i, j): pass',
      '    try: pass',
      '    except E as k: pass',
      '    import l.m, n as o',
      '    from q import r, s as t',
      '    if [u := 1 for v in p]: pass',
      '    del w',
      '    def x(): pass',
      '    class y: pass',
      '    z += 1',
      '    aa: int = 1',
      '    bb: int',
      '    match p:',
      '        case [cc, {"k": dd, **ee}, C(ff, key=gg) as hh, *ii]: pass',
      '    return lambda jj: kk',
    );
    const names = 'p a b c g h i j k l o r t u w x y z aa cc dd ee ff gg hh ii';
    expect([...unitNamed(source, 'f').names].sort()).toEqual(names.split(' ').sort());
    expect([...unitNamed(source, 'f.<locals>.<listcomp>').names].sort()).toEqual(['.0', 'u', 'v']);
  });

  it('tell free variables from globals', async () => {
    const source = await parse(
      'G = 1',
      'def outer(a, b):',
      '    def middle():',
      '        def inner():',
      '            nonlocal b',
      '            global W',
      '            b = W = G',
      '            return len(str(a))',
      '        return inner',
      '    return middle',
    );
    const middle = unitNamed(source, 'outer.<locals>.middle');
    expect([...middle.freeNames].sort()).toEqual(['a', 'b']);
    expect([...middle.names].sort()).toEqual(['a', 'b', 'inner']);
    const inner = unitNamed(source, 'outer.<locals>.middle.<locals>.inner');
    expect([...inner.names].sort()).toEqual(['a', 'b']);
    expect([...inner.globalsRead].sort()).toEqual(['G', 'len', 'str']);
    expect([...inner.globalsWritten]).toEqual(['W']);
    expect(source.module.names.has('W')).toBe(true);
  });

  it('know what only classes have', async () => {
    const source = await parse(
      'class A:',
      '    """doc"""',
      '    x = 1',
      '    def __private(self, __y):',
      '        return super().z, [x for _ in ()]',
    );
    expect([...unitNamed(source, 'A').names].sort()).toEqual([
      '_A__private',
      '__annotations__',
      '__classcell__',
      '__doc__',
      '__module__',
      '__qualname__',
      'x',
    ]);
    const method = unitNamed(source, 'A.__private');
    expect(method.parameters).toEqual(['self', '_A__y']);
    expect([...method.freeNames]).toEqual(['__class__']);
    expect(unitNamed(source, 'A.__private.<locals>.<listcomp>').globalsRead.has('x')).toBe(true);
  });

  it('normalise identifiers as Python does', async () => {
    const source = await parse('def f(ﬁle): return ﬁle');
    expect(unitNamed(source, 'f').parameters).toEqual(['file']);
  });

  it('say what suspends', async () => {
    const source = await parse(
      'async def f(): return [await a async for a in b]',
      'async def g(): yield 1',
      'def h(): return (a for a in b)',
      'def i(): x = yield',
    );
    const flags = source.units.map(({ name, isGenerator, isAsync }) => [name, isGenerator, isAsync]);
    expect(flags).toEqual([
      ['<module>', false, false],
      ['f', false, true],
      ['<listcomp>', false, true],
      ['g', true, true],
      ['h', false, false],
      ['<genexpr>', true, false],
      ['i', true, false],
    ]);
  });
});
