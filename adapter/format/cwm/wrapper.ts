import { errors } from '../../errors';
import {
  linesInsideStrings,
  scriptBeginning,
  scriptNames,
  type AnnotatedAssignment,
} from '../../python/script';
import { PythonSource } from '../../python/source';
import type { Program } from '../../trajectory/program';
import { Layout } from './layout';

/**
 * Lays a program out for a model.
 *
 * @throws CatalogueError for a source or an entry that is no Python, and for scripts that cannot be wrapped
 */
export async function layOut(program: Program, source: PythonSource): Promise<Layout> {
  const [problem] = source.problems;
  if (problem) throw errors.syntaxProblem(program.path, problem.line, problem.message);
  if (program.entry === null) return wrapScript(program.path, source);
  const entry = program.entry.trim();
  // Within brackets, so that nothing but an expression is allowed.
  const parsed = await PythonSource.parse(`(${entry}\n)\n`);
  if (entry === '' || /[\r\n]/.test(entry) || parsed.problems.length > 0) {
    throw errors.entryIsNoCall(program.entry);
  }
  const wrapper = freeName(source.text + entry);
  return new Layout(wrapper, entry, null, new Set(), source.lines, [`    return ${entry}`]);
}

/** A name for the wrapper that stands nowhere in the program. */
function freeName(text: string): string {
  const taken = new Set(text.match(/[^\W\d]\w*/gu));
  let name = 'main';
  while (taken.has(name)) name = `_${name}`;
  return name;
}

/**
 * Lays a script out: its statements from its beginning on become the body of a function, which the model
 * enters.
 *
 * @throws CatalogueError for scripts without a beginning, and for those that import all names of a module
 *   after it, which functions cannot
 */
function wrapScript(path: string, source: PythonSource): Layout {
  const beginning = scriptBeginning(source);
  if (beginning === null) throw errors.scriptHasNoBeginning(path);
  const { bound, annotated, starImports } = scriptNames(source, beginning);
  const [starImport] = starImports;
  if (starImport !== undefined) throw errors.starImportInScript(starImport);
  const globals = globalsOf(source, beginning);
  const lines = withoutAnnotations(
    source,
    annotated.filter(({ isName, hasValue, target }) => isName && (!hasValue || globals.has(target))),
  );
  const inStrings = linesInsideStrings(source);
  const indent = indentOf(lines.slice(beginning - 1));
  const body = lines.map((line, index) =>
    index + 1 < beginning || inStrings.has(index + 1) ? line : indented(line, indent),
  );
  const carried = new Set([...bound].filter((name) => !globals.has(name)));
  const declaration = globals.size > 0 ? [`${indent}global ${[...globals].join(', ')}`] : [];
  return new Layout(freeName(source.text), null, beginning, carried, body, declaration);
}

/** Functions and types that a script may read as such before it binds their names. */
const builtins = new Set(
  (
    'abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex ' +
    'copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr ' +
    'globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max ' +
    'memoryview min next object oct open ord pow print property quit range repr reversed round set setattr ' +
    'slice sorted staticmethod str sum super tuple type vars zip'
  ).split(' '),
);

/**
 * The names that the wrapper has to declare as globals, so that the script means what it did: those that other
 * code shares, that are bound before the wrapper begins, or that builtins have; and those of definitions, whose
 * reprs would tell of the wrapper.
 */
function globalsOf(source: PythonSource, beginning: number): ReadonlySet<string> {
  const { bound, definitions, readByUnits } = scriptNames(source, beginning);
  const { module } = source;
  const before = new Set<string>();
  for (const { name, offset } of source.scopes.module.bindings) {
    if (source.lineOfOffset(offset) < beginning) before.add(name);
  }
  const declared = source.scopes.module.globals;
  const globals = new Set<string>();
  for (const name of bound) {
    const isShared = definitions.has(name) || readByUnits.has(name) || before.has(name) || declared.has(name);
    const isBuiltin = builtins.has(name) && module.globalsRead.has(name);
    if (isShared || isBuiltin || /^__\w+__$/u.test(name)) globals.add(name);
  }
  // What a comprehension binds with `:=` belongs to the code around it.
  for (const unit of source.units) {
    if (unit.kind !== 'comprehension' && unit.kind !== 'generatorExpression') continue;
    for (const name of unit.globalsWritten) globals.add(name);
  }
  return globals;
}

/**
 * The file's lines with annotations cut out: Python allows none for globals of a function, and one without a
 * value does nothing in a function, not even an event. The statement's lines stay the same.
 */
function withoutAnnotations(
  source: PythonSource,
  annotated: readonly AnnotatedAssignment[],
): readonly string[] {
  const lines = [...source.lines];
  for (const { hasValue, start, end, annotationStart, annotationEnd } of [...annotated].reverse()) {
    if (hasValue) cut(source, lines, annotationStart, annotationEnd, '');
    else cut(source, lines, start, end, 'pass');
  }
  return lines;
}

/** Replaces a part of the source; the lines within it stay, as continuations of the first one. */
function cut(source: PythonSource, lines: string[], from: number, to: number, by: string): void {
  const first = source.lineOfOffset(from);
  const last = source.lineOfOffset(to);
  const { lineStarts } = source.tree;
  const before = (lines[first - 1] ?? '').slice(0, from - (lineStarts[first - 1] ?? 0)) + by;
  const after = (lines[last - 1] ?? '').slice(to - (lineStarts[last - 1] ?? 0));
  if (first === last) {
    lines[first - 1] = before + after;
    return;
  }
  lines[first - 1] = `${before} \\`;
  for (let line = first + 1; line < last; line++) lines[line - 1] = '\\';
  lines[last - 1] = ` ${after.trimStart()}`;
}

/** Tabs for code that is indented with tabs only, else four spaces: both stand well before any indentation. */
function indentOf(lines: readonly string[]): string {
  const usesTabs = lines.some((line) => line.startsWith('\t'));
  return usesTabs && !lines.some((line) => line.startsWith(' ')) ? '\t' : '    ';
}

/** A line one level further in. A form feed sets the indentation back to nothing, so what counts comes after. */
function indented(line: string, indent: string): string {
  if (line.trim() === '') return line;
  const [blank = ''] = /^[ \t\f]*/.exec(line) ?? [];
  const reset = blank.lastIndexOf('\f') + 1;
  return line.slice(0, reset) + indent + line.slice(reset);
}
