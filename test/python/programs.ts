import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CodeUnit } from '../../adapter/python/codeUnits';
import { decodeSource } from '../../adapter/python/encoding';
import { PythonSource } from '../../adapter/python/source';

/** Files of a folder with an ending, as full paths; none where the folder is missing. */
export function filesIn(folder: string, ending: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name));
}

export const cases = filesIn(join(import.meta.dirname, '../cases'), '.py');
export const programs = filesIn(join(import.meta.dirname, 'programs'), '.py');
const data = join(import.meta.dirname, '../../../shared/data');
export const quixbugs = [
  ...filesIn(join(data, 'quixbugs/python_programs'), '.py'),
  ...filesIn(join(data, 'quixbugs/correct_python_programs'), '.py'),
];
export const algorithms = filesIn(join(data, 'thealgorithms/programs'), '.py');

/** Whether `python3` is the version whose compiler is followed here. */
export const hasPython311 =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info[:2] != (3, 11))']).status === 0;

/** The file of a module of Python's own library. */
export function libraryFile(module: string): string {
  const command = `import importlib.util; print(importlib.util.find_spec(${JSON.stringify(module)}).origin)`;
  return execFileSync('python3', ['-c', command], { encoding: 'utf8' }).trim();
}

export function parseFile(path: string): Promise<PythonSource> {
  return PythonSource.parse(decodeSource(readFileSync(path)).text);
}

/** Runs a Python script of this folder and reads the JSON lines that it prints. */
export function rowsOf(script: string, args: readonly string[]): unknown[] {
  const output = execFileSync('python3', [join(import.meta.dirname, script), ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

export function unitNamed(source: PythonSource, qualifiedName: string): CodeUnit {
  const unit = source.units.find((candidate) => candidate.qualifiedName === qualifiedName);
  if (unit === undefined) throw new Error(`no unit ${qualifiedName}`);
  return unit;
}
