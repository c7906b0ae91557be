import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { z } from 'zod';
import { describeCause, errors } from '../errors';
import { decodeSource } from '../python/encoding';
import type { Program } from '../trajectory/program';

/** A program that worlds are evaluated on. */
export interface EvaluatedProgram {
  /** What it is called in the results: the same wherever the data lie. */
  readonly id: string;
  readonly program: Program;
}

/** A row of CRUXEval: a function `f`, and the text between the parentheses of its call. */
const cruxevalRow = z.object({ id: z.string(), code: z.string(), input: z.string() });

/** How many calls of one function of a folder of functions are taken. */
const callsOfOne = 3;

/** QuixBugs' functions that give generators, which do nothing until they are read. */
const generators: ReadonlySet<string> = new Set(['flatten', 'kheapsort', 'to_base']);

/**
 * Reads programs from paths: a Python file is a script, a `.jsonl` file is CRUXEval's, a folder is QuixBugs' or
 * TheAlgorithms' by what is in it, or holds scripts.
 *
 * @throws CatalogueError for a path that cannot be read or holds no programs
 */
export async function readPrograms(paths: readonly string[]): Promise<EvaluatedProgram[]> {
  const programs: EvaluatedProgram[] = [];
  for (const path of paths) {
    const found = await programsAt(resolve(path));
    if (found.length === 0) throw errors.noEvaluationData(path, 'it holds no Python programs');
    programs.push(...found);
  }
  return programs;
}

async function programsAt(path: string): Promise<EvaluatedProgram[]> {
  const isFolder = await orUnreadable(path, async () => (await stat(path)).isDirectory());
  if (!isFolder) return extname(path) === '.jsonl' ? readCruxeval(path) : [await readScript(path)];
  const names = (await orUnreadable(path, () => readdir(path))).sort();
  if (names.includes('json_testcases') && names.includes('correct_python_programs'))
    return readQuixBugs(path);
  if (names.includes('manifest.json') && names.includes('programs'))
    return readDoctests(join(path, 'programs'));
  return Promise.all(names.filter(isPython).map((name) => readScript(join(path, name))));
}

async function readScript(path: string): Promise<EvaluatedProgram> {
  return { id: basename(path), program: { path, source: await readSource(path), entry: null, args: [] } };
}

async function readCruxeval(path: string): Promise<EvaluatedProgram[]> {
  return (await readLines(path)).map(({ line, number }) => {
    const { id, code, input } = parse(cruxevalRow, line, path, number);
    return { id, program: { path: `<${id}>`, source: code, entry: `f(${input})`, args: [] } };
  });
}

async function readQuixBugs(folder: string): Promise<EvaluatedProgram[]> {
  const cases = join(folder, 'json_testcases');
  const names = (await orUnreadable(cases, () => readdir(cases))).filter((name) => name.endsWith('.json'));
  const programs = names.sort().map(async (file) => {
    const name = basename(file, '.json');
    const path = join(folder, 'correct_python_programs', `${name}.py`);
    const source = await readSource(path);
    const lines = (await readLines(join(cases, file))).slice(0, callsOfOne);
    return lines.map(({ line, number }) => {
      const [given] = parse(z.tuple([z.json()], z.json()), line, file, number);
      const call = `${name}(${(Array.isArray(given) ? given : [given]).map(literal).join(', ')})`;
      const entry = generators.has(name) ? `list(${call})` : call;
      return { id: `${name}#${number}`, program: { path, source, entry, args: [] } };
    });
  });
  return (await Promise.all(programs)).flat();
}

/** Programs whose docstrings show calls of their functions: each of those is an entry. */
async function readDoctests(folder: string): Promise<EvaluatedProgram[]> {
  const names = (await orUnreadable(folder, () => readdir(folder))).filter(isPython).sort();
  const programs = names.map(async (name) => {
    const path = join(folder, name);
    const source = await readSource(path);
    const calls = Array.from(source.matchAll(/^ *>>> (([^\W\d]\w*)\(.*\))\s*$(?!\n *\.\.\. )/gmu))
      .filter(([, , callee = '']) => new RegExp(`^def ${callee}\\(`, 'mu').test(source))
      .map(([, call = '']) => call);
    return calls
      .slice(0, callsOfOne)
      .map((entry, index) => ({ id: `${name}#${index + 1}`, program: { path, source, entry, args: [] } }));
  });
  return (await Promise.all(programs)).flat();
}

function isPython(name: string): boolean {
  return name.endsWith('.py');
}

async function readSource(path: string): Promise<string> {
  return decodeSource(await orUnreadable(path, () => readFile(path))).text;
}

async function readLines(path: string): Promise<{ line: string; number: number }[]> {
  const text = await orUnreadable(path, () => readFile(path, 'utf8'));
  return text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '');
}

function parse<T>(shape: z.ZodType<T>, line: string, path: string, number: number): T {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    throw errors.noEvaluationData(path, `line ${number} is not JSON`);
  }
  const parsed = shape.safeParse(json);
  if (parsed.success) return parsed.data;
  throw errors.noEvaluationData(path, `line ${number}: ${parsed.error.issues[0]?.message ?? 'not valid'}`);
}

async function orUnreadable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw errors.cannotRead(path, describeCause(thrown));
  }
}

/** A JSON value as a Python literal. */
function literal(value: z.core.util.JSONType): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${literal(item)}`);
    return `{${entries.join(', ')}}`;
  }
  return JSON.stringify(value);
}
